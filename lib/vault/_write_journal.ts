/**
 * The journal of writes: a file for each write under way, in the state directory, which says all
 * that is needed to finish it. It comes into place in one step and goes when the write is done, so
 * that what lies there while nobody writes was cut off. Holds the text of notes, so that it is for
 * this person alone.
 */
import { dirname, join } from "node:path";
import { AppError, describeFailure } from "@/lib/errors.ts";
import { OWN_FILE_MODE, OWN_FOLDER_MODE } from "@/lib/own_files.ts";
import { type Clock, type Logger, type NewId, Slicer } from "@/lib/seams.ts";
import { shortHash } from "@/lib/short_hash.ts";
import { writeAll } from "@/lib/write_all.ts";
import { listNames } from "./_list_names.ts";
import { syncFolder } from "./_new_file.ts";
import { formatRecord, type ReadRecord, readRecord, type WriteRecord } from "./_write_record.ts";
import { isAbsence, reasonOf } from "./vault.ts";

const RECORD = /\.json$/;
const HASH_CHARS = 16;

export interface WriteJournalOptions {
  /** Absolute; made with the first record. Several vaults may share it. */
  readonly folder: string;
  /** Real path of the vault: records of others are not touched. */
  readonly root: string;
  readonly clock: Clock;
  readonly newId: NewId;
  readonly logger: Logger;
}

/** Records of writes; for who holds the lock of the vault. */
export class WriteJournal {
  readonly #options: WriteJournalOptions;
  /** Of records that have no name yet; tells those of this vault. */
  readonly #tempEnd: string;

  constructor(options: WriteJournalOptions) {
    this.#options = options;
    this.#tempEnd = `.${shortHash(options.root, HASH_CHARS)}.tmp`;
  }

  /** Tells, without the lock, that there is nothing to finish. */
  isEmpty(): boolean {
    return !listNames(this.#options.folder).some((name) => this.#isOwnKind(name));
  }

  /**
   * Puts a record down on the disk.
   *
   * @returns Its path, for `remove()`.
   * @throws {AppError} `unavailable` if the state directory cannot be written; no record is there
   * then.
   */
  async add(record: WriteRecord): Promise<string> {
    const { folder, newId } = this.#options;
    const id = newId();
    const temp = join(folder, id + this.#tempEnd);
    const path = join(folder, `${id}.json`);
    try {
      await ensureOwnFolder(folder);
      await this.#writeTemp(temp, record);
      await Deno.rename(temp, path);
      await syncFolder(folder);
      return path;
    } catch (cause) {
      await removeQuietly(temp);
      await removeQuietly(path);
      throw notWritable(cause);
    }
  }

  /** Removes a record of what is done; one that stays is gone through again by the next start. */
  async remove(path: string): Promise<void> {
    try {
      await Deno.remove(path);
      await syncFolder(this.#options.folder);
    } catch (error) {
      if (isAbsence(error)) return;
      this.#options.logger.error("write-record-not-removed", {
        cause: describeFailure(error).cause,
      });
    }
  }

  /** Lists what may be records, the oldest first, and clears up what never became one. */
  async list(): Promise<string[]> {
    const { folder } = this.#options;
    const names = listNames(folder);
    for (const name of names) {
      if (name.endsWith(this.#tempEnd)) await removeQuietly(join(folder, name));
    }
    const records: { path: string; timeMs: number }[] = [];
    for (const name of names.filter((name) => RECORD.test(name)).sort()) {
      const path = join(folder, name);
      const { mtime } = await Deno.lstat(path);
      records.push({ path, timeMs: mtime?.getTime() ?? 0 });
    }
    return records.sort((a, b) => a.timeMs - b.timeMs).map(({ path }) => path);
  }

  /**
   * Reads a record. One that is damaged is renamed to `….bad`, for a person to look at.
   *
   * @returns `undefined` if it is damaged, or not of this vault.
   * @throws What the system says if it cannot be read.
   */
  async read(path: string): Promise<WriteRecord | undefined> {
    const read = await this.#read(path);
    if (read.kind === "own") return read.record;
    if (read.kind === "damaged") {
      await Deno.rename(path, `${path}.bad`);
      this.#options.logger.error("write-record-damaged", { file: `${path}.bad` });
    }
    return undefined;
  }

  async #read(path: string): Promise<ReadRecord> {
    const { root, clock } = this.#options;
    using file = await Deno.open(path, { read: true });
    return await readRecord(file, { root, slicer: new Slicer(clock) });
  }

  #isOwnKind(name: string): boolean {
    return RECORD.test(name) || name.endsWith(this.#tempEnd);
  }

  async #writeTemp(temp: string, record: WriteRecord): Promise<void> {
    using file = await Deno.open(temp, { write: true, createNew: true, mode: OWN_FILE_MODE });
    const encoder = new TextEncoder();
    for (const part of formatRecord(this.#options.root, record)) {
      await writeAll(file, encoder.encode(part));
    }
    await file.sync();
  }
}

async function ensureOwnFolder(folder: string): Promise<void> {
  const isThere = await Deno.lstat(folder).then(() => true, () => false);
  await Deno.mkdir(folder, { recursive: true, mode: OWN_FOLDER_MODE });
  if (!isThere) await syncFolder(dirname(folder));
}

async function removeQuietly(path: string): Promise<void> {
  try {
    await Deno.remove(path);
  } catch {
    // It was never there, or the next start clears it up.
  }
}

function notWritable(cause: unknown): AppError {
  return new AppError(
    "unavailable",
    `Cannot write several files at once now: the state directory cannot be written (${
      reasonOf(cause)
    }). Free space on its disk or mend its permissions, or start the server with another --state`,
    { cause },
  );
}
