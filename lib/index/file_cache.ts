/** The part of the cache that remembers what each file was when it was last read. */
import type { VaultPath } from "@/lib/vault/vault_path.ts";
import { runAtOnce } from "@/lib/seams.ts";
import type { CacheStore, Outcome } from "./_cache_store.ts";
import type { FileChange, FileTable } from "./_file_table.ts";
import type { FileRecord, IndexedNote } from "./indexed_note.ts";
import { isSound, type KnownFile } from "./known_file.ts";

/** A transaction of so many takes about a millisecond. */
const MAX_BATCH_ROWS = 128;
const MAX_BATCH_CHARS = 256 * 1024;
/** Read in about a millisecond, too. */
const PAGE_ROWS = 256;
/** What a row has apart from the texts of its note. */
const ROW_CHARS = 256;

/** Remembers the files of one vault; no method ever throws. */
export interface FileCache {
  /** Remembers a note and the file that it was read from. */
  put(note: IndexedNote, file: FileRecord): void;
  /** Remembers that a file that was looked at again has the same content under this stamp. */
  touch(path: VaultPath, known: KnownFile): void;
  /** Forgets a file. */
  remove(path: VaultPath): void;
  /**
   * Writes what waits, in steps of about a millisecond; run it when a stretch of work is done.
   * While another server keeps the file locked, everything goes on waiting.
   */
  flush(): Generator<void, void>;
  /**
   * Returns all that is known, after writing what waits; in steps of about a millisecond. What the
   * file does not give is left out, as are rows that are damaged or of another vault: these are
   * removed.
   */
  readAll(): Generator<void, Map<VaultPath, KnownFile>>;
}

/** An open file with the table of files. */
export interface WithFiles {
  readonly files: FileTable;
  close(): void;
}

/**
 * The files of one vault in a file that others use too. A change waits until its batch is full and
 * what waits for the same path is superseded, so that no more can wait than the vault has files.
 */
export class StoredFiles implements FileCache {
  readonly #store: CacheStore<WithFiles>;
  readonly #scope: string;
  readonly #waiting = new Map<VaultPath, FileChange>();
  /** Since the last try to write. */
  #newRows = 0;
  #newChars = 0;
  #isClosed = false;

  /** @param scope Names the vault. */
  constructor(store: CacheStore<WithFiles>, scope: string) {
    this.#store = store;
    this.#scope = scope;
  }

  put(note: IndexedNote, file: FileRecord): void {
    this.#add(note.path, { what: "put", note, known: { etag: note.etag, file } });
  }

  touch(path: VaultPath, known: KnownFile): void {
    const waiting = this.#waiting.get(path);
    const isOfIt = waiting?.what === "put" && waiting.known.etag === known.etag;
    this.#add(path, isOfIt ? { ...waiting, known } : { what: "touch", known });
  }

  remove(path: VaultPath): void {
    this.#add(path, { what: "remove" });
  }

  *flush(): Generator<void, void> {
    while (this.#waiting.size > 0 && this.#writeBatch() !== "busy") yield;
  }

  *readAll(): Generator<void, Map<VaultPath, KnownFile>> {
    yield* this.flush();
    const all = new Map<VaultPath, KnownFile>();
    for (let after: number | undefined = Number.MIN_SAFE_INTEGER; after !== undefined;) {
      after = this.#readPage(after, all);
      yield;
    }
    return all;
  }

  /** Writes what waits, at once; from then on nothing is known or kept. */
  close(): void {
    runAtOnce(this.flush());
    this.#waiting.clear();
    this.#isClosed = true;
  }

  get #isOn(): boolean {
    return !this.#isClosed && this.#store.isOn;
  }

  #add(path: VaultPath, change: FileChange): void {
    if (!this.#isOn) return;
    const isKept = change.what === "remove" || isSound(change.known);
    this.#waiting.set(path, isKept ? change : { what: "remove" });
    this.#newRows++;
    this.#newChars += charsOf(change);
    if (this.#newRows >= MAX_BATCH_ROWS || this.#newChars >= MAX_BATCH_CHARS) this.#writeBatch();
  }

  /** What another server keeps from being written goes on waiting: the next batch may get in. */
  #writeBatch(): Outcome {
    const batch = this.#nextBatch();
    const outcome = this.#store.attempt(({ files }) => files.change(this.#scope, batch));
    if (outcome !== "busy") {
      for (const [path] of batch) this.#waiting.delete(path);
    }
    this.#newRows = 0;
    this.#newChars = 0;
    return outcome;
  }

  #nextBatch(): [VaultPath, FileChange][] {
    const batch: [VaultPath, FileChange][] = [];
    let chars = 0;
    for (const entry of this.#waiting) {
      batch.push(entry);
      chars += charsOf(entry[1]);
      if (batch.length >= MAX_BATCH_ROWS || chars >= MAX_BATCH_CHARS) break;
    }
    return batch;
  }

  /** Returns the last row that was read; `undefined` if there are no more. */
  #readPage(after: number, all: Map<VaultPath, KnownFile>): number | undefined {
    if (this.#isClosed) return undefined;
    const page = this.#store.find(({ files }) => files.read(this.#scope, after, PAGE_ROWS));
    if (!page) return undefined;
    for (const [path, known] of page.known) all.set(path, known);
    const { unusable } = page;
    if (unusable.length > 0) this.#store.attempt(({ files }) => files.drop(unusable));
    // Rows of a damaged file may come in no order.
    return page.end !== undefined && page.end > after ? page.end : undefined;
  }
}

function charsOf(change: FileChange): number {
  if (change.what !== "put") return ROW_CHARS;
  const { id, name, description, tags } = change.note;
  const texts = [id, name, description, ...tags];
  return texts.reduce((sum, text) => sum + text.length, ROW_CHARS);
}
