/** What a run came to, for people. */
import { formatTable } from "../eval/table.ts";
import type { EditRecord, Ledger, WrongAnswer } from "./ledger.ts";
import type { ChurnResult } from "./soak_churn.ts";

const MAX_TEXT_CHARS = 80;

/** Tells of edits and answers; each wrong one with the edits before it. */
export function formatLedger(ledger: Ledger): string {
  return [
    formatCounts("edits", ledger.edits),
    formatCounts("mode after an edit", ledger.modes),
    `${ledger.asked} answers, ${ledger.comparisons} whole comparisons, ` +
    `${ledger.freshComparisons} with a fresh index`,
    `${ledger.rightlyUnverified} answers rightly could not tell; ` +
    `${ledger.staleTimes} notes showed an older time than their file (not counted as wrong)`,
    ledger.wrongCount === 0 ? "Nothing was wrong" : formatCounts("WRONG", ledger.wrongs),
    ...ledger.told.map(formatWrong),
  ].join("\n\n");
}

/** Tells how an index that has seen many changes differs from a fresh one. */
export function formatChurn(result: ChurnResult): string {
  const { notes, queries, differing, churnedRssBytes, freshRssBytes } = result;
  const rows = [...differing].map(([mode, count]) => ({ mode, queries, differing: count }));
  const memory = churnedRssBytes === undefined || freshRssBytes === undefined ? [] : [
    `Memory: ${toMib(churnedRssBytes)} MiB after the updates, ${toMib(freshRssBytes)} MiB ` +
    `fresh, ratio ${(churnedRssBytes / freshRssBytes).toFixed(2)}`,
  ];
  return [`${notes} notes`, formatTable(rows, (_, value) => String(value)), ...memory].join("\n\n");
}

function formatCounts(title: string, counts: ReadonlyMap<string, number>): string {
  const rows = [...counts].sort(([, a], [, b]) => b - a)
    .map(([name, count]) => ({ [title]: name, count }));
  return formatTable(rows, (_, value) => String(value));
}

function formatWrong({ kind, detail, mode, recent }: WrongAnswer): string {
  return [`${kind}, in mode ${mode}: ${detail}`, ...recent.map(formatEdit)].join("\n  ");
}

/** Long texts are cut: the seed says it all again. */
function formatEdit({ number, kind, by, ops }: EditRecord): string {
  const shorten = (_: string, value: unknown) =>
    typeof value === "string" && value.length > MAX_TEXT_CHARS
      ? `${value.slice(0, MAX_TEXT_CHARS)}…`
      : value;
  const shown = ops.slice(0, 6).map((op) => JSON.stringify(op, shorten)).join(" ");
  const more = ops.length > 6 ? ` … and ${ops.length - 6} more` : "";
  return `#${number} ${kind}, by ${by}: ${shown}${more}`;
}

function toMib(bytes: number): string {
  return (bytes / 2 ** 20).toFixed(1);
}
