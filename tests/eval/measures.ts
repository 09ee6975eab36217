/** What a ranking is worth, and how times are summed up: pure functions. */

/** Ranks up to here count for nDCG and MRR. */
export const RANKS = 10;
/** Ranks up to here count for recall. */
export const RECALL_RANKS = 5;

export interface RankingScore {
  /** Sum of 1/log2(rank + 1) over the relevant notes, over the best possible sum. */
  readonly ndcg: number;
  /** Share of the relevant notes among the first five. */
  readonly recall: number;
  /** 1/rank of the first relevant note, else 0. */
  readonly reciprocalRank: number;
}

/** What a query scores that failed. */
export const NO_SCORE: RankingScore = { ndcg: 0, recall: 0, reciprocalRank: 0 };

/** Returns the spelling in which paths are compared: NFC, `/` between folders, none in front. */
export function normalizePath(path: string): string {
  return path.normalize("NFC").replaceAll("\\", "/").replace(/^(\.?\/)+/, "");
}

/**
 * Scores one ranking by binary relevance. A note that is ranked twice counts once, where it stands
 * first, and those after it move up.
 *
 * @param relevant Paths of the notes that answer the query; without any the score is 0.
 */
export function scoreRanking(
  ranked: readonly string[],
  relevant: readonly string[],
): RankingScore {
  const wanted = new Set(relevant.map(normalizePath));
  if (wanted.size === 0) return NO_SCORE;
  const distinct = [...new Set(ranked.map(normalizePath))].slice(0, RANKS);
  const ranks = distinct.flatMap((path, index) => wanted.has(path) ? [index + 1] : []);
  const best = Array.from({ length: Math.min(RANKS, wanted.size) }, (_, index) => index + 1);
  const [first] = ranks;
  return {
    ndcg: gain(ranks) / gain(best),
    recall: ranks.filter((rank) => rank <= RECALL_RANKS).length / wanted.size,
    reciprocalRank: first === undefined ? 0 : 1 / first,
  };
}

function gain(ranks: readonly number[]): number {
  return ranks.reduce((sum, rank) => sum + 1 / Math.log2(rank + 1), 0);
}

/** Returns the arithmetic mean, 0 of nothing. */
export function mean(values: readonly number[]): number {
  return values.length === 0 ? 0 : values.reduce((sum, value) => sum + value, 0) / values.length;
}

/**
 * Returns the nearest-rank percentile: the smallest value that so many per cent of the values do
 * not exceed; 0 of nothing.
 */
export function percentile(values: readonly number[], percent: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil((percent / 100) * sorted.length) - 1)] ?? 0;
}
