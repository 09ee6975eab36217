/** Reads the texts of notes as they were indexed. */
import { AppError } from "@/lib/errors.ts";
import type { Slicer } from "@/lib/seams.ts";
import { hashBytes } from "@/lib/vault/etag.ts";
import { decodeNote } from "@/lib/vault/note_text.ts";
import { type NoteBytes, readFile, type Vault } from "@/lib/vault/vault.ts";
import type { IndexedNote } from "./indexed_note.ts";
import type { NoteTable } from "./note_table.ts";
import { isUntouched } from "./sync.ts";
import type { TextCache } from "./text_cache.ts";

export interface TextReaderOptions {
  readonly vault: Vault;
  readonly table: NoteTable;
  readonly cache: TextCache;
}

export class TextReader {
  readonly #options: TextReaderOptions;

  constructor(options: TextReaderOptions) {
    this.#options = options;
  }

  /** Returns the text that was indexed, `undefined` if the file holds another one by now. */
  async read(note: IndexedNote, slicer: Slicer): Promise<string | undefined> {
    const { cache } = this.#options;
    const cached = cache.get(note.etag);
    if (cached !== undefined) return cached;
    const bytes = await this.readBytes(note, slicer);
    const decoded = bytes && await slicer.run(decodeNote(bytes));
    if (decoded) cache.put(note.etag, decoded.text);
    return decoded?.text;
  }

  /** Returns the bytes that were indexed, `undefined` if the file holds others by now. */
  async readBytes(note: IndexedNote, slicer: Slicer): Promise<Uint8Array | undefined> {
    try {
      const file = readFile(this.#options.vault, note.path);
      await slicer.pause();
      return await this.#isIndexed(note, file, slicer) ? file.bytes : undefined;
    } catch (error) {
      // The note vanished since it was found; the next search will not find it.
      if (error instanceof AppError) return undefined;
      throw error;
    }
  }

  async #isIndexed(note: IndexedNote, file: NoteBytes, slicer: Slicer): Promise<boolean> {
    const { table } = this.#options;
    // The table may know a newer note there by now than the one that was found.
    const isCurrent = table.find(note.path)?.etag === note.etag;
    if (isCurrent && isUntouched(file.stamp, table.fileOf(note.path))) return true;
    return await slicer.run(hashBytes(file.bytes)) === note.etag;
  }
}
