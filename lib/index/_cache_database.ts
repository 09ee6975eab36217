/** What the tables of the cache need of SQLite, whose package has its door elsewhere. */

export type CacheValue = string | number | Uint8Array;
/** A row by the names of its columns; the values are to be checked before they are used. */
export type CacheRow = Readonly<Record<string, unknown>>;

export interface CacheStatement {
  get(...values: CacheValue[]): CacheRow | undefined;
  all(...values: CacheValue[]): CacheRow[];
  run(...values: CacheValue[]): unknown;
}

/** An open file; its methods throw what SQLite throws. */
export interface CacheDatabase {
  exec(sql: string): void;
  prepare(sql: string): CacheStatement;
}

/** Does all of some work or none of it. */
export function inTransaction(db: CacheDatabase, work: () => void): void {
  db.exec("BEGIN IMMEDIATE");
  try {
    work();
    db.exec("COMMIT");
  } catch (error) {
    rollBack(db);
    throw error;
  }
}

function rollBack(db: CacheDatabase): void {
  try {
    db.exec("ROLLBACK");
  } catch {
    // SQLite has done so by itself after the worse errors.
  }
}
