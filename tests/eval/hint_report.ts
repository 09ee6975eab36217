/** Sums up for each mode what thresholds for hints would do. */
import type { HintResult } from "./hints.ts";
import {
  type BestNote,
  findQuietThreshold,
  type ThresholdRow,
  THRESHOLDS,
  toThresholdRow,
} from "./thresholds.ts";

/** What the chosen threshold does to the queries of one language of a data set. */
export interface HintSetRow extends ThresholdRow {
  readonly set: string;
  readonly lang: string;
  readonly n: number;
  /** How many queries of other sets the set's vault was asked. */
  readonly irrelevant: number;
  /** The quiet threshold of the set's vault alone. */
  readonly quiet: number | undefined;
}

export interface HintReport {
  readonly mode: string;
  readonly relevant: number;
  readonly irrelevant: number;
  /** Those of the table and the chosen one, smallest first. */
  readonly thresholds: readonly ThresholdRow[];
  /** The smallest threshold at which few enough irrelevant queries get a hint. */
  readonly quiet: number | undefined;
  readonly chosen: number;
  /** At the chosen threshold. */
  readonly sets: readonly HintSetRow[];
}

/** No threshold is quiet enough: then nothing but certainty is a hint. */
const LAST_THRESHOLD = 1;

/**
 * Returns one report for each mode. All queries count the same, so that a set of many languages
 * weighs more than others.
 *
 * @param hintAt The chosen threshold of a mode; without it the quiet one is chosen.
 */
export function toHintReports(
  results: readonly HintResult[],
  hintAt: ReadonlyMap<string, number>,
): HintReport[] {
  return [...Map.groupBy(results, ({ mode }) => mode)].map(([mode, group]) => {
    const { relevant, irrelevant } = part(group);
    const quiet = findQuietThreshold(irrelevant);
    const chosen = hintAt.get(mode) ?? quiet ?? LAST_THRESHOLD;
    const thresholds = [...new Set([...THRESHOLDS, chosen])].sort((a, b) => a - b);
    return {
      mode,
      relevant: relevant.length,
      irrelevant: irrelevant.length,
      thresholds: thresholds.map((at) => toThresholdRow(at, { relevant, irrelevant })),
      quiet,
      chosen,
      sets: [...Map.groupBy(group, ({ set }) => set).values()]
        .flatMap((ofSet) => toSetRows(ofSet, chosen)),
    };
  });
}

function part(results: readonly HintResult[]) {
  const relevant = results.filter(({ isRelevant }) => isRelevant);
  const irrelevant: readonly BestNote[] = results.filter(({ isRelevant }) => !isRelevant);
  return { relevant, irrelevant };
}

function toSetRows(ofSet: readonly HintResult[], threshold: number): HintSetRow[] {
  const { relevant, irrelevant } = part(ofSet);
  const quiet = findQuietThreshold(irrelevant);
  return [...Map.groupBy(relevant, ({ set, lang }) => JSON.stringify([set, lang]))].map(
    ([key, group]) => {
      const [set, lang] = JSON.parse(key);
      const row = toThresholdRow(threshold, { relevant: group, irrelevant });
      return { set, lang, n: group.length, irrelevant: irrelevant.length, quiet, ...row };
    },
  );
}
