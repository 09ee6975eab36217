/** Finds the file of a memory that is to be changed. */
import type { Caller } from "@/lib/contracts.ts";
import { AppError, EditConflict, InvalidRequest } from "@/lib/errors.ts";
import { show } from "@/lib/parse_input.ts";
import { Slicer } from "@/lib/seams.ts";
import type { ParsedNote } from "@/lib/vault/note.ts";
import { parseVaultPath, type VaultPath } from "@/lib/vault/vault_path.ts";
import { parseText, readHashed } from "./_read_file.ts";
import { openMemory, type OpenMemoryDeps } from "./open_memory.ts";

export interface MemoryFile {
  readonly id: string;
  readonly path: VaultPath;
  readonly etag: string;
  readonly parsed: ParsedNote;
}

/**
 * Finds a memory as it is on disk now.
 *
 * @throws {AppError} `id-conflict` if several files claim the id.
 * @throws {InvalidRequest} If the id is that of a note which is no memory.
 * @throws {EditConflict} If the file changes while it is read.
 * @throws What `openMemory()` throws.
 */
export async function findMemory(
  deps: OpenMemoryDeps,
  caller: Caller,
  id: string,
): Promise<MemoryFile> {
  const { memory } = await openMemory(deps, caller, { id });
  if (!memory) throw new TypeError("A memory was left out that nobody has");
  const { conflicts = [], kind, path: place } = memory;
  if (conflicts.length > 0) throw claimedTwice(id, conflicts);
  if (kind !== "memory") throw noMemory(id);
  if (memory.id !== id) throw namedByPath(id, memory.id);
  const path = parseVaultPath(place);
  const slicer = new Slicer(deps.clock);
  const { bytes, etag } = await readHashed(deps.vault, path, slicer);
  if (etag !== memory.etag) throw new EditConflict(`"${show(id)}" changed while it was read`);
  return { id, path, etag, parsed: await parseText(path, bytes, slicer) };
}

function claimedTwice(id: string, paths: readonly string[]): AppError {
  const [first, second] = paths;
  return new AppError(
    "id-conflict",
    `Cannot save memory "${show(id)}": ${paths.length} files claim that id, "${first}" and ` +
      `"${second}" among them. Give one of them another id, or delete it, then save again`,
  );
}

function noMemory(id: string): InvalidRequest {
  return new InvalidRequest(
    `Cannot save "${show(id)}": it is a note of the person's and no memory. Make a new memory, ` +
      "without id",
  );
}

/** A copy that a sync tool left would be written in place of the memory itself. */
function namedByPath(path: string, id: string): InvalidRequest {
  return new InvalidRequest(`Cannot save "${show(path)}" by its path: its id is "${show(id)}"`);
}
