/** Finds the file of a memory that is to be changed. */
import type { Caller } from "@/lib/contracts.ts";
import { AppError, InvalidRequest } from "@/lib/errors.ts";
import { show } from "@/lib/parse_input.ts";
import { conflictCopyOf } from "@/lib/vault/conflict_copies.ts";
import type { ParsedNote } from "@/lib/vault/note.ts";
import { parseVaultPath, type VaultPath } from "@/lib/vault/vault_path.ts";
import { type OpeningListener, openMemory, type OpenMemoryDeps } from "./open_memory.ts";

export interface MemoryFile {
  readonly id: string;
  readonly path: VaultPath;
  readonly etag: string;
  readonly parsed: ParsedNote;
}

/** Nobody gets to read it. */
const UNREAD: OpeningListener = { noteOpened: () => {} };

/**
 * Finds a memory as it is on disk now.
 *
 * @throws {AppError} `id-conflict` if several files claim the id.
 * @throws {InvalidRequest} If the id is that of a note which is no memory.
 * @throws What `openMemory()` throws.
 */
export async function findMemory(
  deps: Omit<OpenMemoryDeps, "recallLog">,
  caller: Caller,
  id: string,
): Promise<MemoryFile> {
  const { memory, parsed } = await openMemory({ ...deps, recallLog: UNREAD }, caller, { id });
  if (!memory || !parsed) throw new TypeError("A memory was left out that nobody has");
  const { conflicts = [], kind, path: place } = memory;
  if (conflicts.length > 0) throw claimedTwice(id, conflicts);
  if (kind !== "memory") throw noMemory(id);
  if (memory.id !== id) throw namedByPath(id, memory.id);
  const path = parseVaultPath(place);
  if (conflictCopyOf(path)?.certain) throw onlyCopy(id, path);
  return { id, path, etag: memory.etag, parsed };
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

function onlyCopy(id: string, path: string): InvalidRequest {
  return new InvalidRequest(
    `Cannot save memory "${show(id)}": all that is left of it is a copy of a sync tool, ` +
      `"${show(path)}". A person has to rename it first`,
  );
}

/** A copy that a sync tool left would be written in place of the memory itself. */
function namedByPath(path: string, id: string): InvalidRequest {
  return new InvalidRequest(`Cannot save "${show(path)}" by its path: its id is "${show(id)}"`);
}
