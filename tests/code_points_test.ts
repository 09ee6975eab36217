import { deepStrictEqual as deepEqual } from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import { isPair, pointAt, unitsAt } from "@/lib/code_points.ts";

describe("pointAt()", () => {
  const rows: readonly [string, string, number, [boolean, number, number]][] = [
    ["a letter", "ab", 0, [false, 1, 0x61]],
    ["a pair", "a😀", 1, [true, 2, 0x1f600]],
    ["the second half of a pair", "😀", 1, [false, 1, 0xde00]],
    ["half a pair before something else", "\ud83da", 0, [false, 1, 0xd83d]],
    ["half a pair at the end of a slice", "a😀".slice(0, 2), 1, [false, 1, 0xd83d]],
  ];
  for (const [what, text, at, expected] of rows) {
    it(`pointAt(), unitsAt() and isPair() agree on ${what}`, () => {
      deepEqual([isPair(text, at), unitsAt(text, at), pointAt(text, at)], expected);
    });
  }
});
