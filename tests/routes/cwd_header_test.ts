import { strictEqual as equal } from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import { readCwdHeader } from "@/routes/_cwd_header.ts";

const asBytes = (text: string) => String.fromCharCode(...new TextEncoder().encode(text));

describe("readCwdHeader()", () => {
  const cases: [string | undefined, string | undefined][] = [
    [undefined, undefined],
    [" ", undefined],
    ["/home/ada/site", "/home/ada/site"],
    [" /home/ada ", "/home/ada"],
    ["/home/%E5%B7%A5%E4%BD%9C", "/home/工作"],
    ["/a%20b", "/a b"],
    ["/100%", "/100%"],
    ["/a%FFb", "/a%FFb"],
    [asBytes("/home/工作"), "/home/工作"],
    ["/caf\u00e9", "/caf\u00e9"],
    ["C:\\site", "C:\\site"],
  ];
  for (const [value, path] of cases) {
    it(`readCwdHeader() reads ${JSON.stringify(value)}`, () => {
      equal(readCwdHeader(value), path);
    });
  }
});
