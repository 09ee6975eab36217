/**
 * Keeps the table of notes equal to the files. Nothing is taken on trust: a file is read again when
 * its stamp differs or proves nothing, its content counts by hash, and a note is dropped only when
 * the disk itself says that the file is gone.
 */
import type { Diagnostic, Freshness, Indexing } from "@/lib/contracts.ts";
import { AppError, describeFailure, NoteNotFound } from "@/lib/errors.ts";
import { type Clock, type Logger, settleWithin, Slicer } from "@/lib/seams.ts";
import { classifyNote } from "@/lib/vault/kinds.ts";
import {
  type FolderStamp,
  looksUnmounted,
  provenAbsent,
  rememberFolders,
  scanVault,
  type VaultScan,
} from "@/lib/vault/scan.ts";
import { type NoteBytes, readFile, type Vault } from "@/lib/vault/vault.ts";
import type { VaultPath } from "@/lib/vault/vault_path.ts";
import { SingleFlight } from "./_single_flight.ts";
import type { Embeddings } from "./embeddings.ts";
import type { FileRecord, IndexedNote } from "./indexed_note.ts";
import type { NoteTable } from "./note_table.ts";
import type { NoteDatabase } from "./orama.ts";
import { hashBytes, type PrepareContext, prepareNote } from "./prepare_note.ts";
import { mustCompare, planSync } from "./sync.ts";

const NO_SLOT = -1;
/** So long after its begin the first load is waited for: a small vault is read by then. */
const FIRST_LOAD_WAIT_MS = 500;
/** Shorter than other slices: scans run before every search. */
const SCAN_SLICE_MS = 4;

export interface VaultSyncOptions {
  readonly vault: Vault;
  readonly table: NoteTable;
  readonly database: NoteDatabase;
  readonly prepare: PrepareContext;
  /** Absent when nothing is embedded. */
  readonly embeddings?: Embeddings | undefined;
  readonly clock: Clock;
  readonly logger: Logger;
}

export interface SyncOutcome {
  readonly added: number;
  readonly changed: number;
  readonly removed: number;
}

/** What the reading of one file has to know of the run it belongs to. */
interface ReadRun {
  readonly slicer: Slicer;
  readonly isFull: boolean;
  readonly scan: VaultScan;
  /** Known files that the scan did not meet, without those that were dropped by now. */
  readonly missing: Set<VaultPath>;
}

interface Failure {
  readonly diagnostic: Diagnostic;
  /** Absent when the file could not be read: it is tried again each time. */
  readonly file: FileRecord | undefined;
}

/** Compares vault and index, one comparison at a time. */
export class VaultSync {
  readonly #options: VaultSyncOptions;
  readonly #flight = new SingleFlight(() => this.#run());
  readonly #failures = new Map<VaultPath, Failure>();
  #folders: ReadonlyMap<string, FolderStamp> = new Map();
  #skipped: readonly Diagnostic[] = [];
  #derived: readonly VaultPath[] = [];
  #warnings: readonly string[] = [];
  /** When the last comparison that ended began; `undefined` = never. */
  #comparedAtMs: number | undefined;
  /** The same for one that saw the whole vault. */
  #verifiedAtMs: number | undefined;
  /** Progress of a run that searches do not wait for: one that reads every file. */
  #indexing: Indexing | undefined;
  #firstLoad: { readonly run: Promise<SyncOutcome>; readonly startMs: number } | undefined;
  #queuedFullRun: Promise<SyncOutcome> | undefined;
  #isFullRun = false;
  #upkeep: Promise<void> = Promise.resolve();
  #isClosed = false;
  #outcome = { added: 0, changed: 0, removed: 0 };

  constructor(options: VaultSyncOptions) {
    this.#options = options;
  }

  /** Progress of the first load or of a full one; `undefined` when there is none under way. */
  get indexing(): Indexing | undefined {
    return this.#indexing;
  }

  /** What concerns the vault as a whole. */
  get warnings(): readonly string[] {
    return this.#warnings;
  }

  /** Files that were left out, wholly or in part, with the reason. */
  diagnostics(): Diagnostic[] {
    return [...this.#skipped, ...[...this.#failures.values()].map((failure) => failure.diagnostic)];
  }

  /** Files that are never read, in no order. */
  get derivedPaths(): readonly VaultPath[] {
    return this.#derived;
  }

  /**
   * Returns when the index holds every change that was made before the call. It does not wait for a
   * run that reads everything nor, in a large vault, more often than every few seconds, unless
   * `when` is "always": then the answer is not verified, nor is it when a part cannot be seen.
   */
  async refresh(when: "due" | "always" = "due"): Promise<Freshness> {
    const { clock, table } = this.#options;
    const state = {
      notes: table.size,
      comparedAtMs: this.#comparedAtMs,
      nowMs: clock.monotonicMs(),
    };
    await this.#waitForFirstLoad();
    if (this.#indexing || (when === "due" && !mustCompare(state))) return this.#unverified();
    const verifiedAtMs = this.#verifiedAtMs;
    await this.#flight.join();
    return this.#verifiedAtMs === verifiedAtMs ? this.#unverified() : { verified: true, ageMs: 0 };
  }

  /** Reads every file again, whatever its stamp says. Calls that wait share a run. */
  readAll(): Promise<SyncOutcome> {
    const startMs = this.#options.clock.monotonicMs();
    this.#indexing ??= { done: 0, total: 0 };
    const run = this.#queuedFullRun ??= this.#runFull();
    this.#firstLoad ??= { run, startMs };
    return run;
  }

  /** Stops between two notes, and returns when nothing runs any more. */
  async close(): Promise<void> {
    this.#isClosed = true;
    // Who asked for the run is told how it ended.
    await this.#queuedFullRun?.catch(() => undefined);
    await this.#flight.idle();
    await this.#upkeep;
  }

  /** Waits its turn, so that no search which waits for a comparison has to wait for this. */
  async #runFull(): Promise<SyncOutcome> {
    await this.#flight.idle();
    this.#queuedFullRun = undefined;
    this.#isFullRun = true;
    await this.#flight.join();
    return this.#outcome;
  }

  /** An answer from half a vault looks like one that knows nothing. */
  async #waitForFirstLoad(): Promise<void> {
    if (!this.#firstLoad || this.#comparedAtMs !== undefined) return;
    const { run, startMs } = this.#firstLoad;
    const leftMs = startMs + FIRST_LOAD_WAIT_MS - this.#options.clock.monotonicMs();
    if (leftMs > 0) await settleWithin(run, leftMs);
  }

  #unverified(): Freshness {
    const ageMs = this.#verifiedAtMs === undefined
      ? null
      : Math.round(this.#options.clock.monotonicMs() - this.#verifiedAtMs);
    return { verified: false, ageMs };
  }

  async #run(): Promise<void> {
    const isFull = this.#isFullRun;
    this.#isFullRun = false;
    const startMs = this.#options.clock.monotonicMs();
    try {
      await this.#upkeep;
      await this.#compare(startMs, isFull);
    } finally {
      if (isFull && !this.#queuedFullRun) this.#indexing = undefined;
    }
    this.#options.embeddings?.settle();
    this.#upkeep = this.#keepUp();
  }

  async #compare(startMs: number, isFull: boolean): Promise<void> {
    const { clock, vault } = this.#options;
    this.#outcome = { added: 0, changed: 0, removed: 0 };
    if (this.#isClosed) return;
    const scan = await new Slicer(clock, SCAN_SLICE_MS).run(scanVault(vault));
    this.#setWarnings(scan);
    if (scan.rootError === undefined) await this.#apply(scan, isFull);
    if (this.#isClosed) return;
    this.#comparedAtMs = startMs;
    if (this.#warnings.length === 0 && !this.#hasUnreadable()) this.#verifiedAtMs = startMs;
  }

  #hasUnreadable(): boolean {
    for (const { file } of this.#failures.values()) if (!file) return true;
    return false;
  }

  /** Gives back what removed notes took; only the next comparison waits for it. */
  async #keepUp(): Promise<void> {
    const { clock, database, logger } = this.#options;
    if (this.#isClosed || !database.isWasteful) return;
    try {
      await new Slicer(clock).run(database.compact());
    } catch (error) {
      logger.error("compaction-failed", { cause: describeFailure(error).cause });
    }
  }

  async #apply(scan: VaultScan, isFull: boolean): Promise<void> {
    const { clock, table } = this.#options;
    const slicer = new Slicer(clock);
    await this.#takeLateVectors(slicer);
    const plan = await slicer.run(planSync(scan.files, {
      paths: () => table.paths(),
      fileOf: (path) => isFull ? undefined : this.#recordOf(path),
    }));
    const { toRead } = plan;
    const run: ReadRun = { slicer, isFull, scan, missing: new Set(plan.missing) };
    const derived: VaultPath[] = [];
    for (const [done, path] of toRead.entries()) {
      if (this.#isClosed) return;
      if (isFull) this.#indexing = { done, total: toRead.length };
      if (this.#mayRead(path)) await this.#read(path, run);
      else derived.push(path);
      await slicer.pause();
    }
    await this.#dropMissing(run);
    for (const path of this.#failures.keys()) {
      if (!scan.files.has(path)) this.#failures.delete(path);
    }
    this.#folders = rememberFolders(this.#folders, scan);
    this.#skipped = scan.skipped;
    this.#derived = derived;
  }

  /** Only here, where nothing else changes the index. */
  async #takeLateVectors(slicer: Slicer): Promise<void> {
    const { database, embeddings, table } = this.#options;
    for (const { path, etag, vectors } of embeddings?.takeLate() ?? []) {
      if (table.find(path)?.etag === etag) await slicer.run(database.addVectors(path, vectors));
    }
  }

  /** Derived files are never read. */
  #mayRead(path: VaultPath): boolean {
    return classifyNote(this.#options.prepare.layout, path, {}) !== "derived";
  }

  #recordOf(path: VaultPath): FileRecord | undefined {
    const failure = this.#failures.get(path);
    return failure ? failure.file : this.#options.table.fileOf(path);
  }

  async #read(path: VaultPath, run: ReadRun): Promise<void> {
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
      table.touch(path, record);
      this.#failures.delete(path);
    } else await this.#index(path, { ...file, etag, record, run });
  }

  async #index(
    path: VaultPath,
    file: NoteBytes & { etag: string; record: FileRecord; run: ReadRun },
  ): Promise<void> {
    const { database, embeddings, prepare, table } = this.#options;
    const { slicer } = file.run;
    try {
      const { note, terms, texts } = await slicer.run(prepareNote(prepare, path, file));
      // What is not embedded any more must not be waited for.
      if (!texts) embeddings?.forget(path);
      const vectors = texts && await embeddings?.vectorsOf(note, texts, slicer);
      const slot = terms ? await slicer.run(database.stage(terms, vectors)) : NO_SLOT;
      const before = table.find(path);
      if (before === undefined) this.#outcome.added++;
      else if (before.etag !== note.etag) this.#outcome.changed++;
      this.#dropMoved(note, file.run);
      table.put(note, file.record, slot);
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
  #dropMoved(note: IndexedNote, run: ReadRun): void {
    if (note.kind !== "memory" || run.missing.size === 0) return;
    for (const path of this.#options.table.pathsOf(note.id)) {
      if (run.missing.has(path) && this.#dropIfGone(path, run.scan)) run.missing.delete(path);
    }
  }

  #dropIfGone(path: VaultPath, scan: VaultScan): boolean {
    const { embeddings, table, vault } = this.#options;
    if (looksUnmounted(this.#folders, scan.folders, path)) return false;
    if (!provenAbsent(vault, path, scan)) return false;
    table.remove(path);
    embeddings?.forget(path);
    this.#outcome.removed++;
    return true;
  }

  async #dropMissing({ scan, slicer, missing }: ReadRun): Promise<void> {
    let kept = 0;
    for (const path of missing) {
      if (this.#isClosed) return;
      if (!this.#dropIfGone(path, scan)) kept++;
      await slicer.pause();
    }
    if (kept === 0) return;
    this.#warnings = [
      ...this.#warnings,
      `${kept} notes cannot be seen now, but are not known to be deleted, so that they stay in ` +
      "the index. Is a folder unreadable or a disk not mounted?",
    ];
  }

  #setWarnings(scan: VaultScan): void {
    const before = this.#warnings.length;
    const unreadable = scan.unreadableFolders.size;
    this.#warnings = warningsOf(scan);
    if (this.#warnings.length > before) {
      this.#options.logger.warn("vault-not-readable", { folders: unreadable });
    }
  }
}

function warningsOf({ rootError, unreadableFolders }: VaultScan): string[] {
  if (rootError !== undefined) {
    return [
      `The vault cannot be read (${rootError}), so that answers come from what was read before`,
    ];
  }
  return unreadableFolders.size > 0 ? [`${unreadableFolders.size} folders cannot be read`] : [];
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
