import { deepStrictEqual as deepEqual, strictEqual as equal } from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import { countChars, countWords } from "@/lib/journal/count_words.ts";

describe("countWords()", () => {
  it("counts characters of Chinese, Japanese and Korean, and words of all else", () => {
    deepEqual(
      [
        "",
        "。，！",
        "缓存",
        "the cache",
        "用SQLite很快",
        "don't re-run v2.3",
        "かな漢字",
        "한국",
        "𠀀",
        "a\nb",
      ]
        .map(countWords),
      [0, 0, 2, 2, 4, 3, 4, 2, 1, 2],
    );
  });
});

describe("countChars()", () => {
  it("counts an emoji of one code as one", () => {
    equal(countChars("a😀字"), 3);
  });
});
