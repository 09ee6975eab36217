/** Files of the journal as texts, for tests of what is read from them and changed in them. */
import { type JournalDocument, readJournal } from "@/lib/journal/journal_document.ts";
import { JournalEdit } from "@/lib/journal/journal_edit.ts";
import type { JournalLanguage } from "@/lib/journal/journal_names.ts";
import { runAtOnce } from "@/lib/seams.ts";

export const TODAY = "2026-05-14";

/** Reads a text as a file. */
export function documentOf(text: string, path = "a.md"): JournalDocument {
  return runAtOnce(readJournal(path, new TextEncoder().encode(text)));
}

/** Returns a text as it is after some changes. */
export function edited(
  text: string,
  change: (edit: JournalEdit, document: JournalDocument) => void,
  language: JournalLanguage = "zh",
): string {
  const document = documentOf(text);
  const edit = new JournalEdit(document, { day: TODAY, language });
  change(edit, document);
  return edit.lines.apply();
}
