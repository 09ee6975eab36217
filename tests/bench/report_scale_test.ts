import { deepStrictEqual as deepEqual, ok, strictEqual as equal } from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import type { ScaleResult } from "./measure_scale.ts";
import { formatScale } from "./report_scale.ts";

const MIB = 1_024 * 1_024;
const TIMES = { p50: 2, p99: 12.34 };
const START = { firstAnswerMs: 200, firstSearchMs: 700, indexedMs: 8_000 };

const RESULT: ScaleResult = {
  notes: 10_000,
  chunks: 50_000,
  freshness: "watch",
  cold: START,
  warm: { ...START, indexedMs: 400 },
  warmChanged: { ...START, indexedMs: 500 },
  http: {
    search: { keyword: TIMES, vector: TIMES, hybrid: { p50: 4, p99: 1_234.5 } },
    verifiedShare: 1,
  },
  index: {
    rssBytes: 300 * MIB,
    freshness: "watch",
    search: { p50: 2, p99: 3 },
    refreshAndSearch: { p50: 2.5, p99: 4 },
    quietRefresh: TIMES,
    verifiedShare: 0.5,
    refreshOneMs: 3,
    refreshManyMs: 30,
  },
  stateFiles: [{ name: "cache.sqlite", bytes: 30 * MIB }, { name: "a", bytes: 2 * MIB }],
};

/** Returns the cells of each row by what stands before them. */
function readTable(report: string): Map<string, string[]> {
  const lines = report.split("\n").filter((line) => line.startsWith("|"));
  return new Map(lines.map((line) => {
    const [what = "", ...cells] = line.split("|").slice(1, -1).map((cell) => cell.trim());
    return [what, cells];
  }));
}

describe("formatScale()", () => {
  it("puts each size into a column, with rows for what any of them has", () => {
    const small = { ...RESULT, notes: 300, stateFiles: [{ name: "a", bytes: MIB }] };

    const table = readTable(formatScale([small, RESULT], "the command"));

    deepEqual(table.get(""), ["300 notes", "10 000 notes"]);
    deepEqual(table.get("chunks"), ["50 000", "50 000"]);
    deepEqual(table.get("state on disk: MiB"), ["1.00", "32.0"]);
    deepEqual(table.get("state on disk, a: MiB"), ["1.00", "2.00"]);
    deepEqual(table.get("state on disk, cache.sqlite: MiB"), ["–", "30.0"]);
  });

  it("shows times, shares and ratios", () => {
    const table = readTable(formatScale([RESULT], "the command"));

    const rows: readonly (readonly [what: string, cell: string])[] = [
      ["cold start, all indexed: ms", "8 000"],
      ["warm start, all indexed: times cold's", "0.05"],
      ["warm start, 1 in 100 changed, all indexed: ms", "500"],
      ["HTTP, keyword: ms, p50 / p99", "2.00 / 12.3"],
      ["HTTP, hybrid: ms, p50 / p99", "4.00 / 1 235"],
      ["HTTP, answers known to be current: %", "100"],
      ["with refresh: times without, p50", "1.25"],
      ["refresh, known to be current: %", "50.0"],
      ["memory: MiB", "300"],
    ];
    for (const [what, cell] of rows) deepEqual(table.get(what), [cell], what);
  });

  it("says so when the index noticed changes by another way than the server", () => {
    const mixed = { ...RESULT, index: { ...RESULT.index, freshness: "scan" } };

    const table = readTable(formatScale([RESULT, mixed], "the command"));

    deepEqual(table.get("changes are noticed by"), ["watch", "watch; index scan"]);
  });

  it("has lines of one length, and the command below", () => {
    const report = formatScale([RESULT], "the command");

    const lines = report.split("\n").filter((line) => line.startsWith("|"));
    equal(new Set(lines.map((line) => line.length)).size, 1);
    ok(report.endsWith("\n\nMade by `the command`."));
  });

  it("has no table without a result", () => {
    equal(formatScale([], "the command"), "No size was measured.");
  });
});
