/** Looks for files of the journal that are not understood: such are left alone, which people miss. */
import { type JournalDocument } from "@/lib/journal/journal_document.ts";
import { JournalNotUnderstood } from "@/lib/journal/not_understood.ts";
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
import { PROFILE_SECTIONS, RULES_SECTION } from "@/lib/journal/journal_names.ts";
import { requireParts } from "@/lib/journal/open_edit.ts";
import { readProjectNote } from "@/lib/journal/project_note.ts";
import type { VaultPath } from "@/lib/vault/vault_path.ts";

/** A file that is left alone. */
export interface JournalFault {
  readonly path: string;
  readonly line?: number;
  readonly message: string;
}

/** @throws {JournalNotUnderstood} If a file of its kind cannot be told apart safely. */
type Check = (document: JournalDocument) => void;

const CHECKS: readonly (readonly [path: VaultPath, check: Check])[] = [
  [PROFILE_PATH, checkProfile],
  [RULES_PATH, checkRules],
  [LOG_PATH, (document) => requireParts(document, "session-log")],
  [LOG_ARCHIVE_PATH, (document) => requireParts(document, "log-archive")],
  [AUDIT_LOG_PATH, (document) => requireParts(document, "audit-log")],
];

/** Returns the files of the journal that are there and not understood; archived projects too. */
export async function checkJournal(deps: JournalFilesDeps): Promise<JournalFault[]> {
  const notes = await listProjectNotes(deps.vault, PROJECT_NOTES);
  const archived = await listProjectNotes(deps.vault, ARCHIVED_NOTES);
  const projects = [...notes, ...archived].map((path) => [path, checkProject] as const);
  const faults: JournalFault[] = [];
  for (const [path, check] of [...CHECKS, ...projects]) {
    const reason = await findFault(deps, path, check);
    if (reason !== undefined) faults.push({ path, ...parseReason(reason) });
  }
  return faults;
}

async function findFault(
  deps: JournalFilesDeps,
  path: VaultPath,
  check: Check,
): Promise<string | undefined> {
  const reading = await readJournalFile(deps, path);
  if (reading.state === "absent") return undefined;
  if (reading.state === "unread") return reading.reason;
  try {
    check(reading.document);
    return undefined;
  } catch (error) {
    if (!(error instanceof JournalNotUnderstood)) throw error;
    return error.message;
  }
}

function checkProfile(document: JournalDocument): void {
  requireParts(document, "profile");
  for (const names of Object.values(PROFILE_SECTIONS)) document.find(names);
}

function checkRules(document: JournalDocument): void {
  requireParts(document, "rules");
  document.find(RULES_SECTION);
}

function checkProject(document: JournalDocument): void {
  requireParts(document, "project");
  readProjectNote(document);
}

function parseReason(reason: string): Omit<JournalFault, "path"> {
  const [, line, message] = /^line (\d+): (.*)$/s.exec(reason) ?? [];
  return line === undefined || message === undefined
    ? { message: reason }
    : { line: Number(line), message };
}
