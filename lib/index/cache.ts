/**
 * The cache of the state directory, one SQLite file: vectors by their text and model, so that a
 * start embeds only what is new, and what each file of the vault was when it was last read, so
 * that a start reads only what has changed. It guards two promises.
 *
 * It is never wrong. The key of a vector is the SHA-256 of model, dimensions and text, so nothing
 * of another model is ever found. A row of a file says which hash was found under which stamp and
 * when: that stays true whoever writes it, however late. Where a newer row was lost, the older one
 * has another stamp than the file, which is read then. Both carry a checksum, so bytes that rotted
 * are as if not there.
 *
 * It never hurts. Whatever the file or the disk does, callers see no error, at worst a cache that
 * knows nothing. A file that cannot be used is put aside and begun anew. Nothing waits: not for
 * the lock of another server that uses the same file, and not for the disk either. `synchronous`
 * is off, as an fsync stalls the event loop for 200 ms while others write; SQLite asks for it only
 * against power failures, and what these leave is found out like any damage. A process that is
 * killed leaves a file that is whole.
 *
 * The file holds paths, names and descriptions of notes, so it is for this person alone.
 */
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { Logger } from "@/lib/seams.ts";
import { ensureSchema } from "./_cache_schema.ts";
import { CacheStore } from "./_cache_store.ts";
import {
  type EmbeddingCache,
  type EmbeddingModel,
  EmbeddingTable,
  StoredEmbeddings,
} from "./embedding_cache.ts";
import { FileTable } from "./_file_table.ts";
import { type FileCache, StoredFiles } from "./file_cache.ts";

/** How far the log of SQLite grows before it is copied into the file, which takes 2 to 5 ms. */
const CHECKPOINT_PAGES = 500;
/** Only on opening: another server may be creating the file. */
const LOCK_WAIT_MS = 10;
const FILE_NAME = "cache.sqlite";

/** One file for all that is cached; no method ever throws. */
export interface Cache {
  readonly files: FileCache;
  /** Returns the vectors of one model; to close them leaves the file to the others. */
  embeddingsOf(model: EmbeddingModel): EmbeddingCache;
  /** Writes all that waits and lets go of the file; from then on nothing is known or kept. */
  close(): void;
}

export interface CacheOptions {
  /** The state directory; made if missing, for this person alone. */
  readonly folder: string;
  /** Names the vault: of files in another one nothing is known. */
  readonly scope: string;
  readonly logger: Logger;
}

/**
 * Opens the cache, or one that knows nothing if the file cannot be used.
 *
 * A file that is damaged, of a later schema or not ours is renamed to `cache.sqlite.damaged`, in
 * place of an earlier one, and begun anew. One that is locked, or on a full or failing disk, is
 * left as it is, and not used in this run. Both are logged.
 */
export function openCache({ folder, scope, logger }: CacheOptions): Cache {
  const open = (path: string) => new CacheFile(path);
  const store = new CacheStore({ path: join(folder, FILE_NAME), logger, open });
  const files = new StoredFiles(store, scope);
  const models: EmbeddingCache[] = [];
  return {
    files,
    embeddingsOf(model) {
      const embeddings = new StoredEmbeddings(store, model);
      models.push(embeddings);
      return embeddings;
    },
    close() {
      for (const each of [files, ...models]) each.close();
      store.close();
    },
  };
}

export interface EmbeddingCacheOptions extends EmbeddingModel {
  /** The state directory; made if missing, for this person alone. */
  readonly folder: string;
  readonly logger: Logger;
}

/** Opens the vectors of a model, as `openCache()` does, where no files are to be remembered. */
export function openEmbeddingCache(options: EmbeddingCacheOptions): EmbeddingCache {
  const cache = openCache({ ...options, scope: "" });
  const embeddings = cache.embeddingsOf(options);
  return {
    get: (text) => embeddings.get(text),
    put: (text, vector) => embeddings.put(text, vector),
    flush: () => embeddings.flush(),
    close: () => cache.close(),
  };
}

/** One open file with its tables. */
class CacheFile {
  readonly #db: DatabaseSync;
  readonly embeddings: EmbeddingTable;
  readonly files: FileTable;

  constructor(path: string) {
    this.#db = new DatabaseSync(path, { timeout: LOCK_WAIT_MS });
    try {
      setUp(this.#db);
      this.embeddings = new EmbeddingTable(this.#db);
      this.files = new FileTable(this.#db);
    } catch (error) {
      this.close();
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
}

function setUp(db: DatabaseSync): void {
  db.exec("PRAGMA synchronous = OFF; PRAGMA cell_size_check = ON");
  ensureSchema(db);
  try {
    db.exec("PRAGMA journal_mode = WAL");
  } catch {
    // Another server has the file open and switches it just now, or the next start does.
  }
  db.exec(`PRAGMA wal_autocheckpoint = ${CHECKPOINT_PAGES}; PRAGMA busy_timeout = 0`);
}
