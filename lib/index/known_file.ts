/** What is remembered of a file from one run of the program to the next. */
import { crc32 } from "node:zlib";
import type { VaultPath } from "@/lib/vault/vault_path.ts";
import type { FileRecord } from "./indexed_note.ts";

/** A file whose bytes had a hash when it had a stamp. */
export interface KnownFile {
  /** SHA-256 of the file's bytes, in hex. */
  readonly etag: string;
  readonly file: FileRecord;
}

const ETAG = /^[0-9a-f]{64}$/;

/** Tells whether this can be true of any file. */
export function isSound({ etag, file: { stamp, hashedAtMs } }: KnownFile): boolean {
  const { size, mtimeMs, ctimeMs, ino, dev } = stamp;
  return ETAG.test(etag) && size >= 0 &&
    [size, mtimeMs, ctimeMs, ino, dev, hashedAtMs].every(Number.isFinite);
}

/** Returns a number that tells whether a path and what is known of it are as they were written. */
export function checksumOf(path: VaultPath, { etag, file }: KnownFile): number {
  const { size, mtimeMs, ctimeMs, ino, dev } = file.stamp;
  const all = [path, etag, size, mtimeMs, ctimeMs, ino, dev, file.hashedAtMs];
  return crc32(JSON.stringify(all));
}
