import { deepStrictEqual as deepEqual, strictEqual as equal } from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import fc from "fast-check";
import { estimatedTokens, measureText, quarterTokensOf } from "@/lib/access/estimated_tokens.ts";
import { anyText, charsOf } from "@/tests/_support/any_text.ts";

describe("estimatedTokens()", () => {
  const cases: [string, number][] = [
    ["", 0],
    ["a", 0.25],
    ["four", 1],
    ["记忆", 2],
    ["記憶", 2],
    ["记忆 note", 3.25],
    ["ひらがな", 4],
    ["カタカナ", 4],
    ["メモリー", 4],
    ["한국어", 3],
    ["ㄅㄆ", 2],
    ["、。「」", 4],
    ["，！？ＡＢ", 5],
    ["㈱㍿", 2],
    ["𠮷", 1],
    ["🎉", 0.25],
    ["👩‍👩‍👧", 1.25],
    ["“…”—", 1],
    ["é", 0.25],
    ["e\u0301", 0.5],
    ["\n\t\r ", 1],
    ["Ελλάδα", 1.5],
  ];
  for (const [text, tokens] of cases) {
    it(`estimatedTokens() counts CJK × 1 and others ÷ 4: ${JSON.stringify(text)} is ${tokens}`, () => {
      equal(estimatedTokens(text), tokens);
    });
  }

  it("estimatedTokens() adds up, so that parts cost what the whole costs", () => {
    fc.assert(fc.property(anyText, anyText, (a, b) => {
      // Two halves of a character would become one.
      const [left, right] = [a.toWellFormed(), b.toWellFormed()];

      equal(estimatedTokens(left) + estimatedTokens(right), estimatedTokens(left + right));
    }));
  });
});

describe("measureText()", () => {
  it("measureText() counts Unicode characters, not the units of which they are made", () => {
    deepEqual(measureText("a𠮷🎉"), { chars: 3, quarterTokens: 6 });
  });

  it("measureText() counts what a sliced text holds, also once it has run often", () => {
    const emoji = "🎉".repeat(50);

    for (let run = 0; run < 20_000; run++) {
      const half = emoji.slice(0, 31);

      deepEqual(measureText(half), { chars: 16, quarterTokens: 16 });
    }
  });

  it("measureText() agrees with a count of code points, whatever the text", () => {
    fc.assert(fc.property(anyText, (text) => {
      const { chars, quarterTokens } = measureText(text);

      equal(chars, charsOf(text));
      equal(quarterTokens, Array.from(text, quarterTokensOf).reduce((sum, one) => sum + one, 0));
    }));
  });
});
