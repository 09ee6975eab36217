/**
 * `deno task bench:scale`: how starts, searches, the comparison with the files, memory and disk grow
 * with the vault. Each size is a vault of its own, served by the real program with its default
 * settings, and can be measured by itself.
 */
import { parseArgs } from "node:util";
import { writeStderr } from "@/lib/seams.ts";
import { print } from "../eval/table.ts";
import { parseCount, parseOrExplain, runAsProgram } from "./command_line.ts";
import { Corpus, SECTIONS } from "./corpus.ts";
import { measureScale, type ScaleResult } from "./measure_scale.ts";
import { formatScale } from "./report_scale.ts";

const TASK = "deno task bench:scale";
const USAGE = `Usage: ${TASK} [options]

  --notes A,B        sizes of the vault, in notes of five chunks (default: 1000,10000,50000)
  --rounds N         how often each part runs; the best counts (default: 3). Above 10 000 notes a
                     start without a state directory is measured twice at the most
  --queries N        queries of each class (default: 100)
  --freshness MODE   passed on to the program (default: the program's own)
  --json             print JSON`;

const OPTIONS = {
  notes: { type: "string", default: "1000,10000,50000" },
  rounds: { type: "string", default: "3" },
  queries: { type: "string", default: "100" },
  freshness: { type: "string" },
  json: { type: "boolean", default: false },
} as const;

const EXIT_FAILED = 1;
const EXIT_STOPPED = 130;

export interface ScaleSettings {
  readonly sizes: readonly number[];
  readonly rounds: number;
  readonly queries: number;
  readonly freshness: string | undefined;
  readonly json: boolean;
}

/** @throws {UsageError} If the command line cannot be followed. */
export function parseSettings(args: string[]): ScaleSettings {
  const { notes, rounds, queries, freshness, json } = parseCommandLine(args);
  return {
    sizes: notes.split(",").map((size) => parseCount("notes", size.trim())),
    rounds: parseCount("rounds", rounds),
    queries: parseCount("queries", queries),
    freshness,
    json,
  };
}

function parseCommandLine(args: string[]) {
  return parseOrExplain(() => parseArgs({ args, options: OPTIONS }).values, USAGE);
}

/** Returns the command that measures the same again. */
export function formatCommand({ sizes, rounds, queries, freshness }: ScaleSettings): string {
  const mode = freshness === undefined ? "" : ` --freshness ${freshness}`;
  return `${TASK} --notes ${sizes.join(",")} --rounds ${rounds} --queries ${queries}${mode}`;
}

const MIB = 1_024 * 1_024;
/** Of a server without notes, and of the bench beside it. */
const BASE_BYTES = 400 * MIB;
/** Twice what was measured of a start without a state directory: arrays double as they grow. */
const BYTES_A_NOTE = 12_000;
const BYTES_A_CHUNK = 3_000;

/** Returns how much memory it takes to measure a size. */
export function neededBytes(notes: number): number {
  return BASE_BYTES + notes * (BYTES_A_NOTE + SECTIONS * BYTES_A_CHUNK);
}

/** Returns why a size cannot be measured, `undefined` if it can. */
export function lackOfMemory(notes: number, availableBytes: number): string | undefined {
  const needed = neededBytes(notes);
  if (needed <= availableBytes) return undefined;
  const inMib = (bytes: number) => `${Math.round(bytes / MIB)} MiB`;
  return `${notes} notes: left out, as they need about ${inMib(needed)} of memory and ` +
    `${inMib(availableBytes)} are free`;
}

interface ScaleOutcome {
  readonly results: readonly ScaleResult[];
  /** A line for each size that is not among the results. */
  readonly leftOut: readonly string[];
  readonly failed: boolean;
}

/** One size that fails costs none of the others, which took minutes. */
async function measureSizes(settings: ScaleSettings, signal: AbortSignal): Promise<ScaleOutcome> {
  const { sizes, ...rest } = settings;
  const corpus = new Corpus();
  const results: ScaleResult[] = [];
  const leftOut: string[] = [];
  let failed = false;
  for (const notes of sizes) {
    const lack = lackOfMemory(notes, Deno.systemMemoryInfo().available);
    if (lack !== undefined) {
      writeStderr(lack);
      leftOut.push(lack);
      continue;
    }
    try {
      results.push(await measureScale({ ...rest, corpus, notes, say: writeStderr, signal }));
    } catch (error) {
      if (signal.aborted) throw error;
      failed = true;
      writeStderr(error instanceof Error ? error.stack ?? error.message : String(error));
      leftOut.push(`${notes} notes: failed; see above`);
    }
  }
  return { results, leftOut, failed };
}

/** Returns the exit code. */
async function main(args: string[]): Promise<number> {
  const settings = parseSettings(args);
  const stopper = new AbortController();
  const stop = () => stopper.abort();
  for (const signal of ["SIGINT", "SIGTERM"] as const) Deno.addSignalListener(signal, stop);
  try {
    const { results, leftOut, failed } = await measureSizes(settings, stopper.signal);
    const command = formatCommand(settings);
    if (settings.json) print(JSON.stringify({ command, results, leftOut }, undefined, 1));
    else print([formatScale(results, command), ...leftOut].join("\n\n"));
    return failed ? EXIT_FAILED : 0;
  } catch (error) {
    if (!stopper.signal.aborted) throw error;
    return EXIT_STOPPED;
  }
}

if (import.meta.main) void runAsProgram(main);
