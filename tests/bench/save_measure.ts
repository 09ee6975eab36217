/** Measures saves without HTTP in between, each kind in turn with the bare write of the same bytes. */
import { dirname, join } from "node:path";
import type { Caller } from "@/lib/contracts.ts";
import type { SavedMemory } from "@/lib/contracts_memories.ts";
import { findSimilar } from "@/lib/memories/similar.ts";
import { type CreateMemory, createMemory, writeNewMemory } from "@/lib/memories/create_memory.ts";
import { updateMemory } from "@/lib/memories/update_memory.ts";
import { createLogger, randomId, systemClock, writeStderr } from "@/lib/seams.ts";
import { createServices, type Services } from "@/lib/services.ts";
import { testConfig } from "../_support/services.ts";
import { untilSettled, writeNotes } from "./bench_vault.ts";
import { bestOf } from "./best_of.ts";
import { Corpus } from "./corpus.ts";
import { timeOf, type Times, toTimes } from "./times.ts";
import { untilStill } from "./until_still.ts";

export const SAVE_WAYS = [
  "bare write",
  "change",
  "change right after another",
  "new memory",
  "new memory, with similar ones",
  "similar ones alone",
] as const;
export type SaveWay = (typeof SAVE_WAYS)[number];

export interface SaveSettings {
  readonly notes: number;
  /** Of each kind in a round. */
  readonly saves: number;
  readonly rounds: number;
}

/** What each kind took. */
export type SaveTimes = Readonly<Record<SaveWay, Times>>;

const CALLER: Caller = { kind: "agent", loopback: true };
const WARM_UP = 20;
/** So long the way to notice changes has to stay the same. */
const STILL_MS = 5_000;

/** Returns the best of all rounds. All that is written lies in one folder, which is gone at the end. */
export async function measureSaves(
  { notes, saves, rounds }: SaveSettings,
  say: (what: string) => void,
): Promise<SaveTimes> {
  const folder = await Deno.realPath(await Deno.makeTempDir({ prefix: "bench-save-" }));
  await using disposer = new AsyncDisposableStack();
  disposer.defer(() => Deno.remove(folder, { recursive: true }));
  const vault = join(folder, "vault");
  const corpus = new Corpus();
  say(`${notes} notes are written and read`);
  writeNotes(corpus, vault, notes);
  const services = openServices(vault, join(folder, "state"));
  disposer.defer(() => services.close());
  await services.ready();
  const run = new SaveRun(services, corpus);
  await run.start();
  const results: SaveTimes[] = [];
  for (let round = 1; round <= rounds; round++) {
    say(`round ${round} of ${rounds}`);
    results.push(await run.round(saves));
  }
  return bestOf(results);
}

function openServices(vault: string, state: string): Services {
  const clock = systemClock;
  const config = testConfig(vault, { state, embedding: "static", freshness: "auto" });
  return createServices(config, {
    clock,
    logger: createLogger({ level: "error", clock, pretty: true, write: writeStderr }),
    newId: randomId,
    ripgrepPath: undefined,
  });
}

class SaveRun {
  readonly #services: Services;
  readonly #corpus: Corpus;
  #memory: SavedMemory | undefined;
  #count = 0;

  constructor(services: Services, corpus: Corpus) {
    this.#services = services;
    this.#corpus = corpus;
  }

  /** Makes the memory that is changed, and waits until all is at rest. */
  async start(): Promise<void> {
    this.#memory = await writeNewMemory(this.#services, CALLER, this.#newMemory());
    const { index } = this.#services;
    await untilSettled();
    const read = async () => {
      await index.refresh();
      return index.freshness;
    };
    await untilStill({ read, stillMs: STILL_MS });
  }

  async round(saves: number): Promise<SaveTimes> {
    const measured = new Map<SaveWay, number[]>(SAVE_WAYS.map((way) => [way, []]));
    for (let turn = 0; turn < WARM_UP + saves; turn++) {
      for (const way of SAVE_WAYS) {
        const tookMs = await this.#time(way);
        if (turn >= WARM_UP) measured.get(way)?.push(tookMs);
      }
    }
    const timesOf = (way: SaveWay) => toTimes(measured.get(way) ?? []);
    return {
      "bare write": timesOf("bare write"),
      "change": timesOf("change"),
      "change right after another": timesOf("change right after another"),
      "new memory": timesOf("new memory"),
      "new memory, with similar ones": timesOf("new memory, with similar ones"),
      "similar ones alone": timesOf("similar ones alone"),
    };
  }

  async #time(way: SaveWay): Promise<number> {
    const services = this.#services;
    // Each begins with an index that has seen what was saved before.
    await services.index.refresh();
    switch (way) {
      case "bare write": {
        const [disk, bytes] = await this.#bytesOfMemory();
        return await timeOf(() => writeBare(disk, bytes));
      }
      case "change":
        return await this.#timeChange();
      case "change right after another":
        await this.#timeChange();
        return await this.#timeChange();
      case "new memory": {
        const input = this.#newMemory();
        return await timeOf(() => writeNewMemory(services, CALLER, input));
      }
      case "new memory, with similar ones": {
        const input = this.#newMemory();
        return await timeOf(() => createMemory(services, CALLER, input));
      }
      case "similar ones alone": {
        const { name, description } = this.#newMemory();
        const memory = {
          id: "",
          name: String(name),
          description: String(description),
          projects: [],
        };
        return await timeOf(() => findSimilar(services, CALLER, memory));
      }
    }
  }

  async #timeChange(): Promise<number> {
    const { id, etag } = this.#requireMemory();
    const input = { id, etags: [etag], tags: ["bench", `t-${this.#count++}`], allow_secret: false };
    return await timeOf(async () => {
      this.#memory = await updateMemory(this.#services, CALLER, input);
    });
  }

  async #bytesOfMemory(): Promise<[disk: string, bytes: Uint8Array]> {
    const disk = join(this.#services.vault.root, this.#requireMemory().path);
    return [disk, await Deno.readFile(disk)];
  }

  #requireMemory(): SavedMemory {
    if (!this.#memory) throw new TypeError("There is no memory yet");
    return this.#memory;
  }

  #newMemory(): CreateMemory {
    const number = this.#count++;
    const random = Math.random;
    return {
      name: `${this.#corpus.words("en", 4, random)} ${number}`,
      description: this.#corpus.prose("en", 10, random),
      body: this.#corpus.prose("en", 60, random),
      tags: ["bench"],
      allow_secret: false,
    };
  }
}

/** What every careful program does at the least. The file is hidden, so that it is no note. */
async function writeBare(besides: string, bytes: Uint8Array): Promise<void> {
  const folder = dirname(besides);
  const temp = join(folder, ".bare.tmp");
  {
    using file = await Deno.open(temp, { write: true, create: true, truncate: true });
    for (let written = 0; written < bytes.length;) {
      written += await file.write(bytes.subarray(written));
    }
    await file.sync();
  }
  await Deno.rename(temp, join(folder, ".bare"));
}
