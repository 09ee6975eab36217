/** What a person should hear of once, whoever tells them: by a key, as long as the server runs. */

const MAX_SHOWN = 10_000;

export interface Notice {
  /** What it is about, and in which state that is. */
  readonly key: string;
  readonly text: string;
}

export class Notices {
  readonly #waiting: Notice[] = [];
  readonly #shown = new Set<string>();

  /** Keeps one for the next who asks. */
  add(notice: Notice): void {
    this.#waiting.push(notice);
  }

  /**
   * Returns what has not been shown, and takes it as shown.
   *
   * @param found What is the case now, beside what was kept.
   */
  take(found: readonly Notice[], limit: number): string[] {
    const all = [...this.#waiting, ...found];
    const fresh = [...new Map(all.map((notice) => [notice.key, notice])).values()]
      .filter(({ key }) => !this.#shown.has(key)).slice(0, limit);
    for (const { key } of fresh) {
      if (this.#shown.size < MAX_SHOWN) this.#shown.add(key);
    }
    const isLeft = ({ key }: Notice) => !this.#shown.has(key);
    this.#waiting.splice(0, Infinity, ...this.#waiting.filter(isLeft));
    return fresh.map(({ text }) => text);
  }
}
