/**
 * Where the rows of a matrix lie: in the memory of the WebAssembly kernel, or in pages of
 * JavaScript where that cannot be had. Both give the same sums.
 */
import { type DotKernel, openDotKernel } from "./_dot_kernel.ts";

/** How many rows one call of `dots()` takes, and a page of plain rows holds. */
export const BLOCK_ROWS = 1024;

const PAGE_BYTES = 65_536;
/** The kernel takes so many values in one go. */
const KERNEL_VALUES = 16;

/** Rows of int8 numbers, all of one length. */
export interface VectorRows {
  readonly engine: "kernel" | "plain";
  /** The memory that was taken, room for rows to come included. */
  readonly bytes: number;
  /** Makes room for so many rows in all, new ones all zero; false if there is none to be had. */
  reserve(rowCount: number): boolean;
  set(row: number, values: Int8Array): void;
  /** Returns a copy of some rows, one after the other. */
  rowsAt(first: number, count: number): Int8Array<ArrayBuffer>;
  /** Takes the query for the sums to come. */
  setQuery(query: Int16Array): void;
  /**
   * Returns the dot products of the query with some rows, side by side; valid until the next call.
   *
   * @param count 1 to `BLOCK_ROWS`.
   */
  dots(first: number, count: number): Int32Array;
}

/** Rows in the kernel's own memory, behind query and sums; it grows in place. */
export class KernelRows implements VectorRows {
  readonly engine = "kernel";
  readonly #dimensions: number;
  /** Bytes from one row to the next. */
  readonly #width: number;
  /** Where the sums begin. */
  readonly #sumsAt: number;
  /** Where the rows begin. */
  readonly #rowsAt: number;
  readonly #memory: WebAssembly.Memory;
  readonly #kernel: DotKernel;
  /** Over the whole memory; growing it leaves these without any. */
  #values: Int8Array;
  #sums: Int32Array;

  private constructor(dimensions: number, memory: WebAssembly.Memory, kernel: DotKernel) {
    this.#dimensions = dimensions;
    this.#width = widthOf(dimensions);
    this.#sumsAt = 2 * this.#width;
    this.#rowsAt = headBytes(dimensions);
    this.#memory = memory;
    this.#kernel = kernel;
    this.#values = new Int8Array(memory.buffer);
    this.#sums = new Int32Array(memory.buffer, this.#sumsAt, BLOCK_ROWS);
  }

  /** Returns `undefined` where WebAssembly, its SIMD or memory for it cannot be had. */
  static open(dimensions: number, maxPages: number): KernelRows | undefined {
    const initial = Math.ceil(headBytes(dimensions) / PAGE_BYTES);
    try {
      const memory = new WebAssembly.Memory({ initial, maximum: maxPages });
      const kernel = openDotKernel(memory);
      return kernel && new KernelRows(dimensions, memory, kernel);
    } catch {
      // Whatever keeps it from running, there are the plain rows.
      return undefined;
    }
  }

  get bytes(): number {
    return this.#values.length;
  }

  reserve(rowCount: number): boolean {
    const missing = this.#rowsAt + rowCount * this.#width - this.#values.length;
    if (missing <= 0) return true;
    if (!this.#grow(Math.ceil(missing / PAGE_BYTES))) return false;
    this.#values = new Int8Array(this.#memory.buffer);
    this.#sums = new Int32Array(this.#memory.buffer, this.#sumsAt, BLOCK_ROWS);
    return true;
  }

  set(row: number, values: Int8Array): void {
    this.#values.set(values, this.#rowsAt + row * this.#width);
  }

  rowsAt(first: number, count: number): Int8Array<ArrayBuffer> {
    const copy = new Int8Array(count * this.#dimensions);
    for (let row = 0; row < count; row++) {
      const start = this.#rowsAt + (first + row) * this.#width;
      copy.set(this.#values.subarray(start, start + this.#dimensions), row * this.#dimensions);
    }
    return copy;
  }

  setQuery(query: Int16Array): void {
    new Int16Array(this.#memory.buffer, 0, this.#dimensions).set(query);
  }

  dots(first: number, count: number): Int32Array {
    const start = this.#rowsAt + first * this.#width;
    this.#kernel(start, start + count * this.#width, this.#sumsAt);
    return this.#sums;
  }

  /** Takes a quarter more than there is, so that it grows seldom, or what is needed at least. */
  #grow(missingPages: number): boolean {
    const quarter = Math.ceil(this.#values.length / PAGE_BYTES / 4);
    return [Math.max(missingPages, quarter), missingPages].some((pages) => {
      try {
        this.#memory.grow(pages);
        return true;
      } catch {
        // All that can go wrong here is that there are no more pages.
        return false;
      }
    });
  }
}

/** Rows in pages of a block each, for machines without the kernel. */
export class PlainRows implements VectorRows {
  readonly engine = "plain";
  readonly #dimensions: number;
  readonly #pages: Int8Array[] = [];
  readonly #sums = new Int32Array(BLOCK_ROWS);
  readonly #query: Int16Array;

  constructor(dimensions: number) {
    this.#dimensions = dimensions;
    this.#query = new Int16Array(dimensions);
  }

  get bytes(): number {
    return this.#pages.length * BLOCK_ROWS * this.#dimensions;
  }

  reserve(rowCount: number): boolean {
    while (this.#pages.length * BLOCK_ROWS < rowCount) {
      this.#pages.push(new Int8Array(BLOCK_ROWS * this.#dimensions));
    }
    return true;
  }

  set(row: number, values: Int8Array): void {
    this.#page(row).set(values, row % BLOCK_ROWS * this.#dimensions);
  }

  rowsAt(first: number, count: number): Int8Array<ArrayBuffer> {
    const copy = new Int8Array(count * this.#dimensions);
    for (let row = first; row < first + count; row++) {
      const start = row % BLOCK_ROWS * this.#dimensions;
      const values = this.#page(row).subarray(start, start + this.#dimensions);
      copy.set(values, (row - first) * this.#dimensions);
    }
    return copy;
  }

  setQuery(query: Int16Array): void {
    this.#query.set(query);
  }

  dots(first: number, count: number): Int32Array {
    for (let row = 0; row < count; row++) {
      const start = (first + row) % BLOCK_ROWS * this.#dimensions;
      this.#sums[row] = dotProduct(this.#page(first + row), start, this.#query);
    }
    return this.#sums;
  }

  #page(row: number): Int8Array {
    const page = this.#pages[Math.floor(row / BLOCK_ROWS)];
    if (!page) throw new Error("Cannot find a vector: its page is missing");
    return page;
  }
}

/** In 32-bit integers throughout, which is twice as fast as in floating point. */
function dotProduct(page: Int8Array, start: number, query: Int16Array): number {
  let sum = 0;
  for (let i = 0; i < query.length; i++) {
    sum = sum + Math.imul(page[start + i] ?? 0, query[i] ?? 0) | 0;
  }
  return sum;
}

function widthOf(dimensions: number): number {
  return Math.ceil(dimensions / KERNEL_VALUES) * KERNEL_VALUES;
}

/** Query and sums. */
function headBytes(dimensions: number): number {
  return 2 * widthOf(dimensions) + 4 * BLOCK_ROWS;
}
