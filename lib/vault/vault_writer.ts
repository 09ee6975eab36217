/**
 * The only way into the vault. A write says what it expects to find, and a file is its old or its
 * new bytes at any moment, whatever crashes: new content is written beside it and put in its place
 * in one step. Our own processes take turns; editors and sync tools know nothing of that, so what
 * was replaced is kept until it has been seen that it was what the write expected, and becomes a
 * conflict copy otherwise.
 *
 * Several files are written all or none: a record of the write, in the state directory, lets the
 * next start finish what a crash cut off.
 *
 * One gap is left that no system call of ours can close: a program that puts another file in the
 * note's place between two calls in a row (microseconds) loses it.
 */
import { type Clock, type Logger, type NewId, Semaphore } from "@/lib/seams.ts";
import { ensureFolder } from "./_make_folder.ts";
import { recoverWrites } from "./_recover.ts";
import { sweepVault } from "./_sweep.ts";
import { writeTogether } from "./_together.ts";
import { requireApart, requireMovable, requireWritable } from "./_write_checks.ts";
import { neverTouched, toWriteError } from "./_write_errors.ts";
import { WriteJournal } from "./_write_journal.ts";
import { WriteLock } from "./_write_lock.ts";
import type { Vault } from "./vault.ts";
import type { VaultPath } from "./vault_path.ts";

// For those who write changes.
export { ABSENT } from "./etag.ts";

export interface Change {
  readonly path: VaultPath;
  readonly bytes: Uint8Array;
  /** `ABSENT`, or the etag (SHA-256 in hex) of what the file has to hold. */
  readonly expected: string;
}

/** Gives a file another path; its bytes and inode stay. */
export interface Move {
  readonly from: VaultPath;
  readonly to: VaultPath;
  /** Etag of what the file has to hold. */
  readonly expected: string;
}

/** What is done all or none; each file is named once. */
export interface Together {
  readonly changes: readonly Change[];
  readonly moves: readonly Move[];
}

export interface Written {
  readonly path: VaultPath;
  /** Of what the file holds now. */
  readonly etag: string;
  /** Where another program's change went that the write replaced at the last moment. */
  readonly conflictCopy?: VaultPath;
}

export interface VaultWriterOptions {
  readonly vault: Vault;
  readonly clock: Clock;
  readonly newId: NewId;
  readonly logger: Logger;
  /**
   * Where records of writes lie until they are done: absolute, outside the vault. Without it a crash
   * may leave half of several files that are written together.
   */
  readonly journalFolder?: string | undefined;
}

/** What became of a write that a crash had cut off. */
export interface Recovered {
  /** What is as it was to be; of a file that has moved, its new and its old name. */
  readonly paths: readonly VaultPath[];
  /** Where new content lies of files that somebody has changed since. */
  readonly conflictCopies: readonly VaultPath[];
  /** What could not be done, as the system or a link stands in the way; the next start tries again. */
  readonly left: readonly VaultPath[];
}

export class VaultWriter {
  readonly #options: VaultWriterOptions;
  readonly #turn = new Semaphore(1);
  readonly #edits = new Semaphore(1);
  readonly #lock: WriteLock;
  readonly #journal: WriteJournal | undefined;

  constructor(options: VaultWriterOptions) {
    const { vault, clock, newId, logger, journalFolder: folder } = options;
    this.#options = options;
    this.#lock = new WriteLock(vault);
    this.#journal = folder === undefined
      ? undefined
      : new WriteJournal({ folder, root: vault.root, clock, newId, logger });
  }

  /**
   * Runs work that reads a file and writes it back, one piece after another, so that what is done
   * here does not meet itself.
   *
   * @throws The signal's reason if it aborts before the work begins.
   */
  inTurn<T>(work: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    return this.#edits.run(work, signal);
  }

  /**
   * Writes one file; see `writeTogether()`. A single step needs no record.
   *
   * @throws {EditConflict} If the file is not what the change expects: nothing was written.
   */
  async write(change: Change, guard?: () => Promise<void>): Promise<Written> {
    const [written] = await this.writeTogether({ changes: [change], moves: [] }, guard);
    if (!written) throw new TypeError("A write has no outcome");
    return written;
  }

  /**
   * Changes and moves several files, all of them or none, across a crash too: what was cut off once
   * it was decided is finished by `recover()`. Folders are made, content that a file holds already is
   * not written again, and a file that moves keeps its inode and its rights.
   *
   * Who only looks may see some of the files changed and others not yet, for a moment.
   *
   * @param guard Runs while nobody else writes, before anything is looked at; what it throws ends
   * the write.
   * @returns What was written of each change, then of each move, under its new path.
   * @throws {EditConflict} If a file is not what is expected, or the new place of one is taken.
   * @throws {PathEscapesVault} If a path is excluded, no Markdown file, or leads over a link.
   * @throws {PayloadTooLarge} If a content is over the size that notes may have.
   * @throws {AppError} `not-writable` if a file that changes is no UTF-8 text or read-only,
   * `unavailable` if the system refuses, the state directory cannot be written, or another process
   * holds the lock too long.
   * @throws {TypeError} If a file is named twice.
   */
  async writeTogether(together: Together, guard?: () => Promise<void>): Promise<Written[]> {
    const { vault } = this.#options;
    for (const change of together.changes) requireWritable(vault, change);
    for (const move of together.moves) requireMovable(vault, move);
    requireApart(together);
    const journal = this.#journal;
    return await this.#locked(() => writeTogether(this.#options, together, { guard, journal }));
  }

  /**
   * Finishes what earlier processes were cut off in, by the records that they left; for the start.
   * What is written meanwhile waits for it. What somebody has changed since then is left alone, and
   * what should have been there is saved beside it as a conflict copy.
   *
   * @returns One for each write that was cut off, the oldest first, if there is anything to tell: a
   * move is given up without a word if somebody has changed the file or taken its new place.
   * @throws {AppError} `unavailable` if another process holds the lock too long.
   */
  async recover(): Promise<Recovered[]> {
    const journal = this.#journal;
    // A record that comes after this look is of a process that lives.
    if (journal === undefined || journal.isEmpty()) return [];
    const recovered = await this.#locked(() => recoverWrites(this.#options, journal));
    this.#tellOf(recovered);
    return recovered;
  }

  #tellOf(recovered: readonly Recovered[]): void {
    if (recovered.length === 0) return;
    const count = (what: keyof Recovered) => recovered.flatMap((each) => each[what]).length;
    this.#options.logger.warn("writes-recovered", {
      writes: recovered.length,
      files: count("paths"),
      conflictCopies: count("conflictCopies"),
      left: count("left"),
    });
  }

  #locked<T>(work: () => Promise<T>): Promise<T> {
    return this.#turn.run(() => this.#lock.run(work));
  }

  /** Makes a folder and those above it, if they are missing; returns what was made. */
  makeFolder(folder: VaultPath): VaultPath[] {
    const { vault } = this.#options;
    if (vault.exclusions.excludesFolder(folder)) throw neverTouched(folder);
    try {
      return ensureFolder(vault, folder);
    } catch (error) {
      throw toWriteError(error);
    }
  }

  /**
   * Clears up what writes left that were cut off: content that never got its name goes, what was
   * replaced comes back as a conflict copy if it is not what the write expected.
   */
  async sweep(): Promise<void> {
    const { vault, clock, logger } = this.#options;
    const swept = await sweepVault(vault, {
      clock,
      locked: (work) => this.#locked(work),
    });
    if (swept.removed + swept.recovered > 0) logger.warn("writes-cleared-up", { ...swept });
  }
}
