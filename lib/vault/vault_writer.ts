/**
 * The only way into the vault. A write says what it expects to find, and a file is its old or its
 * new bytes at any moment, whatever crashes: new content is written beside it and put in its place
 * in one step. Our own processes take turns; editors and sync tools know nothing of that, so what
 * was replaced is kept until it has been seen that it was what the write expected, and becomes a
 * conflict copy otherwise.
 *
 * One gap is left that no system call of ours can close: a program that puts another file in the
 * note's place between two calls in a row (microseconds) loses it.
 */
import {
  AppError,
  describeFailure,
  EditConflict,
  PathEscapesVault,
  PayloadTooLarge,
} from "@/lib/errors.ts";
import { type Clock, type Logger, type NewId, Semaphore, Slicer } from "@/lib/seams.ts";
import { hashBytes } from "./etag.ts";
import { keptName, litterPathOf, tempName } from "./_litter.ts";
import { ensureFolder, requireNoTwin, WrongPlace } from "./_make_folder.ts";
import { type FileRights, removeIfThere, rightsOf, syncFolder, writeNewFile } from "./_new_file.ts";
import { linkNew, replaceFile } from "./_replace_file.ts";
import { saveConflictCopy } from "./_conflict_copy.ts";
import { WriteLock } from "./_write_lock.ts";
import { sweepVault } from "./_sweep.ts";
import {
  diskPathOf,
  type FileStamp,
  isAbsence,
  isSameFile,
  MAX_NOTE_BYTES,
  readFile,
  reasonOf,
  stampAt,
  statFile,
  type Vault,
} from "./vault.ts";
import { baseName, type FolderPath, isMarkdown, parentOf, type VaultPath } from "./vault_path.ts";

/** Of a file that must not be there yet. */
export const ABSENT = "absent";

export interface Change {
  readonly path: VaultPath;
  readonly bytes: Uint8Array;
  /** `ABSENT`, or the etag (SHA-256 in hex) of what the file has to hold. */
  readonly expected: string;
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
}

/** A change whose content is on the disk, under another name. */
interface Draft {
  readonly change: Change;
  readonly etag: string;
  /** Absent if the file holds it already. */
  readonly temp?: string;
  /** Which file that is, whatever its name by then. */
  readonly stamp?: FileStamp | undefined;
}

export class VaultWriter {
  readonly #options: VaultWriterOptions;
  readonly #turn = new Semaphore(1);
  readonly #edits = new Semaphore(1);
  readonly #lock: WriteLock;

  constructor(options: VaultWriterOptions) {
    this.#options = options;
    this.#lock = new WriteLock(options.vault);
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
   * Writes one file; see `writeAll()`.
   *
   * @throws {EditConflict} If the file is not what the change expects: nothing was written.
   */
  async write(change: Change): Promise<Written> {
    const [written] = await this.writeAll([change]);
    if (!written) throw new TypeError("A write has no outcome");
    return written;
  }

  /**
   * Writes some files, all of them or, if one is not what its change expects, none; folders are
   * made. Content that a file holds already is not written again.
   *
   * @param guard Runs while nobody else writes, before anything is looked at; what it throws ends
   * the write.
   * @throws {EditConflict} If a file is not what its change expects.
   * @throws {PathEscapesVault} If a path is excluded, no Markdown file, or leads over a link.
   * @throws {PayloadTooLarge} If a content is over the size that notes may have.
   * @throws {AppError} `not-writable` if a file is no UTF-8 text or read-only, `unavailable` if the
   * system refuses or another process holds the lock too long.
   */
  async writeAll(
    changes: readonly Change[],
    guard: () => Promise<void> = nothing,
  ): Promise<Written[]> {
    for (const change of changes) requireWritable(this.#options.vault, change);
    return await this.#locked(async () => {
      const drafts: Draft[] = [];
      try {
        await guard();
        for (const change of changes) await this.#check(change);
        for (const change of changes) drafts.push(await this.#draft(change));
        return await this.#publishAll(drafts);
      } catch (error) {
        throw toWriteError(error);
      } finally {
        for (const { temp } of drafts) if (temp) removeIfThere(temp);
      }
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

  /** Finds out whether a change may be made, before anything is written. */
  async #check({ path, expected, bytes }: Change): Promise<void> {
    if (expected === ABSENT) return this.#requireFree(path);
    const { vault, clock } = this.#options;
    const found = statFile(vault, path);
    if (found.state === "absent") throw new EditConflict(`Cannot save "${path}": it is not there`);
    const { bytes: now } = readFile(vault, path);
    const etag = await new Slicer(clock).run(hashBytes(now));
    if (etag !== expected) throw changed(path, etag);
    if (isSame(now, bytes)) return;
    requireText(path, now);
    requireMayWrite(vault, path);
  }

  #requireFree(path: VaultPath): void {
    const { vault } = this.#options;
    const { state } = statFile(vault, path);
    if (state !== "absent") throw new EditConflict(`Cannot create "${path}": it is there already`);
    try {
      requireNoTwin(vault, path, "file");
    } catch (error) {
      // Its folder is not there yet.
      if (!(error instanceof Deno.errors.NotFound)) throw error;
    }
  }

  async #draft(change: Change): Promise<Draft> {
    const { vault, clock, newId } = this.#options;
    const { path, bytes, expected } = change;
    const etag = await new Slicer(clock).run(hashBytes(bytes));
    if (etag === expected) return { change, etag };
    const folder = parentOf(path);
    const isNew = expected === ABSENT;
    if (isNew) ensureFolder(vault, folder);
    const rights = isNew ? undefined : requireRights(vault, path);
    const disk = litterPathOf(vault, folder, tempName(newId()));
    try {
      await writeNewFile(disk, { bytes, rights });
      // After it is there: a folder above may have become a link meanwhile.
      if (leadsElsewhere(disk)) throw throughLink(path);
    } catch (error) {
      removeIfThere(disk);
      throw error;
    }
    return { change, etag, temp: disk, stamp: stampAt(disk) };
  }

  async #publishAll(drafts: readonly Draft[]): Promise<Written[]> {
    const written: Written[] = [];
    try {
      for (const draft of drafts) written.push(await this.#publish(draft));
    } catch (error) {
      this.#takeBack(drafts.slice(0, written.length));
      throw error;
    }
    const folders = drafts.filter(({ temp }) => temp).map((it) => parentOf(it.change.path));
    for (const folder of new Set(folders)) await this.#syncFolder(folder);
    return written;
  }

  /** Removes new files again, as long as nobody has put another in their place. */
  #takeBack(drafts: readonly Draft[]): void {
    for (const { change, stamp } of drafts) {
      if (stamp === undefined || change.expected !== ABSENT) continue;
      const disk = diskPathOf(this.#options.vault, change.path);
      const now = stampAt(disk);
      if (now !== undefined && isSameFile(now, stamp)) removeIfThere(disk);
    }
  }

  /** What is written is there; whether it outlasts a loss of power is not for the caller to mend. */
  async #syncFolder(folder: FolderPath): Promise<void> {
    try {
      await syncFolder(diskPathOf(this.#options.vault, folder));
    } catch (error) {
      this.#options.logger.warn("folder-not-synced", { cause: describeFailure(error).cause });
    }
  }

  async #publish({ change, etag, temp }: Draft): Promise<Written> {
    const { path, expected } = change;
    if (temp === undefined) return { path, etag };
    const { vault, newId } = this.#options;
    const disk = diskPathOf(vault, path);
    if (expected === ABSENT) {
      linkNew(temp, disk);
      return { path, etag };
    }
    const name = keptName(newId(), expected, baseName(path));
    const kept = litterPathOf(vault, parentOf(path), name);
    if (replaceFile({ temp, disk, kept }) === "another") throw changed(path);
    return { path, etag, ...await this.#settleKept(kept, change) };
  }

  /**
   * Looks at what was replaced, now that nobody finds it under its name any more. The note is
   * written, whatever becomes of this: what stays is looked at by the next start.
   */
  async #settleKept(
    kept: string,
    { path, expected }: Change,
  ): Promise<Pick<Written, "conflictCopy">> {
    const { vault, clock, logger } = this.#options;
    try {
      if (await new Slicer(clock).run(hashBytes(readKept(kept))) === expected) {
        removeIfThere(kept);
        return {};
      }
      const conflictCopy = saveConflictCopy(vault, { kept, path, nowMs: clock.nowMs() });
      logger.warn("conflict-copy-saved");
      return { conflictCopy };
    } catch (error) {
      logger.error("replaced-not-looked-at", { cause: describeFailure(error).cause });
      return {};
    }
  }
}

async function nothing(): Promise<void> {}

/** At once, as a small file takes less time than a turn of the event loop; notes are bounded. */
function readKept(kept: string): Uint8Array {
  return Deno.readFileSync(kept);
}

function requireWritable({ exclusions }: Vault, { path, bytes }: Change): void {
  if (exclusions.excludes(path)) throw neverTouched(path);
  if (!isMarkdown(path)) {
    throw new PathEscapesVault(`Cannot write "${path}": only Markdown files are written`);
  }
  if (bytes.length > MAX_NOTE_BYTES) {
    throw new PayloadTooLarge(`Cannot save "${path}": it may have ${MAX_NOTE_BYTES} bytes at most`);
  }
}

function neverTouched(path: VaultPath): PathEscapesVault {
  return new PathEscapesVault(`Cannot write "${path}": that place is never touched`);
}

function throughLink(path: VaultPath): PathEscapesVault {
  return new PathEscapesVault(`Cannot write "${path}": links are never followed`);
}

function changed(path: VaultPath, etag?: string): EditConflict {
  const now = etag === undefined ? "" : `: its etag is "${etag}" now`;
  return new EditConflict(
    `Cannot save "${path}" as it changed since it was read${now}. Open it again and repeat the edit`,
  );
}

/** What is no text would not come back from a change of its text. */
function requireText(path: VaultPath, bytes: Uint8Array): void {
  try {
    new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch (cause) {
    throw new AppError(
      "not-writable",
      `Cannot save "${path}": it holds bytes that are not UTF-8, which would be lost. Save it as ` +
        "UTF-8 first",
      { cause },
    );
  }
}

function leadsElsewhere(disk: string): boolean {
  return Deno.realPathSync(disk) !== disk;
}

/** @throws {EditConflict} If the file has gone since it was looked at. */
function requireRights(vault: Vault, path: VaultPath): FileRights | undefined {
  try {
    return rightsOf(diskPathOf(vault, path));
  } catch (error) {
    throw isAbsence(error) ? changed(path) : error;
  }
}

function mayOpen(disk: string): boolean {
  try {
    // Changes nothing, not even its times.
    Deno.openSync(disk, { write: true }).close();
    return true;
  } catch (error) {
    if (error instanceof Deno.errors.PermissionDenied) return false;
    throw error;
  }
}

/** A rename would replace a file that its owner made read-only. */
function requireMayWrite(vault: Vault, path: VaultPath): void {
  const rights = requireRights(vault, path);
  const isReadOnly = rights !== undefined && (rights.mode & 0o200) === 0;
  if (!isReadOnly && mayOpen(diskPathOf(vault, path))) return;
  throw new AppError("not-writable", `Cannot save "${path}": the file is read-only`);
}

function isSame(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && a.every((byte, index) => byte === b[index]);
}

function toWriteError(error: unknown): unknown {
  if (error instanceof AppError) return error;
  if (error instanceof WrongPlace) {
    return new EditConflict(`Cannot write "${error.path}": ${error.message}`);
  }
  if (!(error instanceof Error) || !("code" in error)) return error;
  return new AppError("unavailable", `The vault cannot be written now: ${reasonOf(error)}`, {
    cause: error,
  });
}
