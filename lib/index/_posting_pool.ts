/**
 * Lists of numbers that grow at the end, one for each term, in pages of typed arrays: no object a
 * list, no copying when one grows. A list is a chain of blocks, each twice as long as the one
 * before it; the last cell of a full block holds the address of the next.
 */
import type { Frozen, SnapshotReader, SnapshotWriter } from "./_snapshot_stream.ts";

const PAGE_BITS = 16;
const PAGE_CELLS = 1 << PAGE_BITS;
const PAGE_MASK = PAGE_CELLS - 1;
const LARGEST_LEVEL = 9;
/** How many things an array by number has room for at first. */
export const FIRST_ROOM = 1024;

/** Cells for numbers in a block; one more holds the link. */
const blockCells = (level: number): number => 2 << Math.min(level, LARGEST_LEVEL);

/** A growing set of lists, named by the numbers 0 and up. */
export class PostingPool {
  readonly #pages: Uint32Array[] = [];
  #pageFill = PAGE_CELLS;
  /** One more than the highest list that holds something. */
  #listCount = 0;
  #head = new Uint32Array(FIRST_ROOM);
  #cursor = new Uint32Array(FIRST_ROOM);
  #count = new Uint32Array(FIRST_ROOM);

  /** Makes a pool of what `freeze()` saved. */
  static async restore(reader: SnapshotReader): Promise<PostingPool> {
    const pool = new PostingPool();
    const [listCount = 0, pageCount = 0, pageFill = 0] = await reader.readNumbers(3);
    const room = roomFor(listCount);
    pool.#head = await reader.readArray(Uint32Array, listCount, room);
    pool.#cursor = await reader.readArray(Uint32Array, listCount, room);
    pool.#count = await reader.readArray(Uint32Array, listCount, room);
    for (let page = 1; page <= pageCount; page++) {
      const cells = page === pageCount ? pageFill : PAGE_CELLS;
      pool.#pages.push(await reader.readArray(Uint32Array, cells, PAGE_CELLS));
    }
    pool.#pageFill = pageFill;
    pool.#listCount = listCount;
    return pool;
  }

  /** Takes down what the lists hold now. What comes later goes to other cells of the pages. */
  freeze(): Frozen {
    const cut: PoolCut = {
      // A list that begins later has none now, so that its head says nothing.
      head: this.#head.subarray(0, this.#listCount),
      cursor: this.#cursor.slice(0, this.#listCount),
      count: this.#count.slice(0, this.#listCount),
      pages: [...this.#pages],
      pageFill: this.#pageFill,
    };
    return { save: (writer) => savePool(cut, writer) };
  }

  /** Returns how many numbers a list holds. */
  countOf(list: number): number {
    return this.#count[list] ?? 0;
  }

  append(list: number, value: number): void {
    if (list >= this.#count.length) this.#makeRoom(list);
    const count = this.#count[list] ?? 0;
    if (count === 0) {
      this.#listCount = Math.max(this.#listCount, list + 1);
      this.#cursor[list] = this.#head[list] = this.#newBlock(0);
    } else {
      const level = levelStartingAt(count);
      if (level > 0) this.#link(list, level);
    }
    const at = this.#cursor[list] ?? 0;
    this.#page(at)[at & PAGE_MASK] = value;
    this.#cursor[list] = at + 1;
    this.#count[list] = count + 1;
  }

  /** Calls `visit` for each stretch of a list: the numbers are `page[from]` to `page[to - 1]`. */
  visit(list: number, visit: (page: Uint32Array, from: number, to: number) => void): void {
    let left = this.countOf(list);
    let at = this.#head[list] ?? 0;
    for (let level = 0; left > 0; level++) {
      const page = this.#page(at);
      const from = at & PAGE_MASK;
      const cells = blockCells(level);
      const take = Math.min(cells, left);
      visit(page, from, from + take);
      left -= take;
      at = page[from + cells] ?? 0;
    }
  }

  /** Returns a copy of a list. */
  numbersOf(list: number): number[] {
    const numbers: number[] = [];
    this.visit(list, (page, from, to) => {
      for (let i = from; i < to; i++) numbers.push(page[i] ?? 0);
    });
    return numbers;
  }

  #link(list: number, level: number): void {
    const at = this.#cursor[list] ?? 0;
    const next = this.#newBlock(level);
    this.#page(at)[at & PAGE_MASK] = next;
    this.#cursor[list] = next;
  }

  /** A block never crosses a page, so that it can be read in one go. */
  #newBlock(level: number): number {
    const cells = blockCells(level) + 1;
    if (this.#pageFill + cells > PAGE_CELLS) {
      this.#pages.push(new Uint32Array(PAGE_CELLS));
      this.#pageFill = 0;
    }
    const address = (this.#pages.length - 1) * PAGE_CELLS + this.#pageFill;
    this.#pageFill += cells;
    return address;
  }

  #page(address: number): Uint32Array {
    const page = this.#pages[address >>> PAGE_BITS];
    if (!page) throw new Error("Cannot read a posting: its page is missing");
    return page;
  }

  #makeRoom(list: number): void {
    const length = Math.max(list + 1, this.#count.length * 2);
    this.#head = grown(this.#head, length);
    this.#cursor = grown(this.#cursor, length);
    this.#count = grown(this.#count, length);
  }
}

interface PoolCut {
  readonly head: Uint32Array;
  readonly cursor: Uint32Array;
  readonly count: Uint32Array;
  readonly pages: readonly Uint32Array[];
  /** How far the last page is in use. */
  readonly pageFill: number;
}

async function savePool(cut: PoolCut, writer: SnapshotWriter): Promise<void> {
  const { head, cursor, count, pages, pageFill } = cut;
  await writer.writeNumbers(count.length, pages.length, pageFill);
  for (const byList of [head, cursor, count]) await writer.writeArray(byList);
  for (const page of pages.slice(0, -1)) await writer.writeArray(page);
  await writer.writeArray(pages.at(-1)?.subarray(0, pageFill) ?? new Uint32Array(0));
}

/** How many numbers the growing blocks hold together. */
const GROWING_CELLS = blockCells(LARGEST_LEVEL) * 2 - 2;

/** Returns the level of the block that begins after `count` numbers, 0 if none does. */
function levelStartingAt(count: number): number {
  if (count > GROWING_CELLS) {
    return (count - GROWING_CELLS) % blockCells(LARGEST_LEVEL) === 0 ? LARGEST_LEVEL : 0;
  }
  const sum = count + 2;
  return (sum & (sum - 1)) === 0 ? 30 - Math.clz32(sum) : 0;
}

/** Returns how long to make an array by number that has so many entries and goes on to grow. */
export function roomFor(count: number): number {
  return Math.max(FIRST_ROOM, 2 ** Math.ceil(Math.log2(count + 1)));
}

/** Returns a longer copy. */
export function grown(array: Uint32Array, length: number): Uint32Array<ArrayBuffer> {
  const longer = new Uint32Array(length);
  longer.set(array);
  return longer;
}
