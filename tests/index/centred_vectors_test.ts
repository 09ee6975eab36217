import { deepStrictEqual as deepEqual, ok, strictEqual as equal } from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import type { Calibration } from "@/lib/index/calibration.ts";
import { languageOf, type Means } from "@/lib/index/centring.ts";
import { type NoteEmbeddings, NoteVectors } from "@/lib/index/note_vectors.ts";
import { runAtOnce } from "@/lib/seams.ts";
import { randomSource } from "../_support/random.ts";
import { saveAndRestore } from "../_support/snapshots.ts";

const DIMENSIONS = 12;
const random = randomSource(11);
const anyVector = () => Int8Array.from({ length: DIMENSIONS }, () => random(255) - 127);
const anyMean = () => Float32Array.from({ length: DIMENSIONS }, () => random(400) / 1_000 - 0.2);
const anyMeans = (): Means => ({ latin: anyMean(), han: anyMean() });

function anyNote(): NoteEmbeddings {
  const maybe = () => random(5) === 0 ? undefined : anyVector();
  const chunks = Array.from({ length: random(6) }, maybe);
  return { metadata: maybe(), chunks, hanShare: random(3) / 2 };
}

function anyCalibration(): Calibration {
  const centring = { query: anyMeans(), passage: anyMeans() };
  return { floor: 0.1, ceiling: 0.7, hintAt: 0.4, noteCount: 40, pairCount: 900, centring };
}

function centred(vector: ArrayLike<number>, mean: Float32Array): number[] {
  const values = Array.from(vector);
  const length = Math.hypot(...values);
  return values.map((value, i) => value / length - (mean[i] ?? 0));
}

function cosine(a: readonly number[], b: readonly number[]): number {
  return a.reduce((sum, value, i) => sum + value * (b[i] ?? 0), 0) / Math.hypot(...a) /
    Math.hypot(...b);
}

/** Notes with vectors, and what their cosines are by the definition. */
class World {
  readonly notes = new Map<number, NoteEmbeddings>();
  vectors = new NoteVectors(DIMENSIONS);
  calibration = anyCalibration();

  add(slot: number): void {
    const note = anyNote();
    this.notes.set(slot, note);
    runAtOnce(this.vectors.stage(slot, note));
  }

  remove(slot: number): void {
    this.notes.delete(slot);
    this.vectors.remove(slot);
  }

  check(): void {
    const query = { vector: Float32Array.from(anyVector()), hanShare: random(2) };
    const { metadata } = this.vectors.scan(query);
    for (const [slot, note] of this.notes) {
      this.#near(metadata[slot], this.#wanted(note.metadata, note, query));
      const chunks = this.vectors.chunkCosines(slot);
      note.chunks.forEach((chunk, at) => this.#near(chunks[at], this.#wanted(chunk, note, query)));
    }
    const compare = this.vectors.compare(query);
    for (const [slot, note] of this.notes) {
      const found = compare(slot);
      this.#near(found.metadata, this.#wanted(note.metadata, note, query));
      note.chunks.forEach((chunk, at) =>
        this.#near(found.chunks[at], this.#wanted(chunk, note, query))
      );
    }
  }

  #wanted(
    vector: Int8Array | undefined,
    { hanShare }: NoteEmbeddings,
    query: { vector: Float32Array; hanShare: number },
  ): number {
    const { centring } = this.calibration;
    if (!vector || !centring) return NaN;
    return cosine(
      centred(query.vector, centring.query[languageOf(query.hanShare)]),
      centred(vector, centring.passage[languageOf(hanShare)]),
    );
  }

  #near(actual: number | undefined, wanted: number): void {
    const isRight = Object.is(actual, wanted) || Math.abs((actual ?? NaN) - wanted) < 1e-3;
    ok(isRight, `${actual} is not ${wanted}`);
  }
}

describe("NoteVectors that are centred", () => {
  it("scan() and compare() give the cosines of the definition, whatever has changed since", () => {
    const world = new World();
    for (let slot = 0; slot < 40; slot++) world.add(slot);
    world.vectors.calibrate(world.calibration);
    world.check();

    for (let slot = 40; slot < 80; slot++) world.add(slot);
    // a note that gets other vectors in its own slot
    for (let slot = 0; slot < 40; slot += 3) world.add(slot);
    for (let slot = 1; slot < 80; slot += 4) world.remove(slot);
    world.check();

    world.calibration = anyCalibration();
    world.vectors.calibrate(world.calibration);
    world.check();
  });

  it("compacted() keeps them centred, with nothing left to work out", () => {
    const world = new World();
    for (let slot = 0; slot < 30; slot++) world.add(slot);
    world.vectors.calibrate(world.calibration);
    for (let slot = 0; slot < 30; slot += 2) world.remove(slot);

    const slots = new Map([...world.notes.keys()].map((slot, at) => [slot, at]));
    const { generation } = world.vectors;
    world.vectors.takeOver(runAtOnce(world.vectors.compacted(slots)));
    const notes = [...world.notes.values()];
    world.notes.clear();
    notes.forEach((note, at) => world.notes.set(at, note));

    ok(world.vectors.generation > generation);
    deepEqual(world.vectors.calibration, world.calibration);
    world.check();
  });

  it("restore() brings back what was found out with the vectors, and nothing where nothing was", async () => {
    const world = new World();
    for (let slot = 0; slot < 30; slot++) world.add(slot);
    const restore = async () =>
      await saveAndRestore(
        world.vectors.freeze(),
        (reader) => NoteVectors.restore(reader, DIMENSIONS),
      );
    equal((await restore()).calibration, undefined);

    world.vectors.calibrate(world.calibration);
    world.vectors = await restore();

    deepEqual(world.vectors.calibration, world.calibration);
    world.check();
  });

  it("warmUp() works in small steps, and changes no number", () => {
    const world = new World();
    for (let slot = 0; slot < 30; slot++) world.add(slot);
    world.vectors.calibrate(world.calibration);

    let steps = 0;
    for (const _ of world.vectors.warmUp()) steps++;

    ok(steps >= 30);
    world.check();
  });

  it("calibrate() without means leaves cosines as they are", () => {
    const world = new World();
    for (let slot = 0; slot < 10; slot++) world.add(slot);
    const query = { vector: Float32Array.from(anyVector()), hanShare: 1 };
    const before = [...world.vectors.scan(query).metadata];

    world.vectors.calibrate({ ...world.calibration, centring: undefined });

    deepEqual([...world.vectors.scan(query).metadata], before);
  });
});
