/** Small data sets and results for the tests of the evaluation. */
import { type TempVault, tempVault } from "../_support/temp_vault.ts";
import type { Query } from "./data_sets.ts";
import type { QueryResult } from "./evaluate.ts";
import type { ReportRow } from "./report.ts";

/** Notes by path in the set's vault, and its queries by the name of their file. */
export interface SmallSet {
  readonly notes: Readonly<Record<string, string>>;
  readonly queries: Readonly<Record<string, readonly Query[]>>;
}

/** Makes a real folder of data sets by name; use it with `await using`. */
export function tempData(sets: Readonly<Record<string, SmallSet>>): Promise<TempVault> {
  const files = Object.entries(sets).flatMap(([set, { notes, queries }]) => [
    ...Object.entries(notes).map(([path, text]) => [`${set}/vault/${path}`, text]),
    ...Object.entries(queries).map(([file, asked]) => [
      `${set}/${file}`,
      asked.map((query) => `${JSON.stringify(query)}\n`).join(""),
    ]),
  ]);
  return tempVault(Object.fromEntries(files));
}

/** Returns a query for a text; its id is the text too. */
export function toQuery(text: string, relevant: readonly string[] = [], lang = "en"): Query {
  return { id: text, query: text, lang, relevant };
}

/** Returns a row of keyword search over 200 queries, but for what is given. */
export function toRow(given: Partial<ReportRow>): ReportRow {
  return {
    set: "birds",
    lang: "en",
    mode: "keyword",
    n: 200,
    "nDCG@10": 0.5,
    "R@5": 0.5,
    "MRR@10": 0.5,
    "p50 ms": 1,
    "p99 ms": 2,
    failed: 0,
    fallback: 0,
    ...given,
  };
}

/** Returns the result of a query that found its only note first, but for what is given. */
export function toResult(given: Partial<QueryResult>): QueryResult {
  return {
    set: "birds",
    lang: "en",
    mode: "keyword",
    ms: 1,
    known: 1,
    fellBack: false,
    ndcg: 1,
    recall: 1,
    reciprocalRank: 1,
    ...given,
  };
}
