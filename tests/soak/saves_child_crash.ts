/** A process that only writes, killed again and again; then each file is one of its versions. */
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type KillCounts, noKills } from "../_support/kill_counts.ts";
import { isLitter } from "../_support/litter.ts";
import { runAndKill } from "../_support/run_and_kill.ts";
import { versionOf, versionText } from "../_support/version_text.ts";
import { VAULT } from "./disk_model.ts";
import type { Random } from "./random.ts";
import { CLEARED_UP } from "./saves_child.ts";
import { listFiles } from "./saves_files.ts";

const CHILD = fileURLToPath(new URL("./saves_child.ts", import.meta.url));
const MAX_LIFE_MS = 60;

/** Kills a writing process as often as told. */
export async function crashChild(
  base: string,
  kills: number,
  random: Random,
): Promise<KillCounts> {
  const run = new ChildRun(join(base, VAULT));
  while (run.counts.kills < kills) await run.liveAndDie(random.below(MAX_LIFE_MS));
  return run.counts;
}

class ChildRun {
  readonly counts = noKills();
  readonly #root: string;
  /** The newest version of each file that was said to be written. */
  readonly #said = new Map<string, number>();

  constructor(root: string) {
    this.#root = root;
  }

  async liveAndDie(lifeMs: number): Promise<void> {
    const { counts } = this;
    const before = (await listFiles(this.#root)).filter(isLitter);
    counts.litter += before.length;
    await runAndKill([CHILD, this.#root], {
      lifeMs,
      hear: (line) => this.#note(line),
      begun: async () => {
        const after = new Set(await listFiles(this.#root));
        for (const path of before) if (after.has(path)) this.#wrong(`${path} outlived a start`);
      },
    });
    counts.kills++;
    await this.#checkFiles();
  }

  #note(line: string): void {
    if (line === CLEARED_UP) return;
    const [path = "", version] = line.split(" ");
    this.#said.set(path, Number(version));
    this.counts.saves++;
  }

  async #checkFiles(): Promise<void> {
    const paths = (await listFiles(this.#root)).filter((path) => !isLitter(path));
    for (const path of new Set([...paths, ...this.#said.keys()])) await this.#checkFile(path);
  }

  async #checkFile(path: string): Promise<void> {
    const text = await Deno.readTextFile(join(this.#root, path)).catch(() => "");
    const [version, said = 0] = [versionOf(text), this.#said.get(path)];
    if (version === said + 1) this.counts.wholeUnheard++;
    const isOldOrNew = version === said || version === said + 1;
    if (!isOldOrNew || text !== versionText(path, version)) {
      this.#wrong(`${path} is version ${version}, ${text.length} characters, after ${said}`);
    }
    this.#said.set(path, version);
  }

  #wrong(what: string): void {
    this.counts.wrongs.push(`child: ${what}`);
  }
}
