/**
 * Many short texts, each with a number, in typed arrays: the garbage collector has nothing to walk,
 * where a map of a million strings stops the event loop each time it is marked or grows.
 */
import { FIRST_ROOM, grown, roomFor } from "./_posting_pool.ts";
import type { Frozen, SnapshotReader, SnapshotWriter } from "./_snapshot_stream.ts";

const PAGE_BITS = 16;
const PAGE_CHARS = 1 << PAGE_BITS;
const PAGE_MASK = PAGE_CHARS - 1;
/** Each has a table of its own, so that none takes long to grow. */
const SHARDS = 16;
const FIRST_CELLS = 256;
const CELLS_SAVED_PER_STEP = 16_384;
/** How full a table may be: another share for each shard, so that they do not all grow at once. */
const LOAD_LIMITS: readonly number[] = Array.from(
  { length: SHARDS },
  (_, shard) => 0.4 + 0.4 * shard / SHARDS,
);

/** A text once known keeps its number for good; numbers begin at 0. */
export class StringTable {
  /** By shard: the number of a text plus 1, at a place that its hash gives; 0 = free. */
  readonly #cells = Array.from({ length: SHARDS }, () => new Uint32Array(FIRST_CELLS));
  #fill = new Uint32Array(SHARDS);
  readonly #pages: Uint16Array[] = [];
  #pageFill = PAGE_CHARS;
  #hashes = new Uint32Array(FIRST_ROOM);
  #starts = new Uint32Array(FIRST_ROOM);
  #lengths = new Uint32Array(FIRST_ROOM);
  #size = 0;

  /** Makes a table of what `freeze()` saved. */
  static async restore(reader: SnapshotReader): Promise<StringTable> {
    const table = new StringTable();
    const [size = 0, pageCount = 0, pageFill = 0] = await reader.readNumbers(3);
    const room = roomFor(size);
    table.#hashes = await reader.readArray(Uint32Array, size, room);
    table.#starts = await reader.readArray(Uint32Array, size, room);
    table.#lengths = await reader.readArray(Uint32Array, size, room);
    for (let page = 1; page <= pageCount; page++) {
      const chars = page === pageCount ? pageFill : PAGE_CHARS;
      table.#pages.push(await reader.readArray(Uint16Array, chars, PAGE_CHARS));
    }
    table.#pageFill = pageFill;
    table.#fill = await reader.readArray(Uint32Array, SHARDS);
    for (const [shard, count] of (await reader.readNumbers(SHARDS)).entries()) {
      table.#cells[shard] = await reader.readArray(Uint32Array, count);
    }
    table.#size = size;
    return table;
  }

  /** Takes down which texts are there now. */
  freeze(): Frozen {
    const cut: StringCut = {
      size: this.#size,
      hashes: this.#hashes.subarray(0, this.#size),
      starts: this.#starts.subarray(0, this.#size),
      lengths: this.#lengths.subarray(0, this.#size),
      pages: [...this.#pages],
      pageFill: this.#pageFill,
      fill: this.#fill.slice(),
      cells: [...this.#cells],
    };
    return { save: (writer) => saveStrings(cut, writer) };
  }

  get size(): number {
    return this.#size;
  }

  /** Returns the number of a text, `undefined` if it is not known. */
  find(text: string): number | undefined {
    const hash = hashOf(text);
    const found = this.#cells[hash % SHARDS]?.[this.#placeOf(text, hash)] ?? 0;
    return found === 0 ? undefined : found - 1;
  }

  /**
   * Returns the number of a text, a new one if it was not known.
   *
   * @param text At most 65 536 characters.
   */
  intern(text: string): number {
    const hash = hashOf(text);
    const shard = hash % SHARDS;
    const place = this.#placeOf(text, hash);
    const found = this.#cells[shard]?.[place] ?? 0;
    if (found !== 0) return found - 1;
    const number = this.#store(text, hash);
    const cells = this.#cells[shard];
    if (cells) cells[place] = number + 1;
    const fill = (this.#fill[shard] ?? 0) + 1;
    this.#fill[shard] = fill;
    const limit = LOAD_LIMITS[shard] ?? 0;
    if (cells && fill > cells.length * limit) this.#cells[shard] = this.#rehash(cells);
    return number;
  }

  /** Returns the text with a number, "" if there is none. */
  at(number: number): string {
    const start = this.#starts[number] ?? 0;
    const length = this.#lengths[number] ?? 0;
    const from = start & PAGE_MASK;
    const chars = this.#pages[start >>> PAGE_BITS]?.subarray(from, from + length);
    return chars ? String.fromCharCode(...chars) : "";
  }

  /** Returns one UTF-16 unit of a text; -1 is the last one. */
  unitAt(number: number, index: 0 | -1): number | undefined {
    const start = this.#starts[number] ?? 0;
    const at = index === 0 ? 0 : (this.#lengths[number] ?? 0) - 1;
    return this.#pages[start >>> PAGE_BITS]?.[(start & PAGE_MASK) + at];
  }

  /** Returns the cell that holds a text, or the free one where it would go. */
  #placeOf(text: string, hash: number): number {
    const cells = this.#cells[hash % SHARDS] ?? this.#hashes;
    const mask = cells.length - 1;
    for (let place = (hash >>> 4) & mask;; place = (place + 1) & mask) {
      const found = cells[place] ?? 0;
      if (found === 0 || (this.#hashes[found - 1] === hash && this.#holds(found - 1, text))) {
        return place;
      }
    }
  }

  #holds(number: number, text: string): boolean {
    if (this.#lengths[number] !== text.length) return false;
    const start = this.#starts[number] ?? 0;
    const page = this.#pages[start >>> PAGE_BITS];
    const from = start & PAGE_MASK;
    for (let i = 0; i < text.length; i++) {
      if (page?.[from + i] !== text.charCodeAt(i)) return false;
    }
    return true;
  }

  #store(text: string, hash: number): number {
    const number = this.#size++;
    if (number >= this.#hashes.length) this.#makeRoom();
    if (this.#pageFill + text.length > PAGE_CHARS) {
      this.#pages.push(new Uint16Array(PAGE_CHARS));
      this.#pageFill = 0;
    }
    const page = this.#pages.at(-1);
    for (let i = 0; page && i < text.length; i++) page[this.#pageFill + i] = text.charCodeAt(i);
    this.#hashes[number] = hash;
    this.#lengths[number] = text.length;
    this.#starts[number] = (this.#pages.length - 1) * PAGE_CHARS + this.#pageFill;
    this.#pageFill += text.length;
    return number;
  }

  #rehash(cells: Uint32Array): Uint32Array<ArrayBuffer> {
    const larger = new Uint32Array(cells.length * 2);
    const mask = larger.length - 1;
    for (const found of cells) {
      if (found === 0) continue;
      let place = ((this.#hashes[found - 1] ?? 0) >>> 4) & mask;
      while (larger[place] !== 0) place = (place + 1) & mask;
      larger[place] = found;
    }
    return larger;
  }

  #makeRoom(): void {
    const length = this.#hashes.length * 2;
    this.#hashes = grown(this.#hashes, length);
    this.#starts = grown(this.#starts, length);
    this.#lengths = grown(this.#lengths, length);
  }
}

/** Nothing but the counts is a copy: what is there does not change, and what comes is told apart. */
interface StringCut {
  readonly size: number;
  readonly hashes: Uint32Array;
  readonly starts: Uint32Array;
  readonly lengths: Uint32Array;
  readonly pages: readonly Uint16Array[];
  /** How far the last page is in use. */
  readonly pageFill: number;
  readonly fill: Uint32Array;
  readonly cells: readonly Uint32Array[];
}

async function saveStrings(cut: StringCut, writer: SnapshotWriter): Promise<void> {
  const { size, hashes, starts, lengths, pages, pageFill, fill, cells } = cut;
  await writer.writeNumbers(size, pages.length, pageFill);
  for (const byNumber of [hashes, starts, lengths]) await writer.writeArray(byNumber);
  for (const page of pages.slice(0, -1)) await writer.writeArray(page);
  await writer.writeArray(pages.at(-1)?.subarray(0, pageFill) ?? new Uint16Array(0));
  await writer.writeArray(fill);
  await writer.writeNumbers(...cells.map(({ length }) => length));
  for (const shard of cells) {
    for (let at = 0; at < shard.length; at += CELLS_SAVED_PER_STEP) {
      await writer.writeArray(withoutNewer(shard.slice(at, at + CELLS_SAVED_PER_STEP), size));
    }
  }
}

/**
 * Frees the cells of texts that came later. As a text goes to the first free cell and stays there,
 * the others lie as if these had never come.
 */
function withoutNewer(cells: Uint32Array, size: number): Uint32Array {
  for (let i = 0; i < cells.length; i++) if ((cells[i] ?? 0) > size) cells[i] = 0;
  return cells;
}

/** FNV-1a over UTF-16 units, mixed once more, since most texts have two. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  hash = Math.imul(hash ^ hash >>> 15, 0x2c1b3c6d);
  return (hash ^ hash >>> 13) >>> 0;
}
