/** Builds one engine and measures how fast it takes in notes, what it weighs and how fast it answers. */
import { percentile } from "../eval/measures.ts";
import { Corpus } from "./corpus.ts";
import { type Engine, toEngineNote } from "./engine.ts";
import { OurEngine, OurPostings } from "./engine_ours.ts";
import { SqliteFts5, StockOrama } from "./engine_rivals.ts";
import { type BenchQueries, type BenchQuery, QUERY_CLASSES, type QueryClass } from "./queries.ts";

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
  "stock Orama": () => new StockOrama(),
  "FTS5, chunks": () => new SqliteFts5("chunk"),
  "FTS5, notes": () => new SqliteFts5("note"),
} as const satisfies Record<string, () => Engine>;

export type EngineName = keyof typeof ENGINES;

const WARM_UP_QUERIES = 20;

export interface EngineTask {
  readonly engine: EngineName;
  readonly notes: number;
  /** `undefined` = do not search. */
  readonly queries?: BenchQueries;
}

export interface Times {
  readonly p50: number;
  readonly p99: number;
}

export interface EngineResult {
  readonly insertMs: number;
  readonly chunks: number;
  readonly rssBytes: number;
  readonly search: Readonly<Partial<Record<QueryClass, Times>>>;
}

/** Notes are made one by one and only inserting them is timed. */
export async function measureEngine(task: EngineTask): Promise<EngineResult> {
  const engine: Engine = ENGINES[task.engine]();
  const corpus = new Corpus();
  let insertMs = 0;
  let chunks = 0;
  for (let number = 0; number < task.notes; number++) {
    const note = toEngineNote(corpus.noteAt(number));
    chunks += note.chunks.length;
    insertMs += timeOf(() => engine.insert(note));
  }
  insertMs += timeOf(() => engine.finish());
  const rssBytes = await settledRss();
  engine.settle();
  const { queries } = task;
  const search = queries && Object.fromEntries(
    QUERY_CLASSES.map((name) => [name, timeQueries(engine, queries[name])]),
  );
  return { insertMs, chunks, rssBytes, search: search ?? {} };
}

function timeQueries(engine: Engine, queries: readonly BenchQuery[]): Times {
  for (const { parsed } of queries.slice(0, WARM_UP_QUERIES)) engine.search(parsed);
  return toTimes(queries.map(({ parsed }) => timeOf(() => engine.search(parsed))));
}

/** Returns the median and the 99th percentile of some times. */
export function toTimes(times: readonly number[]): Times {
  return { p50: percentile(times, 50), p99: percentile(times, 99) };
}

function timeOf(work: () => unknown): number {
  const startMs = performance.now();
  work();
  return performance.now() - startMs;
}

/** What stays after garbage is collected and given back, where the runtime lets us ask for it. */
async function settledRss(): Promise<number> {
  const collect: unknown = Reflect.get(globalThis, "gc");
  for (let round = 0; round < 3; round++) {
    if (typeof collect === "function") collect();
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  return Deno.memoryUsage().rss;
}
