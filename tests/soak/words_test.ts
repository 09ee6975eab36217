import { deepStrictEqual as deepEqual, strictEqual as equal } from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import { createTokenizer } from "@/lib/index/tokenizer.ts";
import { FreshWords, wordAt, wordsIn } from "./words.ts";

describe("FreshWords", () => {
  it("next() returns words that the tokenizer keeps whole, none twice", () => {
    const words = new FreshWords();
    const tokenizer = createTokenizer();

    const made = Array.from({ length: 5_000 }, () => words.next());

    equal(new Set(made).size, 5_000);
    deepEqual(made.map((word) => tokenizer.terms(word)), made.map((word) => [word]));
    equal(wordAt(4_999), made.at(-1));
  });

  it("wordsIn() finds each word of a text and no other", () => {
    const words = new FreshWords();
    const [first, second] = [words.next(), words.next()];

    const found = wordsIn(`# river ${first}\n\nstone-${second}, mem_${first}x\n`);

    deepEqual(found, [first, second]);
  });
});
