/** How near notes are to a query. */
import type { LanguageVector } from "./centring.ts";

/** What the best three chunks of a note weigh; of fewer, the first weights count, to a sum of 1. */
export const BODY_WEIGHTS = [0.65, 0.25, 0.1] as const;

/** Returns the weighted best three of the cosines from one place up to another, NaN if all are. */
export function weighBest(cosines: Float32Array, from: number, to: number): number {
  let best = -Infinity;
  let second = -Infinity;
  let third = -Infinity;
  for (let row = from; row < to; row++) {
    // NaN is larger than nothing.
    const cosine = cosines[row] ?? NaN;
    if (!(cosine > third)) continue;
    third = cosine;
    if (cosine > second) [second, third] = [cosine, second];
    if (cosine > best) [best, second] = [cosine, best];
  }
  const [w1, w2, w3] = BODY_WEIGHTS;
  if (third > -Infinity) return w1 * best + w2 * second + w3 * third;
  if (second > -Infinity) return (w1 * best + w2 * second) / (w1 + w2);
  return best > -Infinity ? best : NaN;
}

/**
 * How near each note is to a query, by slot; a slot beyond the end has no vectors. Those of removed
 * notes may hold anything.
 */
export interface SlotSignals {
  /** Cosine, NaN = none. */
  readonly metadata: Float32Array;
  /** Cosines of the best three chunks, weighted; NaN = none. */
  readonly body: Float32Array;
}

/** A question: its vector, of any length, and how much of it is Chinese, 0..1. */
export interface VectorQuery extends LanguageVector {
  readonly vector: Float32Array;
}

/** How near one note is to a query. */
export interface NoteCosines extends Readonly<Record<keyof SlotSignals, number>> {
  /** Of its chunks, in their order. */
  readonly chunks: Float32Array;
}

/** Of a note without vectors. */
export const NO_COSINES: NoteCosines = { metadata: NaN, body: NaN, chunks: new Float32Array(0) };
