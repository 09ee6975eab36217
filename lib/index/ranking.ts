/** What each note is worth to a query, by words, by meaning, or by both. */
import type { DenseScale } from "@/lib/embed/embedder.ts";
import type { SlotSignals } from "./note_cosines.ts";
import type { NoteVectors } from "./note_vectors.ts";
import type { Postings, Scores } from "./postings.ts";
import type { QueryPlan } from "./query_plan.ts";
import { topSlots } from "./_top_slots.ts";
import {
  denseSignal,
  higherCosine,
  isForeignTo,
  type NoteSignals,
  scoreNote,
  tieBroken,
} from "./score.ts";

/** The side of a query that is compared by meaning. */
export interface DenseQuestion {
  readonly vector: Float32Array;
  readonly scale: DenseScale;
  /** How much of the query is Chinese. */
  readonly hanShare: number;
}

/** Words, meaning, or both; neither finds nothing. */
export interface Question {
  readonly plan?: QueryPlan | undefined;
  readonly dense?: DenseQuestion | undefined;
  /**
   * Asks for the meaning of so many notes that words find best and of no others, in a small part of
   * the time; absent asks for that of all.
   */
  readonly wordsFirst?: number | undefined;
}

/** What a note got, and for what. */
export interface HitSignals extends NoteSignals {
  readonly dense: number;
  /** True if query and note are in different languages. */
  readonly isForeign: boolean;
}

/** A note as a ranking sees it. */
export interface RankedNote {
  /** By which it was ranked, 0..1, before it is shown. */
  readonly score: number;
  readonly signals: HitSignals;
  /** The cosine of each of its chunks, `NaN` for one without a vector; `[]` without meaning. */
  readonly chunkCosines: Float32Array;
}

export interface Ranking {
  /** Slots that may be seen and have a score, in no order. */
  readonly slots: readonly number[];
  /** By slot: what notes are compared by; valid until the next ranking. */
  readonly bySlot: Float64Array;
  /** Returns what a note got and for what; valid until the next ranking. */
  explain(slot: number): RankedNote;
}

/** Ranks the notes of postings and vectors that share their slots. */
export class Ranker {
  readonly #postings: Postings;
  readonly #vectors: NoteVectors | undefined;
  #scores = new Float64Array(0);

  constructor(postings: Postings, vectors: NoteVectors | undefined) {
    this.#postings = postings;
    this.#vectors = vectors;
  }

  /** Ranks the notes that `maySee` lets through. */
  rank({ plan, dense, wordsFirst }: Question, maySee: (slot: number) => boolean): Ranking {
    const words = plan && plan.clauses.length > 0 ? this.#postings.score(plan.clauses) : undefined;
    const held = plan && plan.required.length > 0
      ? this.#postings.holders(plan.required)
      : undefined;
    const isWanted = held === undefined
      ? maySee
      : (slot: number) => held[slot] === 1 && maySee(slot);
    const vectors = this.#vectors;
    if (dense && vectors && words && wordsFirst !== undefined) {
      const slots = words.slots.filter(isWanted);
      return this.#mixFew({ words, dense, vectors }, { slots, limit: wordsFirst });
    }
    if (dense && vectors) {
      return this.#mix({ words, dense, vectors, cosines: vectors.scan(dense) }, isWanted);
    }
    const { slots, bySlot, ceiling } = words ?? NO_WORDS;
    return {
      slots: slots.filter(isWanted),
      bySlot,
      explain(slot) {
        const keyword = (bySlot[slot] ?? 0) / ceiling;
        const signals = { ...NO_MEANING, keyword };
        return { score: keyword, signals, chunkCosines: NO_COSINES };
      },
    };
  }

  #mix(sides: Sides, isWanted: (slot: number) => boolean): Ranking {
    const { vectors, dense: { scale } } = sides;
    const scores = this.#room();
    const slots: number[] = [];
    for (let slot = 0; slot < scores.length; slot++) {
      if (!isWanted(slot)) continue;
      const signals = signalsAt(slot, sides);
      const score = scoreNote(signals, scale);
      if (score <= 0) continue;
      scores[slot] = tieBroken(score, higherCosine(signals));
      slots.push(slot);
    }
    return {
      slots,
      bySlot: scores,
      explain: (slot) =>
        toRanked(signalsAt(slot, sides), { scale, chunkCosines: vectors.chunkCosines(slot) }),
    };
  }

  #mixFew({ words, dense, vectors }: FewSides, { slots, limit }: WordsFirst): Ranking {
    const { scale } = dense;
    const compare = (a: number, b: number) => a - b;
    const best = topSlots(slots, words.bySlot, { limit, compare });
    const cosinesOf = vectors.compare(dense);
    const signals = new Map(best.map(({ slot }) => {
      const keyword = (words.bySlot[slot] ?? 0) / words.ceiling;
      return [slot, toSignals(slot, { keyword, ...cosinesOf(slot) }, { dense, vectors })];
    }));
    const scores = this.#room();
    for (const [slot, found] of signals) {
      scores[slot] = tieBroken(scoreNote(found, scale), higherCosine(found));
    }
    return {
      slots: [...signals.keys()].filter((slot) => (scores[slot] ?? 0) > 0),
      bySlot: scores,
      explain(slot) {
        const found = signals.get(slot) ?? { ...NO_MEANING, keyword: 0 };
        return toRanked(found, { scale, chunkCosines: NO_COSINES });
      },
    };
  }

  #room(): Float64Array {
    const { slotCount } = this.#postings;
    if (this.#scores.length < slotCount) this.#scores = new Float64Array(slotCount * 2);
    return this.#scores.subarray(0, slotCount);
  }
}

const NO_COSINES = new Float32Array(0);
const NO_MEANING = { metadata: NaN, body: NaN, dense: NaN, isForeign: false };
const NO_WORDS: Scores = { slots: [], bySlot: new Float64Array(0), ceiling: 1 };

interface Sides {
  readonly words: Scores | undefined;
  readonly dense: DenseQuestion;
  readonly vectors: NoteVectors;
  readonly cosines: SlotSignals;
}

type FewSides = Pick<Sides, "dense" | "vectors"> & { readonly words: Scores };

interface WordsFirst {
  /** Slots that hold words of the query and may be seen. */
  readonly slots: readonly number[];
  /** How many of them are compared by meaning. */
  readonly limit: number;
}

type KnownSignals = NoteSignals & { readonly isForeign: boolean };

interface Comparison {
  readonly scale: DenseScale;
  readonly chunkCosines: Float32Array;
}

function toRanked(signals: KnownSignals, { scale, chunkCosines }: Comparison): RankedNote {
  const dense = denseSignal(higherCosine(signals), scale);
  return { score: scoreNote(signals, scale), signals: { ...signals, dense }, chunkCosines };
}

function signalsAt(slot: number, { words, vectors, dense, cosines }: Sides): KnownSignals {
  const signals = {
    keyword: words ? (words.bySlot[slot] ?? 0) / words.ceiling : NaN,
    metadata: cosines.metadata[slot] ?? NaN,
    body: cosines.body[slot] ?? NaN,
  };
  return toSignals(slot, signals, { dense, vectors });
}

function toSignals(
  slot: number,
  { keyword, metadata, body }: NoteSignals,
  { dense, vectors }: Pick<Sides, "dense" | "vectors">,
): KnownSignals {
  const isForeign = isForeignTo(dense.hanShare, vectors.hanShareAt(slot));
  return { keyword, metadata, body, isForeign };
}
