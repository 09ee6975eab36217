/**
 * Lists of numbers that grow at the end, one for each term, in pages of typed arrays: no object a
 * list, no copying when one grows. A list is a chain of blocks, each twice as long as the one
 * before it; the last cell of a full block holds the address of the next.
 */

const PAGE_BITS = 16;
const PAGE_CELLS = 1 << PAGE_BITS;
const PAGE_MASK = PAGE_CELLS - 1;
const LARGEST_LEVEL = 9;

/** Cells for numbers in a block; one more holds the link. */
const blockCells = (level: number): number => 2 << Math.min(level, LARGEST_LEVEL);

/** A growing set of lists, named by the numbers 0 and up. */
export class PostingPool {
  readonly #pages: Uint32Array[] = [];
  #pageFill = PAGE_CELLS;
  #head = new Uint32Array(1024);
  #cursor = new Uint32Array(1024);
  #count = new Uint32Array(1024);

  /** Returns how many numbers a list holds. */
  countOf(list: number): number {
    return this.#count[list] ?? 0;
  }

  append(list: number, value: number): void {
    if (list >= this.#count.length) this.#makeRoom(list);
    const count = this.#count[list] ?? 0;
    if (count === 0) {
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

/** Returns a longer copy. */
export function grown(array: Uint32Array, length: number): Uint32Array<ArrayBuffer> {
  const longer = new Uint32Array(length);
  longer.set(array);
  return longer;
}
