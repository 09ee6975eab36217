/** How right scores of pairs of entries are: pure. */
import { mean } from "../measures.ts";
import type { LabelledPair } from "./labels.ts";
import { FIRST, shareOf } from "./measure_groups.ts";

export interface ScoredPair {
  readonly pair: LabelledPair;
  /** 0 if it was not reported. */
  readonly score: number;
}

export interface PairFigures {
  readonly lang: string;
  readonly pairs: number;
  readonly conflicts: number;
  /** Share of the ten best that are conflicts. */
  readonly firstPrecision: number;
  /** Of what was reported. */
  readonly precision: number;
  readonly recall: number;
  /** Mean over the conflicts of the precision down to each: 1 if they stand first. */
  readonly averagePrecision: number;
}

/** Measures pairs in one language, or in all. */
export function measurePairs(scored: readonly ScoredPair[], lang = "all"): PairFigures {
  const ranked = scored.filter(({ pair }) => lang === "all" || pair.lang === lang)
    .toSorted((a, b) => b.score - a.score || (a.pair.id < b.pair.id ? -1 : 1));
  const reported = ranked.filter(({ score }) => score > 0).map(isConflict);
  const all = ranked.map(isConflict);
  const conflicts = all.filter(Boolean).length;
  const precisions = all.flatMap((it, index) => it ? [shareOf(all.slice(0, index + 1))] : []);
  return {
    lang,
    pairs: ranked.length,
    conflicts,
    firstPrecision: shareOf(reported.slice(0, FIRST)),
    precision: shareOf(reported),
    recall: reported.filter(Boolean).length / Math.max(1, conflicts),
    averagePrecision: mean(precisions),
  };
}

function isConflict({ pair: { label } }: ScoredPair): boolean {
  return label === "conflict";
}
