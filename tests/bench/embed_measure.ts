/**
 * Measures how well a provider's limit is used while a vault is embedded, and how long searches take
 * meanwhile beside those of the same server afterwards.
 */
import { join } from "node:path";
import { settleWithin } from "@/lib/seams.ts";
import { delay, untilSettled, writeNotes } from "./bench_vault.ts";
import type { Corpus } from "./corpus.ts";
import { isWithoutProvider, type Latencies, probe, PROBES } from "./embed_probe.ts";
import {
  type ProviderProcess,
  type ProviderReport,
  type ProviderTask,
  startProviderProcess,
} from "./embed_provider.ts";
import { makeQueries, QUERY_CLASSES } from "./queries.ts";
import { readHealth, search } from "./scale_server.ts";
import { isIndexed, spawnMain, until } from "./server_process.ts";
import { untilStill } from "./until_still.ts";

/** How vectors come: as base64 in large calls, or as numbers in smaller ones. */
export const FORMS = ["base64", "numbers"] as const;
export type Form = (typeof FORMS)[number];

export interface EmbedOptions extends ProviderTask {
  readonly corpus: Corpus;
  readonly notes: number;
  readonly rounds: number;
  readonly forms: readonly Form[];
  readonly say: (what: string) => void;
}

export interface EmbedRound {
  readonly form: Form;
  readonly chunks: number;
  readonly limit: LimitUse;
  readonly busy: Latencies;
  readonly idle: Latencies;
}

/** What was made of the limit, from the first request to the last vector. */
export interface LimitUse {
  readonly seconds: number;
  /** That brought vectors. */
  readonly requests: number;
  readonly texts: number;
  /** Answered by 429. */
  readonly tooOften: number;
  /** Requests a second, of those that are allowed. */
  readonly share: number;
}

const QUERIES_A_CLASS = 100;
const IDLE_MS = 15_000;
const STILL_MS = 5_000;
const POLL_MS = 50;
const PATIENCE_MS = 600_000;
const STOP_PATIENCE_MS = 60_000;
const KEY_NAME = "BENCH_EMBED_KEY";

/** Returns each round of each form; the vault is the same, the state directory another one each time. */
export async function measureEmbedding(options: EmbedOptions): Promise<EmbedRound[]> {
  const { corpus, forms, notes, rounds, say } = options;
  const folder = await Deno.realPath(await Deno.makeTempDir({ prefix: "bench-embed-" }));
  await using disposer = new AsyncDisposableStack();
  disposer.defer(() => Deno.remove(folder, { recursive: true }));
  say(`${notes} notes are written`);
  const vault = join(folder, "vault");
  writeNotes(corpus, vault, notes);
  await untilSettled();
  const made = makeQueries(corpus, notes, QUERIES_A_CLASS);
  // Of all classes in turn.
  const queries = made[QUERY_CLASSES[0]].flatMap((_, at) =>
    QUERY_CLASSES.map((name) => made[name][at]?.text ?? "")
  );
  const results: EmbedRound[] = [];
  for (let round = 1; round <= rounds; round++) {
    for (const form of forms) {
      say(`round ${round} of ${rounds}: ${form}`);
      const state = join(folder, `state-${form}-${round}`);
      results.push(await measureRound({ vault, state, form, queries, options }));
    }
  }
  return results;
}

interface RoundTask {
  readonly vault: string;
  readonly state: string;
  readonly form: Form;
  readonly queries: readonly string[];
  readonly options: EmbedOptions;
}

async function measureRound(task: RoundTask): Promise<EmbedRound> {
  const { form, options, queries } = task;
  await using disposer = new AsyncDisposableStack();
  const provider = disposer.use(await startProviderProcess(options));
  const { url } = disposer.use(spawnServer(task, provider));
  await until(() => isIndexed(url));
  // Until then every search looks at all files.
  await until(async () => (await readHealth(url)).freshness.mode === "watch");

  let isDone = false;
  const ending = untilDone(url, provider, queries[0] ?? "").finally(() => isDone = true);
  const busy = await probe(url, { queries, probes: PROBES, isEnough: () => isDone });
  const limit = toLimitUse(await ending, options.rate.perSecond);

  const read = async () => {
    const { embeddingProgress, indexing, freshness } = await readHealth(url);
    return { embeddingProgress, indexing, freshness };
  };
  await untilStill({ read, stillMs: STILL_MS });
  const endMs = performance.now() + IDLE_MS;
  // By meaning the provider would be asked, which now says that this is too often.
  const probes = PROBES.filter((kind) => kind !== "fallback");
  const idle = await probe(url, { queries, probes, isEnough: () => performance.now() > endMs });
  const { chunks } = await readHealth(url);
  return { form, chunks, limit, busy, idle };
}

/**
 * Returns when the server has nothing left to do for vectors: what the provider had seen when the
 * last note was embedded.
 */
async function untilDone(
  url: string,
  provider: ProviderProcess,
  query: string,
): Promise<ProviderReport> {
  const deadlineMs = performance.now() + PATIENCE_MS;
  while ((await readHealth(url)).embeddingProgress !== null) {
    if (performance.now() > deadlineMs) throw new Error("The vault was not embedded in time");
    await delay(POLL_MS);
  }
  const report = await provider.report();
  // It finds out what the cosines of the model mean, too; then it asks, be that too often.
  await until(async () => {
    await delay(POLL_MS);
    return !isWithoutProvider(await search(url, query, "hybrid"));
  });
  return report;
}

function spawnServer(
  { form, options, state, vault }: RoundTask,
  { baseUrl }: ProviderProcess,
): AsyncDisposable & { readonly url: string } {
  const model = form === "base64"
    // A preset that asks for it.
    ? ["openai", "--embedding-credential", `env:${KEY_NAME}`]
    : ["openai-compatible", "--embedding-model", "m"];
  const dimensions = ["--embedding-dimensions", String(options.dimensions)];
  const settings = ["--embedding", ...model, ...dimensions, "--embedding-base-url", baseUrl];
  const env = { [KEY_NAME]: "sk-of-the-bench" };
  const { url, child } = spawnMain({ vault, state, settings, env });
  return {
    url,
    [Symbol.asyncDispose]: async () => {
      child.kill("SIGTERM");
      await settleWithin(child.status, STOP_PATIENCE_MS);
    },
  };
}

/** @throws {Error} If nobody has asked. */
export function toLimitUse(
  { firstRequestMs, requests, successes }: ProviderReport,
  perSecond: number,
): LimitUse {
  const last = successes.at(-1);
  if (firstRequestMs === undefined || !last) throw new Error("Nothing was embedded");
  const seconds = (last.atMs - firstRequestMs) / 1_000;
  return {
    seconds,
    requests: successes.length,
    texts: successes.reduce((sum, { texts }) => sum + texts, 0),
    tooOften: requests - successes.length,
    share: successes.length / seconds / perSecond,
  };
}
