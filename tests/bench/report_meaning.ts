/** What was measured of search by meaning, as rows of tables. */
import { STATIC_DIMENSIONS } from "@/lib/embed/static_embedder.ts";
import type { Row } from "../eval/table.ts";
import { SECTIONS } from "./corpus.ts";
import { STOCK_HYBRID_SETTINGS, STOCK_ORAMA } from "./engine_rivals.ts";
import { STOCK_HYBRID_QUERIES } from "./measure_hybrid.ts";
import { CHUNK_CHARS, type ModelResult, QUERY_CHARS, TEXT_SOURCES } from "./measure_model.ts";
import { QUERY_CLASSES, type QueryClass } from "./queries.ts";
import type { Target } from "./report.ts";
import type { BenchResults } from "./results.ts";
import type { HybridResult, ModelResults } from "./results_meaning.ts";
import type { Times } from "./times.ts";

const MIB = 1_024 * 1_024;
const US_A_SECOND = 1_000_000;

export function rankingTitle(notes: number): string {
  return `Ranking by words, by meaning and by both, ${notes} notes, ${notes * SECTIONS} chunks: ms
(the vector of the query is there; a scan compares it with those of all notes and chunks)
(stock: ${STOCK_ORAMA}, one document a chunk, the same vectors of chunks as number[],
schema {text: "string", vector: "vector[${STATIC_DIMENSIONS}]"}, our terms, no other setting than
${JSON.stringify(STOCK_HYBRID_SETTINGS)}, ${STOCK_HYBRID_QUERIES} queries of each class)`;
}

export function rankingRows({ hybrid }: BenchResults): Row[] {
  if (!hybrid) return [];
  return QUERY_CLASSES.flatMap((name) => {
    const { keyword, vector, hybrid: both, scan } = hybrid.ranking[name] ?? {};
    const stock = hybrid.stock[name]?.hybrid;
    const ways = { keyword, vector, hybrid: both, "scan, no more": scan, "stock, hybrid": stock };
    return toRows(hybrid, name, ways);
  });
}

export function hybridFileRows({ hybrid }: BenchResults): Row[] {
  if (!hybrid) return [];
  return QUERY_CLASSES.flatMap((name) => toRows(hybrid, name, hybrid.files.search[name] ?? {}));
}

/** One row a way; each is also told in scans, which is what meaning has to cost. */
function toRows(
  { ranking }: HybridResult,
  queries: QueryClass,
  ways: Readonly<Record<string, Times | undefined>>,
): Row[] {
  const scan = ranking[queries]?.scan;
  const keyword = ways.keyword;
  return Object.entries(ways).flatMap(([what, times]) =>
    times && scan && keyword
      ? [{
        queries,
        what,
        "p50": times.p50,
        "p99": times.p99,
        "p50, in scans": times.p50 / scan.p50,
        "beyond keyword, in scans": (times.p50 - keyword.p50) / scan.p50,
      }]
      : []
  );
}

export function hybridFileTitle({ hybrid }: BenchResults): string {
  const seconds = (ms = 0) => (ms / 1_000).toFixed(1);
  const { loadMs, reloadMs } = hybrid?.files ?? {};
  return `Search of files in each mode, query and passages too: ms
(loaded and embedded in ${seconds(loadMs)} s; read again, its vectors from the cache, in ${
    seconds(reloadMs)
  } s)`;
}

export function modelRows({ model }: BenchResults): Row[] {
  if (!model?.loaded.model) return [];
  const { loadMs, loadCpuMs, costs } = model.loaded.model;
  return [
    { what: "loaded, ms", value: loadMs },
    { what: "loaded, ms of processor time", value: loadCpuMs },
    ...rssRows(model, model.loaded.model),
    ...TEXT_SOURCES.flatMap((source) => [
      {
        what: `queries of ${QUERY_CHARS} characters (${source}) a second of processor time`,
        value: US_A_SECOND / costs[source].queryUs,
      },
      {
        what: `chunks of ${CHUNK_CHARS} characters (${source}) a second of processor time`,
        value: US_A_SECOND / costs[source].chunkUs,
      },
    ]),
  ];
}

function rssRows(
  { absent, loaded }: ModelResults,
  { rssAfterBytes }: Pick<NonNullable<ModelResult["model"]>, "rssAfterBytes">,
): Row[] {
  return [
    {
      what: "RSS that the loaded model adds, MiB",
      value: (loaded.rssBytes - absent.rssBytes) / MIB,
    },
    { what: "the same after all of this, MiB", value: (rssAfterBytes - absent.rssBytes) / MIB },
  ];
}

export function meaningTargets({ hybrid, engines }: BenchResults): Target[] {
  const stock = engines.get("stock Orama");
  const embedded = engines.get("ours, embedded and cached");
  return [
    ...QUERY_CLASSES.flatMap((name) => hybrid ? hybridTargets(hybrid, name) : []),
    {
      name: "insert rate with vectors / stock Orama's without",
      reached: stock && embedded && stock.insertMs / embedded.insertMs,
      goal: 0.8,
      sense: "at least",
    },
  ];
}

function hybridTargets({ ranking, stock, files }: HybridResult, name: QueryClass): Target[] {
  const { keyword, hybrid, scan } = ranking[name] ?? {};
  const its = stock[name]?.hybrid;
  const { keyword: keywordOfFiles, hybrid: hybridOfFiles } = files.search[name] ?? {};
  const beyond = (one: Times | undefined, other: Times | undefined) =>
    one && other && scan && (one.p50 - other.p50) / scan.p50;
  return [
    {
      name: `ranking "${name}": p50 hybrid beyond keyword, in scans`,
      reached: beyond(hybrid, keyword),
      goal: 1.5,
      sense: "at most",
    },
    {
      name: `ranking "${name}": p50 hybrid / stock Orama's hybrid`,
      reached: hybrid && its && hybrid.p50 / its.p50,
      goal: 0.3,
      sense: "at most",
    },
    {
      name: `search of files "${name}": p50 hybrid beyond keyword, in scans`,
      reached: beyond(hybridOfFiles, keywordOfFiles),
      goal: 1.5,
      sense: "at most",
    },
  ];
}
