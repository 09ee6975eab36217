/** A client that saves without pause and keeps what it has sent. */
import type { Random } from "./random.ts";
import type { HandoffsModel } from "./saves_handoffs.ts";
import type { KillCounts } from "../_support/kill_counts.ts";
import type { Acknowledged, KnownNote, SavesModel } from "./saves_model.ts";
import { type Answer, ask, memoryUrl } from "./saves_server.ts";
import { bodyOf, type Content } from "./saves_text.ts";

const SMALL_BYTES = 2_000;
const LARGE_BYTES = 200_000;
/** So many of a hundred bodies are large. */
const LARGE = 15;
const REPO = "https://example.org/soak/saves.git";
const CREATED = 201;

export interface SaveClientParts {
  readonly model: SavesModel;
  readonly handoffs: HandoffsModel;
  readonly random: Random;
  readonly counts: KillCounts;
}

export class SaveClient {
  readonly #number: number;
  readonly #parts: SaveClientParts;
  /** Nobody else changes them. */
  readonly #own = new Set<string>();
  #count = 0;

  constructor(number: number, parts: SaveClientParts) {
    this.#number = number;
    this.#parts = parts;
  }

  /** Saves until it is told to stop; what fails after that was cut off. */
  async work(url: string, signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      try {
        await this.#save(url);
      } catch (error) {
        // The server dies a moment before who kills it can say so.
        if (!signal.aborted) await new Promise((resolve) => setTimeout(resolve, 1));
        if (!signal.aborted) throw error;
      }
    }
  }

  async #save(url: string): Promise<void> {
    const { model, random } = this.#parts;
    const turn = random.below(100);
    const path = random.pick([...this.#own]);
    const note = path === undefined ? undefined : model.notes.get(path);
    if (turn < 15) return await this.#handOff(url);
    if (turn < 25) return await this.#remember(url);
    if (turn < 35 || !note) return await this.#create(url);
    await this.#change(url, note);
  }

  async #create(url: string): Promise<void> {
    const name = this.#nextName();
    const content = { name, description: `About ${name}`, tags: ["soak"], body: this.#body() };
    await this.#make(`${url}/api/memories`, content, content);
  }

  async #remember(url: string): Promise<void> {
    const text = `${this.#nextName()} is a fact.`;
    const content = { name: text, description: text, tags: ["fact"], body: text, type: "fact" };
    await this.#make(`${url}/api/remember`, content, { text, scope: "global" });
  }

  async #make(url: string, content: Content, body: object): Promise<void> {
    const { model } = this.#parts;
    model.noteCreate(content);
    const saved = this.#read(await ask(url, { method: "POST", body }), CREATED);
    if (!saved) return;
    this.#own.add(saved.path);
    if (!model.noteCreated(content, saved)) this.#wrong(`${saved.path} was not made as asked`);
  }

  async #change(url: string, note: KnownNote): Promise<void> {
    const { model, random } = this.#parts;
    const change = random.chance(20)
      ? { tags: ["soak", `turn-${this.#number}-${this.#count++}`] }
      : { body: this.#body() };
    note.pending = { ...note.content, ...change };
    const question = { method: "PATCH", body: change, etag: note.etag };
    const saved = this.#read(await ask(memoryUrl(url, note.id), question), 200);
    if (saved && !model.noteChanged(note, saved)) this.#wrong(`${note.path} was not changed right`);
  }

  async #handOff(url: string): Promise<void> {
    const { handoffs } = this.#parts;
    const branch = `branch-${this.#number}`;
    const body = this.#body();
    handoffs.noteSent(branch, body);
    const question = { method: "PUT", body: { body, branch, repo: REPO } };
    const { status } = await ask(`${url}/api/handoff`, question);
    if (status !== 200) return this.#wrong(`a handoff was answered ${status}`);
    handoffs.noteSaved(branch);
    this.#parts.counts.saves++;
  }

  #read({ status, body }: Answer, wanted: number): Acknowledged | undefined {
    if (status !== wanted) {
      this.#wrong(`a save was answered ${status} ${body.code}`);
      return undefined;
    }
    this.#parts.counts.saves++;
    const { id, path, etag, updatedAt } = body;
    return { id: String(id), path: String(path), etag: String(etag), updatedAt: String(updatedAt) };
  }

  #nextName(): string {
    return `Client ${this.#number} note ${this.#count++}`;
  }

  #body(): string {
    const { random } = this.#parts;
    const bytes = random.below(random.chance(LARGE) ? LARGE_BYTES : SMALL_BYTES);
    return bodyOf(this.#number * 1_000_000 + this.#count++, bytes);
  }

  #wrong(what: string): void {
    this.#parts.counts.wrongs.push(`server: ${what}`);
  }
}
