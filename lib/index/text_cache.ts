/** Texts of notes that were shown lately, so that a search need not read and decode them again. */

/** All texts together, in characters (two bytes each at the most). */
export const MAX_CACHED_CHARS = 16 * 1024 * 1024;

/** Keeps texts by the hash of their bytes, which makes every entry right for good. */
export class TextCache {
  readonly #maxChars: number;
  /** The longest unused first. */
  readonly #texts = new Map<string, string>();
  #chars = 0;

  constructor(maxChars: number = MAX_CACHED_CHARS) {
    this.#maxChars = maxChars;
  }

  get(etag: string): string | undefined {
    const text = this.#texts.get(etag);
    if (text === undefined) return undefined;
    this.#texts.delete(etag);
    this.#texts.set(etag, text);
    return text;
  }

  /** Keeps a text; others give way, the longest unused first. */
  put(etag: string, text: string): void {
    if (text.length > this.#maxChars || this.#texts.has(etag)) return;
    this.#texts.set(etag, text);
    this.#chars += text.length;
    for (const [oldest, old] of this.#texts) {
      if (this.#chars <= this.#maxChars) break;
      this.#texts.delete(oldest);
      this.#chars -= old.length;
    }
  }
}
