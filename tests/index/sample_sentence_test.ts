import { ok, strictEqual as equal } from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import { sampleSentence } from "@/lib/index/_sample_sentence.ts";

describe("sampleSentence()", () => {
  const cases: readonly (readonly [text: string, sentence: string])[] = [
    ["# Ports\n\nThe server takes 8787.", "Ports"],
    ["- one item. And more", "one item"],
    ["> > quoted words! Then", "quoted words"],
    ["数据库备份放在哪里？放在这里。", "数据库备份放在哪里"],
    ["a. b. longer one here. c", "longer one here"],
    ["ab", "ab"],
    ["", ""],
    ["\n# \n", ""],
  ];
  for (const [text, sentence] of cases) {
    it(`sampleSentence() takes ${JSON.stringify(sentence)} of ${JSON.stringify(text)}`, () => {
      equal(sampleSentence(text), sentence);
    });
  }

  it("sampleSentence() is no longer than a question, and never half a character", () => {
    ok(sampleSentence("word ".repeat(100)).length <= 80);
    ok(sampleSentence("很长的句子".repeat(20)).length <= 30);
    ok(sampleSentence("😀".repeat(100) + "x").isWellFormed());
  });
});
