/**
 * Keeps a snapshot of the index up to date: written some seconds after the last change, and at the
 * end. A start takes the index from it and parses nothing that has not changed since.
 */
import { describeFailure } from "@/lib/errors.ts";
import { type Clock, type Logger, Slicer } from "@/lib/seams.ts";
import type { VaultPath } from "@/lib/vault/vault_path.ts";
import type { FileRecord, IndexedNote } from "./indexed_note.ts";
import type { KnownFile } from "./known_file.ts";
import { NO_SLOT, type NoteTable } from "./note_table.ts";
import { NoteVectors } from "./note_vectors.ts";
import type { NoteDatabase } from "./orama.ts";
import { Postings } from "./postings.ts";
import { freezeNotes, restoreNotes, type SavedNote } from "./saved_notes.ts";
import { readSnapshot, writeSnapshot } from "./snapshot_file.ts";
import { frozenTogether, type SnapshotReader } from "./_snapshot_stream.ts";

/** So long after the last change it is written. */
const QUIET_MS = 4_000;
/** While there is always another change, it is written so long after the first. */
const MAX_DELAY_MS = 60_000;
/** Of the time that a write takes: so long nothing is written after it, to spare the disk. */
const REST_FACTOR = 25;
/** A file of which nothing is known but that it was there: no stamp equals this one. */
const UNKNOWN_FILE: FileRecord = {
  stamp: { size: -1, mtimeMs: 0, ctimeMs: 0, ino: 0, dev: 0 },
  hashedAtMs: 0,
};

export interface SnapshotPlace {
  /** The state directory. */
  readonly folder: string;
  /** Names the versions of all that decides what the index holds. */
  readonly key: string;
}

export interface IndexSnapshotOptions extends SnapshotPlace {
  readonly table: NoteTable;
  readonly database: NoteDatabase;
  readonly postings: Postings;
  readonly vectors: NoteVectors | undefined;
  /** Told of each note that came back without its vectors. */
  readonly onMissingVectors: (note: IndexedNote) => void;
  readonly clock: Clock;
  readonly logger: Logger;
}

interface Restored {
  readonly notes: readonly SavedNote[];
  readonly postings: Postings;
  readonly vectors: NoteVectors | undefined;
}

export class IndexSnapshot {
  readonly #options: IndexSnapshotOptions;
  readonly #giveUp = new AbortController();
  #writing: Promise<void> | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;
  /** When the first change that no snapshot has came; `undefined` = there is none. */
  #changedFirstMs: number | undefined;
  #changedLastMs = 0;
  #restUntilMs = 0;
  #isClosed = false;

  constructor(options: IndexSnapshotOptions) {
    this.#options = options;
  }

  /**
   * Fills the index, which must be empty, in small steps; without a snapshot it stays empty.
   *
   * @param files What was remembered of the files; without an entry a file is read and compared.
   */
  async restore(files: ReadonlyMap<VaultPath, KnownFile>): Promise<void> {
    const { clock, folder, key, logger } = this.#options;
    const { signal } = this.#giveUp;
    const options = { folder, key, clock, logger, signal };
    const restored = await this.#unlessStopped(
      readSnapshot(options, (reader) => this.#read(reader)),
    );
    if (!restored) return;
    this.#options.postings.takeOver(restored.postings);
    if (restored.vectors) this.#options.vectors?.takeOver(restored.vectors);
    const slicer = new Slicer(clock);
    await slicer.run(this.#fill(restored.notes, files));
  }

  /** Gives up reading the snapshot, and writes none by itself any more. */
  stop(): void {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    this.#giveUp.abort();
  }

  /** Takes note that the index holds what the last snapshot does not. */
  noteChange(): void {
    const nowMs = this.#options.clock.monotonicMs();
    this.#changedFirstMs ??= nowMs;
    this.#changedLastMs = nowMs;
    this.#schedule();
  }

  /** Writes what was changed, and returns when nothing is written any more. */
  async close(): Promise<void> {
    this.stop();
    await this.#writing;
    if (this.#changedFirstMs !== undefined) await this.#write();
  }

  async #unlessStopped<T>(work: Promise<T>): Promise<T | undefined> {
    try {
      return await work;
    } catch (error) {
      if (this.#giveUp.signal.aborted) return undefined;
      throw error;
    }
  }

  async #read(reader: SnapshotReader): Promise<Restored> {
    const notes = await restoreNotes(reader);
    const postings = await Postings.restore(reader);
    const { vectors } = this.#options;
    const restored = vectors && await NoteVectors.restore(reader, vectors.dimensions);
    const slots = new Set(notes.flatMap(({ slot }) => slot ?? []));
    if (slots.size !== postings.noteCount) throw new Error("Notes and terms do not fit together");
    return { notes, postings, vectors: restored };
  }

  *#fill(
    notes: readonly SavedNote[],
    files: ReadonlyMap<VaultPath, KnownFile>,
  ): Generator<void> {
    const { onMissingVectors, table, vectors } = this.#options;
    for (const { note, slot } of notes) {
      const known = files.get(note.path);
      const file = known?.etag === note.etag ? known.file : UNKNOWN_FILE;
      table.put(note, file, slot ?? NO_SLOT);
      if (vectors && slot !== undefined && !vectors.has(slot)) onMissingVectors(note);
      yield;
    }
  }

  #schedule(): void {
    if (this.#timer !== undefined || this.#writing || this.#isClosed) return;
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      if (this.#dueInMs() > 0) this.#schedule();
      else this.#writing = this.#write().finally(() => this.#afterWrite());
    }, this.#dueInMs());
    Deno.unrefTimer(this.#timer);
  }

  #dueInMs(): number {
    const latestMs = (this.#changedFirstMs ?? 0) + MAX_DELAY_MS;
    const dueMs = Math.max(Math.min(this.#changedLastMs + QUIET_MS, latestMs), this.#restUntilMs);
    return Math.max(0, dueMs - this.#options.clock.monotonicMs());
  }

  #afterWrite(): void {
    this.#writing = undefined;
    if (this.#changedFirstMs !== undefined) this.#schedule();
  }

  async #write(): Promise<void> {
    const { clock, folder, key, logger, postings, vectors } = this.#options;
    const startMs = clock.monotonicMs();
    this.#changedFirstMs = undefined;
    // All in one step, between two changes.
    const notes = freezeNotes(this.#notes());
    const parts = [notes, postings.freeze(), ...(vectors ? [vectors.freeze()] : [])];
    try {
      await writeSnapshot({ folder, key, clock }, (writer) => frozenTogether(parts).save(writer));
    } catch (error) {
      // A start without it takes longer, that is all.
      logger.warn("snapshot-not-written", { cause: describeFailure(error).cause });
      this.#changedFirstMs ??= startMs;
      this.#restUntilMs = clock.monotonicMs() + MAX_DELAY_MS;
      return;
    }
    const endMs = clock.monotonicMs();
    this.#restUntilMs = endMs + REST_FACTOR * (endMs - startMs);
  }

  #notes(): SavedNote[] {
    const { database, table } = this.#options;
    return table.notes().map((note) => ({ note, slot: database.slotOf(note.path) }));
  }
}
