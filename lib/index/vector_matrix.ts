/** Many vectors of small integers, and their cosines with a query in one scan. */
import { SnapshotUnusable } from "./_snapshot_frames.ts";
import type { Frozen, SnapshotReader, SnapshotWriter } from "./_snapshot_stream.ts";
import { BLOCK_ROWS, KernelRows, PlainRows, type VectorRows } from "./_vector_rows.ts";

export interface VectorMatrixOptions {
  /** How rows are multiplied; both give the same numbers. The kernel is used where it can be. */
  readonly engine?: "kernel" | "plain";
  /** Most pages of 64 KiB that the kernel may take; a matrix that needs more goes on without it. */
  readonly maxPages?: number;
}

const LARGEST_VALUE = 127;
/** What WebAssembly can address. */
const MAX_PAGES = 65_536;
/** Beyond it the query would become too coarse. */
const MAX_DIMENSIONS = 65_536;
const FIRST_ROWS = 256;
/** Or one row, if it is longer. */
const BYTES_SAVED_PER_STEP = 64 * 1024;

/**
 * Returns a vector as integers, its largest absolute value as 127; `undefined` if it is all zero or
 * holds what is no finite number: it points nowhere.
 */
export function quantize(vector: Float32Array): Int8Array<ArrayBuffer> | undefined {
  const largest = largestOf(vector);
  if (largest === undefined) return undefined;
  const scale = LARGEST_VALUE / largest;
  const integers = new Int8Array(vector.length);
  for (let i = 0; i < vector.length; i++) integers[i] = Math.round((vector[i] ?? 0) * scale);
  return integers;
}

/**
 * Writes the cosines of the rows from one on, NaN for a row that is all zero and everywhere if the
 * query points nowhere.
 */
export type CompareRows = (first: number, cosines: Float32Array) => void;

/** Vectors of one length; a row that is all zero stands for none. Rows are never taken out. */
export class VectorMatrix {
  readonly dimensions: number;
  #rows: VectorRows;
  /** By row: 1 / length, NaN for a row that is all zero. */
  #inverseLengths = new Float64Array(FIRST_ROWS).fill(NaN);
  #cosines = new Float32Array(0);
  #rowCount = 0;

  /**
   * @param dimensions 1 to 65 536.
   * @throws {RangeError} If there are more dimensions, or none.
   * @throws {Error} If the kernel is asked for and cannot run here.
   */
  constructor(dimensions: number, options: VectorMatrixOptions = {}) {
    if (!Number.isInteger(dimensions) || dimensions < 1 || dimensions > MAX_DIMENSIONS) {
      throw new RangeError(
        `Cannot hold vectors of ${dimensions} dimensions: from 1 to ${MAX_DIMENSIONS} are possible`,
      );
    }
    this.dimensions = dimensions;
    this.#rows = openRows(dimensions, options);
  }

  /**
   * Makes a matrix of what `freeze()` saved.
   *
   * @throws {SnapshotUnusable} If it was one of other dimensions.
   */
  static async restore(
    reader: SnapshotReader,
    dimensions: number,
    options: VectorMatrixOptions = {},
  ): Promise<VectorMatrix> {
    const [found, rowCount = 0] = await reader.readNumbers(2);
    if (found !== dimensions) throw new SnapshotUnusable("not-restorable");
    reader.requireLeft(rowCount * (dimensions + Float64Array.BYTES_PER_ELEMENT));
    const matrix = new VectorMatrix(dimensions, options);
    matrix.appendEmpty(rowCount);
    for (const [first, end] of savedSteps(rowCount, dimensions)) {
      const values = await reader.readArray(Int8Array, (end - first) * dimensions);
      for (let row = first, at = 0; row < end; row++, at += dimensions) {
        matrix.#rows.set(row, values.subarray(at, at + dimensions));
      }
      await reader.fill(matrix.#inverseLengths.subarray(first, end));
    }
    return matrix;
  }

  /**
   * Takes down the rows that there are now. One that has a vector and gets another before it is
   * saved is saved with that one.
   */
  freeze(): Frozen {
    const inverseLengths = this.#inverseLengths.slice(0, this.#rowCount);
    return { save: (writer) => this.#save(inverseLengths, writer) };
  }

  /** How the rows are multiplied now. */
  get engine(): "kernel" | "plain" {
    return this.#rows.engine;
  }

  get rowCount(): number {
    return this.#rowCount;
  }

  /** The memory that was taken, room for rows to come included. */
  get bytes(): number {
    return this.#rows.bytes + this.#inverseLengths.byteLength + this.#cosines.byteLength;
  }

  /**
   * Adds a row and returns its number.
   *
   * @throws {RangeError} If the vector has other dimensions.
   */
  append(row: Int8Array): number {
    this.#requireDimensions(row);
    const number = this.appendEmpty(1);
    this.set(number, row);
    return number;
  }

  /** Adds rows that stand for no vector, side by side, and returns the number of the first. */
  appendEmpty(count: number): number {
    const first = this.#rowCount;
    if (!this.#rows.reserve(first + count)) this.#leaveKernel(first + count);
    if (first + count > this.#inverseLengths.length) this.#makeRoom(first + count);
    this.#rowCount += count;
    return first;
  }

  /**
   * Puts a vector in place of the one in a row.
   *
   * @throws {RangeError} If there is no such row, or the vector has other dimensions.
   */
  set(row: number, values: Int8Array): void {
    this.#requireRow(row);
    this.#requireDimensions(values);
    let squares = 0;
    for (let i = 0; i < values.length; i++) {
      const value = values[i] ?? 0;
      squares += value * value;
    }
    this.#rows.set(row, values);
    this.#inverseLengths[row] = squares === 0 ? NaN : 1 / Math.sqrt(squares);
  }

  /**
   * Returns a copy of a row.
   *
   * @throws {RangeError} If there is no such row.
   */
  rowAt(row: number): Int8Array<ArrayBuffer> {
    this.#requireRow(row);
    return this.#rows.rowsAt(row, 1);
  }

  /** Yields a copy of each row from one up to another. */
  *rows(from: number, to: number): Generator<Int8Array<ArrayBuffer>> {
    for (let row = from; row < to; row++) yield this.rowAt(row);
  }

  /**
   * Returns the cosine of a query with each row, NaN for a row that is all zero and everywhere if
   * the query points nowhere; valid until the next call.
   *
   * @param query Of any length, not only 1.
   * @throws {RangeError} If the query has other dimensions.
   */
  cosines(query: Float32Array): Float32Array<ArrayBuffer> {
    const compare = this.compare(query);
    const cosines = this.#roomForCosines();
    compare(0, cosines.subarray(0, this.#rowCount));
    return cosines.subarray(0, this.#rowCount);
  }

  /**
   * Takes a query and returns what compares it with rows side by side, for a few of them; valid
   * until the next query.
   *
   * @throws {RangeError} If the query has other dimensions.
   */
  compare(query: Float32Array): CompareRows {
    this.#requireDimensions(query);
    const { values, inverseLength } = toFineIntegers(query);
    this.#rows.setQuery(values);
    return (start, cosines) => {
      for (let at = 0; at < cosines.length; at += BLOCK_ROWS) {
        const count = Math.min(BLOCK_ROWS, cosines.length - at);
        const dots = this.#rows.dots(start + at, count);
        for (let i = 0; i < count; i++) {
          const length = this.#inverseLengths[start + at + i] ?? NaN;
          cosines[at + i] = (dots[i] ?? 0) * length * inverseLength;
        }
      }
    };
  }

  /** @param before By row that there was, the inverse length that it had: NaN = no vector. */
  async #save(before: Float64Array, writer: SnapshotWriter): Promise<void> {
    await writer.writeNumbers(this.dimensions, before.length);
    for (const [first, end] of savedSteps(before.length, this.dimensions)) {
      // Both copied at once, so that they belong together whatever is set meanwhile.
      const values = this.#rows.rowsAt(first, end - first);
      const inverseLengths = this.#inverseLengths.slice(first, end);
      for (let i = 0; i < inverseLengths.length; i++) {
        if (!Number.isNaN(before[first + i] ?? NaN)) continue;
        inverseLengths[i] = NaN;
        values.fill(0, i * this.dimensions, (i + 1) * this.dimensions);
      }
      await writer.writeArray(values);
      await writer.writeArray(inverseLengths);
    }
  }

  /** Copies all rows at once, which takes its time; it comes to that only after some 4 GiB. */
  #leaveKernel(rowCount: number): void {
    const plain = new PlainRows(this.dimensions);
    plain.reserve(rowCount);
    for (let row = 0; row < this.#rowCount; row++) plain.set(row, this.#rows.rowsAt(row, 1));
    this.#rows = plain;
  }

  #makeRoom(rows: number): void {
    const longer = new Float64Array(Math.max(rows, this.#inverseLengths.length * 2));
    longer.fill(NaN, this.#rowCount).set(this.#inverseLengths.subarray(0, this.#rowCount));
    this.#inverseLengths = longer;
  }

  #roomForCosines(): Float32Array<ArrayBuffer> {
    if (this.#cosines.length < this.#rowCount) {
      this.#cosines = new Float32Array(this.#inverseLengths.length);
    }
    return this.#cosines;
  }

  #requireRow(row: number): void {
    if (row >= 0 && row < this.#rowCount) return;
    throw new RangeError(`Cannot find row ${row}: the matrix has ${this.#rowCount}`);
  }

  #requireDimensions(vector: Int8Array | Float32Array): void {
    if (vector.length === this.dimensions) return;
    throw new RangeError(
      `Cannot use a vector of ${vector.length} dimensions: here they have ${this.dimensions}`,
    );
  }
}

/** Yields the first row and the one after the last of each step in which rows are saved. */
function* savedSteps(rowCount: number, dimensions: number): Generator<[number, number]> {
  const rows = Math.max(1, Math.floor(BYTES_SAVED_PER_STEP / dimensions));
  for (let first = 0; first < rowCount; first += rows) {
    yield [first, Math.min(first + rows, rowCount)];
  }
}

function openRows(dimensions: number, options: VectorMatrixOptions): VectorRows {
  if (options.engine === "plain") return new PlainRows(dimensions);
  const rows = KernelRows.open(dimensions, options.maxPages ?? MAX_PAGES);
  if (rows) return rows;
  if (options.engine === "kernel") throw new Error("Cannot run the kernel: no WebAssembly SIMD");
  return new PlainRows(dimensions);
}

/**
 * Returns a query as int16 numbers, so fine that rounding them changes next to nothing.
 *
 * Sums cannot overflow: the absolute value of a row's number is at most 128, that of the query's at
 * most `scale`, so that no sum of any of their products, in whatever order, exceeds
 * dimensions * 128 * scale <= 2 ** 31 - 1.
 */
function toFineIntegers(query: Float32Array): { values: Int16Array; inverseLength: number } {
  const values = new Int16Array(query.length);
  const largest = largestOf(query);
  if (largest === undefined) return { values, inverseLength: NaN };
  const scale = Math.min(2 ** 15 - 1, Math.floor((2 ** 31 - 1) / (query.length * 128)));
  let squares = 0;
  for (let i = 0; i < query.length; i++) {
    const value = Math.round((query[i] ?? 0) * (scale / largest));
    values[i] = value;
    squares += value ** 2;
  }
  return { values, inverseLength: 1 / Math.sqrt(squares) };
}

/** Returns the largest absolute value, `undefined` if it is 0 or one is no finite number. */
function largestOf(vector: Float32Array): number | undefined {
  let largest = 0;
  for (const value of vector) {
    if (!Number.isFinite(value)) return undefined;
    largest = Math.max(largest, Math.abs(value));
  }
  return largest === 0 ? undefined : largest;
}
