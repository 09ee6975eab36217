/** Keeps the file of the cache usable for all who share it, or does without: nothing here throws. */
import { dirname } from "node:path";
import { OWN_FILE_MODE, OWN_FOLDER_MODE } from "@/lib/own_files.ts";
import type { Logger } from "@/lib/seams.ts";
import { OtherVersion } from "./_cache_schema.ts";

const SIDE_FILES = ["", "-wal", "-shm"] as const;

export interface CacheStoreOptions<OpenFile> {
  readonly path: string;
  readonly logger: Logger;
  /** Opens the file, which is there, though maybe empty. */
  readonly open: (path: string) => OpenFile;
}

/** `busy` = another server has it locked; `lost` = it cannot be done, now or later. */
export type Outcome = "done" | "busy" | "lost";

/**
 * Opens the file, and does work on it. A file that fails is put aside and begun anew where that may
 * help, at most once; else there is no file from then on.
 */
export class CacheStore<OpenFile extends { close(): void }> {
  readonly #options: CacheStoreOptions<OpenFile>;
  #file: OpenFile | undefined;
  #wasRenewed = false;

  constructor(options: CacheStoreOptions<OpenFile>) {
    this.#options = options;
    try {
      this.#file = this.#open();
    } catch (error) {
      this.#recover(reasonOf(error));
    }
  }

  /** False if there is no file to work on, and never will be. */
  get isOn(): boolean {
    return this.#file !== undefined;
  }

  /** Returns what the work finds, `undefined` if it cannot be done. */
  find<T>(work: (file: OpenFile) => T): T | undefined {
    let found: T | undefined;
    this.attempt((file) => {
      found = work(file);
    });
    return found;
  }

  attempt(work: (file: OpenFile) => void): Outcome {
    if (!this.#file) return "lost";
    try {
      work(this.#file);
      return "done";
    } catch (error) {
      const reason = reasonOf(error);
      if (reason !== "locked") {
        this.#recover(reason);
        return "lost";
      }
      this.#options.logger.debug("cache-busy");
      return "busy";
    }
  }

  close(): void {
    this.#file?.close();
    this.#file = undefined;
  }

  #open(): OpenFile {
    const { open, path } = this.#options;
    Deno.mkdirSync(dirname(path), { recursive: true, mode: OWN_FOLDER_MODE });
    ensureOwnFile(path);
    return open(path);
  }

  #recover(reason: Reason): void {
    const { logger, path } = this.#options;
    this.close();
    if (!this.#wasRenewed && !MAY_PASS.has(reason)) {
      this.#wasRenewed = true;
      try {
        putAside(path);
        this.#file = this.#open();
        return logger.warn("cache-renewed", { reason });
      } catch {
        // Why it could not be used in the first place says more than why this failed too.
      }
    }
    logger.warn("cache-off", { reason });
  }
}

/**
 * Makes the file, before SQLite would for all to read, or takes it back from others; what SQLite
 * keeps beside it gets the same mode.
 */
function ensureOwnFile(path: string): void {
  const found = lstatIfThere(path);
  if (!found) {
    Deno.openSync(path, { create: true, write: true, mode: OWN_FILE_MODE }).close();
  } else if (!found.isFile) {
    throw new Error("Where the cache should be lies no file");
  } else if (Deno.build.os !== "windows" && ((found.mode ?? 0) & 0o777) !== OWN_FILE_MODE) {
    Deno.chmodSync(path, OWN_FILE_MODE);
  }
}

function lstatIfThere(path: string): Deno.FileInfo | undefined {
  try {
    return Deno.lstatSync(path);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return undefined;
    throw error;
  }
}

/** Renames the file and what SQLite keeps beside it, over what was put aside before. */
function putAside(path: string): void {
  for (const suffix of SIDE_FILES) {
    const target = `${path}.damaged${suffix}`;
    ifThere(() => Deno.removeSync(target, { recursive: true }));
    ifThere(() => Deno.renameSync(path + suffix, target));
  }
}

function ifThere(act: () => void): void {
  try {
    act();
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  }
}

type Reason =
  | "locked"
  | "disk-full"
  | "disk-error"
  | "damaged"
  | "read-only"
  | "other-version"
  | "unusable";

/** The file may be all right, so it is left where it is. */
const MAY_PASS: ReadonlySet<Reason> = new Set<Reason>(["locked", "disk-full", "disk-error"]);

/** Deno gives the words of SQLite, but not its codes. */
const REASONS: readonly (readonly [message: string, reason: Reason])[] = [
  ["database is locked", "locked"],
  ["database or disk is full", "disk-full"],
  ["disk I/O error", "disk-error"],
  ["database disk image is malformed", "damaged"],
  ["file is not a database", "damaged"],
  ["attempt to write a readonly database", "read-only"],
];

/** Returns what may be logged of an error: its own message may hold a path. */
function reasonOf(error: unknown): Reason {
  if (error instanceof OtherVersion) return "other-version";
  const message = error instanceof Error ? error.message : "";
  return REASONS.find(([words]) => message.startsWith(words))?.[1] ?? "unusable";
}
