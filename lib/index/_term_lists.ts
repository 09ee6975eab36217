/** Lists of numbers by a short text, in typed arrays like the terms themselves. */
import { PostingPool } from "./_posting_pool.ts";
import { type Frozen, frozenTogether, type SnapshotReader } from "./_snapshot_stream.ts";
import { StringTable } from "./_string_table.ts";

/** A list holds its numbers in the order in which they came. */
export class TermLists {
  #keys = new StringTable();
  #lists = new PostingPool();

  /** Makes lists of what `freeze()` saved. */
  static async restore(reader: SnapshotReader): Promise<TermLists> {
    const lists = new TermLists();
    lists.#keys = await StringTable.restore(reader);
    lists.#lists = await PostingPool.restore(reader);
    return lists;
  }

  add(key: string, number: number): void {
    this.#lists.append(this.#keys.intern(key), number);
  }

  /** Returns a copy of a list, empty if nothing was added to it. */
  at(key: string): number[] {
    const list = this.#keys.find(key);
    return list === undefined ? [] : this.#lists.numbersOf(list);
  }

  /** Takes down what the lists hold now. */
  freeze(): Frozen {
    return frozenTogether([this.#keys.freeze(), this.#lists.freeze()]);
  }
}
