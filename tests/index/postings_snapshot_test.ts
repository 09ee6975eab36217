import { deepStrictEqual as deepEqual, ok, strictEqual as equal } from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import { type Clause, Postings } from "@/lib/index/postings.ts";
import { TermCounter } from "@/lib/index/term_counter.ts";
import { runAtOnce } from "@/lib/seams.ts";
import { randomSource } from "../_support/random.ts";
import { saveAndRestore } from "../_support/snapshots.ts";

type Random = (below: number) => number;

/** Words near to each other, parts of names, bigrams and single characters. */
function makeTerm(random: Random): string {
  const letters = (count: number) =>
    String.fromCharCode(...Array.from({ length: count }, () => 97 + random(3)));
  const han = () => String.fromCharCode(0x4e00 + random(30));
  const makers = [
    () => letters(3 + random(4)),
    () => `${letters(2)}_${random(10)}`,
    () => han() + han(),
    han,
    () => `${random(1_000)}`,
    () => ["constructor", "__proto__", "𠮷野"][random(3)] ?? "",
  ];
  return makers[random(makers.length)]?.() ?? "";
}

/** Postings that change by chance, always in the same way for the same seeds. */
class Changing {
  readonly postings: Postings;
  /** Those that are alive. */
  #slots: number[];

  constructor(postings: Postings, slots: readonly number[] = []) {
    this.postings = postings;
    this.#slots = [...slots];
  }

  get slots(): readonly number[] {
    return this.#slots;
  }

  change(times: number, seed: number): void {
    const random = randomSource(seed);
    for (let i = 0; i < times; i++) {
      const action = random(100);
      if (action < 55) this.#add(random);
      else if (action < 60) this.#stage(random);
      else if (action < 99) this.#remove(random);
      else this.compact();
    }
  }

  compact(): void {
    const { postings, slots } = runAtOnce(this.postings.compacted());
    this.postings.takeOver(postings);
    this.#slots = this.#slots.map((slot) => slots.get(slot) ?? -1);
  }

  #add(random: Random): void {
    const slot = this.#stage(random);
    this.postings.activate(slot);
    this.#slots.push(slot);
  }

  #stage(random: Random): number {
    const counter = new TermCounter(this.postings);
    for (let i = random(60); i > 0; i--) {
      const term = makeTerm(random);
      // now and then so often that the count does not fit into a posting
      for (let repeats = random(100) === 0 ? 300 : 1; repeats > 0; repeats--) counter.add(term);
    }
    return runAtOnce(this.postings.stage(counter.take()));
  }

  #remove(random: Random): void {
    const [slot] = this.#slots.splice(random(this.#slots.length), 1);
    if (slot !== undefined) this.postings.remove(slot);
  }
}

/** All that postings say to scores of queries, to the last bit. */
function answersOf(postings: Postings, seed: number): unknown[] {
  const random = randomSource(seed);
  const { dictionary } = postings;
  const answers: unknown[] = [
    [dictionary.size, postings.noteCount, postings.slotCount, postings.isWasteful],
  ];
  for (let round = 0; round < 80; round++) {
    const [term, other] = [makeTerm(random), makeTerm(random)];
    const around = dictionary.around([...term][0] ?? "");
    const endings = dictionary.withPrefix(term);
    const near = dictionary.nearTo(other);
    const numbers = [term, other].map((word) => dictionary.numberOf(word) ?? -1);
    const clauses: Clause[] = [
      { kind: "inside", ...around },
      ...numbers.map((number): Clause => ({
        kind: "best",
        term: number === -1 ? undefined : number,
        matches: [number, ...endings, ...near].map((each) => ({ number: each, weight: 0.5 })),
      })),
    ];
    const { slots, bySlot, ceiling } = postings.score(clauses);
    answers.push(
      { term, other, around, endings, near, numbers, ceiling },
      slots.map((slot) => [slot, bySlot[slot]]),
      numbers.map((number) => [postings.documentFrequency(number), dictionary.termOf(number)]),
      [...postings.holders(numbers)],
    );
  }
  return answers;
}

function addNote(postings: Postings, words: Iterable<string>): Generator<void, number> {
  const counter = new TermCounter(postings);
  for (const word of words) counter.add(word);
  return postings.stage(counter.take());
}

describe("Postings.restore()", () => {
  for (const seed of [1, 2, 3, 4]) {
    it(`has what was there at the cut, and goes on in the same way (seed ${seed})`, async () => {
      const live = new Changing(new Postings());
      const twin = new Changing(new Postings());
      for (const each of [live, twin]) each.change(600, seed);

      const frozen = live.postings.freeze();
      let changes = 0;
      const changeMore = () => live.change(8, 1_000 * seed + changes++);
      const restored = new Changing(
        await saveAndRestore(frozen, Postings.restore, changeMore),
        twin.slots,
      );

      ok(twin.slots.length > 50);
      deepEqual(answersOf(restored.postings, seed), answersOf(twin.postings, seed));
      for (const each of [restored, twin]) each.change(600, seed + 100);
      deepEqual(answersOf(restored.postings, seed), answersOf(twin.postings, seed));
      const again = new Changing(
        await saveAndRestore(restored.postings.freeze(), Postings.restore),
        restored.slots,
      );
      deepEqual(answersOf(again.postings, seed), answersOf(twin.postings, seed));
      for (const each of [restored, again, twin]) each.compact();
      deepEqual(answersOf(restored.postings, seed), answersOf(twin.postings, seed));
      deepEqual(answersOf(again.postings, seed), answersOf(twin.postings, seed));
      deepEqual(restored.slots, twin.slots);
    });
  }

  it("has nothing of a note that was only half staged at the cut", async () => {
    const postings = new Postings();
    postings.activate(runAtOnce(addNote(postings, ["a"])));
    const words = Array.from({ length: 50_000 }, (_, i) => i === 0 ? "a" : `word${i}`);
    const repeated = Array<string>(300).fill("word1");
    const steps = addNote(postings, [...words, ...repeated]);
    ok(!steps.next().done);

    const frozen = postings.freeze();
    postings.activate(runAtOnce(steps));
    const restored = await saveAndRestore(frozen, Postings.restore);

    equal(restored.noteCount, 1);
    const frequencies = ["a", "word1", "word49999"].map((term) =>
      restored.documentFrequency(restored.dictionary.numberOf(term) ?? -1)
    );
    deepEqual(frequencies, [1, 0, 0]);
    const slot = runAtOnce(addNote(restored, ["a", "word1"]));
    restored.activate(slot);
    restored.takeOver(runAtOnce(restored.compacted()).postings);
    equal(restored.slotCount, 2);
    equal(restored.dictionary.size, 2);
  });

  it("has room for more notes than there were, none or thousands", async () => {
    let postings = new Postings();
    for (const count of [0, 2_000, 4_000]) {
      while (postings.slotCount < count) {
        const words = ["a", `b${postings.slotCount}`];
        postings.activate(runAtOnce(addNote(postings, words)));
      }
      postings = await saveAndRestore(postings.freeze(), Postings.restore);
      const term = postings.dictionary.numberOf("a") ?? -1;

      const { slots, bySlot } = postings.score([
        { kind: "best", term, matches: [{ number: term, weight: 1 }] },
      ]);

      equal(slots.length, count);
      ok(slots.every((slot) => (bySlot[slot] ?? 0) > 0));
    }
  });

  it("knows that removed notes take more room than those that are there", async () => {
    const postings = new Postings();
    const slot = runAtOnce(addNote(postings, Array.from({ length: 100_002 }, (_, i) => `w${i}`)));
    postings.activate(slot);

    const before = await saveAndRestore(postings.freeze(), Postings.restore);
    const wasWasteful = before.isWasteful;
    before.remove(slot);
    postings.remove(slot);
    const after = await saveAndRestore(postings.freeze(), Postings.restore);

    ok(!wasWasteful);
    ok(before.isWasteful);
    ok(after.isWasteful);
  });
});
