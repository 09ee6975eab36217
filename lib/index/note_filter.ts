/** From what callers say to what the index compares. */
import type { NoteKind } from "@/lib/contracts.ts";
import { normalizeTag } from "@/lib/vault/tags.ts";
import type { NoteFilter } from "./orama.ts";

/** What is asked for, as it came. */
export interface AskedFilter {
  /** As `NoteFilter` has it. */
  readonly projects: readonly string[] | undefined;
  readonly kinds: readonly NoteKind[];
  readonly tags: readonly string[];
  readonly status: string | undefined;
  /** As `NoteFilter` has it. */
  readonly folder?: string | undefined;
  /** As `NoteFilter` has it. */
  readonly maySee?: NoteFilter["maySee"];
}

/** Writes tags and status as the index keeps them, each once. */
export function toNoteFilter(
  { projects, kinds, tags, status, folder, maySee }: AskedFilter,
): NoteFilter {
  return {
    kinds: [...new Set(kinds)],
    tags: [...new Set(tags.map((tag) => normalizeTag(tag) ?? tag))],
    status: status?.trim().toLowerCase(),
    projects,
    folder,
    maySee,
  };
}
