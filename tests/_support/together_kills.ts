/** A process that writes several files together, killed again and again: they stay together. */
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { randomId, systemClock } from "@/lib/seams.ts";
import { openVault } from "@/lib/vault/vault.ts";
import { VaultWriter } from "@/lib/vault/vault_writer.ts";
import { type KillCounts, noKills } from "./kill_counts.ts";
import { isLitter } from "./litter.ts";
import { runAndKill } from "./run_and_kill.ts";
import { silentLogger } from "./silent_logger.ts";
import { listFiles, writeFiles } from "./temp_vault.ts";
import { filesAt } from "./together_generations.ts";
import { versionOf } from "./version_text.ts";

const CHILD = fileURLToPath(new URL("./together_child.ts", import.meta.url));
const MAX_LIFE_MS = 120;

/** What came of the kills. */
export interface TogetherKills extends KillCounts {
  /** Kills that cut a write off which was decided. */
  recovered: number;
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
  readonly counts: TogetherKills = { ...noKills(), recovered: 0 };
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
    writeFiles(this.#root, filesAt(0));
  }

  async liveAndDie(lifeMs: number): Promise<void> {
    const before = this.#said;
    await runAndKill([CHILD, this.#root, this.#journalFolder], {
      lifeMs,
      hear: (line) => this.#said = Number(line),
    });
    this.counts.kills++;
    this.counts.saves += this.#said - before;
    this.counts.litter += listFiles(this.#root).filter(isLitter).length;
    await this.#start();
    await this.#check();
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
    const generation = versionOf(await read("a.md"));
    const expected = filesAt(generation);
    if (generation === this.#said + 1) this.counts.wholeUnheard++;
    else if (generation !== this.#said) this.#wrong(`is at ${generation}, said ${this.#said}`);
    const files = listFiles(this.#root);
    for (const path of files.filter((path) => !isLitter(path))) {
      if (await read(path) !== expected[path]) this.#wrong(`${path} is not of ${generation}`);
    }
    for (const path of Object.keys(expected)) {
      if (!files.includes(path)) this.#wrong(`${path} of ${generation} is missing`);
    }
    for (const path of files.filter(isLitter)) this.#wrong(`${path} outlived a start`);
    for (const name of listFiles(dirname(this.#journalFolder))) {
      this.#wrong(`${name} outlived a start`);
    }
    this.#said = generation;
  }

  #wrong(what: string): void {
    this.counts.wrongs.push(`together: ${what}`);
  }
}
