/**
 * Makes the index hold what a look at the vault has shown. Nothing is taken on trust: content
 * counts by hash, and a note is dropped only when the disk itself says that the file is gone.
 */
import type { Diagnostic } from "@/lib/contracts.ts";
import { AppError, describeFailure, NoteNotFound } from "@/lib/errors.ts";
import type { Clock, Logger, Slicer } from "@/lib/seams.ts";
import { hashBytes } from "@/lib/vault/etag.ts";
import { classifyNote } from "@/lib/vault/kinds.ts";
import {
  type FolderStamp,
  looksUnmounted,
  provenAbsent,
  type VaultScan,
} from "@/lib/vault/scan.ts";
import { type NoteBytes, readFile, sameStamp, statFile, type Vault } from "@/lib/vault/vault.ts";
import type { VaultPath } from "@/lib/vault/vault_path.ts";
import type { Embeddings } from "./embeddings.ts";
import type { FileCache } from "./file_cache.ts";
import type { FileRecord, IndexedNote } from "./indexed_note.ts";
import type { KnownFile } from "./known_file.ts";
import { NO_SLOT, type NoteTable } from "./note_table.ts";
import type { NoteDatabase } from "./orama.ts";
import { type PrepareContext, prepareNote } from "./prepare_note.ts";
import { covers, type Look, SeenVault } from "./seen_vault.ts";
import { isUntouched, type KnownFiles, planSync } from "./sync.ts";

export interface NoteSyncOptions {
  readonly vault: Vault;
  readonly table: NoteTable;
  readonly database: NoteDatabase;
  readonly prepare: PrepareContext;
  /** Absent when nothing is embedded. */
  readonly embeddings?: Embeddings | undefined;
  /** Remembers what was found in files, for the next start. */
  readonly files?: (() => FileCache) | undefined;
  /**
   * Called after each change of what the index holds, and of a derived file.
   *
   * @param before What it held of the note until then.
   */
  readonly onChange?: ((path: VaultPath, before?: IndexedNote) => void) | undefined;
  readonly clock: Clock;
  readonly logger: Logger;
}

export interface SyncOutcome {
  readonly added: number;
  readonly changed: number;
  readonly removed: number;
}

/** How one look is to be taken in. */
export interface ApplyOptions {
  readonly slicer: Slicer;
  /** Whether to read every file and index it anew, whatever its stamp and hash say. */
  readonly isFull: boolean;
  /** Waited for before the first change. */
  readonly beforeChanges: () => Promise<void>;
  readonly onProgress: (done: number, total: number) => void;
  readonly isStopped: () => boolean;
}

interface Applied {
  readonly outcome: SyncOutcome;
  /** Notes that cannot be seen, and are not proven to be gone. */
  readonly kept: number;
}

/** What the reading of one file has to know of the run it belongs to. */
interface Run extends ApplyOptions {
  /** With the folders of the whole vault. */
  readonly scan: VaultScan;
  readonly outcome: { added: number; changed: number; removed: number };
  /** Known files that the scan did not meet, without those that were dropped by now. */
  readonly missing: Set<VaultPath>;
}

interface Failure {
  readonly diagnostic: Diagnostic;
  /** Absent when the file could not be read: it is tried again each time. */
  readonly file: FileRecord | undefined;
}

export class NoteSync {
  readonly #options: NoteSyncOptions;
  readonly #failures = new Map<VaultPath, Failure>();
  readonly #seen = new SeenVault();

  constructor(options: NoteSyncOptions) {
    this.#options = options;
  }

  /** The folders of the vault as they were seen last. */
  get folders(): ReadonlyMap<string, FolderStamp> {
    return this.#seen.folders;
  }

  /** Files that are never read, in no order. */
  get derivedPaths(): readonly VaultPath[] {
    return this.#seen.derived;
  }

  /** Files that were left out, wholly or in part, with the reason. */
  diagnostics(): Diagnostic[] {
    const failures = [...this.#failures.values()].map((failure) => failure.diagnostic);
    return [...this.#seen.skipped, ...failures];
  }

  /** Files that could not be read when that was last tried. */
  unreadable(): VaultPath[] {
    return [...this.#failures].filter(([, { file }]) => !file).map(([path]) => path);
  }

  /** Tells whether files still look as they did, of those notes that are still indexed. */
  areAsIndexed(notes: readonly IndexedNote[]): boolean {
    const { table, vault } = this.#options;
    return notes.every(({ path, etag }) => {
      const file = table.fileOf(path);
      if (file === undefined || table.find(path)?.etag !== etag) return true;
      // What it held before is shown on purpose.
      if (this.#failures.has(path)) return true;
      // Below a folder that is a link now may lie the very same file.
      const found = statFile(vault, path);
      return found.state === "file" && sameStamp(file.stamp, found.stamp);
    });
  }

  /** Takes in a look at the vault. */
  async apply(look: Look, options: ApplyOptions): Promise<Applied> {
    const { slicer, isFull } = options;
    const { files } = look.scan;
    const known: KnownFiles = isFull
      ? { ...this.#known(), fileOf: () => undefined }
      : this.#known();
    const places = look.places ?? new Set();
    const part = look.places &&
      { places, wasFolder: (place: string) => this.#seen.folders.has(place) };
    const plan = await slicer.run(planSync(files, known, part));
    const scan = { ...look.scan, folders: this.#seen.foldersAfter(look) };
    const outcome = { added: 0, changed: 0, removed: 0 };
    const run: Run = { ...options, scan, outcome, missing: new Set(plan.missing) };
    const isQuiet = plan.toRead.length === 0 && plan.missing.length === 0;
    if (!isQuiet || this.#hasLateVectors()) await options.beforeChanges();
    await this.#takeLateVectors(slicer);
    const derived = await this.#readAll(plan.toRead, run);
    if (options.isStopped()) return { outcome, kept: 0 };
    const kept = await this.#dropMissing(run);
    for (const path of this.#failures.keys()) {
      const isLookedAt = !look.places || covers(places, path);
      if (isLookedAt && !files.has(path)) this.#failures.delete(path);
    }
    for (const path of this.#seen.take(look, derived)) this.#options.onChange?.(path);
    return { outcome, kept };
  }

  /**
   * Returns the notes of which the index does not hold what lies on the disk, among those that an
   * older look gives reason to ask about.
   */
  async findStale(scan: VaultScan, slicer: Slicer): Promise<VaultPath[]> {
    const { toRead, missing } = await slicer.run(planSync(scan.files, this.#known()));
    const stale: VaultPath[] = [];
    for (const path of [...toRead, ...missing]) {
      if (this.#mayRead(path) && await this.#isStale(path, slicer)) stale.push(path);
      await slicer.pause();
    }
    return stale;
  }

  async #isStale(path: VaultPath, slicer: Slicer): Promise<boolean> {
    const { clock, table, vault } = this.#options;
    const failure = this.#failures.get(path);
    // Not for the index to say.
    if (failure) return false;
    const found = statFile(vault, path);
    const note = table.find(path);
    if (found.state === "unreadable") return false;
    if (found.state !== "file") return note !== undefined;
    if (isUntouched(found.stamp, table.fileOf(path))) return false;
    const hashedAtMs = clock.nowMs();
    try {
      const { bytes, stamp } = readFile(vault, path);
      const isSame = note !== undefined && await slicer.run(hashBytes(bytes)) === note.etag;
      if (isSame) this.#touch(path, { etag: note.etag, file: { stamp, hashedAtMs } });
      return !isSame;
    } catch {
      // It is on the move, and will be heard of.
      return false;
    }
  }

  #known(): KnownFiles {
    const { table } = this.#options;
    return {
      paths: () => table.paths(),
      has: (path) => table.find(path) !== undefined,
      fileOf: (path) => {
        const failure = this.#failures.get(path);
        return failure ? failure.file : table.fileOf(path);
      },
    };
  }

  /** Returns the files that are derived, which are never read. */
  async #readAll(toRead: readonly VaultPath[], run: Run): Promise<VaultPath[]> {
    const derived: VaultPath[] = [];
    for (const [done, path] of toRead.entries()) {
      if (run.isStopped()) break;
      run.onProgress(done, toRead.length);
      if (this.#mayRead(path)) await this.#read(path, run);
      else derived.push(path);
      await run.slicer.pause();
    }
    return derived;
  }

  #hasLateVectors(): boolean {
    return this.#options.embeddings?.hasLate === true;
  }

  /** Only here, where nothing else changes the index. */
  async #takeLateVectors(slicer: Slicer): Promise<void> {
    const { database, embeddings, table } = this.#options;
    for (const late of embeddings?.late ?? []) {
      const { path, etag, vectors } = late;
      const note = table.find(path);
      if (note?.etag === etag) {
        await slicer.run(database.addVectors(path, vectors));
        this.#options.onChange?.(path, note);
      }
      embeddings?.tookLate(late);
    }
  }

  /** Derived files are never read. */
  #mayRead(path: VaultPath): boolean {
    return classifyNote(this.#options.prepare.layout, path, {}) !== "derived";
  }

  async #read(path: VaultPath, run: Run): Promise<void> {
    const { clock, table, vault } = this.#options;
    const hashedAtMs = clock.nowMs();
    let file: NoteBytes;
    try {
      file = readFile(vault, path);
    } catch (error) {
      this.#noteUnreadable(path, error);
      return;
    }
    const record: FileRecord = { stamp: file.stamp, hashedAtMs };
    const etag = await run.slicer.run(hashBytes(file.bytes));
    const known = table.find(path);
    if (known?.etag === etag && !run.isFull) {
      this.#touch(path, { etag, file: record });
      this.#failures.delete(path);
    } else await this.#index(path, { ...file, etag, record, run });
  }

  #touch(path: VaultPath, known: KnownFile): void {
    this.#options.table.touch(path, known.file);
    this.#options.files?.().touch(path, known);
  }

  async #index(
    path: VaultPath,
    file: NoteBytes & { etag: string; record: FileRecord; run: Run },
  ): Promise<void> {
    const { database, embeddings, prepare, table } = this.#options;
    const { slicer, outcome } = file.run;
    try {
      const { note, terms, texts } = await slicer.run(prepareNote(prepare, path, file));
      // What is not embedded any more must not be waited for.
      if (!texts) embeddings?.forget(path);
      const vectors = texts && await embeddings?.vectorsOf(note, texts, slicer);
      const slot = terms ? await slicer.run(database.stage(terms, vectors)) : NO_SLOT;
      const before = table.find(path);
      if (before === undefined) outcome.added++;
      else if (before.etag !== note.etag) outcome.changed++;
      this.#dropMoved(note, file.run);
      table.put(note, file.record, slot);
      this.#options.files?.().put(note, file.record);
      this.#options.onChange?.(path, before);
      this.#failures.delete(path);
    } catch (error) {
      // One note that cannot be digested must not keep the others out.
      prepare.counter.reset();
      embeddings?.forget(path);
      this.#options.logger.error("note-not-indexed", { cause: describeFailure(error).cause });
      this.#failures.set(path, { diagnostic: notIndexed(path), file: file.record });
    }
  }

  #noteUnreadable(path: VaultPath, error: unknown): void {
    // Gone since the scan: the next one will not meet it.
    if (error instanceof NoteNotFound) return;
    const why = error instanceof AppError ? error.message : describeFailure(error).cause;
    const kept = this.#options.table.find(path) ? "; what was read before is still found" : "";
    const message = `The file cannot be read: ${why}${kept}. Check who may read it`;
    this.#failures.set(path, {
      diagnostic: { path, reason: "unreadable", message },
      file: undefined,
    });
  }

  /** A memory that moved is found at its new place at once: its old one would dispute its id. */
  #dropMoved(note: IndexedNote, run: Run): void {
    if (note.kind !== "memory" || run.missing.size === 0) return;
    for (const path of this.#options.table.pathsOf(note.id)) {
      if (run.missing.has(path) && this.#dropIfGone(path, run)) run.missing.delete(path);
    }
  }

  #dropIfGone(path: VaultPath, { outcome, scan }: Run): boolean {
    const { embeddings, files, table, vault } = this.#options;
    if (looksUnmounted(this.#seen.folders, scan.folders, path)) return false;
    if (!provenAbsent(vault, path, scan)) return false;
    const before = table.find(path);
    table.remove(path);
    embeddings?.forget(path);
    files?.().remove(path);
    this.#options.onChange?.(path, before);
    outcome.removed++;
    return true;
  }

  async #dropMissing(run: Run): Promise<number> {
    let kept = 0;
    for (const path of run.missing) {
      if (run.isStopped()) break;
      if (!this.#dropIfGone(path, run)) kept++;
      await run.slicer.pause();
    }
    return kept;
  }
}

function notIndexed(path: VaultPath): Diagnostic {
  return {
    path,
    reason: "not-indexed",
    message:
      "The server failed over this note; its log has the cause. What it held before is still found, " +
      "other notes are not affected",
  };
}
