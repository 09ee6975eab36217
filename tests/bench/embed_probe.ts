/** How long a server that does other things as well takes to answer, asked now and then. */
import type { SearchAnswer } from "@/lib/contracts.ts";
import { percentile } from "../eval/measures.ts";
import { delay } from "./bench_vault.ts";
import { readHealth, search } from "./scale_server.ts";
import { timeOf } from "./times.ts";

/**
 * - `keyword`: searches by words;
 * - `fallback`: searches by words and meaning that are answered by words, as notes have no vectors
 *   yet;
 * - `health`: the state of the server, which costs next to nothing, so that it shows for how long
 *   nothing at all is answered.
 */
export const PROBES = ["keyword", "fallback", "health"] as const;
export type Probe = (typeof PROBES)[number];

/** In milliseconds. */
export interface Latency {
  readonly p50: number;
  readonly p95: number;
  readonly p99: number;
  readonly longest: number;
  readonly count: number;
}

/** Of each kind that was asked for. */
export type Latencies = Readonly<Partial<Record<Probe, Latency>>>;

export interface ProbeOptions {
  readonly queries: readonly string[];
  readonly probes: readonly Probe[];
  readonly isEnough: () => boolean;
}

/** Between two questions, so that nobody is kept busy by them alone. */
const PAUSE_MS = 5;

/** Asks each kind in turn, one after the other, until that is enough. */
export async function probe(
  url: string,
  { isEnough, probes, queries }: ProbeOptions,
): Promise<Latencies> {
  const times = new Map<Probe, number[]>(probes.map((kind) => [kind, []]));
  for (let turn = 0; !isEnough(); turn++) {
    for (const [kind, taken] of times) {
      // Others each time, so that none finds warm what the one before it had to fetch.
      const at = kind === "fallback" ? turn + (queries.length >> 1) : turn;
      const tookMs = await ask(url, kind, queries[at % queries.length] ?? "");
      if (tookMs !== undefined) taken.push(tookMs);
      await delay(PAUSE_MS);
    }
  }
  return Object.fromEntries([...times].map(([kind, taken]) => [kind, toLatency(taken)]));
}

/** Why nobody asks the provider: notes have no vectors, or it is not known what these mean. */
const WITHOUT_PROVIDER = /not embedded yet|being found out/;

/** Tells whether a search by words and meaning was answered without asking the provider. */
export function isWithoutProvider({ fallback }: SearchAnswer): boolean {
  return WITHOUT_PROVIDER.test(fallback?.reason ?? "");
}

/** Returns how long it took; `undefined` if the provider had a part in the answer. */
async function ask(url: string, kind: Probe, query: string): Promise<number | undefined> {
  if (kind === "health") return await timeOf(() => readHealth(url));
  if (kind === "keyword") return await timeOf(() => search(url, query, "keyword"));
  let isByWords = false;
  const tookMs = await timeOf(async () => {
    isByWords = isWithoutProvider(await search(url, query, "hybrid"));
  });
  return isByWords ? tookMs : undefined;
}

function toLatency(times: readonly number[]): Latency {
  return {
    p50: percentile(times, 50),
    p95: percentile(times, 95),
    p99: percentile(times, 99),
    longest: percentile(times, 100),
    count: times.length,
  };
}
