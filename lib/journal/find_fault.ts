/** Tells what keeps a file of the journal from being understood, by what its kind needs. */
import type { JournalDocument } from "./journal_document.ts";
import type { JournalReading } from "./journal_files.ts";
import { PROFILE_SECTIONS, RULES_SECTION } from "./journal_names.ts";
import type { JournalFile } from "./journal_templates.ts";
import { JournalNotUnderstood } from "./not_understood.ts";
import { requireParts } from "./open_edit.ts";
import { readProjectNote } from "./project_note.ts";

/** Returns why a file is left alone; `undefined` if it is understood, or not there. */
export function findFault(reading: JournalReading, kind: JournalFile["kind"]): string | undefined {
  if (reading.state === "absent") return undefined;
  if (reading.state === "unread") return reading.reason;
  try {
    requireUnderstood(reading.document, kind);
    return undefined;
  } catch (error) {
    if (!(error instanceof JournalNotUnderstood)) throw error;
    return error.message;
  }
}

function requireUnderstood(document: JournalDocument, kind: JournalFile["kind"]): void {
  requireParts(document, kind);
  if (kind === "profile") {
    for (const names of Object.values(PROFILE_SECTIONS)) document.find(names);
  }
  if (kind === "rules") document.find(RULES_SECTION);
  if (kind === "project") readProjectNote(document);
}
