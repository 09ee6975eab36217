import { deepStrictEqual as deepEqual, ok, strictEqual as equal } from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import { isOneSlip, TermDictionary } from "@/lib/index/term_dictionary.ts";

function dictionaryOf(...terms: readonly string[]): TermDictionary {
  const dictionary = new TermDictionary();
  for (const term of terms) dictionary.intern(term);
  return dictionary;
}

describe("TermDictionary", () => {
  it("intern() gives a term one number for good", () => {
    const dictionary = dictionaryOf("a", "constructor", "__proto__");

    equal(dictionary.intern("constructor"), 1);
    equal(dictionary.numberOf("constructor"), 1);
    equal(dictionary.termOf(2), "__proto__");
    equal(dictionary.numberOf("toString"), undefined);
  });

  it("withPrefix() finds longer words only", () => {
    const endings = Array.from(
      { length: 100 },
      (_, i) => `deploy${String.fromCharCode(97 + i % 26)}${"x".repeat(i)}`,
    );
    const dictionary = dictionaryOf("deploy", "deep", ...endings);

    const found = dictionary.withPrefix("deploy").map((number) => dictionary.termOf(number));

    equal(found.length, endings.length);
    ok(!found.includes("deploy"));
  });

  it("nearTo() looks at words only: never at numbers, codes or short words", () => {
    const dictionary = dictionaryOf("receive", "e1235", "goal", "moelleux", "20241");
    const near = (word: string) =>
      dictionary.nearTo(word).map((number) => dictionary.termOf(number));

    deepEqual(near("recieve"), ["receive"]);
    deepEqual(near("e1234"), []);
    deepEqual(near("20242"), []);
    deepEqual(near("goat"), []);
    deepEqual(near("moelleu"), ["moelleux"]);
  });

  it("around() knows characters of all planes", () => {
    const dictionary = dictionaryOf("笔记", "记忆", "记", "𠮷野");

    deepEqual(dictionary.around("记"), { first: [1, 2], last: [0, 2] });
    deepEqual(dictionary.around("𠮷"), { first: [3], last: [] });
  });
});

it("isOneSlip() is one letter more, less or other, or two swapped", () => {
  const cases: readonly (readonly [string, string, boolean])[] = [
    ["receive", "recieve", true],
    ["receive", "receive", false],
    ["receive", "receiv", true],
    ["receive", "recceive", true],
    ["receive", "reseive", true],
    ["receive", "reseeve", false],
    ["abcd", "badc", false],
    ["aab", "aba", true],
    ["aaaa", "aaaaa", true],
  ];
  for (const [word, other, expected] of cases) {
    equal(isOneSlip(word, other), expected, `${word} ${other}`);
    equal(isOneSlip(other, word), expected, `${other} ${word}`);
  }
});
