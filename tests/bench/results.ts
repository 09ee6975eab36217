/** Runs the parts of the bench in turn, each several times, and keeps the best of each number. */
import { join } from "node:path";
import { bestOf } from "./best_of.ts";
import { untilSettled, writeNotes } from "./bench_vault.ts";
import { runChild } from "./child.ts";
import type { Corpus } from "./corpus.ts";
import type { EngineName, EngineResult } from "./measure_engine.ts";
import { type McpResult, measureMcp } from "./measure_mcp.ts";
import type { ProductResult } from "./measure_product.ts";
import { STALLS_CASES, type StallsResult } from "./measure_stalls.ts";
import {
  type IdleResult,
  measureIdle,
  measureStart,
  type StartEmbedding,
  type StartResult,
} from "./measure_start.ts";
import { measureStreams, type StreamsResult } from "./measure_streams.ts";
import { type BenchQueries, makeQueries } from "./queries.ts";
import { type HybridResult, type ModelResults, runHybrid, runModel } from "./results_meaning.ts";

export const PARTS = [
  "search",
  "hybrid",
  "insert",
  "memory",
  "model",
  "stalls",
  "start",
  "mcp",
  "streams",
] as const;
export type Part = (typeof PARTS)[number];

export interface BenchOptions {
  readonly corpus: Corpus;
  readonly parts: readonly Part[];
  readonly notes: number;
  readonly queries: number;
  readonly rounds: number;
  /** Told what goes on, since it takes minutes. */
  readonly say: (what: string) => void;
}

export interface BenchResults {
  readonly engines: ReadonlyMap<EngineName, EngineResult>;
  readonly product?: ProductResult;
  readonly hybrid?: HybridResult;
  readonly model?: ModelResults;
  readonly stalls: readonly StallsResult[];
  readonly start?: StartResults;
  /** By the number of notes. */
  readonly mcp: ReadonlyMap<number, McpResult>;
  readonly streams?: StreamsResult;
}

export interface StartResults {
  readonly starts: readonly StartCase[];
  /** Of the whole vault, with the default embedding. */
  readonly idle: IdleResult;
}

export interface StartCase extends StartResult {
  readonly notes: number;
  readonly embedding: StartEmbedding;
}

const SMALL_NOTES = 60;
const PARTS_WITH_FILES: readonly Part[] = ["search", "hybrid", "stalls", "start", "mcp"];
/** Stands in a note so short that a search costs next to nothing, and the door itself shows. */
const TINY_QUERY = "zebra";

export const ENGINES_OF: Readonly<Record<Part, readonly EngineName[]>> = {
  search: ["ours", "stock Orama", "FTS5, chunks", "FTS5, notes"],
  hybrid: [],
  insert: [
    "ours",
    "ours, terms only",
    "ours, embedded",
    "ours, embedded and cached",
    "ours, from the cache",
    "stock Orama",
    "FTS5, chunks",
    "FTS5, notes",
  ],
  memory: ["nothing", "ours", "ours, embedded", "stock Orama", "FTS5, chunks"],
  model: [],
  stalls: [],
  start: [],
  mcp: [],
  streams: [],
};

export async function runBench(options: BenchOptions): Promise<BenchResults> {
  const { corpus, parts, notes } = options;
  const queries = makeQueries(corpus, notes, options.queries);
  const engines = await runEngines(options, queries);
  const vault = await Deno.makeTempDir({ prefix: "bench-" });
  const has = (part: Part) => parts.includes(part);
  try {
    if (PARTS_WITH_FILES.some(has)) writeNotes(corpus, vault, notes);
    await untilSettled();
    const product = has("search") ? await runProduct(options, vault, queries) : undefined;
    const hybrid = has("hybrid") ? await runHybrid(options, vault, queries) : undefined;
    const model = has("model") ? await runModel(options) : undefined;
    const start = has("start") ? await runStart(options, vault) : undefined;
    const mcp = has("mcp") ? await runMcp(options, vault, queries) : new Map();
    const streams = has("streams") ? await runStreams(options) : undefined;
    const stalls = has("stalls") ? await runStalls(options, vault) : [];
    return {
      engines,
      stalls,
      mcp,
      ...(product ? { product } : {}),
      ...(hybrid ? { hybrid } : {}),
      ...(model ? { model } : {}),
      ...(start ? { start } : {}),
      ...(streams ? { streams } : {}),
    };
  } finally {
    await Deno.remove(vault, { recursive: true });
  }
}

/** Engines take turns, so that a busy moment of the machine does not hit one alone. */
async function runEngines(
  { parts, notes, rounds, say }: BenchOptions,
  queries: BenchQueries,
): Promise<Map<EngineName, EngineResult>> {
  const names = new Set(parts.flatMap((part) => ENGINES_OF[part]));
  const found = new Map<EngineName, EngineResult[]>();
  for (let round = 1; round <= rounds; round++) {
    await withFolder(async (cacheFolder) => {
      for (const engine of names) {
        say(`round ${round} of ${rounds}: ${engine}`);
        const isAsked = parts.includes("search") && ENGINES_OF.search.includes(engine);
        const wanted = isAsked ? { queries } : {};
        const result = await runChild({ kind: "engine", engine, notes, cacheFolder, ...wanted });
        found.set(engine, [...found.get(engine) ?? [], result]);
      }
    });
  }
  return new Map([...found].map(([engine, results]) => [engine, bestOf(results)]));
}

function runProduct(
  options: BenchOptions,
  vault: string,
  queries: BenchQueries,
): Promise<ProductResult> {
  return repeat(options, "search of files", () => runChild({ kind: "product", vault, queries }));
}

async function runStart(options: BenchOptions, vault: string): Promise<StartResults> {
  const { corpus, notes } = options;
  const idle = await repeat(options, "a server that nobody asks", () => measureIdle(vault));
  const starts = await withVault(
    (folder) => writeNotes(corpus, folder, SMALL_NOTES),
    async (small) => [
      await runStartCase(options, small, { notes: SMALL_NOTES, embedding: "none" }),
      await runStartCase(options, small, { notes: SMALL_NOTES, embedding: "static" }),
      await runStartCase(options, vault, { notes, embedding: "static" }),
    ],
  );
  return { idle, starts };
}

async function runStartCase(
  options: BenchOptions,
  vault: string,
  { notes, embedding }: Pick<StartCase, "notes" | "embedding">,
): Promise<StartCase> {
  // The title of a note in English.
  const [query = ""] = options.corpus.noteAt(2).text.split("\n");
  const what = `start, ${notes} notes, embedding ${embedding}`;
  const times = await repeat(options, what, () => measureStart(vault, embedding, query));
  return { notes, embedding, ...times };
}

async function runStalls(options: BenchOptions, vault: string): Promise<StallsResult[]> {
  const { notes } = options;
  const stalls: StallsResult[] = [];
  for (const one of STALLS_CASES) {
    const what = `stalls, large note of ${one.large}, embedding ${one.embedding}`;
    stalls.push(
      await repeat(options, what, () => runChild({ kind: "stalls", vault, notes, ...one })),
    );
  }
  return stalls;
}

async function runMcp(
  options: BenchOptions,
  vault: string,
  queries: BenchQueries,
): Promise<Map<number, McpResult>> {
  const { corpus, notes } = options;
  const wordsOf = (made: BenchQueries) => made["3 mid"].map(({ text }) => text);
  const one = await withVault(writeTinyNote, (folder) => runDoors(options, folder, [TINY_QUERY]));
  const smallQueries = wordsOf(makeQueries(corpus, SMALL_NOTES, options.queries));
  const small = await withVault(
    (folder) => writeNotes(corpus, folder, SMALL_NOTES),
    (folder) => runDoors(options, folder, smallQueries),
  );
  const large = await runDoors(options, vault, wordsOf(queries));
  return new Map([[1, one], [SMALL_NOTES, small], [notes, large]]);
}

/** Every query needs results, so that an answer can be told from a failure. */
async function runDoors(
  { rounds, say }: BenchOptions,
  vault: string,
  queries: readonly string[],
): Promise<McpResult> {
  say(`${rounds} rounds: one search by each door`);
  return bestOf(await measureMcp({ vault, queries, rounds }));
}

function runStreams({ corpus, say }: BenchOptions): Promise<StreamsResult> {
  say("event streams");
  return withVault((folder) => writeNotes(corpus, folder, SMALL_NOTES), measureStreams);
}

function withVault<T>(
  write: (folder: string) => void,
  work: (folder: string) => Promise<T>,
): Promise<T> {
  return withFolder(async (folder) => {
    write(folder);
    await untilSettled();
    return await work(folder);
  });
}

async function withFolder<T>(work: (folder: string) => Promise<T>): Promise<T> {
  const folder = await Deno.makeTempDir({ prefix: "bench-" });
  try {
    return await work(folder);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

function writeTinyNote(folder: string): void {
  Deno.writeTextFileSync(join(folder, "tiny.md"), `# Tiny\n\nA ${TINY_QUERY} in a line.\n`);
}

async function repeat<T>(
  { rounds, say }: BenchOptions,
  what: string,
  work: () => Promise<T>,
): Promise<T> {
  const results: T[] = [];
  for (let round = 1; round <= rounds; round++) {
    say(`round ${round} of ${rounds}: ${what}`);
    results.push(await work());
  }
  return bestOf(results);
}
