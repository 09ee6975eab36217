import { deepStrictEqual as deepEqual, ok, strictEqual as equal } from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import { isOneSlip, TermDictionary } from "@/lib/index/term_dictionary.ts";
import { randomSource } from "../_support/random.ts";
import { saveAndRestore } from "../_support/snapshots.ts";

function dictionaryOf(...terms: readonly string[]): TermDictionary {
  const dictionary = new TermDictionary();
  for (const term of terms) dictionary.intern(term);
  return dictionary;
}

/** Words of a few letters, and what is no word. */
function randomTerms(count: number, seed: number): string[] {
  const random = randomSource(seed);
  const part = (from: number, kinds: number) => String.fromCharCode(from + random(kinds));
  const word = () => Array.from({ length: 3 + random(5) }, () => part(97, 3)).join("");
  const makers = [
    word,
    word,
    () => part(0x4e00, 40) + part(0x4e00, 40),
    () => part(0x4e00, 40),
    () => `𠮷${part(0x4e00, 9)}`,
    () => `${word()}_${word()}`,
    () => part(0x4e00, 9).repeat(5),
  ];
  const terms = Array.from({ length: count }, () => makers[random(makers.length)]?.() ?? "");
  return [...new Set(terms)];
}

/** Fails unless the lists hold what they should, lowest number first. */
function checkLists(dictionary: TermDictionary, terms: readonly string[]): void {
  const numbersOf = (meets: (term: string) => boolean) =>
    terms.flatMap((term, number) => meets(term) ? [number] : []);
  const isWord = (term: string) => /^[a-z]+$/.test(term);
  const isBigram = (term: string) => term.length <= 4 && !isWord(term);
  for (const asked of ["abc", "abca", "cab", "ccccc", "abcabc", "xyz"]) {
    deepEqual(
      dictionary.withPrefix(asked),
      numbersOf((term) => isWord(term) && term.length > asked.length && term.startsWith(asked)),
    );
    const near = asked.length < 5 ? [] : numbersOf((term) => isWord(term) && isOneSlip(asked, term))
      .sort((a, b) => (terms[a] ?? "").length - (terms[b] ?? "").length || a - b);
    deepEqual(dictionary.nearTo(asked), near);
  }
  for (const char of ["一", "丁", "𠮷", "龘"]) {
    deepEqual(dictionary.around(char), {
      first: numbersOf((term) => isBigram(term) && term.startsWith(char)),
      last: numbersOf((term) => isBigram(term) && term.endsWith(char)),
    });
  }
}

describe("TermDictionary", () => {
  it("has in its lists what thousands of terms put there, in the order of their numbers", () => {
    const terms = randomTerms(6_000, 7);

    const dictionary = dictionaryOf(...terms);

    checkLists(dictionary, terms);
  });

  it("restore() has the terms and lists of the cut, and goes on with them", async () => {
    const terms = randomTerms(6_000, 8);
    const [before, after] = [terms.slice(0, 3_000), terms.slice(3_000)];
    const dictionary = dictionaryOf(...before);

    const frozen = dictionary.freeze();
    let next = 0;
    const internMore = () => {
      for (let i = 0; i < 40; i++) dictionary.intern(after[next++ % after.length] ?? "");
    };
    const restored = await saveAndRestore(frozen, TermDictionary.restore, internMore);

    equal(restored.size, before.length);
    checkLists(restored, before);
    deepEqual(after.map((term) => restored.intern(term)), after.map((_, i) => before.length + i));
    checkLists(restored, terms);
  });

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
