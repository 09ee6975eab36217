/** What each note is worth to a query, by words, by meaning, or by both. */
import type { DenseScale } from "@/lib/embed/embedder.ts";
import type { NoteVectors, SlotSignals } from "./note_vectors.ts";
import type { Postings, Scores } from "./postings.ts";
import type { QueryPlan } from "./query_plan.ts";
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
}

/** What a note got, and for what. */
export interface HitSignals extends NoteSignals {
  readonly dense: number;
  /** True if query and note are in different languages. */
  readonly isForeign: boolean;
}

export interface Ranking {
  /** Slots that may be seen and have a score, in no order. */
  readonly slots: readonly number[];
  /** By slot: what notes are compared by; valid until the next ranking. */
  readonly bySlot: Float64Array;
  /** Returns a note's score, 0..1, and what it is made of; valid until the next ranking. */
  explain(slot: number): { readonly score: number; readonly signals: HitSignals };
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
  rank({ plan, dense }: Question, maySee: (slot: number) => boolean): Ranking {
    const words = plan && plan.clauses.length > 0 ? this.#postings.score(plan.clauses) : undefined;
    const held = plan && plan.required.length > 0
      ? this.#postings.holders(plan.required)
      : undefined;
    const isWanted = held === undefined
      ? maySee
      : (slot: number) => held[slot] === 1 && maySee(slot);
    const vectors = this.#vectors;
    if (dense && vectors) {
      return this.#mix({ words, dense, vectors, cosines: vectors.scan(dense.vector) }, isWanted);
    }
    const { slots, bySlot, ceiling } = words ?? NO_WORDS;
    return {
      slots: slots.filter(isWanted),
      bySlot,
      explain(slot) {
        const keyword = (bySlot[slot] ?? 0) / ceiling;
        return { score: keyword, signals: { ...NO_MEANING, keyword } };
      },
    };
  }

  #mix(sides: Sides, isWanted: (slot: number) => boolean): Ranking {
    const { words, vectors, dense: { scale, hanShare }, cosines: { metadata, body } } = sides;
    const scores = this.#room();
    const slots: number[] = [];
    for (let slot = 0; slot < scores.length; slot++) {
      if (!isWanted(slot)) continue;
      const signals = {
        keyword: words ? (words.bySlot[slot] ?? 0) / words.ceiling : NaN,
        metadata: metadata[slot] ?? NaN,
        body: body[slot] ?? NaN,
        isForeign: isForeignTo(hanShare, vectors.hanShareAt(slot)),
      };
      const score = scoreNote(signals, scale);
      if (score <= 0) continue;
      scores[slot] = tieBroken(score, higherCosine(signals));
      slots.push(slot);
    }
    return {
      slots,
      bySlot: scores,
      explain(slot) {
        const signals = signalsOf(slot, sides);
        return { score: scoreNote(signals, scale), signals };
      },
    };
  }

  #room(): Float64Array {
    const { slotCount } = this.#postings;
    if (this.#scores.length < slotCount) this.#scores = new Float64Array(slotCount * 2);
    return this.#scores.subarray(0, slotCount);
  }
}

const NO_MEANING = { metadata: NaN, body: NaN, dense: NaN, isForeign: false };
const NO_WORDS: Scores = { slots: [], bySlot: new Float64Array(0), ceiling: 1 };

interface Sides {
  readonly words: Scores | undefined;
  readonly dense: DenseQuestion;
  readonly vectors: NoteVectors;
  readonly cosines: SlotSignals;
}

function signalsOf(slot: number, { words, vectors, dense, cosines }: Sides): HitSignals {
  const metadata = cosines.metadata[slot] ?? NaN;
  const body = cosines.body[slot] ?? NaN;
  return {
    keyword: words ? (words.bySlot[slot] ?? 0) / words.ceiling : NaN,
    metadata,
    body,
    dense: denseSignal(higherCosine({ metadata, body }), dense.scale),
    isForeign: isForeignTo(dense.hanShare, vectors.hanShareAt(slot)),
  };
}
