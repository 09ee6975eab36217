/** What a threshold for hints would do: pure functions over the best notes of queries. */
import { mean } from "./measures.ts";

/** The best note that a query found. */
export interface BestNote {
  /** Before it is shown, 0..1; 0 = nothing was found. */
  readonly score: number;
  /** The note answers the query; never so for a query that the vault has no answer to. */
  readonly isRight: boolean;
}

/** The best notes of queries that a vault can answer, and of queries that it cannot. */
export interface BestNotes {
  readonly relevant: readonly BestNote[];
  readonly irrelevant: readonly BestNote[];
}

/** What happens when a best note becomes a hint from a score on; all are shares, 0..1. */
export interface ThresholdRow {
  readonly threshold: number;
  /** Relevant queries that get the right note, among all relevant queries. */
  readonly recall: number;
  /** Irrelevant queries that get a hint at all. */
  readonly shown: number;
  /** Right hints among all hints for relevant queries; NaN without any. */
  readonly precision: number;
  /** The same if half of all queries were irrelevant ones; NaN without any hint. */
  readonly precisionOfHalf: number;
}

/** The thresholds of the table. */
export const THRESHOLDS: readonly number[] = steps(20, 70, 5);
/** So many irrelevant queries may get a hint. */
const QUIET_SHARE = 0.03;
/** Keeps a score of exactly the threshold above it when it was computed from the shown one. */
const ROUNDING = 1e-9;

function steps(first: number, last: number, width: number): number[] {
  const count = Math.floor((last - first) / width) + 1;
  return Array.from({ length: count }, (_, index) => (first + index * width) / 100);
}

/**
 * Undoes the mapping by which a score is shown: straight from 0 to 0, from `hintAt` to .5 and from
 * 1 to 1.
 *
 * @param hintAt Above 0, below 1; .5 changes nothing.
 */
export function toRawScore(score: number, hintAt: number): number {
  return score <= 0.5 ? score * 2 * hintAt : hintAt + (score - 0.5) * 2 * (1 - hintAt);
}

/** Returns what one threshold does. */
export function toThresholdRow(
  threshold: number,
  { relevant, irrelevant }: BestNotes,
): ThresholdRow {
  const isShown = ({ score }: BestNote) => score >= threshold - ROUNDING;
  const recall = shareOf(relevant, (best) => best.isRight && isShown(best));
  const shownRelevant = shareOf(relevant, isShown);
  const shown = shareOf(irrelevant, isShown);
  return {
    threshold,
    recall,
    shown,
    precision: recall / shownRelevant,
    precisionOfHalf: recall / (shownRelevant + shown),
  };
}

function shareOf(notes: readonly BestNote[], isCounted: (best: BestNote) => boolean): number {
  return mean(notes.map((best) => isCounted(best) ? 1 : 0));
}

/**
 * Returns the smallest threshold, in hundredths, at which no more than 3 % of the irrelevant
 * queries get a hint; `undefined` if more of them find a note of score 1.
 */
export function findQuietThreshold(irrelevant: readonly BestNote[]): number | undefined {
  return steps(1, 100, 1).find((threshold) =>
    toThresholdRow(threshold, { relevant: [], irrelevant }).shown <= QUIET_SHARE
  );
}
