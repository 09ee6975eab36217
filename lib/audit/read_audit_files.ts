/** Reads all of the journal that an audit is about, and nothing else. */
import {
  ARCHIVED_NOTES,
  AUDIT_LOG_PATH,
  explainNoNotes,
  type JournalFilesDeps,
  type JournalReading,
  listProjectNotes,
  LOG_ARCHIVE_PATH,
  LOG_PATH,
  PROFILE_PATH,
  PROJECT_NOTES,
  readJournalFile,
  RULES_PATH,
} from "@/lib/journal/journal_files.ts";
import type { VaultPath } from "@/lib/vault/vault_path.ts";

export interface AuditFiles {
  readonly readings: ReadonlyMap<VaultPath, JournalReading>;
  /** Of projects that are not archived. */
  readonly active: readonly VaultPath[];
  readonly archived: readonly VaultPath[];
  /** Why no note of a project could be looked at. */
  readonly noNotes?: string;
}

/** Reads them one after another, so that other work gets its turns. */
export async function readAuditFiles(
  deps: JournalFilesDeps,
  signal?: AbortSignal,
): Promise<AuditFiles> {
  const active = await listProjectNotes(deps.vault, PROJECT_NOTES);
  const archived = await listProjectNotes(deps.vault, ARCHIVED_NOTES);
  const own = [PROFILE_PATH, RULES_PATH, LOG_PATH, LOG_ARCHIVE_PATH, AUDIT_LOG_PATH];
  const readings = new Map<VaultPath, JournalReading>();
  for (const path of [...own, ...active, ...archived]) {
    signal?.throwIfAborted();
    readings.set(path, await readJournalFile(deps, path));
  }
  const noNotes = explainNoNotes(deps.vault);
  return { readings, active, archived, ...(noNotes === undefined ? {} : { noNotes }) };
}

/** What tells states of files apart; `undefined` of one that nobody may read. */
export type Etags = ReadonlyMap<VaultPath, string | undefined>;

/** Returns what is needed to tell later whether files are still the same. */
export function etagsOf(readings: AuditFiles["readings"]): Etags {
  return new Map([...readings].map(([path, { etag }]) => [path, etag]));
}

/** Tells whether the files are the same that they were, each with the same content. */
export function isUnchanged(before: Etags, now: AuditFiles["readings"]): boolean {
  return before.size === now.size &&
    [...before].every(([path, etag]) => now.get(path)?.etag === etag);
}
