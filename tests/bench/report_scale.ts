/** What was measured of each size of vault, as one table that a page of Markdown can carry. */
import { type ScaleResult, SEARCH_MODES } from "./measure_scale.ts";
import type { StartTimes } from "./scale_server.ts";
import type { Times } from "./times.ts";

const MIB = 1_024 * 1_024;
const ABSENT = "–";

/** Reads one value of the table out of a result. */
type Cell = (result: ScaleResult) => string;

/** Returns the table, one column for each result, and the command that makes it. */
export function formatScale(results: readonly ScaleResult[], command: string): string {
  if (results.length === 0) return "No size was measured.";
  const heads = results.map(({ notes }) => `${formatCount(notes)} notes`);
  const rows = [...rowsOf(results)].map(([what, cell]) => [what, ...results.map(cell)]);
  return `${formatMarkdown([["", ...heads], ...rows])}\n\nMade by \`${command}\`.`;
}

function rowsOf(results: readonly ScaleResult[]): Map<string, Cell> {
  return new Map<string, Cell>([
    ["chunks", ({ chunks }) => formatCount(chunks)],
    [
      "changes are noticed by",
      ({ freshness, index }) =>
        freshness === index.freshness ? freshness : `${freshness}; index ${index.freshness}`,
    ],
    ...startRows("cold start", ({ cold }) => cold),
    ...startRows("warm start", ({ warm }) => warm),
    [
      "warm start, all indexed: times cold's",
      (result) => formatNumber(result.warm.indexedMs / result.cold.indexedMs),
    ],
    ...startRows("warm start, 1 in 100 changed", ({ warmChanged }) => warmChanged),
    ...SEARCH_MODES.map((mode) =>
      [
        `HTTP, ${mode}: ms, p50 / p99`,
        ({ http }: ScaleResult) => formatTimes(http.search[mode]),
      ] as const
    ),
    ["HTTP, answers known to be current: %", ({ http }) => formatNumber(http.verifiedShare * 100)],
    ["index, hybrid: ms, p50 / p99", ({ index }) => formatTimes(index.search)],
    [
      "index, refresh and hybrid: ms, p50 / p99",
      ({ index }) => formatTimes(index.refreshAndSearch),
    ],
    [
      "with refresh: times without, p50",
      ({ index }) => formatNumber(index.refreshAndSearch.p50 / index.search.p50),
    ],
    ["refresh, nothing changed: ms, p50 / p99", ({ index }) => formatTimes(index.quietRefresh)],
    ["refresh, known to be current: %", ({ index }) => formatNumber(index.verifiedShare * 100)],
    ["refresh, one note changed: ms", ({ index }) => formatNumber(index.refreshOneMs)],
    ["refresh, 1 in 100 changed: ms", ({ index }) => formatNumber(index.refreshManyMs)],
    ["memory: MiB", ({ index }) => formatNumber(index.rssBytes / MIB)],
    ...stateRows(results),
  ]);
}

function startRows(
  what: string,
  pick: (result: ScaleResult) => StartTimes,
): (readonly [string, Cell])[] {
  return [
    [`${what}, first answer: ms`, (result) => formatNumber(pick(result).firstAnswerMs)],
    [`${what}, first search: ms`, (result) => formatNumber(pick(result).firstSearchMs)],
    [`${what}, all indexed: ms`, (result) => formatNumber(pick(result).indexedMs)],
  ];
}

/** A row for each file that any size has. */
function stateRows(results: readonly ScaleResult[]): (readonly [string, Cell])[] {
  const names = new Set(results.flatMap(({ stateFiles }) => stateFiles.map(({ name }) => name)));
  const whole: Cell = ({ stateFiles }) =>
    formatNumber(stateFiles.reduce((sum, { bytes }) => sum + bytes, 0) / MIB);
  const ofFile = (wanted: string): Cell => ({ stateFiles }) => {
    const file = stateFiles.find(({ name }) => name === wanted);
    return file ? formatNumber(file.bytes / MIB) : ABSENT;
  };
  return [
    ["state on disk: MiB", whole],
    ...[...names].map((name) => [`state on disk, ${name}: MiB`, ofFile(name)] as const),
  ];
}

function formatTimes({ p50, p99 }: Times): string {
  return `${formatNumber(p50)} / ${formatNumber(p99)}`;
}

/** Three digits or more. */
function formatNumber(value: number): string {
  if (value >= 1_000) return formatCount(Math.round(value));
  return value.toFixed(value >= 100 ? 0 : value >= 10 ? 1 : 2);
}

function formatCount(value: number): string {
  return String(value).replace(/\B(?=(\d{3})+$)/g, " ");
}

function formatMarkdown([head = [], ...rows]: readonly (readonly string[])[]): string {
  const widths = head.map((_, column) =>
    Math.max(3, ...[head, ...rows].map((row) => row[column]?.length ?? 0))
  );
  const rule = widths.map((width, column) =>
    column === 0 ? "-".repeat(width) : `${"-".repeat(width - 1)}:`
  );
  return [head, rule, ...rows].map((row) => {
    const cells = row.map((cell, column) =>
      column === 0 ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0)
    );
    return `| ${cells.join(" | ")} |`;
  }).join("\n");
}
