/** Sums up results by row. */
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
  /** How many queries another mode answered than was asked. */
  readonly fallback: number;
}

/** The rows that no mode saturates: one search differs from another here, if anywhere. */
export const OPEN_ROWS: readonly string[] = [
  "zh-javaqa zh",
  "zh-faq zh",
  "pitfalls en",
  "cmdnotes en",
  "cmdnotes zh>en",
  "docsqa en",
  "xdocs en>zh",
  "xdocs zh>en",
  "xquad en>zh",
  "xquad zh>en",
  "locomo en",
];

/** Returns what a row is called where only its numbers stand: `set lang`. */
export function nameOf({ set, lang }: Pick<ReportRow, "set" | "lang">): string {
  return `${set} ${lang}`;
}

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
    fallback: group.filter(({ fellBack }) => fellBack).length,
  };
}

/**
 * Returns means over rows for each mode, each row counting the same, however many queries: over
 * all rows and, where all of them are there, over the open rows.
 */
export function meanRows(rows: readonly ReportRow[]): ReportRow[] {
  return [...Map.groupBy(rows, ({ mode }) => mode).values()].flatMap((group) => {
    const open = group.filter((row) => OPEN_ROWS.includes(nameOf(row)));
    const all = meanRow(group, `${group.length} rows`);
    return open.length === OPEN_ROWS.length
      ? [all, meanRow(open, `${open.length} open rows`)]
      : [all];
  });
}

function meanRow(group: readonly ReportRow[], lang: string): ReportRow {
  const over = (pick: (row: ReportRow) => number) => mean(group.map(pick));
  const sum = (pick: (row: ReportRow) => number) =>
    group.reduce((total, row) => total + pick(row), 0);
  return {
    set: "mean",
    lang,
    mode: group[0]?.mode ?? "",
    n: sum((row) => row.n),
    "nDCG@10": over((row) => row["nDCG@10"]),
    "R@5": over((row) => row["R@5"]),
    "MRR@10": over((row) => row["MRR@10"]),
    "p50 ms": over((row) => row["p50 ms"]),
    "p99 ms": over((row) => row["p99 ms"]),
    failed: sum((row) => row.failed),
    fallback: sum((row) => row.fallback),
  };
}
