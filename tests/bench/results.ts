/** Runs the parts of the bench in turn, each several times, and keeps the best of each number. */
import { join } from "node:path";
import { untilSettled, writeNotes } from "./bench_vault.ts";
import { runChild } from "./child.ts";
import type { Corpus } from "./corpus.ts";
import type { EngineName, EngineResult } from "./measure_engine.ts";
import { type McpResult, measureMcp } from "./measure_mcp.ts";
import type { ProductResult } from "./measure_product.ts";
import { LARGE_NOTES, type LargeNote, type StallsResult } from "./measure_stalls.ts";
import { measureStart, type StartResult } from "./measure_start.ts";
import { measureStreams, type StreamsResult } from "./measure_streams.ts";
import { type BenchQueries, makeQueries } from "./queries.ts";

export const PARTS = ["search", "insert", "memory", "stalls", "start", "mcp", "streams"] as const;
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
  readonly stalls: ReadonlyMap<LargeNote, StallsResult>;
  readonly start?: StartResult;
  /** By the number of notes. */
  readonly mcp: ReadonlyMap<number, McpResult>;
  readonly streams?: StreamsResult;
}

const SMALL_NOTES = 60;
/** Stands in a note so short that a search costs next to nothing, and the door itself shows. */
const TINY_QUERY = "zebra";

const ENGINES_OF: Readonly<Record<Part, readonly EngineName[]>> = {
  search: ["ours", "stock Orama", "FTS5, chunks", "FTS5, notes"],
  insert: ["ours", "ours, terms only", "stock Orama", "FTS5, chunks", "FTS5, notes"],
  memory: ["nothing", "ours", "stock Orama", "FTS5, chunks"],
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
  try {
    const needsFiles = parts.some((part) => ["search", "stalls", "start", "mcp"].includes(part));
    if (needsFiles) writeNotes(corpus, vault, notes);
    await untilSettled();
    const product = parts.includes("search")
      ? await runProduct(options, vault, queries)
      : undefined;
    const start = parts.includes("start") ? await runStart(options, vault) : undefined;
    const mcp = parts.includes("mcp") ? await runMcp(options, vault, queries) : new Map();
    const streams = parts.includes("streams") ? await runStreams(options) : undefined;
    const stalls = parts.includes("stalls") ? await runStalls(options, vault) : new Map();
    return {
      engines,
      stalls,
      mcp,
      ...(product ? { product } : {}),
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
    for (const engine of names) {
      say(`round ${round} of ${rounds}: ${engine}`);
      const wanted = parts.includes("search") ? { queries } : {};
      const result = await runChild({ kind: "engine", engine, notes, ...wanted });
      found.set(engine, [...found.get(engine) ?? [], result]);
    }
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

function runStart(options: BenchOptions, vault: string): Promise<StartResult> {
  return repeat(options, "start", () => measureStart(vault));
}

async function runStalls(
  options: BenchOptions,
  vault: string,
): Promise<Map<LargeNote, StallsResult>> {
  const { notes } = options;
  const stalls = new Map<LargeNote, StallsResult>();
  for (const large of LARGE_NOTES) {
    const result = await repeat(
      options,
      `stalls, large note of ${large}`,
      () => runChild({ kind: "stalls", vault, notes, large }),
    );
    stalls.set(large, result);
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

async function withVault<T>(
  write: (folder: string) => void,
  work: (folder: string) => Promise<T>,
): Promise<T> {
  const folder = await Deno.makeTempDir({ prefix: "bench-" });
  try {
    write(folder);
    await untilSettled();
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

/** Returns the least of each number in results of one shape: the one that was least disturbed. */
export function bestOf<T>(results: readonly T[]): T {
  return results.reduce((best, other) => leastOf(best, other));
}

function leastOf<T>(one: T, other: T): T;
function leastOf(one: unknown, other: unknown): unknown {
  if (typeof one === "number" && typeof other === "number") return Math.min(one, other);
  if (!isRecord(one) || !isRecord(other)) return one;
  return Object.fromEntries(
    Object.entries(one).map(([key, value]) => [key, leastOf(value, other[key])]),
  );
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null;
}
