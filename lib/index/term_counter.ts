/** From the terms of a note, one after the other, to what the postings take in. */
import { grown } from "./_posting_pool.ts";
import type { NoteTerms, Postings } from "./postings.ts";

/** Counts the terms of one note at a time; kept between notes, as its room is. */
export class TermCounter {
  readonly #postings: Pick<Postings, "dictionary">;
  #counts = new Uint32Array(4096);
  #seen = new Uint32Array(4096);
  #seenCount = 0;
  #length = 0;

  constructor(postings: Pick<Postings, "dictionary">) {
    this.#postings = postings;
  }

  add(term: string): void {
    const number = this.#postings.dictionary.intern(term);
    if (number >= this.#counts.length) this.#counts = withRoom(this.#counts, number);
    const count = this.#counts[number] ?? 0;
    if (count === 0) {
      if (this.#seenCount >= this.#seen.length) this.#seen = withRoom(this.#seen, this.#seenCount);
      this.#seen[this.#seenCount++] = number;
    }
    this.#counts[number] = count + 1;
    this.#length++;
  }

  /** Returns what was added since the last `take()` or `reset()`, and starts anew. */
  take(): NoteTerms {
    const numbers = this.#seen.slice(0, this.#seenCount);
    const counts = new Uint32Array(numbers.length);
    for (let i = 0; i < numbers.length; i++) counts[i] = this.#counts[numbers[i] ?? 0] ?? 0;
    const terms = { numbers, counts, length: this.#length };
    this.reset();
    return terms;
  }

  /** Forgets a note that was not finished. */
  reset(): void {
    for (let i = 0; i < this.#seenCount; i++) this.#counts[this.#seen[i] ?? 0] = 0;
    this.#seenCount = 0;
    this.#length = 0;
  }
}

function withRoom(array: Uint32Array, index: number): Uint32Array<ArrayBuffer> {
  return grown(array, Math.max(index + 1, array.length * 2));
}
