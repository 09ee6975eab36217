/** The results of the bench as tables, and what was aimed at beside what was reached. */
import { formatTable, type Row } from "../eval/table.ts";
import { SECTIONS } from "./corpus.ts";
import type { EngineName, EngineResult } from "./measure_engine.ts";
import { CALLS_AT_ONCE } from "./measure_mcp.ts";
import type { ProductResult } from "./measure_product.ts";
import { STALL_PHASES } from "./measure_stalls.ts";
import { QUERY_CLASSES } from "./queries.ts";
import {
  hybridFileRows,
  hybridFileTitle,
  meaningTargets,
  modelRows,
  rankingRows,
  rankingTitle,
} from "./report_meaning.ts";
import { idleRows, startRows, startTargets } from "./report_start.ts";
import { doorRows, streamRows, streamTitle, transportTargets } from "./report_transports.ts";
import { type BenchResults, ENGINES_OF, type Part } from "./results.ts";

const MIB = 1_024 * 1_024;

/** Returns the whole report. */
export function formatReport(results: BenchResults, parts: readonly Part[], notes: number): string {
  const tables: [string, Row[]][] = [
    [
      "Search: ms, and how many times as long as the rival",
      parts.includes("search") ? searchRows(results) : [],
    ],
    ["Search of files, no embedding: ms", productRows(results.product)],
    [rankingTitle(notes), rankingRows(results)],
    [hybridFileTitle(results), hybridFileRows(results)],
    ["Insert", parts.includes("insert") ? insertRows(results, notes) : []],
    ["Memory", parts.includes("memory") ? memoryRows(results) : []],
    ["The static model by itself", modelRows(results)],
    ["Gaps between the ticks of a 5 ms timer: ms", stallRows(results)],
    ["From the start of the server on: ms", startRows(results)],
    [`A server of ${notes} notes that nobody asks`, idleRows(results)],
    [`One search by each door of one server, ${CALLS_AT_ONCE} at once`, doorRows(results)],
    [streamTitle(results.streams), streamRows(results.streams)],
    ["Targets", targetRows(results, notes)],
  ];
  return tables.filter(([, rows]) => rows.length > 0)
    .map(([title, rows]) => `${title}\n${formatTable(rows, formatNumber)}`).join("\n\n");
}

function formatNumber(_column: string, value: number): string {
  return Number.isInteger(value) || value >= 1_000 ? value.toFixed(0) : value.toFixed(2);
}

function searchRows({ engines }: BenchResults): Row[] {
  const ours = engines.get("ours")?.search;
  return QUERY_CLASSES.flatMap((name) =>
    [...engines].flatMap(([engine, { search }]) => {
      const times = search[name]?.ranking;
      const own = ours?.[name]?.ranking;
      if (!times || !own) return [];
      return [{
        "queries": name,
        "engine": engine === "ours" ? "ours, ranking" : engine,
        "p50": times.p50,
        "p99": times.p99,
        "ours / it, p50": own.p50 / times.p50,
        "ours / it, p99": own.p99 / times.p99,
      }];
    })
  );
}

function productRows(product: ProductResult | undefined): Row[] {
  if (!product) return [];
  const { loadMs, refresh, search, request } = product;
  return [
    { what: "load of the whole vault", queries: "", p50: loadMs, p99: loadMs },
    { what: "refresh(), nothing changed", queries: "", ...refresh },
    ...QUERY_CLASSES.map((name) => ({
      what: "search(), passages too",
      queries: name,
      ...search[name],
    })),
    ...QUERY_CLASSES.map((name) => ({
      what: "refresh() and search()",
      queries: name,
      ...request[name],
    })),
  ];
}

function insertRows({ engines }: BenchResults, notes: number): Row[] {
  const stock = engines.get("stock Orama")?.insertMs ?? 0;
  const shown = [...engines].filter(([engine]) => ENGINES_OF.insert.includes(engine));
  return shown.map(([engine, result]) => ({
    "engine": engine,
    "notes/s": notes / result.insertMs * 1_000,
    "chunks/s": result.chunks / result.insertMs * 1_000,
    "times stock Orama": stock / result.insertMs,
  }));
}

function memoryRows({ engines }: BenchResults): Row[] {
  const rss = (engine: EngineName) => (engines.get(engine)?.rssBytes ?? 0) / MIB;
  const nothing = rss("nothing");
  const stock = rss("stock Orama");
  return ENGINES_OF.memory.map((engine) => ({
    "engine": engine,
    "RSS MiB": rss(engine),
    "above nothing": rss(engine) - nothing,
    "of stock Orama's": rss(engine) / stock,
    "above nothing, of stock Orama's": (rss(engine) - nothing) / (stock - nothing),
  }));
}

function stallRows({ stalls }: BenchResults): Row[] {
  return stalls.flatMap(({ large, embedding, phases, hitShare }) =>
    STALL_PHASES.map((phase) => ({
      "large note": large,
      "embedding": embedding,
      "while": phase === "search" ? `search, ${Math.round(hitShare * 100)} % with it` : phase,
      "longest": phases[phase].longestMs,
      "longest, busy": phases[phase].longestBusyMs,
      "p99": phases[phase].p99Ms,
      "took": phases[phase].tookMs,
    }))
  );
}

/** A number that was aimed at. */
export interface Target {
  readonly name: string;
  readonly reached: number | undefined;
  readonly goal: number;
  readonly sense: "at most" | "at least";
}

function targetRows(results: BenchResults, notes: number): Row[] {
  return targetsOf(results, notes).flatMap(({ name, reached, goal, sense }) => {
    if (reached === undefined) return [];
    const isMet = sense === "at most" ? reached <= goal : reached >= goal;
    return [{ target: name, reached, goal: `${sense} ${goal}`, verdict: isMet ? "met" : "MISSED" }];
  });
}

function targetsOf(results: BenchResults, notes: number): Target[] {
  const { engines, product, stalls } = results;
  const ours = engines.get("ours");
  const ratio = (rival: EngineName, pick: (result: EngineResult) => number | undefined) => {
    const own = ours && pick(ours);
    const other = engines.get(rival);
    const its = other && pick(other);
    return own === undefined || its === undefined ? undefined : own / its;
  };
  const insert = ratio("stock Orama", ({ insertMs }) => insertMs);
  const worst = Math.max(
    ...stalls.flatMap(({ phases }) => STALL_PHASES.map((phase) => phases[phase].longestMs)),
  );
  return [
    ...QUERY_CLASSES.map((name): Target => ({
      name: `ranking "${name}": p50 / FTS5's`,
      reached: ratio("FTS5, chunks", ({ search }) => search[name]?.ranking?.p50),
      goal: 1,
      sense: "at most",
    })),
    ...QUERY_CLASSES.map((name): Target => ({
      name: `request "${name}" at ${notes} notes, ${notes * SECTIONS} chunks: p99 ms`,
      reached: product?.request[name].p99,
      goal: 10,
      sense: "at most",
    })),
    {
      name: "insert rate / stock Orama's",
      reached: insert === undefined ? undefined : 1 / insert,
      goal: 1.5,
      sense: "at least",
    },
    {
      name: "RSS / stock Orama's",
      reached: ratio("stock Orama", ({ rssBytes }) => rssBytes),
      goal: 0.6,
      sense: "at most",
    },
    {
      name: "longest stall, ms",
      reached: Number.isFinite(worst) ? worst : undefined,
      goal: 50,
      sense: "at most",
    },
    ...meaningTargets(results),
    ...startTargets(results),
    ...transportTargets(results),
  ];
}
