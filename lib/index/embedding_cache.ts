/** The part of the cache that keeps vectors by their text and model. */
import { hash } from "node:crypto";
import { crc32 } from "node:zlib";
import { type CacheDatabase, type CacheStatement, inTransaction } from "./_cache_database.ts";
import type { CacheStore } from "./_cache_store.ts";

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
  /** Writes what waits; from then on nothing is known or kept. */
  close(): void;
}

export interface EmbeddingModel {
  /** Names the model and how its vectors are made bytes. */
  readonly modelId: string;
  readonly dimensions: number;
  /** Of all models together; the longest-ago written go first, a few with every batch. */
  readonly maxEntries?: number;
}

/** An open file with the table of embeddings. */
export interface WithEmbeddings {
  readonly embeddings: EmbeddingTable;
  close(): void;
}

/** The vectors of one model in a file that others use too. */
export class StoredEmbeddings implements EmbeddingCache {
  readonly #store: CacheStore<WithEmbeddings>;
  readonly #model: EmbeddingModel;
  /** JSON texts of lists are never the beginning of each other, so no two models share a key. */
  readonly #keyPrefix: string;
  readonly #pending = new Map<string, Uint8Array>();
  #pendingBytes = 0;
  #isClosed = false;

  constructor(store: CacheStore<WithEmbeddings>, model: EmbeddingModel) {
    this.#store = store;
    this.#model = model;
    this.#keyPrefix = JSON.stringify([model.modelId, model.dimensions]);
  }

  get(text: string): Int8Array | null | undefined {
    if (!this.#isOn || !text.isWellFormed()) return undefined;
    const key = this.#keyOf(text);
    const value = this.#pending.get(key) ??
      this.#store.find(({ embeddings }) => embeddings.find(key));
    return value && unseal(key, value, this.#model.dimensions);
  }

  put(text: string, vector: Int8Array | null): void {
    // Half a surrogate pair has no bytes of its own, so such texts would share a key.
    if (!this.#isOn || !text.isWellFormed()) return;
    if (vector && vector.length !== this.#model.dimensions) return;
    const key = this.#keyOf(text);
    const value = seal(key, vector);
    this.#pending.set(key, value);
    this.#pendingBytes += value.length;
    const isFull = this.#pending.size >= MAX_BATCH_ENTRIES || this.#pendingBytes >= MAX_BATCH_BYTES;
    if (isFull) this.flush();
  }

  flush(): void {
    if (this.#pending.size === 0) return;
    const { maxEntries = MAX_CACHED_EMBEDDINGS } = this.#model;
    // What another server keeps from being written is embedded again some day.
    this.#store.attempt(({ embeddings }) => embeddings.keep(this.#pending, maxEntries));
    this.#pending.clear();
    this.#pendingBytes = 0;
  }

  close(): void {
    this.flush();
    this.#isClosed = true;
  }

  get #isOn(): boolean {
    return !this.#isClosed && this.#store.isOn;
  }

  #keyOf(text: string): string {
    return hash("sha256", this.#keyPrefix + text, "hex");
  }
}

/** The table in one open file; its methods throw what SQLite throws. */
export class EmbeddingTable {
  readonly #db: CacheDatabase;
  readonly #find: CacheStatement;
  readonly #keep: CacheStatement;
  readonly #prune: CacheStatement;

  constructor(db: CacheDatabase) {
    this.#db = db;
    this.#find = db.prepare("SELECT value FROM embeddings WHERE key = ?");
    this.#keep = db.prepare(
      `INSERT INTO embeddings (key, value) VALUES (?, ?)
       ON CONFLICT (key) DO UPDATE SET value = excluded.value`,
    );
    this.#prune = db.prepare(
      `DELETE FROM embeddings WHERE age IN (
         SELECT age FROM embeddings WHERE age <= (SELECT max(age) FROM embeddings) - ?
         ORDER BY age LIMIT ?)`,
    );
  }

  find(key: string): Uint8Array | undefined {
    const value = this.#find.get(Uint8Array.fromHex(key))?.value;
    return value instanceof Uint8Array ? value : undefined;
  }

  /** Writes all entries or none, and removes some of those that are too many. */
  keep(entries: ReadonlyMap<string, Uint8Array>, maxEntries: number): void {
    inTransaction(this.#db, () => {
      for (const [key, value] of entries) this.#keep.run(Uint8Array.fromHex(key), value);
      this.#prune.run(maxEntries, PRUNE_STEP);
    });
  }
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
