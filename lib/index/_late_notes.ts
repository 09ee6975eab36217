/**
 * The notes that are indexed without their vectors, as calls to the model: the texts of many notes
 * in one call, as distant models count calls. A note over which the model has failed comes last and
 * has calls of its own, so that it keeps no other one out.
 */
import { Buffer } from "node:buffer";
import type { BatchLimits } from "@/lib/embed/embedder.ts";
import type { VaultPath } from "@/lib/vault/vault_path.ts";
import type { OpenTexts } from "./_open_texts.ts";

/** A note that is indexed without vectors, in the state in which it is. */
export interface MissingNote {
  readonly etag: string;
  /** How often the model failed over it. */
  strikes: number;
}

/** One whose texts were read. */
export interface LateNote {
  readonly path: VaultPath;
  readonly note: MissingNote;
  readonly texts: OpenTexts;
}

/** The texts of one call. */
export interface Batch {
  readonly texts: readonly string[];
  /** Takes the vectors, in the order of the texts. */
  take(vectors: readonly (Int8Array | null)[]): void;
  /** @param error What the model did not like about the texts; `undefined` = it was away. */
  giveUp(error: unknown): void;
}

export interface LateNotesOptions {
  readonly missing: ReadonlyMap<VaultPath, MissingNote>;
  readonly isWanted: (path: VaultPath, note: MissingNote) => boolean;
  /** Returns `undefined` if the note is not what it was. */
  readonly open: (path: VaultPath, note: MissingNote) => Promise<OpenTexts | undefined>;
  readonly mayGoOn: () => boolean;
  /** Called when no text of a note is unknown any more. */
  readonly onDone: (late: LateNote) => void;
  /** Called with what kept the texts of a note from being read. */
  readonly onOdd: (error: unknown) => void;
}

/** A text, and the notes that wait for its vector: what many have is asked for once. */
interface WantedText {
  readonly text: string;
  readonly late: Set<LateNote>;
}

export class LateNotes {
  readonly #options: LateNotesOptions;
  /** By text: what a call was or will be made for, and has not ended. */
  readonly #open = new Map<string, WantedText>();

  constructor(options: LateNotesOptions) {
    this.#options = options;
  }

  /** Yields the calls to make; several may be under way. */
  async *batches(limits: BatchLimits): AsyncGenerator<Batch, void> {
    const filling = new FillingBatch(limits);
    for await (const late of this.#readAll()) {
      const isAlone = late.note.strikes > 0;
      if (isAlone && !filling.isEmpty) yield this.#toBatch(filling.empty());
      for (const text of late.texts.unknown) {
        const open = this.#open.get(text);
        open?.late.add(late);
        if (open) continue;
        const wanted = { text, late: new Set([late]) };
        this.#open.set(text, wanted);
        if (!filling.hasRoomFor(wanted)) yield this.#toBatch(filling.empty());
        filling.add(wanted);
      }
      if (isAlone && !filling.isEmpty) yield this.#toBatch(filling.empty());
    }
    if (!filling.isEmpty) yield this.#toBatch(filling.empty());
  }

  async *#readAll(): AsyncGenerator<LateNote, void> {
    const { isWanted, mayGoOn, missing, onDone } = this.#options;
    const inOrder = [...missing].sort(([, a], [, b]) => a.strikes - b.strikes);
    for (const [path, note] of inOrder) {
      if (!mayGoOn()) return;
      const texts = isWanted(path, note) ? await this.#read(path, note) : undefined;
      if (!texts) continue;
      const late = { path, note, texts };
      if (texts.unknown.size === 0) onDone(late);
      else yield late;
    }
  }

  async #read(path: VaultPath, note: MissingNote): Promise<OpenTexts | undefined> {
    try {
      return await this.#options.open(path, note);
    } catch (error) {
      note.strikes++;
      this.#options.onOdd(error);
      return undefined;
    }
  }

  #toBatch(wanted: readonly WantedText[]): Batch {
    const { onDone } = this.#options;
    const open = this.#open;
    return {
      texts: wanted.map(({ text }) => text),
      take(vectors) {
        for (const [index, { text, late }] of wanted.entries()) {
          open.delete(text);
          for (const each of late) {
            each.texts.take(text, vectors[index] ?? null);
            if (each.texts.unknown.size === 0) onDone(each);
          }
        }
      },
      giveUp(error) {
        for (const { text } of wanted) open.delete(text);
        if (error === undefined) return;
        for (const { note } of new Set(wanted.flatMap(({ late }) => [...late]))) note.strikes++;
      },
    };
  }
}

/** Texts for one call, as many as it takes. */
class FillingBatch {
  readonly #limits: BatchLimits;
  #wanted: WantedText[] = [];
  #bytes = 0;

  constructor(limits: BatchLimits) {
    this.#limits = limits;
  }

  get isEmpty(): boolean {
    return this.#wanted.length === 0;
  }

  /** One that is too long for any call gets one of its own. */
  hasRoomFor({ text }: WantedText): boolean {
    const { bytes, texts } = this.#limits;
    return this.isEmpty ||
      this.#wanted.length < texts && this.#bytes + byteLength(text) <= bytes;
  }

  add(wanted: WantedText): void {
    this.#wanted.push(wanted);
    this.#bytes += byteLength(wanted.text);
  }

  empty(): readonly WantedText[] {
    const wanted = this.#wanted;
    this.#wanted = [];
    this.#bytes = 0;
    return wanted;
  }
}

function byteLength(text: string): number {
  return Buffer.byteLength(text);
}
