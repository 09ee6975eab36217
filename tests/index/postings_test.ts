import { deepStrictEqual as deepEqual, ok, strictEqual as equal } from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import { BM25_B, BM25_K1, type Clause, Postings } from "@/lib/index/postings.ts";
import { TermCounter } from "@/lib/index/term_counter.ts";
import { runAtOnce } from "@/lib/seams.ts";
import { randomSource } from "../_support/random.ts";

function addNote(postings: Postings, words: readonly string[]): number {
  const counter = new TermCounter(postings);
  for (const word of words) counter.add(word);
  const slot = runAtOnce(postings.stage(counter.take()));
  postings.activate(slot);
  return slot;
}

function clausesFor(postings: Postings, words: readonly string[]): Clause[] {
  return words.map((word) => {
    const term = postings.dictionary.numberOf(word);
    return {
      kind: "best",
      term,
      matches: term === undefined ? [] : [{ number: term, weight: 1 }],
    };
  });
}

/** BM25 as the books have it, straight from the words. */
function oracle(notes: ReadonlyMap<number, readonly string[]>, query: readonly string[]) {
  const average = [...notes.values()].reduce((sum, words) => sum + words.length, 0) / notes.size;
  const scores = new Map<number, number>();
  for (const word of query) {
    const holders = [...notes].filter(([, words]) => words.includes(word));
    const idf = Math.log(1 + (notes.size - holders.length + 0.5) / (holders.length + 0.5));
    for (const [slot, words] of holders) {
      const count = words.filter((other) => other === word).length;
      const norm = BM25_K1 * (1 - BM25_B + BM25_B * words.length / average);
      const score = idf * count * (BM25_K1 + 1) / (count + norm);
      scores.set(slot, (scores.get(slot) ?? 0) + score);
    }
  }
  return scores;
}

describe("Postings", () => {
  it("score() equals BM25 from the books after thousands of changes", () => {
    const random = randomSource(42);
    const postings = new Postings();
    const notes = new Map<number, string[]>();
    const vocabulary = [
      "constructor",
      "__proto__",
      ...Array.from({ length: 60 }, (_, i) => `w${i}`),
    ];
    const word = () => vocabulary[Math.floor(random(vocabulary.length) * random(100) / 100)] ?? "";
    for (let change = 0; change < 4_000; change++) {
      const slots = [...notes.keys()];
      if (slots.length > 150 || (slots.length > 0 && random(3) === 0)) {
        const slot = slots[random(slots.length)] ?? 0;
        postings.remove(slot);
        notes.delete(slot);
      } else {
        const words = Array.from({ length: 1 + random(400) }, word);
        notes.set(addNote(postings, words), words);
      }
    }

    for (let round = 0; round < 200; round++) {
      const query = [...new Set([word(), word(), word(), "unknown"])];
      const { slots, bySlot } = postings.score(clausesFor(postings, query));

      const expected = oracle(notes, query);
      deepEqual(new Set(slots), new Set(expected.keys()));
      for (const slot of slots) {
        const want = expected.get(slot) ?? 0;
        ok(Math.abs((bySlot[slot] ?? 0) - want) < 1e-9 * want);
      }
    }
  });

  it("score() counts a term exactly, however often a note repeats it", () => {
    const postings = new Postings();
    const notes = new Map<number, string[]>();
    for (const repeats of [1, 254, 255, 256, 70_000]) {
      const words = [...Array<string>(repeats).fill("raft"), "other"];
      notes.set(addNote(postings, words), words);
    }

    const { bySlot } = postings.score(clausesFor(postings, ["raft"]));

    for (const [slot, want] of oracle(notes, ["raft"])) {
      ok(Math.abs((bySlot[slot] ?? 0) - want) < 1e-12);
    }
  });

  it("score() has a ceiling that counts terms which no note holds", () => {
    const postings = new Postings();
    addNote(postings, ["known"]);

    const alone = postings.score(clausesFor(postings, ["known"]));
    const withUnknown = postings.score(clausesFor(postings, ["known", "unknown"]));

    ok(withUnknown.ceiling > alone.ceiling);
    ok((alone.bySlot[0] ?? 0) < alone.ceiling);
  });

  it("score() gives a word before its endings, however rare these are", () => {
    const postings = new Postings();
    const whole = Array.from({ length: 50 }, () => addNote(postings, ["cart", "x", "y"]));
    const longer = addNote(postings, ["cartographer", "x", "y"]);
    const { dictionary } = postings;
    const term = dictionary.numberOf("cart");
    const matches = [
      { number: term ?? -1, weight: 1 },
      ...dictionary.withPrefix("cart").map((number) => ({ number, weight: 0.5 })),
    ];

    const { bySlot } = postings.score([{ kind: "best", term, matches }]);

    ok((bySlot[longer] ?? 0) > 0);
    for (const slot of whole) ok((bySlot[slot] ?? 0) > (bySlot[longer] ?? 0));
  });

  it("score() finds one character inside and at both ends of bigrams", () => {
    const postings = new Postings();
    const first = addNote(postings, ["记忆"]);
    const last = addNote(postings, ["笔记"]);
    const alone = addNote(postings, ["记"]);
    addNote(postings, ["数据"]);

    const { slots } = postings.score([{ kind: "inside", ...postings.dictionary.around("记") }]);

    deepEqual(new Set(slots), new Set([first, last, alone]));
  });

  it("holders() marks the notes that have all the terms", () => {
    const postings = new Postings();
    const both = addNote(postings, ["a", "b"]);
    const one = addNote(postings, ["a"]);
    const numbers = ["a", "b"].map((term) => postings.dictionary.numberOf(term) ?? -1);

    const held = postings.holders(numbers);

    equal(held[both], 1);
    equal(held[one], 0);
  });

  it("stage() shows nothing to a search until the note is activated", () => {
    const postings = new Postings();
    const first = addNote(postings, ["a"]);
    const counter = new TermCounter(postings);
    for (let i = 0; i < 50_000; i++) counter.add(i === 0 ? "a" : `word${i}`);

    const steps = postings.stage(counter.take());
    let pauses = 0;
    let step = steps.next();
    for (; !step.done; step = steps.next()) pauses++;
    const before = postings.score(clausesFor(postings, ["a"])).slots;
    postings.activate(step.value);
    const after = postings.score(clausesFor(postings, ["a"])).slots;

    ok(pauses >= 2);
    deepEqual(before, [first]);
    deepEqual([...after].sort(), [first, step.value]);
    equal(postings.noteCount, 2);
  });

  it("remove() of a note twice counts once", () => {
    const postings = new Postings();
    const slot = addNote(postings, ["a"]);
    addNote(postings, ["a"]);

    postings.remove(slot);
    postings.remove(slot);

    equal(postings.noteCount, 1);
    equal(postings.documentFrequency(postings.dictionary.numberOf("a") ?? -1), 1);
  });
});
