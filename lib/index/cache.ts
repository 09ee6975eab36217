/**
 * The embedding cache: vectors by their text and model, in a SQLite file of the state directory,
 * so that a start embeds only what is new. It guards two promises.
 *
 * It is never wrong. A key is the SHA-256 of model, dimensions and text, so nothing of another
 * model is ever found, and the file holds no word of the vault; a value carries a checksum over
 * itself and its key, so bytes that rotted are as if not there.
 *
 * It never hurts. Whatever the file or the disk does, callers see no error, at worst a cache that
 * knows nothing. A file that cannot be used is put aside and begun anew. Nothing waits: not for
 * the lock of another server that uses the same file, and not for the disk either. `synchronous`
 * is off, as an fsync stalls the event loop for 200 ms while others write; SQLite asks for it only
 * against power failures, and what these leave is found out like any damage. A process that is
 * killed leaves a file that is whole.
 */
import { hash } from "node:crypto";
import { join } from "node:path";
import { DatabaseSync, type StatementSync } from "node:sqlite";
import { crc32 } from "node:zlib";
import type { Logger } from "@/lib/seams.ts";

/**
 * Of all models together: 50 000 notes have 300 000 texts, and whoever tries another model should
 * find those of the first when coming back. With 512 dimensions the file is 630 MB then.
 */
export const MAX_CACHED_EMBEDDINGS = 1_000_000;

/** A transaction of so many takes about a millisecond. */
const MAX_BATCH_ENTRIES = 128;
const MAX_BATCH_BYTES = 256 * 1024;
/** Removed at a time; more than is added, so that a file over its bound gets below it. */
const PRUNE_STEP = 2 * MAX_BATCH_ENTRIES;
/** How far the log of SQLite grows before it is copied into the file, which takes 2 to 5 ms. */
const CHECKPOINT_PAGES = 500;
/** Only on opening: another server may be creating the file. */
const LOCK_WAIT_MS = 10;

const FILE_NAME = "cache.sqlite";
const OWN_FILE_MODE = 0o600;
const SIDE_FILES = ["", "-wal", "-shm"] as const;
const SCHEMA_VERSION = 1;
/** `age` grows with every new entry, so the longest-ago written have the lowest. */
const SCHEMA = `
  CREATE TABLE embeddings (
    age INTEGER PRIMARY KEY,
    key BLOB NOT NULL UNIQUE,
    value BLOB NOT NULL
  ) STRICT;
  PRAGMA user_version = ${SCHEMA_VERSION};
`;
const CHECKSUM_BYTES = 4;

/** Remembers the vectors of texts under one model; no method ever throws. */
export interface EmbeddingCache {
  /** Returns a copy of the text's vector, `null` if it has none, `undefined` if that is unknown. */
  get(text: string): Int8Array | null | undefined;
  /**
   * Remembers a copy of a vector, or that there is none; written in batches, found at once.
   * A vector of other than the model's dimensions is not kept.
   */
  put(text: string, vector: Int8Array | null): void;
  /** Writes what waits; call it when a stretch of work is done. */
  flush(): void;
  /** Writes what waits and lets go of the file; from then on nothing is known or kept. */
  close(): void;
}

export interface EmbeddingCacheOptions {
  /** The state directory; made if missing, for this person alone. */
  readonly folder: string;
  /** Names the model and how its vectors are made bytes. */
  readonly modelId: string;
  readonly dimensions: number;
  readonly logger: Logger;
  /** Of all models together; the longest-ago written go first, a few with every batch. */
  readonly maxEntries?: number;
}

/**
 * Opens the cache of a model, or one that knows nothing if the file cannot be used.
 *
 * A file that is damaged, of another schema or not ours is renamed to `cache.sqlite.damaged`, in
 * place of an earlier one, and begun anew. One that is locked, or on a full or failing disk, is
 * left as it is, and not used in this run. Both are logged.
 */
export function openEmbeddingCache(options: EmbeddingCacheOptions): EmbeddingCache {
  return new SqliteEmbeddingCache(options);
}

class SqliteEmbeddingCache implements EmbeddingCache {
  readonly #options: EmbeddingCacheOptions;
  readonly #path: string;
  /** JSON texts of lists are never the beginning of each other, so no two models share a key. */
  readonly #keyPrefix: string;
  readonly #pending = new Map<string, Uint8Array>();
  #pendingBytes = 0;
  /** `undefined` = the cache is off. */
  #file: CacheFile | undefined;
  #wasRenewed = false;

  constructor(options: EmbeddingCacheOptions) {
    this.#options = options;
    this.#path = join(options.folder, FILE_NAME);
    this.#keyPrefix = JSON.stringify([options.modelId, options.dimensions]);
    try {
      this.#file = this.#openFile();
    } catch (error) {
      this.#recover(reasonOf(error));
    }
  }

  get(text: string): Int8Array | null | undefined {
    if (!this.#file || !text.isWellFormed()) return undefined;
    const key = this.#keyOf(text);
    const value = this.#pending.get(key) ?? this.#attempt((file) => file.find(key));
    return value && unseal(key, value, this.#options.dimensions);
  }

  put(text: string, vector: Int8Array | null): void {
    // Half a surrogate pair has no bytes of its own, so such texts would share a key.
    if (!this.#file || !text.isWellFormed()) return;
    if (vector && vector.length !== this.#options.dimensions) return;
    const key = this.#keyOf(text);
    const value = seal(key, vector);
    this.#pending.set(key, value);
    this.#pendingBytes += value.length;
    const isFull = this.#pending.size >= MAX_BATCH_ENTRIES || this.#pendingBytes >= MAX_BATCH_BYTES;
    if (isFull) this.flush();
  }

  flush(): void {
    if (this.#pending.size === 0) return;
    this.#attempt((file) => file.keep(this.#pending));
    this.#forgetPending();
  }

  close(): void {
    this.flush();
    this.#file?.close();
    this.#file = undefined;
  }

  #openFile(): CacheFile {
    Deno.mkdirSync(this.#options.folder, { recursive: true, mode: 0o700 });
    return new CacheFile(this.#path, this.#options.maxEntries ?? MAX_CACHED_EMBEDDINGS);
  }

  #keyOf(text: string): string {
    return hash("sha256", this.#keyPrefix + text, "hex");
  }

  #attempt<T>(work: (file: CacheFile) => T): T | undefined {
    try {
      return this.#file && work(this.#file);
    } catch (error) {
      const reason = reasonOf(error);
      // Another server is at it: what was to be written is embedded again some day.
      if (reason === "locked") this.#options.logger.debug("embedding-cache-busy");
      else this.#recover(reason);
      return undefined;
    }
  }

  /** Begins anew where that may help, at most once, else turns the cache off. */
  #recover(reason: Reason): void {
    const { logger } = this.#options;
    this.#file?.close();
    this.#file = undefined;
    this.#forgetPending();
    if (!this.#wasRenewed && !MAY_PASS.has(reason)) {
      this.#wasRenewed = true;
      try {
        putAside(this.#path);
        this.#file = this.#openFile();
        return logger.warn("embedding-cache-renewed", { reason });
      } catch {
        // Why it could not be used in the first place says more than why this failed too.
      }
    }
    logger.warn("embedding-cache-off", { reason });
  }

  #forgetPending(): void {
    this.#pending.clear();
    this.#pendingBytes = 0;
  }
}

/** One open file; its methods throw what SQLite throws. */
class CacheFile {
  readonly #db: DatabaseSync;
  readonly #find: StatementSync;
  readonly #keep: StatementSync;
  readonly #prune: StatementSync;
  readonly #maxEntries: number;

  constructor(path: string, maxEntries: number) {
    ensureOwnFile(path);
    this.#maxEntries = maxEntries;
    this.#db = new DatabaseSync(path, { timeout: LOCK_WAIT_MS });
    try {
      setUp(this.#db);
      this.#find = this.#db.prepare("SELECT value FROM embeddings WHERE key = ?");
      this.#keep = this.#db.prepare(
        `INSERT INTO embeddings (key, value) VALUES (?, ?)
         ON CONFLICT (key) DO UPDATE SET value = excluded.value`,
      );
      this.#prune = this.#db.prepare(
        `DELETE FROM embeddings WHERE age IN (
           SELECT age FROM embeddings WHERE age <= (SELECT max(age) FROM embeddings) - ?
           ORDER BY age LIMIT ?)`,
      );
    } catch (error) {
      this.close();
      throw error;
    }
  }

  find(key: string): Uint8Array | undefined {
    const value = this.#find.get(Uint8Array.fromHex(key))?.value;
    return value instanceof Uint8Array ? value : undefined;
  }

  /** Writes all entries or none, and removes some of those that are too many. */
  keep(entries: ReadonlyMap<string, Uint8Array>): void {
    this.#db.exec("BEGIN IMMEDIATE");
    try {
      for (const [key, value] of entries) this.#keep.run(Uint8Array.fromHex(key), value);
      this.#prune.run(this.#maxEntries, PRUNE_STEP);
      this.#db.exec("COMMIT");
    } catch (error) {
      this.#rollBack();
      throw error;
    }
  }

  close(): void {
    try {
      this.#db.close();
    } catch {
      // It is of no more use either way.
    }
  }

  #rollBack(): void {
    try {
      this.#db.exec("ROLLBACK");
    } catch {
      // SQLite has done so by itself after the worse errors.
    }
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

function setUp(db: DatabaseSync): void {
  db.exec("PRAGMA synchronous = OFF; PRAGMA cell_size_check = ON");
  if (versionOf(db) === 0) createTable(db);
  if (versionOf(db) !== SCHEMA_VERSION) throw new OtherVersion();
  try {
    db.exec("PRAGMA journal_mode = WAL");
  } catch {
    // Another server has the file open and switches it just now, or the next start does.
  }
  db.exec(`PRAGMA wal_autocheckpoint = ${CHECKPOINT_PAGES}; PRAGMA busy_timeout = 0`);
}

function versionOf(db: DatabaseSync): unknown {
  return db.prepare("PRAGMA user_version").get()?.user_version;
}

function createTable(db: DatabaseSync): void {
  db.exec("BEGIN IMMEDIATE");
  // Asked again under the lock: of two servers that start at once, one creates it.
  if (versionOf(db) === 0) db.exec(SCHEMA);
  db.exec("COMMIT");
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

class OtherVersion extends Error {}

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

/** Returns the bytes to keep: the vector's, none if there is none, and a checksum. */
function seal(key: string, vector: Int8Array | null): Uint8Array {
  const length = vector?.length ?? 0;
  const value = new Uint8Array(length + CHECKSUM_BYTES);
  if (vector) value.set(vector);
  new DataView(value.buffer).setUint32(length, checksumOf(key, value.subarray(0, length)));
  return value;
}

function unseal(
  key: string,
  value: Uint8Array,
  dimensions: number,
): Int8Array | null | undefined {
  const length = value.length - CHECKSUM_BYTES;
  if (length !== 0 && length !== dimensions) return undefined;
  const bytes = value.subarray(0, length);
  const checksum = new DataView(value.buffer, value.byteOffset).getUint32(length);
  if (checksum !== checksumOf(key, bytes)) return undefined;
  return length === 0 ? null : new Int8Array(bytes);
}

function checksumOf(key: string, bytes: Uint8Array): number {
  return crc32(bytes, crc32(key));
}
