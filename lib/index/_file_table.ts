/** The table `memory_index` in one open file; its methods throw what SQLite throws. */
import { parseVaultPath, type VaultPath } from "@/lib/vault/vault_path.ts";
import {
  type CacheDatabase,
  type CacheRow,
  type CacheStatement,
  inTransaction,
} from "./_cache_database.ts";
import type { IndexedNote } from "./indexed_note.ts";
import { checksumOf, isSound, type KnownFile } from "./known_file.ts";
import { statusOf } from "./note_table.ts";

/** Numbers come as floats, as integers beyond those of JavaScript would be errors. */
const SELECT_PAGE = `
  SELECT rowid AS row, path, vault, etag, CAST(size AS REAL) AS size,
    CAST(mtime_ms AS REAL) AS mtimeMs, CAST(ctime_ms AS REAL) AS ctimeMs,
    CAST(ino AS REAL) AS ino, CAST(dev AS REAL) AS dev,
    CAST(hashed_at_ms AS REAL) AS hashedAtMs, checksum
  FROM memory_index WHERE rowid > ? ORDER BY rowid LIMIT ?`;

const PUT = `
  INSERT INTO memory_index (id, name, description, tags_json, status, kind, etag,
    size, mtime_ms, ctime_ms, ino, dev, hashed_at_ms, checksum, vault, path)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
  ON CONFLICT (path) DO UPDATE SET id = excluded.id, name = excluded.name,
    description = excluded.description, tags_json = excluded.tags_json, status = excluded.status,
    kind = excluded.kind, etag = excluded.etag, size = excluded.size,
    mtime_ms = excluded.mtime_ms, ctime_ms = excluded.ctime_ms, ino = excluded.ino,
    dev = excluded.dev, hashed_at_ms = excluded.hashed_at_ms, checksum = excluded.checksum,
    vault = excluded.vault`;

/** Another server may have put other content there: the stamp of this one is none of that. */
const TOUCH = `
  UPDATE memory_index SET size = ?, mtime_ms = ?, ctime_ms = ?, ino = ?, dev = ?,
    hashed_at_ms = ?, checksum = ?
  WHERE vault = ? AND path = ? AND etag = ?`;

/** What is to be done with the row of a path. */
export type FileChange =
  | { readonly what: "put"; readonly note: IndexedNote; readonly known: KnownFile }
  | { readonly what: "touch"; readonly known: KnownFile }
  | { readonly what: "remove" };

export interface FilePage {
  readonly known: readonly (readonly [path: VaultPath, file: KnownFile])[];
  /** Rows that are damaged, or of another vault. */
  readonly unusable: readonly number[];
  /** The last row; `undefined` if there are no more. */
  readonly end: number | undefined;
}

/** The rows of one vault. */
export class FileTable {
  readonly #db: CacheDatabase;
  readonly #put: CacheStatement;
  readonly #touch: CacheStatement;
  readonly #remove: CacheStatement;
  readonly #page: CacheStatement;
  readonly #drop: CacheStatement;

  constructor(db: CacheDatabase) {
    this.#db = db;
    this.#put = db.prepare(PUT);
    this.#touch = db.prepare(TOUCH);
    this.#remove = db.prepare("DELETE FROM memory_index WHERE vault = ? AND path = ?");
    this.#page = db.prepare(SELECT_PAGE);
    this.#drop = db.prepare("DELETE FROM memory_index WHERE rowid = ?");
  }

  /** Makes all changes or none. */
  change(vault: string, changes: Iterable<readonly [VaultPath, FileChange]>): void {
    inTransaction(this.#db, () => {
      for (const [path, change] of changes) this.#change(vault, path, change);
    });
  }

  /** Reads up to `limit` rows after a row. */
  read(vault: string, after: number, limit: number): FilePage {
    const known: [VaultPath, KnownFile][] = [];
    const unusable: number[] = [];
    let end: number | undefined;
    for (const row of this.#page.all(after, limit)) {
      end = Number(row.row);
      const path = pathOf(row.path);
      const file = row.vault === vault && path !== undefined ? toKnownFile(path, row) : undefined;
      if (path !== undefined && file) known.push([path, file]);
      else unusable.push(end);
    }
    return { known, unusable, end };
  }

  /** Removes all of these rows or none. */
  drop(rows: readonly number[]): void {
    inTransaction(this.#db, () => {
      for (const row of rows) this.#drop.run(row);
    });
  }

  #change(vault: string, path: VaultPath, change: FileChange): void {
    if (change.what === "remove") {
      this.#remove.run(vault, path);
      return;
    }
    const { etag, file: { stamp, hashedAtMs } } = change.known;
    const { size, mtimeMs, ctimeMs, ino, dev } = stamp;
    const checksum = checksumOf(path, change.known);
    const state = [size, mtimeMs, ctimeMs, ino, dev, hashedAtMs, checksum];
    if (change.what === "touch") this.#touch.run(...state, vault, path, etag);
    else this.#put.run(...columnsOf(change.note), etag, ...state, vault, path);
  }
}

function columnsOf(note: IndexedNote): string[] {
  const { id, name, description, tags, kind } = note;
  return [id, name, description, JSON.stringify(tags), statusOf(note), kind];
}

function pathOf(value: unknown): VaultPath | undefined {
  if (typeof value !== "string") return undefined;
  try {
    return parseVaultPath(value);
  } catch {
    // The path of no file.
    return undefined;
  }
}

function toKnownFile(path: VaultPath, row: CacheRow): KnownFile | undefined {
  const { etag, checksum } = row;
  if (typeof etag !== "string") return undefined;
  // What is no number becomes none that is finite.
  const number = (value: unknown) => typeof value === "number" ? value : NaN;
  const stamp = {
    size: number(row.size),
    mtimeMs: number(row.mtimeMs),
    ctimeMs: number(row.ctimeMs),
    ino: number(row.ino),
    dev: number(row.dev),
  };
  const known = { etag, file: { stamp, hashedAtMs: number(row.hashedAtMs) } };
  return isSound(known) && checksumOf(path, known) === checksum ? known : undefined;
}
