/** The tables of the cache, and how a file of an earlier program gets them. */
import { type CacheDatabase, inTransaction } from "./_cache_database.ts";

export const SCHEMA_VERSION = 2;

/** Since version 1. `age` grows with every new entry, so the longest-ago written have the lowest. */
const EMBEDDINGS = `
  CREATE TABLE embeddings (
    age INTEGER PRIMARY KEY,
    key BLOB NOT NULL UNIQUE,
    value BLOB NOT NULL
  ) STRICT;
`;

/**
 * Since version 2. The columns down to `size` are there for people too, who may look with SQL; no
 * key is made of `id`, as of two files that claim one id both are known.
 */
const MEMORY_INDEX = `
  CREATE TABLE memory_index (
    id TEXT NOT NULL,
    path TEXT NOT NULL PRIMARY KEY,
    name TEXT NOT NULL,
    description TEXT NOT NULL,
    tags_json TEXT NOT NULL,
    status TEXT NOT NULL,
    mtime_ms INTEGER NOT NULL,
    size INTEGER NOT NULL,
    kind TEXT NOT NULL,
    etag TEXT NOT NULL,
    ctime_ms INTEGER NOT NULL,
    ino INTEGER NOT NULL,
    dev INTEGER NOT NULL,
    hashed_at_ms INTEGER NOT NULL,
    vault TEXT NOT NULL,
    checksum INTEGER NOT NULL
  );
  CREATE INDEX memory_index_by_id ON memory_index (id);
`;

/** The file is of a later program, or of none of ours. */
export class OtherVersion extends Error {}

/**
 * Gives a new file its tables, and one of an earlier version those that it lacks.
 *
 * @throws {OtherVersion} If the file is of neither.
 */
export function ensureSchema(db: CacheDatabase): void {
  if (versionOf(db) === SCHEMA_VERSION) return;
  inTransaction(db, () => {
    // Asked under the lock: of two servers that start at once, one does it.
    const version = versionOf(db);
    if (version === SCHEMA_VERSION) return;
    if (version !== 0 && version !== 1) throw new OtherVersion();
    if (version === 0) db.exec(EMBEDDINGS);
    db.exec(MEMORY_INDEX);
    db.exec(`PRAGMA user_version = ${SCHEMA_VERSION}`);
  });
}

function versionOf(db: CacheDatabase): unknown {
  return db.prepare("PRAGMA user_version").get()?.user_version;
}
