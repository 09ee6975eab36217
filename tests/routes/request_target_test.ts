import { deepStrictEqual as deepEqual, strictEqual as equal } from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import { authorityOf, decodePart, rawPathOf, rawQueryOf } from "@/routes/request_target.ts";

describe("request target", () => {
  const cases: readonly [url: string, authority: string, path: string, query: string][] = [
    ["http://localhost:8787/a/b?q=1", "localhost:8787", "/a/b", "q=1"],
    ["http://localhost/a/../b/%2e%2e/c", "localhost", "/a/../b/%2e%2e/c", ""],
    ["http://user@evil.test/x", "user@evil.test", "/x", ""],
    ["http://a b/x", "a b", "/x", ""],
    ["http://[::1]:1/", "[::1]:1", "/", ""],
    ["http://a:80", "a:80", "", ""],
    ["http://a?q=1", "a", "", "q=1"],
    ["http://a/x?q=1?2&r=/#frag?x", "a", "/x", "q=1?2&r=/"],
    ["http://a//evil.test/x", "a", "//evil.test/x", ""],
    ["http://a/x#?q=1", "a", "/x", ""],
    ["nonsense", "", "", ""],
  ];
  for (const [url, authority, path, query] of cases) {
    it(`authorityOf(), rawPathOf() and rawQueryOf() take ${url} apart as it is`, () => {
      deepEqual([authorityOf(url), rawPathOf(url), rawQueryOf(url)], [authority, path, query]);
    });
  }

  const parts: readonly [text: string, decoded: string | undefined][] = [
    ["a%20b", "a b"],
    ["%E8%AE%B0", "记"],
    ["记", "记"],
    ["%252e", "%2e"],
    ["100%", undefined],
    ["%zz", undefined],
    ["%E8%AE", undefined],
    ["%FF", undefined],
    ["%C0%AF", undefined],
  ];
  for (const [text, decoded] of parts) {
    it(`decodePart() makes ${decoded} of ${text}`, () => {
      equal(decodePart(text), decoded);
    });
  }
});
