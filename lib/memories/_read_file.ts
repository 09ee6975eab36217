/** From a path to what stands in its file now, in small steps. */
import { AppError } from "@/lib/errors.ts";
import type { Slicer } from "@/lib/seams.ts";
import { hashBytes } from "@/lib/vault/etag.ts";
import { type ParsedNote, parseNote } from "@/lib/vault/note.ts";
import { readFile, type Vault } from "@/lib/vault/vault.ts";
import type { VaultPath } from "@/lib/vault/vault_path.ts";

/** A file's bytes, and the SHA-256 that tells them from any others. */
export interface HashedBytes {
  readonly bytes: Uint8Array;
  readonly etag: string;
}

/**
 * Reads a file anew and hashes it.
 *
 * @throws What `readFile()` throws.
 */
export async function readHashed(
  vault: Vault,
  path: VaultPath,
  slicer: Slicer,
): Promise<HashedBytes> {
  const { bytes } = readFile(vault, path);
  return { bytes, etag: await slicer.run(hashBytes(bytes)) };
}

/**
 * Parses the bytes of a note.
 *
 * @throws {AppError} `unsupported-media-type` if they are no UTF-8 text.
 */
export async function parseText(
  path: VaultPath,
  bytes: Uint8Array,
  slicer: Slicer,
): Promise<ParsedNote> {
  const parsed = await slicer.run(parseNote(path, bytes));
  if (parsed) return parsed;
  throw new AppError("unsupported-media-type", `"${path}" is not UTF-8 text. Save it as UTF-8`);
}
