import { ok, strictEqual as equal } from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import fc from "fast-check";
import { clipLine } from "@/lib/clip_line.ts";
import { anyText, charsOf } from "@/tests/_support/any_text.ts";

describe("clipLine()", () => {
  const cases: [string, number, string][] = [
    ["one two", 7, "one two"],
    ["one two", 6, "one…"],
    [" one\n\ttwo\u0000three ", 20, "one two three"],
    ["one two three", 11, "one two…"],
    ["one two, three", 10, "one two…"],
    ["one two – three", 11, "one two…"],
    ["onetwothree", 5, "onet…"],
    ["a onetwothree", 8, "a onetw…"],
    ["don't stop", 6, "don't…"],
    ["well-known things", 8, "well-kn…"],
    ["缓存三件事", 5, "缓存三件事"],
    ["缓存三件事", 4, "缓存三…"],
    ["缓存，三件事", 4, "缓存…"],
    ["用 Deno 写缓存", 5, "用 De…"],
    ["𠮷𠮷𠮷", 3, "𠮷𠮷𠮷"],
    ["𠮷𠮷𠮷", 2, "𠮷…"],
    ["abcde\u0301f", 6, "abcd…"],
    ["ab👩‍👩‍👧cd", 4, "ab…"],
    ["👩‍👩‍👧", 3, "👩‍…"],
    ["🇨🇳🇩🇪", 3, "🇨🇳…"],
    ["abc", 1, "…"],
    ["abc", 0, ""],
    ["", 0, ""],
  ];
  for (const [text, maxChars, expected] of cases) {
    it(`clipLine() makes ${expected} of ${JSON.stringify(text)} with ${maxChars}`, () => {
      equal(clipLine(text, maxChars), expected);
    });
  }

  it("clipLine() gives one line within the limit, and the text itself if that fits", () => {
    fc.assert(fc.property(anyText, fc.nat(40), (text, maxChars) => {
      const clipped = clipLine(text, maxChars);

      ok(charsOf(clipped) <= maxChars);
      ok(!/\p{Cc}|\s\s|^\s|\s$/u.test(clipped), clipped);
      equal(clipLine(clipped, maxChars), clipped);
      if (text.isWellFormed()) ok(clipped.isWellFormed());
      const whole = clipLine(text, 10_000);
      if (charsOf(whole) <= maxChars) equal(clipped, whole);
      else ok(maxChars === 0 || clipped.endsWith("…") && whole.startsWith(clipped.slice(0, -1)));
    }));
  });
});
