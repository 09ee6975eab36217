/**
 * What the cosines of a model mean, found out from the vault itself where nobody knows it: the
 * cosines of sentences of some notes with chunks of others show what says nothing, and how far up
 * the best of them come shows from where on something does. How the rules were found is in
 * docs/measurements.md.
 */
import type { DenseScale } from "@/lib/embed/embedder.ts";
import type { Centring } from "./centring.ts";
import { KEYWORD_HINT_AT } from "./score.ts";

/** What vectors weigh beside words where neither the model nor the person says. */
export const LEARNT_WEIGHT = 0.7;

/** Of unrelated cosines: the middle, which says nothing, and what few of them exceed. */
const MIDDLE = 0.5;
const HIGH = 0.995;
/** What answers a question lies about so much further from the middle than what few exceed. */
const REACH = 2;
/** Finer than a difference that means anything. */
const STEPS_A_UNIT = 2_000;
/** No text is nearer to another one than that, and a range needs some width. */
const MAX_CEILING = 0.98;
const MIN_RANGE = 0.02;

/** What meaning counts in a threshold, whatever it counts in scores: they hardly differ in it. */
const HINT_WEIGHT = 0.7;
/** Keep a vault of odd texts from hints without end, or without any. */
const MIN_HINT_AT = 0.2;
const MAX_HINT_AT = 0.8;

/** What was found out, and from how much. */
export interface Calibration extends Omit<DenseScale, "weight"> {
  /** `undefined` = vectors are compared as they are. */
  readonly centring: Centring | undefined;
  /** How many notes had vectors then. */
  readonly noteCount: number;
  /** How many cosines of a sentence with a chunk were looked at. */
  readonly pairCount: number;
}

/** How often each cosine was met, as finely as matters; it takes the same room for any number. */
export class CosineCounts {
  readonly #counts = new Uint32Array(2 * STEPS_A_UNIT + 1);
  #total = 0;

  /** How many there were. */
  get total(): number {
    return this.#total;
  }

  /** @param cosine NaN, for vectors that cannot be compared, does not count. */
  add(cosine: number): void {
    if (Number.isNaN(cosine)) return;
    const step = Math.round((Math.min(Math.max(cosine, -1), 1) + 1) * STEPS_A_UNIT);
    this.#counts[step] = (this.#counts[step] ?? 0) + 1;
    this.#total++;
  }

  /** Returns the least cosine that a share of all is not above, 0 without any. */
  quantile(share: number): number {
    let left = share * this.#total;
    for (const [step, count] of this.#counts.entries()) {
      left -= count;
      if (left <= 0 && this.#total > 0) return step / STEPS_A_UNIT - 1;
    }
    return 0;
  }
}

/**
 * Returns where the scale of a model begins and ends: the median of cosines of unrelated texts, and
 * a point as far again beyond what 1 in 200 of them exceeds.
 *
 * Without any the range is that of all cosines that can mean something.
 */
export function findRange(cosines: CosineCounts): Pick<DenseScale, "floor" | "ceiling"> {
  if (cosines.total === 0) return { floor: 0, ceiling: MAX_CEILING };
  const floor = cosines.quantile(MIDDLE);
  const reached = floor + REACH * (cosines.quantile(HIGH) - floor);
  const ceiling = Math.max(Math.min(reached, MAX_CEILING), floor + MIN_RANGE);
  return { floor, ceiling };
}

/**
 * Returns the score from which on a note is worth a hint: what the nearest of other notes reaches for
 * half of the sentences, and what words take for one, mixed as scores are.
 *
 * @param nearest Of each sentence, the dense signal of the nearest note that is not its own.
 */
export function findHintAt(nearest: readonly number[]): number {
  const dense = nearest.toSorted((a, b) => a - b)[Math.floor(MIDDLE * nearest.length)] ?? 0;
  const mixed = HINT_WEIGHT * dense + (1 - HINT_WEIGHT) * KEYWORD_HINT_AT;
  return Math.min(Math.max(mixed, MIN_HINT_AT), MAX_HINT_AT);
}
