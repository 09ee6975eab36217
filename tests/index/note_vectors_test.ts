import { deepStrictEqual as deepEqual, ok, strictEqual as equal, throws } from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import { type NoteEmbeddings, NoteVectors } from "@/lib/index/note_vectors.ts";
import { runAtOnce } from "@/lib/seams.ts";
import { randomSource } from "../_support/random.ts";

/** A question in no language in particular. */
const toQuery = (vector: Float32Array) => ({ vector, hanShare: 0 });

const QUERY = Float32Array.of(1, 0);
/** Cosines with `QUERY`: 1, .6, 0, -.8. */
const SAME = Int8Array.of(100, 0);
const NEAR = Int8Array.of(60, 80);
const APART = Int8Array.of(0, 100);
const AGAINST = Int8Array.of(-80, 60);

type Chunks = NoteEmbeddings["chunks"];

function add(vectors: NoteVectors, slot: number, note: Partial<NoteEmbeddings>): void {
  const { metadata, chunks = [], hanShare = 0 } = note;
  runAtOnce(vectors.stage(slot, { metadata, chunks, hanShare }));
}

function near(actual: number | undefined, expected: number, message?: string): void {
  ok(
    Object.is(actual, expected) || Math.abs((actual ?? NaN) - expected) < 1e-4,
    `${message ?? ""} ${actual} is not ${expected}`,
  );
}

function countSteps(steps: Generator<void, unknown>): number {
  let count = 0;
  while (!steps.next().done) count++;
  return count;
}

/** What a slot holds, by its definition. */
class Oracle {
  readonly notes = new Map<number, NoteEmbeddings>();

  check(vectors: NoteVectors, query: Float32Array): void {
    const { metadata, body } = vectors.scan(toQuery(query));
    for (const [slot, note] of this.notes) {
      const cosines = note.chunks.map((chunk) => this.#cosine(chunk, query));
      near(metadata[slot] ?? NaN, this.#cosine(note.metadata, query), `metadata ${slot}`);
      near(body[slot] ?? NaN, this.#body(cosines), `body ${slot}`);
      const actual = vectors.chunkCosines(slot);
      equal(actual.length, cosines.length);
      cosines.forEach((cosine, index) => near(actual[index], cosine, `chunk ${slot} ${index}`));
      near(vectors.hanShareAt(slot), note.hanShare);
    }
    this.#checkOneByOne(vectors, query);
    const chunkCounts = [...this.notes.values()].map(({ chunks }) => chunks.length);
    equal(vectors.chunkCount, chunkCounts.reduce((sum, count) => sum + count, 0));
  }

  /** One note after the other gives the same numbers, to the last digit. */
  #checkOneByOne(vectors: NoteVectors, query: Float32Array): void {
    const { metadata, body } = vectors.scan(toQuery(query));
    const scanned = [...this.notes.keys()].map((
      slot,
    ) => [metadata[slot] ?? NaN, body[slot] ?? NaN]);
    const cosinesOf = vectors.compare(toQuery(query));
    const compared = [...this.notes.keys()].map((slot) => {
      const cosines = cosinesOf(slot);
      return [cosines.metadata, Math.fround(cosines.body)];
    });
    deepEqual(compared, scanned);
  }

  #cosine(vector: Int8Array | undefined, query: Float32Array): number {
    const lengthOf = (numbers: Iterable<number>) => Math.hypot(...numbers);
    let dot = 0;
    for (const [i, value] of query.entries()) dot += value * (vector?.[i] ?? 0);
    return vector ? dot / lengthOf(vector) / lengthOf(query) : NaN;
  }

  #body(cosines: readonly number[]): number {
    const best = cosines.filter((cosine) => !Number.isNaN(cosine)).sort((a, b) => b - a);
    const weights = [0.65, 0.25, 0.1].slice(0, best.length);
    const whole = weights.reduce((sum, weight) => sum + weight, 0);
    return whole === 0 ? NaN : weights.reduce((sum, w, i) => sum + w * (best[i] ?? 0), 0) / whole;
  }
}

describe("NoteVectors", () => {
  it("scan() weighs the best three chunks that have a vector", () => {
    const cases: [chunks: Chunks, body: number][] = [
      [[], NaN],
      [[undefined], NaN],
      [[undefined, undefined, undefined, undefined], NaN],
      [[NEAR], 0.6],
      [[AGAINST], -0.8],
      [[NEAR, SAME], (0.65 * 1 + 0.25 * 0.6) / 0.9],
      [[SAME, NEAR], (0.65 * 1 + 0.25 * 0.6) / 0.9],
      [[undefined, NEAR, undefined, SAME], (0.65 * 1 + 0.25 * 0.6) / 0.9],
      [[SAME, undefined], 1],
      [[SAME, NEAR, APART], 0.65 + 0.25 * 0.6],
      [[APART, NEAR, SAME], 0.65 + 0.25 * 0.6],
      [[NEAR, undefined, APART, SAME], 0.65 + 0.25 * 0.6],
      [[AGAINST, AGAINST, SAME], 0.65 - 0.35 * 0.8],
      [[SAME, NEAR, APART, AGAINST], 0.65 + 0.25 * 0.6],
      [[AGAINST, APART, NEAR, SAME], 0.65 + 0.25 * 0.6],
      [[NEAR, NEAR, NEAR, SAME], 0.65 + 0.35 * 0.6],
      [[SAME, SAME, SAME, SAME], 1],
    ];
    const vectors = new NoteVectors(2);
    cases.forEach(([chunks], slot) => add(vectors, slot, { chunks }));

    const { body } = vectors.scan(toQuery(QUERY));

    cases.forEach(([, expected], slot) => near(body[slot], expected, `case ${slot}`));
  });

  it("scan() has the metadata by slot, and nothing for a slot that was never staged", () => {
    const vectors = new NoteVectors(2);
    add(vectors, 2, { metadata: NEAR, hanShare: 0.25 });
    add(vectors, 0, { metadata: SAME, chunks: [APART] });
    add(vectors, 3, { metadata: undefined, chunks: [SAME] });

    const { metadata, body } = vectors.scan(toQuery(QUERY));

    [1, NaN, 0.6, NaN].forEach((expected, slot) => near(metadata[slot], expected));
    [0, NaN, NaN, 1].forEach((expected, slot) => near(body[slot], expected));
    equal(metadata.length, 4);
    equal(body.length, 4);
    deepEqual([0, 1, 2, 99].map((slot) => vectors.hanShareAt(slot)), [0, 0, 0.25, 0]);
  });

  it("scan() finds nothing when there are no notes or the query points nowhere", () => {
    const vectors = new NoteVectors(2);
    const empty = vectors.scan(toQuery(QUERY));
    add(vectors, 0, { metadata: SAME, chunks: [SAME] });

    const { metadata, body } = vectors.scan(toQuery(Float32Array.of(0, 0)));

    equal(empty.metadata.length, 0);
    equal(empty.body.length, 0);
    deepEqual([...metadata], [NaN]);
    deepEqual([...body], [NaN]);
    deepEqual([...vectors.chunkCosines(0)], [NaN]);
  });

  it("scan() works for slots far away", () => {
    const vectors = new NoteVectors(2);
    for (const slot of [0, 1_023, 1_024, 5_000]) add(vectors, slot, { chunks: [NEAR, APART] });
    add(vectors, 4_999, { metadata: SAME, hanShare: 1 });

    const { metadata, body } = vectors.scan(toQuery(QUERY));

    equal(body.length, 5_001);
    deepEqual(
      [...body.entries()].flatMap(([slot, value]) => Number.isNaN(value) ? [] : slot),
      [0, 1_023, 1_024, 5_000],
    );
    near(metadata[4_999], 1);
    equal(vectors.hanShareAt(4_999), 1);
  });

  it("compare() finds nothing in slots that were never staged", () => {
    const vectors = new NoteVectors(2);
    add(vectors, 1, { metadata: SAME, chunks: [NEAR] });

    const cosinesOf = vectors.compare(toQuery(QUERY));

    const [none, some, beyond] = [0, 1, 999].map(cosinesOf);
    const nothing = { metadata: NaN, body: NaN, chunks: new Float32Array(0) };
    deepEqual([none, beyond], [nothing, nothing]);
    near(some?.metadata, 1);
    near(some?.body, 0.6);
  });

  it("chunkCosines() are a copy of the last scan's", () => {
    const vectors = new NoteVectors(2);
    add(vectors, 0, { chunks: [SAME, undefined, NEAR] });
    add(vectors, 1, { metadata: SAME });
    const before = vectors.chunkCosines(0);

    vectors.scan(toQuery(QUERY));
    const first = vectors.chunkCosines(0);
    vectors.scan(toQuery(Float32Array.of(0, 1)));
    const second = vectors.chunkCosines(0);
    add(vectors, 2, { chunks: [SAME] });
    const late = vectors.chunkCosines(2);

    deepEqual([...before], [NaN, NaN, NaN]);
    [1, NaN, 0.6].forEach((expected, index) => near(first[index], expected));
    [0, NaN, 0.8].forEach((expected, index) => near(second[index], expected));
    deepEqual([...late], [NaN]);
    deepEqual([...vectors.chunkCosines(1)], []);
    deepEqual([...vectors.chunkCosines(99)], []);
  });

  it("stage() goes in small steps and counts from the last one on", () => {
    const vectors = new NoteVectors(2);
    add(vectors, 0, { metadata: SAME, chunks: [SAME] });
    const chunks = Array.from({ length: 20_000 }, () => NEAR);

    const steps = vectors.stage(1, { metadata: NEAR, chunks, hanShare: 1 });
    for (let i = 0; i < 5; i++) steps.next();
    const midway = vectors.scan(toQuery(QUERY));
    const midwayCount = vectors.chunkCount;
    const rest = countSteps(steps);
    const { body } = vectors.scan(toQuery(QUERY));

    equal(midway.body.length, 1);
    equal(midwayCount, 1);
    ok(rest > 10);
    near(body[1], 0.6);
    equal(vectors.chunkCount, 20_001);
    near(vectors.chunkCosines(1)[19_999], 0.6);
  });

  it("stage() keeps notes apart that are staged at the same time", () => {
    const vectors = new NoteVectors(2);
    const long = (vector: Int8Array) => Array.from({ length: 2_500 }, () => vector);
    const first = vectors.stage(0, { metadata: undefined, chunks: long(SAME), hanShare: 0 });
    const second = vectors.stage(1, { metadata: undefined, chunks: long(NEAR), hanShare: 0 });

    for (let i = 0; i < 4; i++) {
      first.next();
      second.next();
    }
    vectors.scan(toQuery(QUERY));

    deepEqual(new Set(vectors.chunkCosines(0)), new Set([1]));
    ok(vectors.chunkCosines(1).every((cosine) => Math.abs(cosine - 0.6) < 1e-4));
  });

  it("stage() of a slot again replaces its vectors", () => {
    const vectors = new NoteVectors(2);
    add(vectors, 0, { metadata: SAME, chunks: [SAME, SAME], hanShare: 1 });

    add(vectors, 0, { chunks: [NEAR] });

    const { metadata, body } = vectors.scan(toQuery(QUERY));
    near(metadata[0], NaN);
    near(body[0], 0.6);
    equal(vectors.chunkCount, 1);
    equal(vectors.hanShareAt(0), 0);
  });

  it("stage() of other dimensions leaves the slot as it was", () => {
    const vectors = new NoteVectors(2);
    add(vectors, 0, { metadata: SAME, chunks: [SAME] });

    throws(() => add(vectors, 0, { chunks: [NEAR, Int8Array.of(1)] }), /here they have 2/);
    throws(() => add(vectors, 0, { metadata: Int8Array.of(1) }), /here they have 2/);

    near(vectors.scan(toQuery(QUERY)).body[0], 1);
    equal(vectors.chunkCount, 1);
  });

  it("remove() counts once, and an unknown slot changes nothing", () => {
    const vectors = new NoteVectors(2);
    add(vectors, 0, { metadata: SAME, chunks: [SAME, NEAR] });
    add(vectors, 1, { metadata: SAME, chunks: [SAME] });

    for (const slot of [0, 0, 7, -1]) vectors.remove(slot);

    equal(vectors.chunkCount, 1);
    deepEqual([...vectors.chunkCosines(0)], []);
    near(vectors.scan(toQuery(QUERY)).body[1], 1);
  });

  it("isWasteful when more rows are dead than alive, and many", () => {
    const vectors = new NoteVectors(2);
    for (let slot = 0; slot < 40_001; slot++) add(vectors, slot, { metadata: SAME });
    const removeUpTo = (end: number) => {
      for (let slot = 0; slot < end; slot++) vectors.remove(slot);
      return vectors.isWasteful;
    };

    const states = [20_000, 20_000, 20_001].map(removeUpTo);

    deepEqual(states, [false, false, true]);
  });

  it("isWasteful is false when few are dead, or less than live", () => {
    const few = new NoteVectors(2);
    add(few, 0, { metadata: SAME, chunks: Array(19_999).fill(SAME) });
    few.remove(0);
    const less = new NoteVectors(2);
    for (const slot of [0, 1, 2]) add(less, slot, { chunks: Array(30_000).fill(SAME) });
    less.remove(1);

    ok(!few.isWasteful);
    ok(!less.isWasteful);
    less.remove(2);
    ok(less.isWasteful);
  });

  it("isWasteful does not count slots that never had vectors, nor vectors that were replaced", () => {
    const vectors = new NoteVectors(2);
    add(vectors, 60_000, { metadata: SAME });
    for (let round = 0; round < 30_000; round++) add(vectors, 7, { metadata: SAME });

    ok(!vectors.isWasteful);
  });

  it("compacted() leaves out what has no new slot", () => {
    const vectors = new NoteVectors(2);
    for (const slot of [0, 1, 2]) add(vectors, slot, { chunks: Array(10_000).fill(SAME) });

    vectors.takeOver(runAtOnce(vectors.compacted(new Map([[1, 0]]))));

    equal(vectors.chunkCount, 10_000);
    add(vectors, 1, { chunks: Array(20_001).fill(SAME) });
    vectors.remove(1);
    ok(vectors.isWasteful);
  });

  it("compacted() is ready to pause after each note", () => {
    const vectors = new NoteVectors(2);
    for (let slot = 0; slot < 100; slot++) add(vectors, slot, { chunks: [SAME] });

    const steps = vectors.compacted(new Map(Array.from({ length: 100 }, (_, i) => [i, i])));

    equal(countSteps(steps), 100);
  });

  it("compacted() gives back the room of removed notes, in steps", () => {
    const vectors = new NoteVectors(16);
    const chunks = Array.from({ length: 5_000 }, () => new Int8Array(16).fill(1));
    for (let slot = 0; slot < 10; slot++) add(vectors, slot, { chunks, hanShare: slot / 10 });
    for (let slot = 0; slot < 9; slot++) vectors.remove(slot);
    const before = vectors.bytes;

    const steps = vectors.compacted(new Map([[9, 0]]));
    let count = 0;
    let step = steps.next();
    for (; !step.done; step = steps.next()) {
      count++;
      ok((vectors.scan(toQuery(new Float32Array(16).fill(1))).body[9] ?? 0) > 0.99);
    }
    vectors.takeOver(step.value);

    ok(count >= 5);
    ok(vectors.bytes < before / 4);
    equal(vectors.chunkCount, 5_000);
    near(vectors.hanShareAt(0), 0.9);
    ok(!vectors.isWasteful);
    ok(vectors.chunkCosines(0).every((cosine) => Number.isNaN(cosine)));
    near(vectors.scan(toQuery(new Float32Array(16).fill(1))).body[0], 1);
  });

  for (const engine of ["kernel", "plain"] as const) {
    it(`is what a fresh build would be after many changes and compactions (${engine})`, () => {
      const random = randomSource(engine.length);
      const dimensions = 19;
      const numbers = () => Int8Array.from({ length: dimensions }, () => random(255) - 127);
      const maybe = () => random(4) === 0 ? undefined : numbers();
      const vectors = new NoteVectors(dimensions, { engine });
      const oracle = new Oracle();
      let nextSlot = 0;

      for (let round = 0; round < 1_500; round++) {
        const slots = [...oracle.notes.keys()];
        const action = random(20);
        if (action < 10) {
          const chunks = Array.from({ length: random(6) }, maybe);
          const note = { metadata: maybe(), chunks, hanShare: random(5) / 4 };
          add(vectors, nextSlot, note);
          oracle.notes.set(nextSlot++, note);
        } else if (action < 18) {
          const slot = slots[random(slots.length)] ?? -1;
          vectors.remove(slot);
          oracle.notes.delete(slot);
        } else if (action === 18) {
          // the model is away: the note has a slot, and no vectors
          oracle.notes.set(nextSlot++, { metadata: undefined, chunks: [], hanShare: 0 });
        } else {
          const renumbered = new Map(slots.sort((a, b) => a - b).map((slot, i) => [slot, i]));
          vectors.takeOver(runAtOnce(vectors.compacted(renumbered)));
          const notes = [...oracle.notes];
          oracle.notes.clear();
          for (const [slot, note] of notes) oracle.notes.set(renumbered.get(slot) ?? -1, note);
          nextSlot = slots.length;
        }
        if (round % 10 === 0) oracle.check(vectors, Float32Array.from(numbers()));
      }

      ok(oracle.notes.size > 50);
      oracle.check(vectors, Float32Array.from(numbers()));
    });
  }
});
