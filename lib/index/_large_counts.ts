/** The few counts of terms in notes that are too large to stand in a posting. */
import type { Frozen, SnapshotReader, SnapshotWriter } from "./_snapshot_stream.ts";

const NUMBERS_PER_COUNT = 3;
const COUNTS_RESTORED_PER_STEP = 1_000;

/** Counts by slot and term; those of a slot are complete before it is alive, then stay as they are. */
export class LargeCounts {
  readonly #bySlot = new Map<number, Map<number, number>>();

  /** Makes a table of what `freeze()` saved. */
  static async restore(reader: SnapshotReader): Promise<LargeCounts> {
    const large = new LargeCounts();
    const [size = 0] = await reader.readNumbers(1);
    const numbers = await reader.readArray(Uint32Array, size * NUMBERS_PER_COUNT);
    for (let i = 0; i < size; i++) {
      const [slot = 0, term = 0, count = 0] = numbers.subarray(i * NUMBERS_PER_COUNT);
      large.set(slot, term, count);
      if (i % COUNTS_RESTORED_PER_STEP === 0) await reader.pause();
    }
    return large;
  }

  at(slot: number, term: number): number | undefined {
    return this.#bySlot.get(slot)?.get(term);
  }

  set(slot: number, term: number, count: number): void {
    const counts = this.#bySlot.get(slot);
    if (counts) counts.set(term, count);
    else this.#bySlot.set(slot, new Map([[term, count]]));
  }

  /** Forgets all counts of a slot. */
  delete(slot: number): void {
    this.#bySlot.delete(slot);
  }

  /** Takes down the counts of those slots that are alive now. */
  freeze(isAlive: (slot: number) => boolean): Frozen {
    const cut = [...this.#bySlot].filter(([slot]) => isAlive(slot));
    return { save: (writer) => saveCounts(cut, writer) };
  }
}

async function saveCounts(
  cut: readonly (readonly [slot: number, counts: ReadonlyMap<number, number>])[],
  writer: SnapshotWriter,
): Promise<void> {
  await writer.writeNumbers(cut.reduce((size, [, counts]) => size + counts.size, 0));
  for (const [slot, counts] of cut) {
    await writer.writeArray(Uint32Array.from([...counts].flatMap((count) => [slot, ...count])));
    await writer.pause();
  }
}
