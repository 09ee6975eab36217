/**
 * Two servers on one vault, clients of both, and editors that know nothing of either: no save may be
 * lost to another, and who comes too late has to hear of it.
 */
import { join } from "node:path";
import { isLitter } from "../_support/litter.ts";
import { etagOf } from "../_support/together_world.ts";
import { VAULT } from "./disk_model.ts";
import type { Random } from "./random.ts";
import { type ChainVerdict, type EditorWrite, judgeChains, type Save } from "./saves_chain.ts";
import { RivalEditor } from "./saves_editor.ts";
import { listFiles } from "./saves_files.ts";
import { type Answer, ask, memoryUrl, type SavesServer, startSavesServer } from "./saves_server.ts";
import { bodyOf } from "./saves_text.ts";

const NOTES = 20;
const RENAMED_NOTES = [0, 1, 2, 3, 4];
const REWRITTEN_NOTES = [5, 6, 7];
const INTRUDED_NOTES = [8, 9, 10];
const CLIENTS_A_SERVER = 8;
/** So many of a hundred saves name a state that is known to be an older one. */
const STALE = 20;
const MAX_BODY_BYTES = 3_000;
/** So many of a hundred clients think for a while between reading and saving. */
const SLOW = 30;
const MAX_PAUSE_MS = 20;
const AT_ONCE = 20;
/** Of editors' writes that are lost, to all that was sent. */
const MAX_LOST_SHARE = 0.005;

export interface RivalCounts extends ChainVerdict {
  /** All that were sent. */
  readonly attempts: number;
  readonly saves: number;
  readonly conflicts: number;
  /** Saves with an old state that was known to be one; each was refused, or is wrong. */
  readonly staleAttempts: number;
  readonly editorWrites: number;
  readonly conflictCopies: number;
}

interface RivalNote {
  readonly id: string;
  readonly path: string;
  readonly first: string;
  /** States that a save has replaced. */
  readonly old: string[];
  /** An editor writes into it, so that for a moment there is nothing. */
  readonly isRewritten: boolean;
}

/** Lets clients and editors save as often as told. */
export async function soakRivals(
  base: string,
  attempts: number,
  random: Random,
): Promise<RivalCounts> {
  await using one = await startSavesServer(base, { state: "state-one", freshness: "auto" });
  await using other = await startSavesServer(base, { state: "state-other", freshness: "scan" });
  const run = new RivalRun(base, random, attempts);
  await run.createAtOnce([one, other]);
  await run.makeNotes(one);
  await run.changeAtOnce([one, other]);
  await run.compete([one, other]);
  return await run.judge();
}

class RivalRun {
  readonly #base: string;
  readonly #random: Random;
  readonly #attempts: number;
  readonly #wrongs: string[] = [];
  readonly #notes: RivalNote[] = [];
  readonly #saves: Save[] = [];
  #editorWrites: readonly EditorWrite[] = [];
  #sent = 0;
  #conflicts = 0;
  #stale = 0;
  #bodies = 0;
  #copiesTold = 0;

  constructor(base: string, random: Random, attempts: number) {
    this.#base = base;
    this.#random = random;
    this.#attempts = attempts;
  }

  /** New notes of one name become as many files. */
  async createAtOnce(servers: readonly SavesServer[]): Promise<void> {
    const bodies = Array.from({ length: AT_ONCE }, () => this.#body());
    const create = (body: string, at: number) =>
      ask(`${servers[at % servers.length]?.url}/api/memories`, {
        method: "POST",
        body: { name: "One name", description: "For all", tags: ["soak"], body },
      });
    const answers = await Promise.all(bodies.map(create));
    const paths = new Set(answers.map(({ body }) => String(body.path)));
    if (answers.some(({ status }) => status !== 201)) this.#wrong("a create was refused");
    if (paths.size !== AT_ONCE) this.#wrong(`${paths.size} files came of ${AT_ONCE} creates`);
    for (const [at, { body }] of answers.entries()) {
      const text = await this.#read(String(body.path));
      if (!text.endsWith(`\n${bodies[at]}\n`)) this.#wrong(`${body.path} holds another's body`);
    }
  }

  async makeNotes({ url }: SavesServer): Promise<void> {
    for (let number = 0; number < NOTES; number++) {
      const [name, body] = [`Contested ${number}`, this.#body()];
      const { body: saved } = await ask(`${url}/api/memories`, {
        method: "POST",
        body: { name, description: name, tags: ["soak"], body },
      });
      this.#notes.push({
        id: String(saved.id),
        path: String(saved.path),
        first: String(saved.etag),
        old: [],
        isRewritten: REWRITTEN_NOTES.includes(number),
      });
    }
  }

  /** Of many changes of one state one is made. */
  async changeAtOnce(servers: readonly SavesServer[]): Promise<void> {
    const note = this.#notes[NOTES - 1];
    if (!note) return;
    const changes = Array.from({ length: AT_ONCE }, async (_, at) => {
      const { url = "" } = servers[at % servers.length] ?? {};
      return await this.#change(url, note, { etag: note.first, isStale: false });
    });
    const made = (await Promise.all(changes)).filter((isMade) => isMade).length;
    if (made !== 1) this.#wrong(`${made} of ${AT_ONCE} changes of one state were made`);
    // They count for themselves, not among the others.
    [this.#sent, this.#conflicts] = [0, 0];
  }

  async compete(servers: readonly SavesServer[]): Promise<void> {
    const stop = new AbortController();
    const editing = [
      this.#editor(RENAMED_NOTES, "rename").work(stop.signal),
      this.#editor(REWRITTEN_NOTES, "in place").work(stop.signal),
      this.#editor(INTRUDED_NOTES, "rename").intrude(stop.signal),
    ];
    const clients = servers.flatMap(({ url }) =>
      Array.from({ length: CLIENTS_A_SERVER }, () => this.#work(url))
    );
    await Promise.all(clients).finally(() => stop.abort());
    this.#editorWrites = (await Promise.all(editing)).flat();
  }

  #editor(numbers: readonly number[], way: "rename" | "in place"): RivalEditor {
    const paths = numbers.flatMap((number) => this.#notes[number]?.path ?? []);
    const name = `${way} of ${numbers.join(" ")}`;
    return new RivalEditor(join(this.#base, VAULT), { name, paths, way, random: this.#random });
  }

  async judge(): Promise<RivalCounts> {
    const files = await listFiles(join(this.#base, VAULT));
    const copyPaths = files.filter((path) => path.includes(" (conflict "));
    const copies = new Set<string>();
    for (const path of copyPaths) copies.add(etagOf(await this.#read(path)));
    const last = new Map<string, string>();
    for (const { path } of this.#notes) last.set(path, etagOf(await this.#read(path)));
    for (const path of files.filter(isLitter)) this.#wrong(`${path} was left`);
    if (copyPaths.length !== this.#copiesTold) {
      this.#wrong(`${copyPaths.length} conflict copies, and answers told of ${this.#copiesTold}`);
    }
    const first = new Map(this.#notes.map(({ path, first }) => [path, first]));
    const [saves, editorWrites] = [this.#saves, this.#editorWrites];
    const verdict = judgeChains({ first, saves, editorWrites, last, copies });
    // The gap between two calls in a row, which nothing can close, is hit hardly ever.
    if (verdict.lostInGap > Math.max(1, this.#sent * MAX_LOST_SHARE)) {
      this.#wrong(`${verdict.lostInGap} writes of editors were lost`);
    }
    return {
      ...verdict,
      wrongs: [...this.#wrongs, ...verdict.wrongs],
      attempts: this.#sent,
      saves: saves.length,
      conflicts: this.#conflicts,
      staleAttempts: this.#stale,
      editorWrites: editorWrites.length,
      conflictCopies: copyPaths.length,
    };
  }

  async #work(url: string): Promise<void> {
    while (this.#sent < this.#attempts) {
      const note = this.#random.pick(this.#notes);
      if (!note) return;
      const old = this.#random.chance(STALE) ? this.#random.pick(note.old) : undefined;
      const etag = old ?? await this.#open(url, note);
      // Others have some time to be faster.
      const pauseMs = this.#random.below(MAX_PAUSE_MS);
      if (this.#random.chance(SLOW)) await new Promise((resolve) => setTimeout(resolve, pauseMs));
      if (etag === undefined || this.#sent >= this.#attempts) continue;
      await this.#change(url, note, { etag, isStale: old !== undefined });
    }
  }

  async #open(url: string, note: RivalNote): Promise<string | undefined> {
    const { status, body } = await ask(memoryUrl(url, note.id));
    if (status === 200) return String(body.etag);
    if (!note.isRewritten) this.#wrong(`${note.path} was not opened: ${status} ${body.code}`);
    return undefined;
  }

  /** @returns True if the change was made. */
  async #change(
    url: string,
    note: RivalNote,
    { etag: parent, isStale }: { readonly etag: string; readonly isStale: boolean },
  ): Promise<boolean> {
    this.#sent++;
    if (isStale) this.#stale++;
    const sentMs = performance.now();
    const body = { body: this.#body() };
    const answer = await ask(memoryUrl(url, note.id), { method: "PATCH", body, etag: parent });
    if (answer.status !== 200) return this.#noteRefusal(note, answer);
    if (isStale) this.#wrong(`${note.path} was saved over ${parent}, which is an older state`);
    const { etag, conflictCopy } = answer.body;
    if (conflictCopy !== undefined) this.#copiesTold++;
    this.#saves.push({ note: note.path, parent, etag: String(etag), sentMs });
    note.old.push(parent);
    return true;
  }

  #noteRefusal(note: RivalNote, { status, body }: Answer): false {
    this.#conflicts++;
    const isConflict = status === 412 && body.code === "edit-conflict";
    // While an editor has emptied the file there is no memory of that id.
    if (isConflict || note.isRewritten && status === 404) return false;
    this.#wrong(`${note.path}: a save was answered ${status} ${body.code}`);
    return false;
  }

  #body(): string {
    return bodyOf(this.#bodies++, this.#random.below(MAX_BODY_BYTES));
  }

  async #read(path: string): Promise<string> {
    return await Deno.readTextFile(join(this.#base, VAULT, path));
  }

  #wrong(what: string): void {
    this.#wrongs.push(`rivals: ${what}`);
  }
}
