/**
 * The vectors of all notes beside their terms: one for a note's metadata, one for each of its
 * chunks, by the slots of the postings.
 */
import type { Calibration } from "./calibration.ts";
import { type CentredQuery, centreQuery, languageOf, type LanguageVector } from "./centring.ts";
import {
  NO_COSINES,
  type NoteCosines,
  type SlotSignals,
  type VectorQuery,
  weighBest,
} from "./note_cosines.ts";
import { FIRST_ROOM, grown, roomFor } from "./_posting_pool.ts";
import {
  centreCosines,
  type CentredRows,
  toCentredRows,
  type VectorView,
} from "./_row_stretches.ts";
import {
  freezeCalibration,
  type KeptCalibration,
  restoreCalibration,
  type RowCounts,
} from "./_saved_calibration.ts";
import { type Frozen, frozenTogether, type SnapshotReader } from "./_snapshot_stream.ts";
import { VectorMatrix, type VectorMatrixOptions } from "./vector_matrix.ts";

/** The vectors of one note, `undefined` where the model knows nothing in the text. */
export interface NoteEmbeddings {
  readonly metadata: Int8Array | undefined;
  readonly chunks: readonly (Int8Array | undefined)[];
  /** The share of the text that is Chinese, 0..1. */
  readonly hanShare: number;
}

const ROWS_PER_STEP = 1_000;
/** Less is not worth the work. */
const MIN_DEAD_ROWS = 20_000;

/** Vectors by slot; a slot that was never staged has none. */
export class NoteVectors {
  readonly #options: VectorMatrixOptions;
  /** Its rows are the slots. */
  #metadata: VectorMatrix;
  #chunks: VectorMatrix;
  #alive = new Uint8Array(FIRST_ROOM);
  /** By slot: the first row of its chunks, which lie side by side. */
  #firstRows = new Uint32Array(FIRST_ROOM);
  #rowCounts = new Uint32Array(FIRST_ROOM);
  #hanShares = new Float32Array(FIRST_ROOM);
  #body = new Float32Array(FIRST_ROOM);
  /** Of the last scan, by row of the chunks. */
  #cosines = new Float32Array(0);
  #aliveCount = 0;
  /** Notes that are gone; slots that never had vectors are none of them. */
  #removedCount = 0;
  #aliveChunkCount = 0;
  #generation = 0;
  #kept: KeptCalibration = { calibration: undefined, view: { centred: undefined } };

  constructor(dimensions: number, options: VectorMatrixOptions = {}) {
    this.#options = options;
    this.#metadata = new VectorMatrix(dimensions, options);
    this.#chunks = new VectorMatrix(dimensions, options);
  }

  /**
   * Makes what `freeze()` saved.
   *
   * @throws {SnapshotUnusable} If the vectors have other dimensions.
   */
  static async restore(
    reader: SnapshotReader,
    dimensions: number,
    options: VectorMatrixOptions = {},
  ): Promise<NoteVectors> {
    const vectors = new NoteVectors(dimensions, options);
    vectors.#metadata = await VectorMatrix.restore(reader, dimensions, options);
    vectors.#chunks = await VectorMatrix.restore(reader, dimensions, options);
    const slots = vectors.#metadata.rowCount;
    const room = roomFor(slots);
    vectors.#alive = await reader.readArray(Uint8Array, slots, room);
    vectors.#firstRows = await reader.readArray(Uint32Array, slots, room);
    vectors.#rowCounts = await reader.readArray(Uint32Array, slots, room);
    vectors.#hanShares = await reader.readArray(Float32Array, slots, room);
    vectors.#body = new Float32Array(room);
    const counters = await reader.readNumbers(3);
    vectors.#aliveCount = counters[0] ?? 0;
    vectors.#removedCount = counters[1] ?? 0;
    vectors.#aliveChunkCount = counters[2] ?? 0;
    vectors.#kept = await restoreCalibration(reader, dimensions, vectors.#countRows());
    return vectors;
  }

  /**
   * Takes down the vectors that count now. If others are staged for a slot before it is saved, its
   * metadata may be the new one beside the chunks of before: both are of the text of the slot.
   */
  freeze(): Frozen {
    const slots = this.#metadata.rowCount;
    const counters = [this.#aliveCount, this.#removedCount, this.#aliveChunkCount];
    const bySlot = [this.#alive, this.#firstRows, this.#rowCounts, this.#hanShares]
      .map((array) => array.slice(0, slots));
    return frozenTogether([this.#metadata.freeze(), this.#chunks.freeze(), {
      async save(writer) {
        for (const array of bySlot) await writer.writeArray(array);
        await writer.writeNumbers(...counters);
      },
    }, freezeCalibration(this.#kept, this.#countRows())]);
  }

  /** What was found out about the cosines of these vectors; `undefined` = nothing yet. */
  get calibration(): Calibration | undefined {
    return this.#kept.calibration;
  }

  /**
   * Takes over what was found out about the cosines.
   *
   * @param view How notes were compared for that, with what was worked out meanwhile.
   */
  calibrate(calibration: Calibration | undefined, view?: VectorView): void {
    const centring = calibration?.centring;
    const usual = { centred: centring && toCentredRows(centring) };
    this.#kept = { calibration, view: view ?? usual };
  }

  #countRows(): RowCounts {
    return { metadata: this.#metadata.rowCount, chunks: this.#chunks.rowCount };
  }

  get dimensions(): number {
    return this.#metadata.dimensions;
  }

  /** How many notes have vectors. */
  get noteCount(): number {
    return this.#aliveCount;
  }

  /** Another number when vectors that were there have given way to others. */
  get generation(): number {
    return this.#generation;
  }

  /** How many chunks the notes have, those without a vector included. */
  get chunkCount(): number {
    return this.#aliveChunkCount;
  }

  /** The memory that was taken, removed notes and room for others included. */
  get bytes(): number {
    const bySlot = [this.#alive, this.#firstRows, this.#rowCounts, this.#hanShares, this.#body];
    const matrices = this.#metadata.bytes + this.#chunks.bytes;
    return bySlot.reduce((bytes, { byteLength }) => bytes + byteLength, matrices);
  }

  /** True when removed notes take more room than those that are there. */
  get isWasteful(): boolean {
    const alive = this.#aliveCount + this.#aliveChunkCount;
    const dead = this.#removedCount + this.#chunks.rowCount - this.#aliveChunkCount;
    return dead > alive && dead > MIN_DEAD_ROWS;
  }

  /**
   * Adds the vectors of a note in small steps; they count from the last step on, in place of those
   * that the slot had.
   *
   * @throws {RangeError} If a vector has other dimensions; then none of them counts.
   */
  *stage(slot: number, vectors: NoteEmbeddings): Generator<void> {
    yield* this.#add(slot, { ...vectors, chunkCount: vectors.chunks.length });
  }

  /** Removes the vectors of a note; a slot that has none changes nothing. */
  remove(slot: number): void {
    if (this.#alive[slot] !== 1) return;
    this.#alive[slot] = 0;
    this.#aliveCount--;
    this.#removedCount++;
    this.#aliveChunkCount -= this.#rowCounts[slot] ?? 0;
    this.#rowCounts[slot] = 0;
  }

  /** Tells whether a slot has vectors, be they of a note in which the model knows nothing. */
  has(slot: number): boolean {
    return this.#alive[slot] === 1;
  }

  /** Returns the share of a note's text that is Chinese, 0 if it was never staged. */
  hanShareAt(slot: number): number {
    return this.#hanShares[slot] ?? 0;
  }

  /**
   * Compares a query with every note; valid until the next scan. A query that points nowhere finds
   * all notes without vectors.
   *
   * @throws {RangeError} If the query has other dimensions.
   */
  scan(query: VectorQuery): SlotSignals {
    const { centred } = this.#kept.view;
    const asked = centred && centreQuery(query, centred.centring);
    const metadata = this.#metadata.cosines(asked?.vector ?? query.vector);
    this.#cosines = this.#chunks.cosines(asked?.vector ?? query.vector);
    const slots = metadata.length;
    for (let slot = 0; slot < slots; slot++) {
      const first = this.#firstRows[slot] ?? 0;
      const end = first + (this.#rowCounts[slot] ?? 0);
      if (centred && asked && this.#alive[slot] === 1) {
        const own = metadata.subarray(slot, slot + 1);
        this.#centre(slot, { centred, asked }, [own, this.#cosines.subarray(first, end)]);
      }
      this.#body[slot] = weighBest(this.#cosines, first, end);
    }
    return { metadata, body: this.#body.subarray(0, slots) };
  }

  /**
   * Takes a query and returns what compares it with one note after the other, for few of them in
   * less time than `scan()`; valid until the next query, and until vectors are staged.
   *
   * @param view How to compare; as scans do without it.
   * @throws {RangeError} If the query has other dimensions.
   */
  compare(query: VectorQuery, view: VectorView = this.#kept.view): (slot: number) => NoteCosines {
    const { centred } = view;
    const asked = centred && centreQuery(query, centred.centring);
    const compareMetadata = this.#metadata.compare(asked?.vector ?? query.vector);
    const compareChunks = this.#chunks.compare(asked?.vector ?? query.vector);
    return (slot) => {
      if (slot >= this.#metadata.rowCount) return NO_COSINES;
      const metadata = new Float32Array(1);
      const chunks = new Float32Array(this.#rowCounts[slot] ?? 0);
      compareMetadata(slot, metadata);
      compareChunks(this.#firstRows[slot] ?? 0, chunks);
      if (centred && asked) this.#centre(slot, { centred, asked }, [metadata, chunks]);
      return { metadata: metadata[0] ?? NaN, body: weighBest(chunks, 0, chunks.length), chunks };
    };
  }

  /** Works out in small steps what scans would have to while somebody waits. */
  *warmUp(): Generator<void, void> {
    const { centred } = this.#kept.view;
    if (!centred) return;
    for (let slot = 0; slot < this.#metadata.rowCount; slot++) {
      const language = languageOf(this.hanShareAt(slot));
      centred.metadata.at(this.#metadata, slot, language);
      const first = this.#firstRows[slot] ?? 0;
      for (let row = first + (this.#rowCounts[slot] ?? 0) - 1; row >= first; row--) {
        centred.chunks.at(this.#chunks, row, language);
        if (row % ROWS_PER_STEP === 0) yield;
      }
      yield;
    }
  }

  /** Yields the vectors of a note with how much of it is Chinese, its metadata first. */
  *vectorsAt(slot: number): Generator<LanguageVector> {
    if (this.#alive[slot] !== 1) return;
    const hanShare = this.hanShareAt(slot);
    yield { vector: this.#metadata.rowAt(slot), hanShare };
    const first = this.#firstRows[slot] ?? 0;
    for (const vector of this.#chunks.rows(first, first + (this.#rowCounts[slot] ?? 0))) {
      yield { vector, hanShare };
    }
  }

  /**
   * Returns a copy of the cosines of a note's chunks in the last scan, in their order: NaN where a
   * chunk has no vector or was not yet there, and everywhere after `takeOver()`.
   */
  chunkCosines(slot: number): Float32Array<ArrayBuffer> {
    const first = this.#firstRows[slot] ?? 0;
    const cosines = new Float32Array(this.#rowCounts[slot] ?? 0).fill(NaN);
    cosines.set(this.#cosines.subarray(first, first + cosines.length));
    return cosines;
  }

  /**
   * Copies what is alive, in small steps, while this one goes on to be scanned; it must not change
   * meanwhile.
   *
   * @param slots The new slot of each old one that is alive.
   */
  *compacted(slots: ReadonlyMap<number, number>): Generator<void, NoteVectors> {
    const copy = new NoteVectors(this.dimensions, this.#options);
    copy.calibrate(this.calibration);
    for (const [oldSlot, slot] of slots) {
      if (this.#alive[oldSlot] === 1) yield* copy.#adopt(this, { oldSlot, slot });
      yield;
    }
    yield* copy.warmUp();
    return copy;
  }

  /** Becomes what a compacted copy is; what was found out since it was begun stays in force. */
  takeOver(other: NoteVectors): void {
    this.#generation++;
    this.#metadata = other.#metadata;
    this.#chunks = other.#chunks;
    this.#alive = other.#alive;
    this.#firstRows = other.#firstRows;
    this.#rowCounts = other.#rowCounts;
    this.#hanShares = other.#hanShares;
    this.#body = other.#body;
    this.#cosines = other.#cosines;
    this.#aliveCount = other.#aliveCount;
    this.#removedCount = other.#removedCount;
    this.#aliveChunkCount = other.#aliveChunkCount;
    const { calibration = other.calibration } = this;
    if (calibration !== other.calibration) other.calibrate(calibration);
    this.#kept = other.#kept;
  }

  #adopt(
    from: NoteVectors,
    { oldSlot, slot }: Record<"oldSlot" | "slot", number>,
  ): Generator<void> {
    const first = from.#firstRows[oldSlot] ?? 0;
    const chunkCount = from.#rowCounts[oldSlot] ?? 0;
    return this.#add(slot, {
      metadata: from.#metadata.rowAt(oldSlot),
      chunks: from.#chunks.rows(first, first + chunkCount),
      chunkCount,
      hanShare: from.hanShareAt(oldSlot),
    });
  }

  /** Turns the cosines of a note's metadata and chunks into centred ones, in place. */
  #centre(
    slot: number,
    { centred, asked: query }: { readonly centred: CentredRows; readonly asked: CentredQuery },
    [metadata, chunks]: readonly [Float32Array, Float32Array],
  ): void {
    const language = languageOf(this.hanShareAt(slot));
    const own = { matrix: this.#metadata, stretches: centred.metadata, query };
    centreCosines(metadata, own, { first: slot, language });
    const each = { matrix: this.#chunks, stretches: centred.chunks, query };
    centreCosines(chunks, each, { first: this.#firstRows[slot] ?? 0, language });
  }

  *#add(slot: number, vectors: VectorsToAdd): Generator<void> {
    const { metadata, chunks, chunkCount, hanShare } = vectors;
    // All at once, so that they lie side by side whatever else is staged meanwhile.
    const first = this.#chunks.appendEmpty(chunkCount);
    let row = first;
    for (const chunk of chunks) {
      if (chunk) this.#chunks.set(row, chunk);
      row++;
      if ((row - first) % ROWS_PER_STEP === 0) yield;
    }
    this.#openSlot(slot, metadata ?? new Int8Array(this.dimensions));
    this.#firstRows[slot] = first;
    this.#rowCounts[slot] = chunkCount;
    this.#hanShares[slot] = hanShare;
    this.#aliveChunkCount += chunkCount;
  }

  #openSlot(slot: number, metadata: Int8Array): void {
    if (slot >= this.#alive.length) this.#makeRoom(slot + 1);
    this.#metadata.appendEmpty(Math.max(0, slot + 1 - this.#metadata.rowCount));
    this.#metadata.set(slot, metadata);
    this.#kept.view.centred?.metadata.forget(slot);
    if (this.#alive[slot] === 1) {
      this.remove(slot);
      // Its own row is used again.
      this.#removedCount--;
      this.#generation++;
    }
    this.#alive[slot] = 1;
    this.#aliveCount++;
  }

  #makeRoom(slots: number): void {
    const length = Math.max(slots, this.#alive.length * 2);
    this.#firstRows = grown(this.#firstRows, length);
    this.#rowCounts = grown(this.#rowCounts, length);
    const alive = new Uint8Array(length);
    alive.set(this.#alive);
    this.#alive = alive;
    const hanShares = new Float32Array(length);
    hanShares.set(this.#hanShares);
    this.#hanShares = hanShares;
    this.#body = new Float32Array(length);
  }
}

interface VectorsToAdd {
  readonly metadata: Int8Array | undefined;
  readonly chunks: Iterable<Int8Array | undefined>;
  readonly chunkCount: number;
  readonly hanShare: number;
}
