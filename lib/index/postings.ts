/**
 * Which note holds which term how often, and exact classic BM25 over it. A removed note leaves its
 * numbers behind as dead ones, which every count steps over.
 */
import { LargeCounts } from "./_large_counts.ts";
import { FIRST_ROOM, grown, PostingPool, roomFor } from "./_posting_pool.ts";
import { type Frozen, frozenTogether, type SnapshotReader } from "./_snapshot_stream.ts";
import { TermDictionary } from "./term_dictionary.ts";

/** Saturation of term frequency and weight of length: Robertson's usual values. */
export const BM25_K1 = 1.2;
export const BM25_B = 0.75;

/** The terms of one note, ready to be staged. */
export interface NoteTerms {
  readonly numbers: Uint32Array;
  readonly counts: Uint32Array;
  /** All terms, repeats included. */
  readonly length: number;
}

/** One way in which a term of the query may be met; `weight` 1 = by itself. */
export interface Match {
  readonly number: number;
  readonly weight: number;
}

/** A term of the query as the postings see it. */
export type Clause =
  /** The best of the matches counts; the first is the term itself, if it is known. */
  | { readonly kind: "best"; readonly matches: readonly Match[]; readonly term: number | undefined }
  /** One character inside bigrams: the larger of both sums is its frequency. */
  | {
    readonly kind: "inside";
    readonly first: readonly number[];
    readonly last: readonly number[];
  };

export interface Scores {
  /** Slots with a score, in no order. */
  readonly slots: readonly number[];
  /** Score by slot; valid until the next call. */
  readonly bySlot: Float64Array;
  /** What a note would get that held every term without end: the scale of 0 to 1. */
  readonly ceiling: number;
}

const COUNT_BITS = 8;
const MAX_SLOT = 2 ** (32 - COUNT_BITS) - 1;
const TERMS_PER_STEP = 20_000;
const POSTINGS_COPIED_PER_STEP = 5_000;
/** Less is not worth the work. */
const MIN_DEAD_POSTINGS = 100_000;
/** Larger counts stand in a table of their own. */
const LARGE_COUNT = 255;

/** A slot is a note's number here; it is used once and never again. */
export class Postings {
  #dictionary = new TermDictionary();
  #pool = new PostingPool();
  #largeCounts = new LargeCounts();
  #lengths = new Uint32Array(FIRST_ROOM);
  #alive = new Uint8Array(FIRST_ROOM);
  #scores = new Float64Array(FIRST_ROOM);
  #clauseScores = new Float64Array(FIRST_ROOM);
  #lastCounts = new Float64Array(FIRST_ROOM);
  /** By slot: how many different terms the note has. */
  #termCounts = new Uint32Array(FIRST_ROOM);
  #slotCount = 0;
  #aliveCount = 0;
  #totalLength = 0;
  #postingCount = 0;
  #alivePostingCount = 0;

  /** Makes postings of what `freeze()` saved. */
  static async restore(reader: SnapshotReader): Promise<Postings> {
    const postings = new Postings();
    postings.#dictionary = await TermDictionary.restore(reader);
    postings.#pool = await PostingPool.restore(reader);
    postings.#largeCounts = await LargeCounts.restore(reader);
    const [slotCount = 0, ...counters] = await reader.readNumbers(5);
    const room = roomFor(slotCount);
    postings.#lengths = await reader.readArray(Uint32Array, slotCount, room);
    postings.#termCounts = await reader.readArray(Uint32Array, slotCount, room);
    postings.#alive = await reader.readArray(Uint8Array, slotCount, room);
    postings.#makeScoreRoom(room);
    postings.#slotCount = slotCount;
    postings.#aliveCount = counters[0] ?? 0;
    postings.#totalLength = counters[1] ?? 0;
    postings.#postingCount = counters[2] ?? 0;
    postings.#alivePostingCount = counters[3] ?? 0;
    return postings;
  }

  /** Takes down what can be found now; a note that is only staged never will be in the copy. */
  freeze(): Frozen {
    const counters = [
      this.#slotCount,
      this.#aliveCount,
      this.#totalLength,
      this.#postingCount,
      this.#alivePostingCount,
    ];
    // Lengths and counts of terms stand from the beginning of a slot on, and never change.
    const bySlot = [
      this.#lengths.subarray(0, this.#slotCount),
      this.#termCounts.subarray(0, this.#slotCount),
      this.#alive.slice(0, this.#slotCount),
    ];
    return frozenTogether([
      this.#dictionary.freeze(),
      this.#pool.freeze(),
      this.#largeCounts.freeze((slot) => this.#alive[slot] === 1),
      {
        async save(writer) {
          await writer.writeNumbers(...counters);
          for (const array of bySlot) await writer.writeArray(array);
        },
      },
    ]);
  }

  get dictionary(): TermDictionary {
    return this.#dictionary;
  }

  /** True when removed notes take more room than those that are there. */
  get isWasteful(): boolean {
    const dead = this.#postingCount - this.#alivePostingCount;
    return dead > this.#alivePostingCount && dead > MIN_DEAD_POSTINGS;
  }

  /** How many notes are in the index. */
  get noteCount(): number {
    return this.#aliveCount;
  }

  /** One more than the highest slot in use. */
  get slotCount(): number {
    return this.#slotCount;
  }

  /** Adds the terms of a note in small steps and returns its slot; it counts from `activate()` on. */
  *stage(terms: NoteTerms): Generator<void, number> {
    const slot = this.#slotCount;
    if (slot > MAX_SLOT) throw new Error("Cannot add a note: all slots are used up");
    if (slot >= this.#lengths.length) this.#makeRoom(slot + 1);
    this.#slotCount++;
    this.#lengths[slot] = terms.length;
    this.#termCounts[slot] = terms.numbers.length;
    this.#postingCount += terms.numbers.length;
    for (let i = 0; i < terms.numbers.length; i++) {
      this.#addPosting(slot, terms.numbers[i] ?? 0, terms.counts[i] ?? 0);
      if ((i + 1) % TERMS_PER_STEP === 0) yield;
    }
    return slot;
  }

  /** Lets a staged note be found. */
  activate(slot: number): void {
    if (this.#alive[slot] === 1) return;
    this.#alive[slot] = 1;
    this.#aliveCount++;
    this.#totalLength += this.#lengths[slot] ?? 0;
    this.#alivePostingCount += this.#termCounts[slot] ?? 0;
  }

  /** Removes a note; a slot that is not alive changes nothing. */
  remove(slot: number): void {
    if (this.#alive[slot] !== 1) return;
    this.#alive[slot] = 0;
    this.#aliveCount--;
    this.#totalLength -= this.#lengths[slot] ?? 0;
    this.#alivePostingCount -= this.#termCounts[slot] ?? 0;
    this.#largeCounts.delete(slot);
  }

  /**
   * Copies what is alive, in small steps, while this one goes on to be searched; it must not change
   * meanwhile. Slots are given anew, in their old order.
   */
  *compacted(): Generator<void, { postings: Postings; slots: ReadonlyMap<number, number> }> {
    const postings = new Postings();
    const slots = new Map<number, number>();
    for (let slot = 0; slot < this.#slotCount; slot++) {
      if (this.#alive[slot] === 1) slots.set(slot, postings.#adopt(this, slot));
      if (slot % TERMS_PER_STEP === 0) yield;
    }
    let copied = 0;
    for (let number = 0; number < this.#dictionary.size; number++) {
      this.#copyTerm(number, postings, slots);
      copied += 1 + this.#pool.countOf(number);
      if (copied < POSTINGS_COPIED_PER_STEP) continue;
      copied = 0;
      yield;
    }
    return { postings, slots };
  }

  /** Becomes what a compacted copy is. */
  takeOver(other: Postings): void {
    this.#dictionary = other.#dictionary;
    this.#pool = other.#pool;
    this.#largeCounts = other.#largeCounts;
    this.#lengths = other.#lengths;
    this.#alive = other.#alive;
    this.#scores = other.#scores;
    this.#clauseScores = other.#clauseScores;
    this.#lastCounts = other.#lastCounts;
    this.#termCounts = other.#termCounts;
    this.#slotCount = other.#slotCount;
    this.#aliveCount = other.#aliveCount;
    this.#totalLength = other.#totalLength;
    this.#postingCount = other.#postingCount;
    this.#alivePostingCount = other.#alivePostingCount;
  }

  /** Opens a slot for a note of another one, without its terms. */
  #adopt(from: Postings, oldSlot: number): number {
    const slot = this.#slotCount++;
    if (slot >= this.#lengths.length) this.#makeRoom(slot + 1);
    this.#lengths[slot] = from.#lengths[oldSlot] ?? 0;
    this.#termCounts[slot] = from.#termCounts[oldSlot] ?? 0;
    this.#postingCount += this.#termCounts[slot] ?? 0;
    this.activate(slot);
    return slot;
  }

  #copyTerm(number: number, into: Postings, slots: ReadonlyMap<number, number>): void {
    let copied: number | undefined;
    this.#pool.visit(number, (page, from, to) => {
      for (let i = from; i < to; i++) {
        const posting = page[i] ?? 0;
        const oldSlot = posting >>> COUNT_BITS;
        const slot = slots.get(oldSlot);
        if (slot === undefined) continue;
        copied ??= into.#dictionary.intern(this.#dictionary.termOf(number));
        into.#addPosting(slot, copied, this.#countIn(posting, oldSlot, number));
      }
    });
  }

  /** Returns how many notes hold a term. */
  documentFrequency(number: number): number {
    if (this.#aliveCount === this.#slotCount) return this.#pool.countOf(number);
    let found = 0;
    this.#pool.visit(number, (page, from, to) => {
      for (let i = from; i < to; i++) found += this.#alive[(page[i] ?? 0) >>> COUNT_BITS] ?? 0;
    });
    return found;
  }

  /** Returns the weight of a term that `frequency` notes hold; rare terms weigh more. */
  idf(frequency: number): number {
    return Math.log(1 + (this.#aliveCount - frequency + 0.5) / (frequency + 0.5));
  }

  /** Scores every note that meets a clause; notes that meet none are not listed. */
  score(clauses: readonly Clause[]): Scores {
    const slots: number[] = [];
    let ceiling = 0;
    this.#scores.fill(0, 0, this.#slotCount);
    for (const clause of clauses) {
      const found = clause.kind === "best" ? this.#matchBest(clause) : this.#matchInside(clause);
      ceiling += found.idf * (BM25_K1 + 1);
      for (const slot of found.slots) {
        if (this.#scores[slot] === 0) slots.push(slot);
        this.#scores[slot] = (this.#scores[slot] ?? 0) + (this.#clauseScores[slot] ?? 0);
        this.#clauseScores[slot] = 0;
      }
    }
    return { slots, bySlot: this.#scores, ceiling };
  }

  /** Returns the notes that hold all the terms, as marks by slot. */
  holders(numbers: readonly number[]): Uint8Array {
    const held = new Uint16Array(this.#slotCount);
    numbers.forEach((number, round) => {
      this.#pool.visit(number, (page, from, to) => {
        for (let i = from; i < to; i++) {
          const slot = (page[i] ?? 0) >>> COUNT_BITS;
          if (held[slot] === round) held[slot] = round + 1;
        }
      });
    });
    return Uint8Array.from(held, (rounds) => rounds === numbers.length ? 1 : 0);
  }

  #addPosting(slot: number, number: number, count: number): void {
    if (count >= LARGE_COUNT) this.#largeCounts.set(slot, number, count);
    this.#pool.append(number, slot << COUNT_BITS | Math.min(count, LARGE_COUNT));
  }

  #matchBest(clause: Extract<Clause, { kind: "best" }>): ClauseMatches {
    const own = clause.term === undefined ? 0 : this.documentFrequency(clause.term);
    const ownIdf = this.idf(own);
    const slots: number[] = [];
    for (const { number, weight } of clause.matches) {
      // An ending that is rarer than the word itself must not outweigh it.
      const isOwn = number === clause.term;
      const idf = isOwn ? ownIdf : Math.min(ownIdf, this.idf(this.documentFrequency(number)));
      this.#raiseToTerm(number, weight * idf, slots);
    }
    return { idf: ownIdf, slots };
  }

  /** Lifts each holder's clause score to what this term gives it, and lists those that had none. */
  #raiseToTerm(number: number, weight: number, slots: number[]): void {
    const scores = this.#clauseScores;
    const perLength = this.#lengthWeight();
    this.#pool.visit(number, (page, from, to) => {
      for (let i = from; i < to; i++) {
        const posting = page[i] ?? 0;
        const slot = posting >>> COUNT_BITS;
        if (this.#alive[slot] !== 1) continue;
        const count = this.#countIn(posting, slot, number);
        const score = weight * this.#saturation(slot, count, perLength);
        const before = scores[slot] ?? 0;
        if (before === 0) slots.push(slot);
        if (score > before) scores[slot] = score;
      }
    });
  }

  #matchInside(clause: Extract<Clause, { kind: "inside" }>): ClauseMatches {
    const counts = this.#clauseScores;
    const slots = this.#sumCounts(clause.first, counts);
    for (const slot of this.#sumCounts(clause.last, this.#lastCounts)) {
      if (counts[slot] === 0) slots.push(slot);
      counts[slot] = Math.max(counts[slot] ?? 0, this.#lastCounts[slot] ?? 0);
      this.#lastCounts[slot] = 0;
    }
    const idf = this.idf(slots.length);
    const perLength = this.#lengthWeight();
    for (const slot of slots) {
      counts[slot] = idf * this.#saturation(slot, counts[slot] ?? 0, perLength);
    }
    return { idf, slots };
  }

  /** Adds up by slot how often a note has any of the terms; returns the slots that have one. */
  #sumCounts(numbers: readonly number[], sums: Float64Array): number[] {
    const slots: number[] = [];
    for (const number of numbers) {
      this.#pool.visit(number, (page, from, to) => {
        for (let i = from; i < to; i++) {
          const posting = page[i] ?? 0;
          const slot = posting >>> COUNT_BITS;
          if (this.#alive[slot] !== 1) continue;
          if (sums[slot] === 0) slots.push(slot);
          sums[slot] = (sums[slot] ?? 0) + this.#countIn(posting, slot, number);
        }
      });
    }
    return slots;
  }

  /** What BM25 makes of a count in a note of that length, below k1 + 1. */
  #saturation(slot: number, count: number, perLength: number): number {
    const norm = BM25_K1 * (1 - BM25_B) + perLength * (this.#lengths[slot] ?? 0);
    return (BM25_K1 + 1) * count / (count + norm);
  }

  #countIn(posting: number, slot: number, number: number): number {
    const count = posting & LARGE_COUNT;
    return count < LARGE_COUNT ? count : this.#largeCounts.at(slot, number) ?? count;
  }

  /** What one term of a note's length adds to the denominator. */
  #lengthWeight(): number {
    if (this.#totalLength === 0) return 0;
    return BM25_K1 * BM25_B * this.#aliveCount / this.#totalLength;
  }

  #makeRoom(slots: number): void {
    const length = Math.max(slots, this.#lengths.length * 2);
    this.#lengths = grown(this.#lengths, length);
    this.#termCounts = grown(this.#termCounts, length);
    const alive = new Uint8Array(length);
    alive.set(this.#alive);
    this.#alive = alive;
    this.#makeScoreRoom(length);
  }

  #makeScoreRoom(length: number): void {
    this.#scores = new Float64Array(length);
    this.#clauseScores = new Float64Array(length);
    this.#lastCounts = new Float64Array(length);
  }
}

interface ClauseMatches {
  readonly idf: number;
  readonly slots: readonly number[];
}
