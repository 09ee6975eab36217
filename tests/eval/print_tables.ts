/** Prints what was measured, for people. */
import type { Comparison, HttpComparison, HybridComparison } from "./compare.ts";
import type { HintReport } from "./hint_report.ts";
import { mean } from "./measures.ts";
import type { RecallRow } from "./recall_hints.ts";
import { meanRows, nameOf, type ReportRow } from "./report.ts";
import { formatTable, print, type Row } from "./table.ts";

/** Prints the rows, then what they were compared with. */
export function printRankings(
  rows: readonly ReportRow[],
  comparisons: readonly Comparison[],
  hybrids: readonly HybridComparison[],
): void {
  printTable([...rows, ...meanRows(rows)].map((row) => ({ ...row })), formatMeasure);
  printTable(comparisons.map(toComparisonRow), formatMeasure);
  printTable(hybrids.map(toHybridRow), formatMeasure);
}

/** Prints the model that is part of the program beside itself over HTTP, and their means. */
export function printBehindHttp(comparisons: readonly HttpComparison[]): void {
  const over = (pick: (row: HttpComparison) => number) => mean(comparisons.map(pick));
  printTable([
    ...comparisons.map(({ isLower, ...row }) => toHttpRow(row, toVerdict(isLower))),
    toHttpRow({
      name: `mean of ${comparisons.length} rows`,
      n: comparisons.reduce((sum, { n }) => sum + n, 0),
      builtIn: over((row) => row.builtIn),
      behindHttp: over((row) => row.behindHttp),
      difference: over((row) => row.difference),
    }, ""),
  ], formatMeasure);
}

function toHttpRow(
  { name, n, builtIn, behindHttp, difference }: Omit<HttpComparison, "isLower">,
  verdict: string,
): Row {
  return {
    "hybrid": name,
    n,
    "built in@10": builtIn,
    "behind HTTP@10": behindHttp,
    "difference@10": difference,
    verdict,
  };
}

/** Prints for each mode what thresholds do, and what one does to each data set. */
export function printHints(reports: readonly HintReport[]): void {
  for (const { mode, relevant, irrelevant, thresholds, quiet, chosen, sets } of reports) {
    print(`${mode}: ${relevant} relevant and ${irrelevant} irrelevant queries`);
    printTable(thresholds.map((row) => ({ ...row })), formatShare);
    const from = quiet?.toFixed(2) ?? "no score";
    print(`Irrelevant queries with a hint are no more than 3 % from ${from} on.\n`);
    print(`At ${chosen.toFixed(2)}, by data set; "quiet" is from where its own are:`);
    printTable(sets.map(toSetRow), formatShare);
  }
}

/** Prints what an agent would be hinted at. */
export function printRecall(rows: readonly RecallRow[]): void {
  print("hints: how many a query brings; by set: how many one of another set brings");
  printTable(rows.map(({ others, ...row }) => ({ ...row, ...others })), formatShare);
}

function printTable(rows: readonly Row[], format: (column: string, value: number) => string): void {
  if (rows.length > 0) print(`${formatTable(rows, format)}\n`);
}

function toComparisonRow({ row, expected, difference, isLower }: Comparison): Row {
  return {
    "compared": nameOf(row),
    "mode": row.mode,
    "nDCG@10": row["nDCG@10"],
    "expected@10": expected,
    "difference@10": difference,
    "verdict": toVerdict(isLower),
  };
}

function toHybridRow(
  { name, keyword, vector, hybrid, difference, isLower }: HybridComparison,
): Row {
  return {
    "hybrid beside its parts": name,
    "keyword@10": keyword,
    "vector@10": vector,
    "hybrid@10": hybrid,
    "to the better@10": difference,
    "verdict": toVerdict(isLower),
  };
}

function toVerdict(isLower: boolean): string {
  return isLower ? "lower" : "ok";
}

function toSetRow({ threshold: _threshold, quiet = NaN, ...row }: HintReport["sets"][number]): Row {
  const { set, lang, n, recall, precision, irrelevant, shown, precisionOfHalf } = row;
  return { set, lang, n, recall, precision, irrelevant, shown, precisionOfHalf, quiet };
}

function formatMeasure(column: string, value: number): string {
  if (column.endsWith("ms")) return value.toFixed(1);
  return column.includes("@") ? value.toFixed(3) : `${value}`;
}

function formatShare(column: string, value: number): string {
  if (Number.isNaN(value)) return "-";
  if (column === "minScore") return value.toFixed(2);
  if (column === "n" || column === "irrelevant") return `${value}`;
  return value.toFixed(column === "threshold" || column === "quiet" ? 2 : 3);
}
