/** A process that writes several files together, killed again and again: they stay together. */
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { randomId, systemClock } from "@/lib/seams.ts";
import { openVault } from "@/lib/vault/vault.ts";
import { VaultWriter } from "@/lib/vault/vault_writer.ts";
import { silentLogger } from "./silent_logger.ts";
import { listAll } from "./temp_vault.ts";
import { filesAt, generationOf } from "./together_generations.ts";

const CHILD = fileURLToPath(new URL("./together_child.ts", import.meta.url));
const CONFIG = fileURLToPath(new URL("../config.json", import.meta.url));
const MAX_LIFE_MS = 120;
const LITTER = /(^|\/)\.commonplace-[^/]*$/;

function isLitter(path: string): boolean {
  return LITTER.test(path);
}

/** What came of the kills. */
export interface TogetherKills {
  kills: number;
  /** Acknowledged by who was killed later. */
  saves: number;
  /** Kills after which a save was found done that had not been acknowledged. */
  wholeUnheard: number;
  /** Kills that cut a write off which was decided. */
  recovered: number;
  /** Files that exist only while something is written, found after kills. */
  litter: number;
  readonly wrongs: string[];
}

/**
 * Kills a writing process as often as told, in folders of its own below the base, and does what a
 * start does after each.
 *
 * @param below Draws a number from 0 to below a limit.
 */
export async function crashTogether(
  base: string,
  kills: number,
  below: (limit: number) => number,
): Promise<TogetherKills> {
  const run = new TogetherRun(base);
  await run.begin();
  while (run.counts.kills < kills) await run.liveAndDie(below(MAX_LIFE_MS));
  return run.counts;
}

class TogetherRun {
  readonly counts: TogetherKills = {
    kills: 0,
    saves: 0,
    wholeUnheard: 0,
    recovered: 0,
    litter: 0,
    wrongs: [],
  };
  readonly #root: string;
  readonly #journalFolder: string;
  /** The newest generation that is known to be written. */
  #said = 0;

  constructor(base: string) {
    this.#root = join(base, "together");
    this.#journalFolder = join(base, "together-state", "writes");
  }

  async begin(): Promise<void> {
    await Deno.mkdir(dirname(this.#journalFolder));
    await Deno.mkdir(this.#root);
    for (const [path, text] of Object.entries(filesAt(0))) {
      await Deno.mkdir(dirname(join(this.#root, path)), { recursive: true });
      await Deno.writeTextFile(join(this.#root, path), text);
    }
  }

  async liveAndDie(lifeMs: number): Promise<void> {
    const before = this.#said;
    const child = new Deno.Command(Deno.execPath(), {
      args: [
        "run",
        "--config",
        CONFIG,
        "--no-prompt",
        "-A",
        CHILD,
        this.#root,
        this.#journalFolder,
      ],
      stdin: "null",
      stdout: "piped",
    }).spawn();
    await this.#listen(child, async () => {
      await new Promise((resolve) => setTimeout(resolve, lifeMs));
      child.kill("SIGKILL");
    });
    this.counts.kills++;
    this.counts.saves += this.#said - before;
    this.counts.litter += this.#files().filter(isLitter).length;
    await this.#start();
    await this.#check();
  }

  /** Hears all that it says until it is dead. */
  async #listen(child: Deno.ChildProcess, end: () => Promise<void>): Promise<void> {
    let ending: Promise<void> | undefined;
    let rest = "";
    for await (const text of child.stdout.pipeThrough(new TextDecoderStream())) {
      const lines = (rest + text).split("\n");
      rest = lines.pop() ?? "";
      ending ??= end();
      for (const line of lines) this.#said = Number(line);
    }
    await ending;
    const { signal, code } = await child.status;
    if (signal !== "SIGKILL") throw new Error(`The writing process ended by itself: ${code}`);
  }

  async #start(): Promise<void> {
    const vault = openVault({ root: this.#root, memoriesFolder: "memories", exclude: [] });
    const [clock, logger, journalFolder] = [systemClock, silentLogger(), this.#journalFolder];
    const writer = new VaultWriter({ vault, clock, newId: randomId, logger, journalFolder });
    const outcomes = await writer.recover();
    await writer.sweep();
    this.counts.recovered += outcomes.length;
    const odd = outcomes.flatMap(({ conflictCopies, left }) => [...conflictCopies, ...left]);
    if (odd.length > 0) this.#wrong(`not finished: ${odd.join(", ")}`);
  }

  async #check(): Promise<void> {
    const read = (path: string) => Deno.readTextFile(join(this.#root, path));
    const generation = generationOf(await read("a.md"));
    const expected = filesAt(generation);
    if (generation === this.#said + 1) this.counts.wholeUnheard++;
    else if (generation !== this.#said) this.#wrong(`is at ${generation}, said ${this.#said}`);
    const files = this.#files();
    for (const path of files.filter((path) => !isLitter(path))) {
      if (await read(path) !== expected[path]) this.#wrong(`${path} is not of ${generation}`);
    }
    for (const path of Object.keys(expected)) {
      if (!files.includes(path)) this.#wrong(`${path} of ${generation} is missing`);
    }
    for (const path of files.filter(isLitter)) this.#wrong(`${path} outlived a start`);
    for (const name of this.#records()) this.#wrong(`${name} outlived a start`);
    this.#said = generation;
  }

  #files(): string[] {
    return listAll(this.#root).filter((path) => !path.endsWith("/"));
  }

  #records(): string[] {
    const folder = dirname(this.#journalFolder);
    return listAll(folder).filter((path) => !path.endsWith("/"));
  }

  #wrong(what: string): void {
    this.counts.wrongs.push(`together: ${what}`);
  }
}
