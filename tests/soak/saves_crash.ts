/** A server that is killed in the midst of saving, again and again, over one vault. */
import { join } from "node:path";
import { type KillCounts, noKills } from "../_support/kill_counts.ts";
import { isLitter } from "../_support/litter.ts";
import { until } from "../_support/until.ts";
import { VAULT } from "./disk_model.ts";
import type { Random } from "./random.ts";
import { listFiles } from "./saves_files.ts";
import { HandoffsModel } from "./saves_handoffs.ts";
import { type KnownNote, SavesModel } from "./saves_model.ts";
import { SaveClient } from "./saves_client.ts";
import { ask, memoryUrl, type SavesServer, startSavesServer } from "./saves_server.ts";

const CLIENTS = 4;
const MIN_LIFE_MS = 5;
const MAX_LIFE_MS = 200;
/** In so many of a hundred lives clients save before the server has cleared up. */
const EARLY = 30;
/** So many notes are opened after each start, and all of them after the last. */
const OPENED = 40;
const MANIFEST_LINE = /^- \[.*\]\(.*\) — .*$/;
const HANDOFF = /^memories\/projects\/[^/]+\/handoff\/(.*)\.md$/;

/** Kills a server as often as told. */
export async function crashServer(
  base: string,
  kills: number,
  random: Random,
): Promise<KillCounts> {
  const run = new ServerRun(base, random);
  while (run.counts.kills < kills) await run.liveAndDie();
  await run.examine();
  return run.counts;
}

class ServerRun {
  readonly counts = noKills();
  readonly #base: string;
  readonly #root: string;
  readonly #random: Random;
  readonly #model = new SavesModel();
  readonly #handoffs = new HandoffsModel();
  readonly #clients: readonly SaveClient[];
  #litter: readonly string[] = [];

  constructor(base: string, random: Random) {
    this.#base = base;
    this.#root = join(base, VAULT);
    this.#random = random;
    const { counts } = this;
    const parts = { model: this.#model, handoffs: this.#handoffs, random, counts };
    this.#clients = Array.from({ length: CLIENTS }, (_, at) => new SaveClient(at, parts));
  }

  /** Starts the server, looks at what it has made of the last crash, saves, and kills it. */
  async liveAndDie(): Promise<void> {
    await using server = await this.#start();
    const isEarly = this.#random.chance(EARLY);
    if (!isEarly) await this.#expectCleared();
    if (!isEarly) await this.#open(server, this.#random.sample(this.#notes, OPENED));
    const stop = new AbortController();
    const working = this.#clients.map((client) => client.work(server.url, stop.signal));
    if (!isEarly) await this.#untilSaving();
    const lifeMs = MIN_LIFE_MS + this.#random.below(MAX_LIFE_MS - MIN_LIFE_MS);
    await new Promise((resolve) => setTimeout(resolve, lifeMs));
    stop.abort();
    await server.kill();
    await Promise.all(working);
    this.counts.kills++;
    await this.#checkVault();
  }

  /** Starts a server after the last crash and opens every note that was ever acknowledged. */
  async examine(): Promise<void> {
    await using server = await this.#start();
    await this.#expectCleared();
    await this.#open(server, this.#notes);
  }

  get #notes(): readonly KnownNote[] {
    return [...this.#model.notes.values()];
  }

  async #start(): Promise<SavesServer> {
    return await startSavesServer(this.#base, { state: "state", freshness: "auto" });
  }

  /** The first save takes a while, as the server has to get warm. */
  async #untilSaving(): Promise<void> {
    const { counts } = this;
    const before = counts.saves;
    await until(() => Promise.resolve(counts.saves > before));
  }

  async #expectCleared(): Promise<void> {
    let left: readonly string[] = [];
    const isCleared = async () => {
      const files = new Set(await listFiles(this.#root));
      left = this.#litter.filter((path) => files.has(path));
      return left.length === 0;
    };
    await until(isCleared).catch(() => this.#wrong(`${left.join(", ")} outlived a start`));
  }

  async #open({ url }: SavesServer, notes: readonly KnownNote[]): Promise<void> {
    for (const { id, etag, path } of notes) {
      const { status, body } = await ask(memoryUrl(url, id));
      if (status !== 200 || body.etag !== etag || body.path !== path) {
        this.#wrong(`${path} is not opened by its id: ${status}`);
      }
    }
  }

  async #checkVault(): Promise<void> {
    const files = await listFiles(this.#root);
    this.#litter = files.filter(isLitter);
    this.counts.litter += this.#litter.length;
    const texts = new Map<string, string>();
    for (const path of files) {
      if (!isLitter(path)) texts.set(path, await Deno.readTextFile(join(this.#root, path)));
    }
    this.#checkHandoffs(texts);
    for (const path of this.#model.notes.keys()) {
      if (!texts.has(path)) this.#wrong(`${path} is gone`);
    }
    for (const [path, text] of texts) this.#checkFile(path, text);
    this.#model.forgetComing();
  }

  #checkFile(path: string, text: string): void {
    if (HANDOFF.test(path)) return;
    if (path.endsWith("/project.md")) return this.#require(path, /^---\n[^]+\n---\n[^]+\n$/, text);
    if (path.endsWith("/MEMORY.md")) {
      const isWhole = text.endsWith("\n") &&
        text.trimEnd().split("\n").every((line) => MANIFEST_LINE.test(line));
      if (!isWhole) this.#wrong(`${path} is not whole`);
      return;
    }
    this.#note(path, this.#model.judge(path, text));
  }

  #checkHandoffs(texts: ReadonlyMap<string, string>): void {
    const branches = new Map<string, string>();
    for (const [path, text] of texts) {
      const [, branch] = HANDOFF.exec(path) ?? [];
      if (branch !== undefined) branches.set(branch, text);
    }
    for (const [name, found] of this.#handoffs.judgeAll(branches)) this.#note(name, found);
  }

  #note(what: string, found: "acknowledged" | "unheard" | "wrong"): void {
    if (found === "unheard") this.counts.wholeUnheard++;
    if (found === "wrong") this.#wrong(`${what} is none of its versions`);
  }

  #require(path: string, pattern: RegExp, text: string): void {
    if (!pattern.test(text)) this.#wrong(`${path} is not whole`);
  }

  #wrong(what: string): void {
    this.counts.wrongs.push(`server: ${what}`);
  }
}
