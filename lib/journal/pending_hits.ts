/**
 * Hits that wait to be written: which entries were really used, and on which day. They live in
 * memory, as reading is to write nothing, and go into the files with the next write-back.
 */

/** Far more than a person has entries; the oldest go first. */
const MAX_PENDING = 2_000;

export class PendingHits {
  /** The newest day by entry id, or by the path of a project's note for its current status. */
  readonly #days = new Map<string, string>();

  /** @param keys Ids of entries, or paths of project notes. */
  note(keys: readonly string[], day: string): void {
    for (const key of keys) {
      const known = this.#days.get(key) ?? "";
      this.#days.delete(key);
      this.#days.set(key, known > day ? known : day);
    }
    while (this.#days.size > MAX_PENDING) {
      const [oldest] = this.#days.keys();
      if (oldest !== undefined) this.#days.delete(oldest);
    }
  }

  /** What waits now. */
  get waiting(): ReadonlyMap<string, string> {
    return new Map(this.#days);
  }

  /** Forgets what has been written, unless a later day has come meanwhile. */
  settle(written: ReadonlyMap<string, string>): void {
    for (const [key, day] of written) {
      if ((this.#days.get(key) ?? "") <= day) this.#days.delete(key);
    }
  }
}
