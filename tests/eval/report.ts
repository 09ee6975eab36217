/** Sums up results by row and compares them with what is expected. */
import type { QueryResult } from "./evaluate.ts";
import { mean, percentile } from "./measures.ts";

/** One line of the table. */
export interface ReportRow {
  readonly set: string;
  readonly lang: string;
  readonly mode: string;
  readonly n: number;
  readonly "nDCG@10": number;
  readonly "R@5": number;
  readonly "MRR@10": number;
  readonly "p50 ms": number;
  readonly "p99 ms": number;
  readonly failed: number;
}

/** A result below its expectation by more than this is a loss; fewer queries say less. */
const TOLERANCE = 0.01;
const TOLERANCE_OF_FEW = 0.02;
const FEW_QUERIES = 150;
/** Keeps a difference of exactly the tolerance from failing by rounding. */
const ROUNDING = 1e-9;

/** Returns one row for each set, language and mode, in the order of the results. */
export function toRows(results: readonly QueryResult[], byLang: boolean): ReportRow[] {
  const groups = Map.groupBy(
    results,
    ({ set, lang, mode }) => JSON.stringify([set, byLang ? lang : "all", mode]),
  );
  return [...groups].map(([key, group]) => {
    const [set, lang, mode] = JSON.parse(key);
    return { set, lang, mode, ...summarize(group) };
  });
}

function summarize(group: readonly QueryResult[]): Omit<ReportRow, "set" | "lang" | "mode"> {
  const answered = group.filter(({ error }) => error === undefined).map(({ ms }) => ms);
  return {
    n: group.length,
    "nDCG@10": mean(group.map(({ ndcg }) => ndcg)),
    "R@5": mean(group.map(({ recall }) => recall)),
    "MRR@10": mean(group.map(({ reciprocalRank }) => reciprocalRank)),
    "p50 ms": percentile(answered, 50),
    "p99 ms": percentile(answered, 99),
    failed: group.length - answered.length,
  };
}

/** Returns the mean over rows for each mode: each row counts the same, however many queries. */
export function meanRows(rows: readonly ReportRow[]): ReportRow[] {
  return [...Map.groupBy(rows, ({ mode }) => mode)].map(([mode, group]) => {
    const over = (pick: (row: ReportRow) => number) => mean(group.map(pick));
    return {
      set: "mean",
      lang: `${group.length} rows`,
      mode,
      n: group.reduce((sum, row) => sum + row.n, 0),
      "nDCG@10": over((row) => row["nDCG@10"]),
      "R@5": over((row) => row["R@5"]),
      "MRR@10": over((row) => row["MRR@10"]),
      "p50 ms": over((row) => row["p50 ms"]),
      "p99 ms": over((row) => row["p99 ms"]),
      failed: group.reduce((sum, row) => sum + row.failed, 0),
    };
  });
}

/** Expected nDCG@10 by `set lang`. */
export type Expectations = ReadonlyMap<string, number>;

/** A row beside what was expected of it. */
export interface Comparison {
  readonly row: ReportRow;
  readonly expected: number;
  readonly difference: number;
  readonly isLower: boolean;
}

/** Returns the comparison of every row of which something is expected. */
export function compareRows(
  rows: readonly ReportRow[],
  expectations: Expectations,
): Comparison[] {
  return rows.flatMap((row) => {
    const expected = expectations.get(`${row.set} ${row.lang}`);
    if (expected === undefined) return [];
    const difference = row["nDCG@10"] - expected;
    const tolerance = row.n < FEW_QUERIES ? TOLERANCE_OF_FEW : TOLERANCE;
    return [{ row, expected, difference, isLower: difference < -tolerance - ROUNDING }];
  });
}
