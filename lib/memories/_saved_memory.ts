/** What creating and changing a memory have in common. */
import { GLOBAL_SCOPE_ID } from "@/lib/contracts.ts";
import type { SavedMemory } from "@/lib/contracts_memories.ts";
import type { VaultIndex } from "@/lib/index/vault_index.ts";
import { ACTIVE } from "@/lib/index/note_table.ts";
import type { Projects } from "@/lib/projects/projects.ts";
import type { Logger, NewUlid } from "@/lib/seams.ts";
import { NO_STORE, scopeIdOf, type VaultLayout } from "@/lib/vault/kinds.ts";
import type { ParsedNote } from "@/lib/vault/note.ts";
import type { VaultPath } from "@/lib/vault/vault_path.ts";
import type { VaultWriter } from "@/lib/vault/vault_writer.ts";
import type { MemoryFile } from "./_find_memory.ts";
import type { OpenMemoryDeps } from "./open_memory.ts";

export interface SaveMemoryDeps extends OpenMemoryDeps {
  readonly index: VaultIndex;
  readonly writer: VaultWriter;
  readonly projects: Projects;
  readonly newUlid: NewUlid;
  readonly logger: Logger;
}

/** Says of a memory what its file holds. */
export function describeSaved(
  layout: VaultLayout,
  { id, path, etag }: Pick<MemoryFile, "id" | "path" | "etag">,
  { name, description, tags, status = ACTIVE, updatedAt = "", ...parsed }: ParsedNote,
): SavedMemory {
  return {
    id: parsed.id ?? id,
    path,
    etag,
    created: false,
    scope: scopeNameOf(layout, path),
    name,
    description,
    tags: [...tags],
    status,
    updatedAt,
  };
}

/** Says what kind of store a file lies in. */
export function scopeNameOf(layout: VaultLayout, path: VaultPath): SavedMemory["scope"] {
  const id = scopeIdOf(layout, path);
  if (id === NO_STORE) return "none";
  return id === GLOBAL_SCOPE_ID ? "global" : "project";
}
