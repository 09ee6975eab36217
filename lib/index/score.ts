/**
 * From signals to the score of a note. `NaN` stands for a signal that could not speak: that is left
 * out, while one that could and stayed silent counts 0. The rule and its numbers were measured on
 * eleven sets of questions, in Chinese, in English and across both; the tables and the rules that
 * did worse are in docs/measurements.md.
 */
import type { DenseScale } from "@/lib/embed/embedder.ts";

/** Below it a text has next to no Chinese, above the other one it has next to nothing else. */
const LITTLE_HAN = 0.1;
const MUCH_HAN = 0.3;

/**
 * From which score on a note is worth a hint when words alone are compared: 2.7 % of 1 100 queries
 * that a vault had no answer to reached it.
 */
export const KEYWORD_HINT_AT = 0.3;

/** Less than any two scores differ by that mean something. */
const TIE_BREAK = 1e-9;

/** What is known of a note with regard to a query, raw. */
export interface NoteSignals {
  /** BM25 over its ceiling, 0..1. */
  readonly keyword: number;
  /** Cosine of the query with name, description and tags. */
  readonly metadata: number;
  /** The best three chunk cosines, weighed. */
  readonly body: number;
}

/** Returns the higher cosine of a note; one that could not speak does not count. */
export function higherCosine({ metadata, body }: Pick<NoteSignals, "metadata" | "body">): number {
  return metadata >= body || Number.isNaN(body) ? metadata : body;
}

/** Returns a cosine on the scale of a model, 0..1; `NaN` if there is none. */
export function denseSignal(
  cosine: number,
  { floor, ceiling }: Pick<DenseScale, "floor" | "ceiling">,
): number {
  const dense = (cosine - floor) / (ceiling - floor);
  return dense < 0 ? 0 : dense > 1 ? 1 : dense;
}

/**
 * Mixes what words and meaning say, 0..1. Words say nothing against a note in another language, so
 * there they may lift the score but never press it down.
 */
export function mixSignals(
  { keyword, dense, isForeign }: {
    readonly keyword: number;
    readonly dense: number;
    readonly isForeign: boolean;
  },
  weight: number,
): number {
  if (Number.isNaN(dense)) return Number.isNaN(keyword) ? 0 : keyword;
  if (Number.isNaN(keyword)) return dense;
  const mixed = weight * dense + (1 - weight) * keyword;
  return isForeign && dense > mixed ? dense : mixed;
}

/** Returns a note's score before it is shown, 0..1: the one rule that every mode follows. */
export function scoreNote(
  signals: NoteSignals & { readonly isForeign: boolean },
  scale: Pick<DenseScale, "floor" | "ceiling" | "weight">,
): number {
  const { keyword, isForeign } = signals;
  const dense = denseSignal(higherCosine(signals), scale);
  return mixSignals({ keyword, dense, isForeign }, scale.weight);
}

/** Parts equal scores by their cosines: many are equal, beyond the ceiling of a model. */
export function tieBroken(score: number, cosine: number): number {
  return score + TIE_BREAK * (cosine || 0);
}

/** Tells whether query and note are in different languages, by their shares of Chinese. */
export function isForeignTo(queryHanShare: number, noteHanShare: number): boolean {
  return queryHanShare < LITTLE_HAN && noteHanShare > MUCH_HAN ||
    queryHanShare > MUCH_HAN && noteHanShare < LITTLE_HAN;
}

/**
 * Returns the score as it is shown: linear from 0 to .5 up to `hintAt`, and from there to 1, so
 * that .5 means "worth a hint" whatever the score is made of.
 */
export function shownScore(score: number, hintAt: number): number {
  if (score <= hintAt) return score / hintAt / 2;
  return 0.5 + (score - hintAt) / (1 - hintAt) / 2;
}
