/**
 * Measures the index of a vault of any size without HTTP in between. `measureIndexApart()` runs
 * this file as a program, so that sizes do not pay for each other's garbage.
 */
import { fileURLToPath } from "node:url";
import { loadConfig } from "@/lib/config.ts";
import { systemDisk } from "@/lib/config_disk.ts";
import type { VaultIndex } from "@/lib/index/vault_index.ts";
import { createLogger, randomId, systemClock, writeStderr } from "@/lib/seams.ts";
import { createServices, type Services } from "@/lib/services.ts";
import { TASK_PERMISSIONS } from "../_support/program.ts";
import { percentile } from "../eval/measures.ts";
import { untilSettled } from "./bench_vault.ts";
import { bestOf } from "./best_of.ts";
import { Corpus } from "./corpus.ts";
import { HITS } from "./engine.ts";
import { runJsonChild } from "./json_child.ts";
import { CHANGED_EVERY, changeNote, changeNotes } from "./scale_changes.ts";
import type { ScaleServerOptions } from "./scale_server.ts";
import { timeTogether } from "./scale_times.ts";
import { settledRss } from "./settled_rss.ts";
import { timeOf, type Times, toTimes } from "./times.ts";
import { untilStill } from "./until_still.ts";

export interface ScaleIndexTask extends Omit<ScaleServerOptions, "signal"> {
  readonly notes: number;
  readonly queries: readonly string[];
  readonly rounds: number;
}

export interface ScaleIndexResult extends IndexTimes {
  /** Of the process, once the index is open and garbage is collected. */
  readonly rssBytes: number;
  /** How it noticed changes while it was measured. */
  readonly freshness: string;
}

interface IndexTimes {
  /** Hybrid search alone, and as a request does it; they take turns. */
  readonly search: Times;
  readonly refreshAndSearch: Times;
  /** As before each search, while nothing changes. */
  readonly quietRefresh: Times;
  /** Share of these after which the index is known to be current, 0..1. */
  readonly verifiedShare: number;
  /** After a change of one note; the median of some. */
  readonly refreshOneMs: number;
  /** After a change of one note in a hundred. */
  readonly refreshManyMs: number;
}

const QUIET_REFRESHES = 500;
const SINGLE_CHANGES = 9;
/** So long the way to notice changes has to stay the same. */
const STILL_MS = 5_000;

/** Runs the measurement in a new process. */
export async function measureIndexApart(
  task: ScaleIndexTask,
  signal: AbortSignal,
): Promise<ScaleIndexResult> {
  signal.throwIfAborted();
  return await runJsonChild(task, {
    file: fileURLToPath(import.meta.url),
    permissions: TASK_PERMISSIONS,
    what: "Measuring the index",
    signal,
  });
}

/** What one round works on. */
interface Opened {
  readonly task: ScaleIndexTask;
  readonly index: VaultIndex;
  readonly corpus: Corpus;
}

/** @throws {Error} If the index misses a note or a change: a faster answer is worth nothing then. */
async function measureIndex(task: ScaleIndexTask): Promise<ScaleIndexResult> {
  const services = openServices(task);
  const { index } = services;
  try {
    await services.ready();
    const { notes } = index.counts;
    if (notes !== task.notes) throw new Error(`The index has only ${notes} notes`);
    await untilQuiet(index);
    const rssBytes = await settledRss();
    const opened: Opened = { task, index, corpus: new Corpus() };
    const rounds: IndexTimes[] = [];
    for (let round = 0; round < task.rounds; round++) rounds.push(await measureRound(opened));
    return { rssBytes, freshness: index.freshness.mode, ...bestOf(rounds) };
  } finally {
    await services.close();
  }
}

function openServices({ vault, state, freshness }: ScaleIndexTask): Services {
  const chosen = freshness === undefined ? [] : ["--freshness", freshness];
  const config = loadConfig({
    ...systemDisk,
    args: ["--vault", vault, "--state", state, ...chosen],
    env: new Map(),
    cwd: Deno.cwd(),
  });
  const clock = systemClock;
  return createServices(config, {
    clock,
    logger: createLogger({ level: "error", clock, pretty: true, write: writeStderr }),
    newId: randomId,
    ripgrepPath: undefined,
  });
}

async function measureRound(opened: Opened): Promise<IndexTimes> {
  const { index, task, corpus } = opened;
  const ways = new Map(
    [
      ["search", (query: string) => ask(index, query)],
      ["refreshAndSearch", async (query: string) => {
        await index.refresh();
        await ask(index, query);
      }],
    ] as const,
  );
  const searches = await timeTogether(task.queries, ways);
  const quiet = await measureQuiet(index);
  const refreshOneMs = await measureSingleChanges(opened);
  await untilQuiet(index);
  const words = changeNotes(corpus, task.vault, task.notes);
  const refreshManyMs = await timeRefresh(index, words);
  await untilQuiet(index);
  return { ...searches, ...quiet, refreshOneMs, refreshManyMs };
}

async function ask(index: VaultIndex, text: string): Promise<void> {
  const answer = await index.search({ text, mode: "hybrid", filter: {}, limit: HITS });
  if (answer.mode !== "hybrid") throw new Error(`Not searched by hybrid: ${answer.reason}`);
}

async function measureQuiet(
  index: VaultIndex,
): Promise<Pick<IndexTimes, "quietRefresh" | "verifiedShare">> {
  const times: number[] = [];
  let verified = 0;
  for (let call = 0; call < QUIET_REFRESHES; call++) {
    times.push(
      await timeOf(async () => {
        if ((await index.refresh()).verified) verified++;
      }),
    );
  }
  return { quietRefresh: toTimes(times), verifiedShare: verified / QUIET_REFRESHES };
}

async function measureSingleChanges({ index, task, corpus }: Opened): Promise<number> {
  const times: number[] = [];
  for (let change = 0; change < SINGLE_CHANGES; change++) {
    const word = changeNote(corpus, task.vault, change * CHANGED_EVERY % task.notes);
    times.push(await timeRefresh(index, [word]));
  }
  return percentile(times, 50);
}

/** @param words Were just written, each into one note. */
async function timeRefresh(index: VaultIndex, words: readonly string[]): Promise<number> {
  let verified = false;
  // Whether or not a comparison is due.
  const tookMs = await timeOf(async () => verified = (await index.refresh("always")).verified);
  if (!verified) throw new Error("The index cannot tell whether it is current");
  for (const text of words) {
    const { hits } = await index.search({ text, mode: "keyword", filter: {}, limit: HITS });
    if (hits.length !== 1) throw new Error("A change is not in the index");
  }
  return tookMs;
}

/** Returns when no file is new any more and the index has found its way to notice changes. */
async function untilQuiet(index: VaultIndex): Promise<void> {
  await untilSettled();
  await index.refresh("always");
  const read = async () => {
    await index.refresh();
    return index.freshness;
  };
  await untilStill({ read, stillMs: STILL_MS });
}

async function main(): Promise<void> {
  const task: ScaleIndexTask = JSON.parse(await new Response(Deno.stdin.readable).text());
  const result = await measureIndex(task);
  Deno.stdout.writeSync(new TextEncoder().encode(JSON.stringify(result)));
}

if (import.meta.main) main();
