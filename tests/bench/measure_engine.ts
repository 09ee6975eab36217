/** Builds one engine and measures how fast it takes in notes, what it weighs and how fast it answers. */
import { Corpus } from "./corpus.ts";
import { type Engine, toEngineNote } from "./engine.ts";
import { OurEngine, OurPostings } from "./engine_ours.ts";
import { SqliteFts5, StockOrama } from "./engine_rivals.ts";
import { openCachedEngine, openCachingEngine, openEmbeddingEngine } from "./engine_vectors.ts";
import type { BenchQueries, BenchQuery } from "./queries.ts";
import { settledRss } from "./settled_rss.ts";
import { timeOf, timeWays, type WayTimes } from "./times.ts";

/** Takes in nothing: the runtime, the generator and the code alone. */
class Nothing implements Engine {
  insert(): void {}
  finish(): void {}
  settle(): void {}
  search(): number {
    return 0;
  }
}

const ENGINES = {
  "nothing": () => new Nothing(),
  "ours": () => new OurEngine(),
  "ours, terms only": () => new OurPostings(),
  "ours, embedded": () => openEmbeddingEngine(),
  "ours, embedded and cached": (cacheFolder) => openCachingEngine(cacheFolder),
  "ours, from the cache": (cacheFolder) => openCachedEngine(cacheFolder),
  "stock Orama": () => new StockOrama(),
  "FTS5, chunks": () => new SqliteFts5("chunk"),
  "FTS5, notes": () => new SqliteFts5("note"),
} as const satisfies Record<string, (cacheFolder: string) => Engine | Promise<Engine>>;

export type EngineName = keyof typeof ENGINES;

export interface EngineTask {
  readonly engine: EngineName;
  readonly notes: number;
  /** Where "… and cached" leaves what "… from the cache" needs. */
  readonly cacheFolder: string;
  /** `undefined` = do not search. */
  readonly queries?: BenchQueries;
}

export interface EngineResult {
  readonly insertMs: number;
  readonly chunks: number;
  readonly rssBytes: number;
  readonly search: WayTimes<"ranking">;
}

/** Notes are made one by one and only inserting them is timed. */
export async function measureEngine(task: EngineTask): Promise<EngineResult> {
  const engine: Engine = await ENGINES[task.engine](task.cacheFolder);
  const corpus = new Corpus();
  let insertMs = 0;
  let chunks = 0;
  for (let number = 0; number < task.notes; number++) {
    const note = toEngineNote(corpus.noteAt(number));
    chunks += note.chunks.length;
    insertMs += await timeOf(() => engine.insert(note));
  }
  insertMs += await timeOf(() => engine.finish());
  const rssBytes = await settledRss();
  engine.settle();
  const { queries } = task;
  const ways = new Map([["ranking" as const, ({ parsed }: BenchQuery) => engine.search(parsed)]]);
  return { insertMs, chunks, rssBytes, search: queries ? await timeWays(queries, ways) : {} };
}
