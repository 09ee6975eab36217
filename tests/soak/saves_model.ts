/** What clients know of the notes that they have sent: which bytes each file may hold. */
import { type Content, formatSaved, readStamps, type Stamps } from "./saves_text.ts";
import { etagOf } from "../_support/together_world.ts";

export interface KnownNote {
  readonly path: string;
  readonly id: string;
  readonly createdAt: string;
  content: Content;
  /** Of the newest version that was acknowledged, or found on the disk. */
  etag: string;
  /** Sent, and not answered yet. */
  pending?: Content | undefined;
}

/** An answer to a save, as far as it counts here. */
export interface Acknowledged {
  readonly id: string;
  readonly path: string;
  readonly etag: string;
  readonly updatedAt: string;
}

export type Found = "acknowledged" | "unheard" | "wrong";

/** Holds for each note the old and the new version; one client at a time may change a note. */
export class SavesModel {
  readonly notes = new Map<string, KnownNote>();
  /** New notes that were sent and not answered, by name. */
  readonly #coming = new Map<string, Content>();

  noteCreate(content: Content): void {
    this.#coming.set(content.name, content);
  }

  /** @returns False if the bytes cannot be what was asked for. */
  noteCreated(content: Content, { id, path, etag, updatedAt }: Acknowledged): boolean {
    this.#coming.delete(content.name);
    const isFree = !this.notes.has(path);
    this.notes.set(path, { path, id, createdAt: updatedAt, content, etag });
    return isFree &&
      etag === etagOf(formatSaved(content, { id, createdAt: updatedAt, updatedAt }));
  }

  /** @returns False if the bytes cannot be what was asked for. */
  noteChanged(note: KnownNote, { etag, updatedAt }: Acknowledged): boolean {
    const content = note.pending ?? note.content;
    Object.assign(note, { content, etag, pending: undefined });
    return etag === etagOf(formatSaved(content, { ...note, updatedAt }));
  }

  /** Judges a file after a crash; what is found is the old version from now on. */
  judge(path: string, text: string): Found {
    const note = this.notes.get(path);
    const stamps = readStamps(text);
    if (note === undefined) return this.#judgeNew(path, text, stamps);
    const { pending } = note;
    note.pending = undefined;
    if (etagOf(text) === note.etag) return "acknowledged";
    if (!pending || text !== formatSaved(pending, { ...note, updatedAt: stamps.updatedAt })) {
      return "wrong";
    }
    Object.assign(note, { content: pending, etag: etagOf(text) });
    return "unheard";
  }

  /** Whatever was not found by now never comes. */
  forgetComing(): void {
    this.#coming.clear();
  }

  #judgeNew(path: string, text: string, stamps: Stamps): Found {
    const content = [...this.#coming.values()].find((it) => text === formatSaved(it, stamps));
    if (content === undefined) return "wrong";
    const { id, createdAt } = stamps;
    this.#coming.delete(content.name);
    this.notes.set(path, { path, id, createdAt, content, etag: etagOf(text) });
    return "unheard";
  }
}
