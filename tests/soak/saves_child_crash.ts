/** A process that only writes, killed again and again; then each file is one of its versions. */
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { VAULT } from "./disk_model.ts";
import type { Random } from "./random.ts";
import { CLEARED_UP, versionOf, versionText } from "./saves_child.ts";
import { isLitter, listFiles } from "./saves_files.ts";
import { type KillCounts, noKills } from "./saves_kills.ts";

const CHILD = fileURLToPath(new URL("./saves_child.ts", import.meta.url));
const CONFIG = fileURLToPath(new URL("../config.json", import.meta.url));
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
    const child = new Deno.Command(Deno.execPath(), {
      args: ["run", "--config", CONFIG, "--no-prompt", "-A", CHILD, this.#root],
      stdin: "null",
      stdout: "piped",
    }).spawn();
    await this.#listen(child, async () => {
      const after = new Set(await listFiles(this.#root));
      for (const path of before) if (after.has(path)) this.#wrong(`${path} outlived a start`);
      await new Promise((resolve) => setTimeout(resolve, lifeMs));
      child.kill("SIGKILL");
    });
    counts.kills++;
    await this.#checkFiles();
  }

  /** Hears all that it says until it is dead. */
  async #listen(child: Deno.ChildProcess, end: () => Promise<void>): Promise<void> {
    let ending: Promise<void> | undefined;
    let rest = "";
    for await (const text of child.stdout.pipeThrough(new TextDecoderStream())) {
      const lines = (rest + text).split("\n");
      rest = lines.pop() ?? "";
      for (const line of lines) {
        if (line === CLEARED_UP) ending = end();
        else this.#note(line);
      }
    }
    await ending;
    const { signal, code } = await child.status;
    if (signal !== "SIGKILL") throw new Error(`The writing process ended by itself: ${code}`);
  }

  #note(line: string): void {
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
