/** Measures the program's own search over files: comparison with the disk, ranking, passages. */
import { type Caller, SearchParams } from "@/lib/contracts.ts";
import { searchNotes } from "@/lib/recall/search_notes.ts";
import type { Services } from "@/lib/services.ts";
import { openServices } from "../eval/open_services.ts";
import { untilSettled } from "./bench_vault.ts";
import { HITS } from "./engine.ts";
import { type BenchQueries, type BenchQuery, QUERY_CLASSES, type QueryClass } from "./queries.ts";
import { timeOf, type Times, toTimes } from "./times.ts";

export interface ProductTask {
  readonly vault: string;
  readonly queries: BenchQueries;
}

export interface ProductResult {
  readonly loadMs: number;
  /** Comparison of a vault in which nothing changed. */
  readonly refresh: Times;
  /** Ranking and passages. */
  readonly search: Readonly<Record<QueryClass, Times>>;
  /** All that a request does: comparison, ranking and passages. */
  readonly request: Readonly<Record<QueryClass, Times>>;
}

const OWNER: Caller = { kind: "owner", loopback: true };
const REFRESHES = 100;
const WARM_UP = 20;

export async function measureProduct({ vault, queries }: ProductTask): Promise<ProductResult> {
  // By words alone, like what it is measured beside.
  await using opened = await openServices(vault, "none");
  const { services } = opened;
  const loadMs = await timeOf(() => services.ready());
  await untilSettled();
  // What changed just before the load is compared once more.
  await services.index.refresh();

  const refresh = await timesOf(Array(REFRESHES).fill(undefined), () => services.index.refresh());
  const search = await byClass(queries, ({ text }) => searchIndex(services, text));
  const request = await byClass(queries, ({ text }) => answer(services, text));
  return { loadMs, refresh, search, request };
}

function searchIndex(services: Services, text: string): Promise<unknown> {
  return services.index.search({ text, filter: {}, limit: HITS });
}

function answer(services: Services, text: string): Promise<unknown> {
  const input = SearchParams.parse({ q: text, mode: "keyword", limit: String(HITS) });
  return searchNotes(services, OWNER, input);
}

async function byClass(
  queries: BenchQueries,
  ask: (query: BenchQuery) => Promise<unknown>,
): Promise<Record<QueryClass, Times>> {
  const times = { ...NO_TIMES };
  for (const name of QUERY_CLASSES) times[name] = await timesOf(queries[name], ask);
  return times;
}

const NO_TIME: Times = { p50: 0, p99: 0 };
const NO_TIMES: Readonly<Record<QueryClass, Times>> = {
  "3 mid": NO_TIME,
  "8 raw": NO_TIME,
  "question zh": NO_TIME,
  "question en": NO_TIME,
};

async function timesOf<T>(
  items: readonly T[],
  work: (item: T) => Promise<unknown>,
): Promise<Times> {
  for (const item of items.slice(0, WARM_UP)) await work(item);
  const times: number[] = [];
  for (const item of items) times.push(await timeOf(() => work(item)));
  return toTimes(times);
}
