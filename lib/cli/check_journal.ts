/** Looks for files of the journal that are not understood: such are left alone, which people miss. */
import { findFault } from "@/lib/journal/find_fault.ts";
import {
  ARCHIVED_NOTES,
  AUDIT_LOG_PATH,
  type JournalFilesDeps,
  listProjectNotes,
  LOG_ARCHIVE_PATH,
  LOG_PATH,
  PROFILE_PATH,
  PROJECT_NOTES,
  readJournalFile,
  RULES_PATH,
} from "@/lib/journal/journal_files.ts";
import type { JournalFile } from "@/lib/journal/journal_templates.ts";
import { parseReason } from "@/lib/journal/not_understood.ts";
import type { VaultPath } from "@/lib/vault/vault_path.ts";

/** A file that is left alone. */
export interface JournalFault {
  readonly path: string;
  readonly line?: number;
  readonly message: string;
}

const OWN_FILES: readonly (readonly [path: VaultPath, kind: JournalFile["kind"]])[] = [
  [PROFILE_PATH, "profile"],
  [RULES_PATH, "rules"],
  [LOG_PATH, "session-log"],
  [LOG_ARCHIVE_PATH, "log-archive"],
  [AUDIT_LOG_PATH, "audit-log"],
];

/** Returns the files of the journal that are there and not understood; archived projects too. */
export async function checkJournal(deps: JournalFilesDeps): Promise<JournalFault[]> {
  const notes = await listProjectNotes(deps.vault, PROJECT_NOTES);
  const archived = await listProjectNotes(deps.vault, ARCHIVED_NOTES);
  const projects = [...notes, ...archived].map((path) => [path, "project"] as const);
  const faults: JournalFault[] = [];
  for (const [path, kind] of [...OWN_FILES, ...projects]) {
    const reason = findFault(await readJournalFile(deps, path), kind);
    if (reason !== undefined) faults.push({ path, ...parseReason(reason) });
  }
  return faults;
}
