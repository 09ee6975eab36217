/** Opens a file of the journal to be changed: as it is, or as a new one is where there is none. */
import { parseNote } from "@/lib/vault/note.ts";
import type { Change } from "@/lib/vault/vault_writer.ts";
import { readLog } from "./dated_log.ts";
import { type JournalDocument, readJournal } from "./journal_document.ts";
import { JournalNotUnderstood } from "./not_understood.ts";
import { JournalEdit, languageOfSections } from "./journal_edit.ts";
import type { JournalReading } from "./journal_files.ts";
import {
  type JournalLanguage,
  type PartNames,
  PROFILE_SECTIONS,
  PROJECT_SECTIONS,
  RULES_SECTION,
  STATUS_LABELS,
} from "./journal_names.ts";
import { type JournalFile, newJournalText } from "./journal_templates.ts";
import { lineEndingOf } from "./line_edits.ts";

/** All that shows in which language a file is. */
const PARTS: readonly PartNames[] = [
  ...Object.values(PROFILE_SECTIONS),
  ...Object.values(PROJECT_SECTIONS),
  ...Object.values(STATUS_LABELS),
  RULES_SECTION,
];

/**
 * Opens a file that was read; an empty one keeps its frontmatter, and gets what a new one holds.
 *
 * @throws {JournalNotUnderstood} If it is not understood: such a file is left alone.
 */
export function* openEdit(
  reading: JournalReading,
  file: JournalFile,
  { day, language }: { readonly day: string; readonly language: JournalLanguage },
): Generator<void, JournalEdit> {
  if (reading.state === "unread") throw new JournalNotUnderstood({ message: reading.reason });
  const document = yield* toDocument(reading, newJournalText(file, { day, language }));
  requireParts(document, file.kind);
  const own = languageOfSections(document, PARTS);
  return new JournalEdit(document, { day, language: own ?? language });
}

/** Returns what an edit changes; `undefined` if the file stays as it is. */
export function toChange(reading: JournalReading, { lines }: JournalEdit): Change | undefined {
  if (lines.isEmpty || reading.state === "unread") return undefined;
  const bytes = new TextEncoder().encode(lines.apply());
  if (reading.state === "read" && isSameBytes(reading.bytes, bytes)) return undefined;
  return { path: reading.path, bytes, expected: reading.etag };
}

function isSameBytes(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && a.every((byte, index) => byte === b[index]);
}

/** Tells the language in which a file names its parts; `undefined` if it does not show one. */
export function languageOfDocument(document: JournalDocument): JournalLanguage | undefined {
  return languageOfSections(document, PARTS);
}

/**
 * Tells whether a file has the parts by which its kind is known, or at least room for them.
 *
 * @throws {JournalNotUnderstood} If it is a text of some other kind.
 */
export function requireParts(document: JournalDocument, kind: JournalFile["kind"]): void {
  if (document.sections.length > 0 || document.isEmpty) return;
  const isLog = kind === "session-log" || kind === "log-archive" || kind === "audit-log";
  if (isLog && readLog(document).length > 0) return;
  throw new JournalNotUnderstood(isLog ? "noLog" : "noHeading");
}

function* toDocument(
  reading: Exclude<JournalReading, { state: "unread" }>,
  template: string,
): Generator<void, JournalDocument> {
  const encode = (text: string) => new TextEncoder().encode(text);
  const { path } = reading;
  if (reading.state === "absent") return yield* readJournal(path, encode(template));
  if (!reading.document.isEmpty) return reading.document;
  const parsed = yield* parseNote(path, reading.bytes);
  const head = parsed?.text.text.trimEnd() ?? "";
  const bom = parsed?.text.bom ? "\ufeff" : "";
  const eol = lineEndingOf({ text: head });
  const whole = head === "" ? template : `${head}\n\n${template}`;
  return yield* readJournal(path, encode(bom + whole.replaceAll(/\r\n|[\r\n]/g, eol)));
}
