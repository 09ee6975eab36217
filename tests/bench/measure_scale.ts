/** Measures one size of vault: starts of the real server, searches over HTTP, and the index itself. */
import { join } from "node:path";
import { bestOf } from "./best_of.ts";
import { untilSettled, writeNotes } from "./bench_vault.ts";
import type { Corpus } from "./corpus.ts";
import { makeQueries, QUERY_CLASSES } from "./queries.ts";
import { changeNotes } from "./scale_changes.ts";
import { measureIndexApart, type ScaleIndexResult } from "./scale_index.ts";
import {
  readHealth,
  type ScaleServer,
  type ScaleServerOptions,
  search,
  startScaleServer,
  type StartTimes,
} from "./scale_server.ts";
import { timeTogether } from "./scale_times.ts";
import type { Times } from "./times.ts";
import { untilStill } from "./until_still.ts";

export const SEARCH_MODES = ["keyword", "vector", "hybrid"] as const;
export type SearchMode = (typeof SEARCH_MODES)[number];

export interface ScaleOptions {
  readonly corpus: Corpus;
  readonly notes: number;
  /** How often all is measured that does not begin with an empty state directory. */
  readonly rounds: number;
  /** Of each class. */
  readonly queries: number;
  /** The server's own default without it. */
  readonly freshness?: string | undefined;
  /** Told what goes on, since it takes minutes. */
  readonly say: (what: string) => void;
  readonly signal: AbortSignal;
}

export interface ScaleResult {
  readonly notes: number;
  readonly chunks: number;
  /** How the server notices changes once it has come to rest. */
  readonly freshness: string;
  /** Nothing is kept from an earlier run. */
  readonly cold: StartTimes;
  /** The state directory of an earlier run is there. */
  readonly warm: StartTimes;
  /** The same after one note in a hundred was changed meanwhile. */
  readonly warmChanged: StartTimes;
  readonly http: HttpTimes;
  readonly index: ScaleIndexResult;
  /** What is in the state directory of a server that was stopped, the largest first. */
  readonly stateFiles: readonly StateFile[];
}

export interface HttpTimes {
  readonly search: Readonly<Record<SearchMode, Times>>;
  /** Share of the answers that are known to be current, 0..1. */
  readonly verifiedShare: number;
}

export interface StateFile {
  /** Relative to the state directory. */
  readonly name: string;
  readonly bytes: number;
}

/** Vaults above this take a minute to index. */
const MAX_OFTEN_COLD_NOTES = 10_000;
const MAX_COLD_ROUNDS = 2;
/** A server that has written nothing for so long has put down all that it knows. */
const STILL_MS = 5_000;

/** All that is written lies in one folder, which is gone at the end, however that comes. */
export async function measureScale(options: ScaleOptions): Promise<ScaleResult> {
  const folder = await Deno.makeTempDir({ prefix: "bench-scale-" });
  try {
    return await new ScaleRun(options, folder).measure();
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

/** Tells how often a vault of a size is indexed from nothing. */
export function coldRoundsOf({ notes, rounds }: Pick<ScaleOptions, "notes" | "rounds">): number {
  return notes > MAX_OFTEN_COLD_NOTES ? Math.min(rounds, MAX_COLD_ROUNDS) : rounds;
}

interface Served {
  readonly chunks: number;
  readonly freshness: string;
  readonly http: HttpTimes;
}

/** One size, from an empty folder on. */
class ScaleRun {
  readonly #options: ScaleOptions;
  readonly #vault: string;
  readonly #state: string;
  readonly #queries: readonly string[];

  constructor(options: ScaleOptions, folder: string) {
    this.#options = options;
    this.#vault = join(folder, "vault");
    this.#state = join(folder, "state");
    const made = makeQueries(options.corpus, options.notes, options.queries);
    this.#queries = QUERY_CLASSES.flatMap((name) => made[name].map(({ text }) => text));
  }

  async measure(): Promise<ScaleResult> {
    const { corpus, notes, rounds, freshness, signal } = this.#options;
    this.#say("writing the vault");
    writeNotes(corpus, this.#vault, notes);
    await untilSettled();

    const { cold, served } = await this.#startCold();
    const stateFiles = await listFiles(this.#state);
    const warm = await this.#repeat(rounds, "warm start", () => this.#startOnce());
    const warmChanged = await this.#repeat(
      rounds,
      "warm start, 1/100 changed",
      () => this.#startChanged(),
    );
    this.#say("the index by itself");
    const task = { ...this.#place, notes, rounds, freshness, queries: this.#queries };
    const index = await measureIndexApart(task, signal);
    return { notes, ...served, cold, warm, warmChanged, index, stateFiles };
  }

  /** The last of the servers answers searches too. */
  async #startCold(): Promise<{ readonly cold: StartTimes; readonly served: Served }> {
    const rounds = coldRoundsOf(this.#options);
    const starts: StartTimes[] = [];
    for (let round = 1; round < rounds; round++) {
      this.#say(`round ${round} of ${rounds}: cold start`);
      starts.push(await this.#startOnce());
      await Deno.remove(this.#state, { recursive: true });
    }
    this.#say(`round ${rounds} of ${rounds}: cold start`);
    await using server = await this.#start();
    starts.push(server.times);
    return { cold: bestOf(starts), served: await this.#serve(server) };
  }

  async #serve({ url }: ScaleServer): Promise<Served> {
    await this.#untilStill(url);
    const { chunks, freshness } = await readHealth(url);
    if (freshness.reason !== undefined) this.#say(`changes are not heard of: ${freshness.reason}`);
    const http = await this.#repeat(
      this.#options.rounds,
      "searches over HTTP",
      () => measureSearches(url, this.#queries),
    );
    await this.#untilStill(url);
    return { chunks, freshness: freshness.mode, http };
  }

  async #startChanged(): Promise<StartTimes> {
    const { corpus, notes } = this.#options;
    const words = changeNotes(corpus, this.#vault, notes);
    await untilSettled();
    return await this.#startOnce(words);
  }

  /**
   * Starts a server, leaves it alone until it has come to rest, and stops it.
   *
   * @param words Each has to be found in a note.
   */
  async #startOnce(words: readonly string[] = []): Promise<StartTimes> {
    await using server = await this.#start();
    for (const word of words) {
      const { total } = await search(server.url, word, "keyword");
      if (total !== 1) throw new Error("The server does not know of a change before its start");
    }
    await this.#untilStill(server.url);
    return server.times;
  }

  /** @throws {Error} If the server calls itself ready without all of the notes. */
  async #start(): Promise<ScaleServer> {
    const { corpus, notes, freshness, signal } = this.#options;
    // The title of a note.
    const [query = ""] = corpus.noteAt(0).text.split("\n");
    await using disposer = new AsyncDisposableStack();
    const server = disposer.use(
      await startScaleServer({ ...this.#place, freshness, signal }, query),
    );
    const health = await readHealth(server.url);
    if (health.notes !== notes) throw new Error(`The server has only ${health.notes} notes`);
    disposer.move();
    return server;
  }

  get #place(): Pick<ScaleServerOptions, "vault" | "state"> {
    return { vault: this.#vault, state: this.#state };
  }

  #untilStill(url: string): Promise<void> {
    const read = async () => {
      const { indexing, freshness } = await readHealth(url);
      return { indexing, freshness, files: await listFiles(this.#state) };
    };
    return untilStill({ read, stillMs: STILL_MS });
  }

  async #repeat<T>(rounds: number, what: string, work: () => Promise<T>): Promise<T> {
    const results: T[] = [];
    for (let round = 1; round <= rounds; round++) {
      this.#say(`round ${round} of ${rounds}: ${what}`);
      results.push(await work());
    }
    return bestOf(results);
  }

  #say(what: string): void {
    this.#options.say(`${this.#options.notes} notes: ${what}`);
  }
}

/** Asks one after the other, each mode in turn. */
async function measureSearches(url: string, queries: readonly string[]): Promise<HttpTimes> {
  let asked = 0;
  let verified = 0;
  const ways = SEARCH_MODES.map((mode) =>
    [mode, async (query: string) => {
      const answer = await search(url, query, mode);
      if (answer.mode !== mode) throw new Error(`Not searched by ${mode}`);
      asked++;
      if (answer.freshness === undefined) verified++;
    }] as const
  );
  const times = await timeTogether(queries, new Map(ways));
  return { search: times, verifiedShare: verified / asked };
}

/** Returns all files of a folder that hold something, the largest first. */
export async function listFiles(folder: string, prefix = ""): Promise<StateFile[]> {
  const files: StateFile[] = [];
  for await (const entry of Deno.readDir(folder)) {
    const name = prefix + entry.name;
    const path = join(folder, entry.name);
    if (entry.isDirectory) files.push(...await listFiles(path, `${name}/`));
    else files.push({ name, bytes: await sizeOf(path) });
  }
  return files.filter(({ bytes }) => bytes > 0).sort((a, b) => b.bytes - a.bytes);
}

/** Nothing, if the file has gone meanwhile. */
async function sizeOf(path: string): Promise<number> {
  try {
    return (await Deno.stat(path)).size;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return 0;
    throw error;
  }
}
