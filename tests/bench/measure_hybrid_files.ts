/** Measures whole searches of a vault on disk in each mode: query, ranking and passages. */
import type { Services } from "@/lib/services.ts";
import type { IndexMode } from "@/lib/index/note_search.ts";
import { openServices } from "../eval/open_services.ts";
import { HITS } from "./engine.ts";
import type { BenchQueries, BenchQuery } from "./queries.ts";
import { timeOf, timeWays, type WayTimes } from "./times.ts";

export interface HybridFilesTask {
  readonly vault: string;
  readonly queries: BenchQueries;
}

export interface HybridFilesResult {
  /** Everything is embedded. */
  readonly loadMs: number;
  /** Everything is read again and its vectors come from the cache. */
  readonly reloadMs: number;
  readonly search: WayTimes<IndexMode>;
}

const MODES: readonly IndexMode[] = ["keyword", "vector", "hybrid"];

/** Files are not compared with the index in between. */
export async function measureHybridFiles(
  { vault, queries }: HybridFilesTask,
): Promise<HybridFilesResult> {
  await using opened = await openServices(vault, "static");
  const { services } = opened;
  const loadMs = await timeOf(() => services.ready());
  const ways = MODES.map((mode) =>
    [mode, ({ text }: BenchQuery) => ask(services, text, mode)] as const
  );
  const search = await timeWays(queries, new Map(ways));
  const reloadMs = await timeOf(() => services.index.load());
  return { loadMs, reloadMs, search };
}

async function ask({ index }: Services, text: string, mode: IndexMode): Promise<void> {
  const answer = await index.search({ text, mode, filter: {}, limit: HITS });
  if (answer.mode !== mode) throw new Error(`Not searched by ${mode}: ${answer.reason}`);
}
