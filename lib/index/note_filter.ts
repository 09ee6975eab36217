/** From what callers say to what the index compares. */
import { GLOBAL_SCOPE_ID, type NoteKind, type Scope } from "@/lib/contracts.ts";
import { normalizeTag } from "@/lib/vault/tags.ts";
import type { NoteFilter } from "./orama.ts";

/** What is asked for, as it came. */
export interface AskedFilter {
  readonly scope: Scope;
  readonly kinds: readonly NoteKind[];
  readonly tags: readonly string[];
  readonly status: string | undefined;
  /** As `NoteFilter` has it. */
  readonly folder?: string | undefined;
}

/** Writes tags and status as the index keeps them, each once; a scope becomes its store. */
export function toNoteFilter({ scope, kinds, tags, status, folder }: AskedFilter): NoteFilter {
  return {
    kinds: [...new Set(kinds)],
    tags: [...new Set(tags.map((tag) => normalizeTag(tag) ?? tag))],
    status: status?.trim().toLowerCase(),
    project: scope === "global" ? GLOBAL_SCOPE_ID : undefined,
    folder,
  };
}
