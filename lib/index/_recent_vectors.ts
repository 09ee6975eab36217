/** The vectors of the last queries, so that one that is asked again costs no call. */
import type { Embedding } from "@/lib/embed/embedder.ts";

const MAX_QUERIES = 256;
/** A longer one is hardly ever asked again as it is. */
const MAX_CHARS = 2_000;

export class RecentVectors {
  /** The one that was used last is the last. */
  readonly #vectors = new Map<string, Embedding>();

  /** Returns `undefined` if the query was not asked lately; its vector may be `undefined` as well. */
  find(text: string): { readonly vector: Embedding } | undefined {
    if (!this.#vectors.has(text)) return undefined;
    const vector = this.#vectors.get(text);
    this.#vectors.delete(text);
    this.#vectors.set(text, vector);
    return { vector };
  }

  keep(text: string, vector: Embedding): void {
    if (text.length > MAX_CHARS) return;
    this.#vectors.set(text, vector);
    if (this.#vectors.size <= MAX_QUERIES) return;
    for (const oldest of this.#vectors.keys()) {
      this.#vectors.delete(oldest);
      return;
    }
  }
}
