import { strictEqual as equal } from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import {
  type AllowedNames,
  isAllowedHost,
  isAllowedOrigin,
  isCrossSite,
} from "@/routes/host_guard.ts";

const LOOPBACK: AllowedNames = { host: "127.0.0.1", allowedHosts: [], allowedOrigins: [] };
const NAMED: AllowedNames = {
  host: "192.168.1.5",
  allowedHosts: ["notes.example", "fd00::1"],
  allowedOrigins: ["https://notes.example", "app://obsidian.md"],
};
const EVERYWHERE: AllowedNames = { ...LOOPBACK, host: "0.0.0.0" };

describe("isAllowedHost()", () => {
  const cases: readonly [string | undefined, AllowedNames, boolean][] = [
    ["127.0.0.1", LOOPBACK, true],
    ["127.0.0.1:8787", LOOPBACK, true],
    ["127.9.9.9:1", LOOPBACK, true],
    ["localhost:8787", LOOPBACK, true],
    ["LocalHost:8787", LOOPBACK, true],
    ["localhost.:8787", LOOPBACK, true],
    ["[::1]:8787", LOOPBACK, true],
    ["[::1]", LOOPBACK, true],
    ["[::ffff:127.0.0.1]:8787", LOOPBACK, true],
    [undefined, LOOPBACK, false],
    ["", LOOPBACK, false],
    ["evil.test", LOOPBACK, false],
    ["evil.test:8787", LOOPBACK, false],
    ["localhost.evil.test", LOOPBACK, false],
    ["127.0.0.1.evil.test", LOOPBACK, false],
    ["evil.test@localhost", LOOPBACK, false],
    ["localhost@evil.test", LOOPBACK, false],
    ["localhost:8787:8787", LOOPBACK, false],
    ["localhost:", LOOPBACK, false],
    ["localhost:port", LOOPBACK, false],
    ["localhost/x", LOOPBACK, false],
    ["localhost, evil.test", LOOPBACK, false],
    [" localhost", LOOPBACK, false],
    ["lo%63alhost", LOOPBACK, false],
    ["::1", LOOPBACK, false],
    ["[::1", LOOPBACK, false],
    ["[::2]:8787", LOOPBACK, false],
    ["0.0.0.0:8787", LOOPBACK, false],
    ["2130706433", LOOPBACK, false],
    ["0177.0.0.1", LOOPBACK, false],
    ["192.168.1.5:8787", LOOPBACK, false],
    ["192.168.1.5:8787", NAMED, true],
    ["notes.example", NAMED, true],
    ["Notes.Example:443", NAMED, true],
    ["sub.notes.example", NAMED, false],
    ["[fd00::1]:8787", NAMED, true],
    ["[fd00::2]:8787", NAMED, false],
    ["127.0.0.1:8787", NAMED, true],
    ["0.0.0.0:8787", EVERYWHERE, false],
    ["192.168.1.5:8787", EVERYWHERE, false],
    ["[::]:8787", { ...LOOPBACK, host: "::" }, false],
    ["[fe80::1]:8787", { ...LOOPBACK, host: "fe80::1%eth0" }, true],
    ["constructor", LOOPBACK, false],
  ];
  for (const [header, allowed, expected] of cases) {
    it(`isAllowedHost() is ${expected} for ${header} on ${allowed.host}`, () => {
      equal(isAllowedHost(header, allowed), expected);
    });
  }
});

describe("isAllowedOrigin()", () => {
  const cases: readonly [origin: string, host: string, AllowedNames, boolean][] = [
    ["http://localhost:8787", "localhost:8787", LOOPBACK, true],
    ["http://localhost:8787", "127.0.0.1:8787", LOOPBACK, true],
    ["http://127.0.0.1:8787", "localhost:8787", LOOPBACK, true],
    ["http://[::1]:8787", "localhost:8787", LOOPBACK, true],
    ["HTTP://LOCALHOST:8787", "localhost:8787", LOOPBACK, true],
    ["http://localhost", "localhost", LOOPBACK, true],
    ["http://localhost", "localhost:80", LOOPBACK, true],
    ["http://localhost:9000", "localhost:9000", LOOPBACK, true],
    ["http://localhost:3000", "localhost:8787", LOOPBACK, false],
    ["http://localhost", "localhost:8787", LOOPBACK, false],
    ["https://localhost:8787", "localhost:8787", LOOPBACK, false],
    ["null", "localhost:8787", LOOPBACK, false],
    ["", "localhost:8787", LOOPBACK, false],
    ["http://0.0.0.0:8787", "localhost:8787", LOOPBACK, false],
    ["https://evil.test", "localhost:8787", LOOPBACK, false],
    ["http://evil.test:8787", "localhost:8787", LOOPBACK, false],
    ["http://localhost.evil.test:8787", "localhost:8787", LOOPBACK, false],
    ["http://evil.test@localhost:8787", "localhost:8787", LOOPBACK, false],
    ["http://localhost:8787/", "localhost:8787", LOOPBACK, false],
    ["http://localhost:8787 http://evil.test", "localhost:8787", LOOPBACK, false],
    ["file://", "localhost:8787", LOOPBACK, false],
    ["chrome-extension://abcdef", "localhost:8787", LOOPBACK, false],
    ["https://notes.example", "localhost:8787", LOOPBACK, false],
    ["https://notes.example", "notes.example", NAMED, true],
    ["HTTPS://Notes.Example", "notes.example", NAMED, true],
    ["https://notes.example:444", "notes.example", NAMED, false],
    ["app://obsidian.md", "127.0.0.1:8787", NAMED, true],
    ["http://192.168.1.5:8787", "192.168.1.5:8787", NAMED, true],
    ["http://192.168.1.6:8787", "192.168.1.5:8787", NAMED, false],
    ["http://localhost:8787", "192.168.1.5:8787", NAMED, false],
  ];
  for (const [origin, host, allowed, expected] of cases) {
    it(`isAllowedOrigin() is ${expected} for ${origin} at ${host} on ${allowed.host}`, () => {
      equal(isAllowedOrigin(origin, host, allowed), expected);
    });
  }
});

describe("isCrossSite()", () => {
  const cases: readonly [site: string | undefined, mode: string, dest: string, boolean][] = [
    [undefined, "cors", "empty", false],
    ["none", "navigate", "document", false],
    ["same-origin", "cors", "empty", false],
    ["same-site", "no-cors", "image", false],
    ["cross-site", "navigate", "document", false],
    ["cross-site", "navigate", "iframe", true],
    ["cross-site", "no-cors", "image", true],
    ["cross-site", "no-cors", "empty", true],
    ["cross-site", "cors", "document", true],
  ];
  for (const [site, mode, dest, expected] of cases) {
    it(`isCrossSite() is ${expected} for ${site}, ${mode}, ${dest}`, () => {
      equal(isCrossSite({ site, mode, dest }), expected);
    });
  }
});
