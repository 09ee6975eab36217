import { deepStrictEqual as deepEqual, ok, strictEqual as equal } from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import { type NoteEmbeddings, NoteVectors } from "@/lib/index/note_vectors.ts";
import { runAtOnce } from "@/lib/seams.ts";
import { randomSource } from "../_support/random.ts";
import { saveAndRestore } from "../_support/snapshots.ts";

/** A question in no language in particular. */
const toQuery = (vector: Float32Array) => ({ vector, hanShare: 0 });

const DIMENSIONS = 19;

type Random = (below: number) => number;

function randomVector(random: Random): Int8Array {
  return Int8Array.from({ length: DIMENSIONS }, () => random(255) - 127);
}

function randomNote(random: Random): NoteEmbeddings {
  const maybe = () => random(4) === 0 ? undefined : randomVector(random);
  const chunks = Array.from({ length: random(6) }, maybe);
  return { metadata: maybe(), chunks, hanShare: random(5) / 4 };
}

/** Vectors that change by chance, always in the same way for the same seeds. */
class Changing {
  readonly vectors: NoteVectors;
  #slots: number[];
  #nextSlot: number;

  constructor(vectors: NoteVectors, slots: readonly number[] = [], nextSlot = 0) {
    this.vectors = vectors;
    this.#slots = [...slots];
    this.#nextSlot = nextSlot;
  }

  /** Those that have vectors. */
  get slots(): readonly number[] {
    return this.#slots;
  }

  get nextSlot(): number {
    return this.#nextSlot;
  }

  change(times: number, seed: number): void {
    const random = randomSource(seed);
    for (let i = 0; i < times; i++) {
      const action = random(100);
      if (action < 60) this.#add(random);
      // its vectors did not come
      else if (action < 65) this.#nextSlot++;
      else if (action < 99) this.#remove(random);
      else this.compact();
    }
  }

  compact(): void {
    const renumbered = new Map(this.#slots.map((slot, i) => [slot, i]));
    this.vectors.takeOver(runAtOnce(this.vectors.compacted(renumbered)));
    this.#slots = this.#slots.map((_, i) => i);
    this.#nextSlot = this.#slots.length;
  }

  #add(random: Random): void {
    const slot = this.#nextSlot++;
    runAtOnce(this.vectors.stage(slot, randomNote(random)));
    this.#slots.push(slot);
  }

  #remove(random: Random): void {
    const [slot] = this.#slots.splice(random(this.#slots.length), 1);
    if (slot !== undefined) this.vectors.remove(slot);
  }
}

/** All that vectors say to some queries, to the last bit. */
function answersOf({ vectors, nextSlot }: Changing, seed: number): unknown[] {
  const random = randomSource(seed);
  const slots = Array.from({ length: nextSlot }, (_, slot) => slot);
  const answers: unknown[] = [vectors.chunkCount, vectors.isWasteful];
  for (let round = 0; round < 20; round++) {
    const { metadata, body } = vectors.scan(toQuery(Float32Array.from(randomVector(random))));
    answers.push(metadata.slice(), body.slice());
    answers.push(slots.map((slot) => vectors.chunkCosines(slot)));
  }
  answers.push(slots.map((slot) => [vectors.has(slot), vectors.hanShareAt(slot)]));
  return answers;
}

describe("NoteVectors.restore()", () => {
  for (const engine of ["kernel", "plain"] as const) {
    it(`has what was there at the cut, and goes on in the same way (${engine})`, async () => {
      const live = new Changing(new NoteVectors(DIMENSIONS, { engine }));
      const twin = new Changing(new NoteVectors(DIMENSIONS, { engine }));
      for (const each of [live, twin]) each.change(3_000, 1);

      const frozen = live.vectors.freeze();
      let changes = 0;
      const changeMore = () => live.change(200, 1_000 + changes++);
      const vectors = await saveAndRestore(
        frozen,
        (reader) => NoteVectors.restore(reader, DIMENSIONS, { engine }),
        changeMore,
      );
      const restored = new Changing(vectors, twin.slots, twin.nextSlot);

      ok(twin.slots.length > 500);
      deepEqual(answersOf(restored, 2), answersOf(twin, 2));
      for (const each of [restored, twin]) each.change(3_000, 3);
      deepEqual(answersOf(restored, 4), answersOf(twin, 4));
      const again = new Changing(
        await saveAndRestore(
          restored.vectors.freeze(),
          (reader) => NoteVectors.restore(reader, DIMENSIONS, { engine }),
        ),
        twin.slots,
        twin.nextSlot,
      );
      for (const each of [restored, again, twin]) each.compact();
      deepEqual(answersOf(restored, 5), answersOf(twin, 5));
      deepEqual(answersOf(again, 5), answersOf(twin, 5));
    });
  }

  it("can be of one engine what was saved by the other", async () => {
    const [kernel, plain] = (["kernel", "plain"] as const)
      .map((engine) => new Changing(new NoteVectors(DIMENSIONS, { engine })));
    if (!kernel || !plain) throw new Error("There are two engines");
    for (const each of [kernel, plain]) each.change(500, 6);

    const vectors = await saveAndRestore(
      kernel.vectors.freeze(),
      (reader) => NoteVectors.restore(reader, DIMENSIONS, { engine: "plain" }),
    );

    deepEqual(answersOf(new Changing(vectors, [], plain.nextSlot), 7), answersOf(plain, 7));
  });

  it("has no vectors of a note to which they came after the cut", async () => {
    const query = Float32Array.of(1, 0);
    const note = { metadata: Int8Array.of(9, 1), chunks: [Int8Array.of(1, 9)], hanShare: 0.5 };
    const vectors = new NoteVectors(2);
    // slot 0 has a row, as the one behind it has vectors
    runAtOnce(vectors.stage(1, note));

    const frozen = vectors.freeze();
    runAtOnce(vectors.stage(0, note));
    const restored = await saveAndRestore(frozen, (reader) => NoteVectors.restore(reader, 2));
    const { metadata, body } = restored.scan(toQuery(query));

    ok(Number.isNaN(metadata[0]) && Number.isNaN(body[0]));
    deepEqual([restored.has(0), restored.has(1), restored.chunkCount], [false, true, 1]);
    equal(restored.hanShareAt(0), 0);
    runAtOnce(restored.stage(0, note));
    deepEqual(restored.scan(toQuery(query)).metadata, vectors.scan(toQuery(query)).metadata);
    deepEqual(restored.chunkCosines(0), restored.chunkCosines(1));
  });

  it("has whole vectors of a note that got others before it was saved", async () => {
    const query = Float32Array.of(1, 0);
    const vectors = new NoteVectors(2);
    const chunks = [Int8Array.of(3, 4)];
    runAtOnce(vectors.stage(0, { metadata: Int8Array.of(100, 0), chunks, hanShare: 0 }));

    const frozen = vectors.freeze();
    runAtOnce(vectors.stage(0, { metadata: Int8Array.of(6, 8), chunks: [], hanShare: 0 }));
    const restored = await saveAndRestore(frozen, (reader) => NoteVectors.restore(reader, 2));
    const { metadata, body } = restored.scan(toQuery(query));

    // a cosine of the new numbers with the old length would be far from it
    ok(Math.abs((metadata[0] ?? NaN) - 0.6) < 1e-4);
    ok(Math.abs((body[0] ?? NaN) - 0.6) < 1e-4);
    equal(restored.chunkCount, 1);
  });

  it("knows when removed notes take more room than those that are there", async () => {
    const vectors = new NoteVectors(1);
    const note = { metadata: Int8Array.of(1), chunks: [], hanShare: 0 };
    for (let slot = 0; slot < 40_100; slot++) runAtOnce(vectors.stage(slot, note));
    for (let slot = 0; slot < 20_050; slot++) vectors.remove(slot);

    const restored = await saveAndRestore(
      vectors.freeze(),
      (reader) => NoteVectors.restore(reader, 1),
    );

    equal(restored.scan(toQuery(Float32Array.of(1))).body.length, 40_100);
    ok(!restored.isWasteful);
    restored.remove(20_050);
    ok(restored.isWasteful);
  });

  it("has nothing of a note that was only half staged at the cut", async () => {
    const vectors = new NoteVectors(2);
    const chunks = Array.from({ length: 2_500 }, () => Int8Array.of(1, 1));
    const steps = vectors.stage(0, { metadata: Int8Array.of(1, 1), chunks, hanShare: 1 });
    ok(!steps.next().done);

    const frozen = vectors.freeze();
    runAtOnce(steps);
    const restored = await saveAndRestore(frozen, (reader) => NoteVectors.restore(reader, 2));

    equal(restored.chunkCount, 0);
    equal(restored.scan(toQuery(Float32Array.of(1, 0))).metadata.length, 0);
    runAtOnce(
      restored.stage(0, { metadata: undefined, chunks: [Int8Array.of(1, 0)], hanShare: 0 }),
    );
    deepEqual([...restored.scan(toQuery(Float32Array.of(1, 0))).body], [1]);
  });
});
