/** The real server, killed again and again at any moment: what it finds then has to be right. */
import { join } from "node:path";
import type { DiagnosticsAnswer, HealthAnswer, SearchAnswer } from "@/lib/contracts.ts";
import { Program, serveArgs } from "../_support/program.ts";
import { until } from "../_support/until.ts";
import { checkDisk } from "./check_disk.ts";
import { DiskModel, placesOfWords, VAULT } from "./disk_model.ts";
import type { DiskOp } from "./disk_op.ts";
import { Draft } from "./draft.ts";
import { type EditKind, pickKind } from "./edit_kind.ts";
import { EDITS_OF_FILES } from "./edits_of_files.ts";
import { EDITS_OF_FOLDERS } from "./edits_of_folders.ts";
import { ownEditor } from "./editor.ts";
import { fillVault } from "./fill_vault.ts";
import { type Get, Judge } from "./judge.ts";
import { Ledger } from "./ledger.ts";
import { Random } from "./random.ts";
import type { Freshness } from "./soak_world.ts";
import { FreshWords } from "./words.ts";

const EDIT_PAUSE_MS = 100;
const EDITS_WHILE_DOWN = 3;
/** What may lie in the state directory; everything else is litter. */
const STATE_NAMES = /^(server\.json|cache\.sqlite(-wal|-shm)?|index\.snapshot|watch|writes)$/;
/** Cookies of killed servers are swept when they are a minute old. */
const MAX_COOKIES = 50;
/** They make diagnostics, or take rights away that the next edit needs. */
const UNFIT = /^(forbid|a link)/;

export interface CrashSettings {
  readonly rounds: number;
  readonly seed: number;
  /** About so many are in the vault. */
  readonly notes: number;
  readonly freshness: Freshness;
  /** The server lives at most so long before it is killed. */
  readonly maxLifeMs: number;
}

/** Kills a server over a vault of its own as often as told, and returns what came of it. */
export async function soakCrash(
  settings: CrashSettings,
  say: (line: string) => void,
): Promise<Ledger> {
  const base = await Deno.realPath(await Deno.makeTempDir({ prefix: "crash-" }));
  await using disposer = new AsyncDisposableStack();
  disposer.defer(() => Deno.remove(base, { recursive: true }));
  const run = new CrashRun(base, settings);
  for (let round = 1; round <= settings.rounds; round++) {
    await run.round(round);
    say(`${round} rounds, ${run.ledger.asked} answers, ${run.ledger.wrongCount} wrong`);
  }
  return run.ledger;
}

class CrashRun {
  readonly ledger = new Ledger();
  readonly #base: string;
  readonly #settings: CrashSettings;
  readonly #random: Random;
  readonly #model = new DiskModel();
  readonly #draft: Draft;
  readonly #kinds: readonly EditKind[];

  constructor(base: string, settings: CrashSettings) {
    this.#base = base;
    this.#settings = settings;
    this.#random = new Random(settings.seed);
    const words = new FreshWords();
    this.#draft = new Draft({ model: this.#model, words, random: this.#random });
    this.#kinds = [...EDITS_OF_FILES, ...EDITS_OF_FOLDERS].filter(({ name }) => !UNFIT.test(name));
  }

  /** Starts a server, edits, kills it, edits on, starts another one, and looks whether all is right. */
  async round(number: number): Promise<void> {
    if (number === 1) await this.#fill();
    await this.#liveAndDie(number);
    for (let i = 0; i < EDITS_WHILE_DOWN; i++) await this.#edit(number);
    checkDisk(this.#base, this.#model);
    await using server = this.#start();
    await this.#examine(await addressOf(server));
    if (this.#random.chance(50)) return;
    server.kill("SIGTERM");
    await server.end();
  }

  async #fill(): Promise<void> {
    fillVault(this.#draft, this.#settings.notes);
    await this.#apply();
  }

  async #liveAndDie(number: number): Promise<void> {
    await using server = this.#start();
    const endMs = performance.now() + this.#random.below(this.#settings.maxLifeMs);
    const address = { url: "" };
    void addressOf(server).then((url) => address.url = url, () => {});
    while (performance.now() < endMs) {
      await this.#edit(number);
      await askAnything(address.url);
      const pauseMs = Math.min(EDIT_PAUSE_MS, endMs - performance.now());
      await new Promise((resolve) => setTimeout(resolve, Math.max(0, pauseMs)));
    }
    server.kill("SIGKILL");
    await server.end();
  }

  #start(): Program {
    const { freshness } = this.#settings;
    const places = { vault: join(this.#base, VAULT), state: this.#state };
    const args = serveArgs(places, ["--port", "0", "--freshness", freshness]);
    const home = {
      folder: this.#base,
      ...places,
      [Symbol.asyncDispose]: () => Promise.resolve(),
    };
    return new Program(args, { home });
  }

  get #state(): string {
    return join(this.#base, "state");
  }

  async #edit(number: number): Promise<void> {
    const { name, plan } = pickKind(this.#kinds, this.#draft, this.#settings.notes);
    for (const _part of plan(this.#draft)) await this.#apply();
    const ops = await this.#apply();
    this.ledger.noteEdit({ number, part: 1, kind: name, by: "self", ops });
  }

  async #apply(): Promise<readonly DiskOp[]> {
    const ops = this.#draft.take();
    await ownEditor(this.#base, () => true).apply(ops);
    return ops;
  }

  async #examine(url: string): Promise<void> {
    const get = (path: string) => fetch(url + path);
    const health = await untilIndexed(get);
    const notes = this.#model.notes();
    const expected = [...placesOfWords(notes)].map(([word, paths]) => ({ word, paths }));
    const options = { mayBeUnverified: false, isTogether: false };
    await new Judge(get, this.ledger).check(expected, options);
    this.ledger.comparisons++;
    const problems = [
      ...(health.notes === notes.size ? [] : [`${health.notes} notes, not ${notes.size}`]),
      ...await problemsOfDiagnostics(get),
      ...await problemsOfVectors(get),
      ...await problemsOfState(this.#state),
    ];
    for (const problem of problems) this.ledger.noteWrong("differs", problem);
  }
}

/** Keeps the server at work; whether it answers at all is not judged. */
async function askAnything(url: string): Promise<void> {
  if (url === "") return;
  const response = await fetch(`${url}/api/search?q=river`);
  await response.body?.cancel();
}

async function addressOf(server: Program): Promise<string> {
  return JSON.parse(await server.line('"event":"started"')).address;
}

async function untilIndexed(get: Get): Promise<HealthAnswer> {
  return await until(async () => {
    const health: HealthAnswer = await (await get("/healthz")).json();
    return health.indexing === null ? health : undefined;
  });
}

async function problemsOfDiagnostics(get: Get): Promise<string[]> {
  const answer: DiagnosticsAnswer = await (await get("/api/diagnostics")).json();
  return [
    ...answer.warnings,
    ...answer.diagnostics.map(({ path, reason }) => `diagnostics: ${path}: ${reason}`),
  ];
}

async function problemsOfVectors(get: Get): Promise<string[]> {
  const response = await get(`/api/search?mode=vector&q=${encodeURIComponent("river lantern")}`);
  const answer: SearchAnswer = await response.json();
  if (answer.mode !== "vector") return [`vectors: ${answer.fallback?.reason}`];
  return answer.results.length > 0 ? [] : ["vectors: nothing found"];
}

async function problemsOfState(folder: string): Promise<string[]> {
  const names = await namesIn(folder);
  const litter = names.filter((name) => !STATE_NAMES.test(name));
  const cookies = names.includes("watch") ? (await namesIn(join(folder, "watch"))).length : 0;
  return [
    ...litter.map((name) => `state: ${name}`),
    ...(cookies > MAX_COOKIES ? [`state: ${cookies} cookies`] : []),
  ];
}

async function namesIn(folder: string): Promise<string[]> {
  return (await Array.fromAsync(Deno.readDir(folder))).map(({ name }) => name);
}
