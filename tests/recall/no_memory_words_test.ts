import { strictEqual as equal } from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import { asksForNoMemory } from "@/lib/recall/no_memory_words.ts";

describe("asksForNoMemory()", () => {
  const cases: readonly [text: string, asks: boolean][] = [
    ["不用记忆", true],
    ["这次不要用我的长期记忆，直接写", true],
    ["忽略之前的记忆，从头来", true],
    ["這次不使用記憶", true],
    ["Please don't use my memory here", true],
    ["do not use any of your memories", true],
    ["Ignore the memory and start afresh", true],
    ["without using your long-term memory", true],
    ["记忆不用更新", false],
    ["不用更新记忆", false],
    ["the process runs without memory leaks", false],
    ["don't use memory-mapped files", false],
    ["disable memory overcommit", false],
    ["用记忆里的写法", false],
    ["", false],
  ];
  for (const [text, asks] of cases) {
    it(`asksForNoMemory() says ${asks} of ${JSON.stringify(text)}`, () => {
      equal(asksForNoMemory(text), asks);
    });
  }
});
