/**
 * Logs: `session-log.md`, its archive, `audit-log.md`. An entry is a line that begins with a day; a
 * person may have made a list or a table of them, and may write what they like between.
 */
import { dayOf, isRealDay } from "@/lib/time_text.ts";
import { isHiding } from "./_block_kinds.ts";
import { newestFirst, orderOf } from "./dated_items.ts";
import type { JournalDocument } from "./journal_document.ts";
import type { JournalEdit } from "./journal_edit.ts";

export interface LogEntry {
  readonly day: string;
  /** Behind the day, as it stands: `type | summary`. */
  readonly text: string;
  readonly startLine: number;
  /** With indented lines below it. */
  readonly endLine: number;
  /** What stands before the day, and is part of every such line: a bullet, a table's bar. */
  readonly lead: string;
}

const ENTRY =
  /^(\s*(?:(?:[-*+]|\d{1,9}[.)])\s+(?:\[[^[\]]\]\s+)?|\|\s*)?)[*_[]*(\d{4})[-/.年](\d{1,2})[-/.月](\d{1,2})日?[*_\]]*\s*[|｜]\s*(.*?)\s*$/u;

/** Reads the entries of a log; lines in code are none. */
export function readLog(document: JournalDocument): LogEntry[] {
  const found: LogEntry[] = [];
  const { lineCount } = document.note;
  const hidden = document.blocks.filter(isHiding);
  let next = 0;
  for (let line = 1; line <= lineCount; line++) {
    while ((hidden[next]?.endLine ?? Infinity) < line) next++;
    if ((hidden[next]?.startLine ?? Infinity) <= line) continue;
    const entry = readEntry(document, line);
    if (entry) found.push(entry);
  }
  return found;
}

/** Returns the newest day of a log. */
export function newestDay(entries: readonly LogEntry[]): string | undefined {
  return entries.map(({ day }) => day).sort().at(-1);
}

/** Tells which entries are too many for a log that keeps some: the oldest, oldest first. */
export function oldestBeyond(entries: readonly LogEntry[], kept: number): LogEntry[] {
  const order = orderOfLog(entries) ?? "oldest-first";
  return newestFirst(entries, order).slice(kept).reverse();
}

/**
 * Adds entries.
 *
 * @param place `end` of the file, or `top`: before the entry that stands first.
 */
export function addToLog(
  edit: JournalEdit,
  entries: readonly LogEntry[],
  { texts, place }: { readonly texts: readonly string[]; readonly place: "end" | "top" },
): void {
  if (texts.length === 0) return;
  const { lines } = edit;
  const model = place === "end" ? entries.at(-1) : entries[0];
  const lead = model?.lead ?? "";
  const written = texts.map((text, index) =>
    lead.includes("|")
      ? `${lead}${toCells(text)} |`
      : (place === "end" ? nextLead(lead, index + 1) : lead) + text
  );
  if (model === undefined) insertFirst(edit, written);
  else lines.insertAfter(place === "end" ? model.endLine : model.startLine - 1, written);
}

/** Tells in which order a log stands; `undefined` if it does not show. */
export function orderOfLog(entries: readonly LogEntry[]): ReturnType<typeof orderOf> {
  return orderOf(entries.map(({ day }) => day));
}

/** Puts entries of a log into its archive, as they stand there. */
export function addToArchive(
  edit: JournalEdit,
  log: JournalDocument,
  entries: readonly LogEntry[],
): void {
  const texts = entries.map((entry) => movableText(log, entry).join(edit.eol));
  addToLog(edit, readLog(edit.document), { texts, place: "end" });
}

/** Returns the lines of an entry without what only its own log needs before and behind it. */
export function movableText(
  document: JournalDocument,
  { lead, startLine, endLine }: LogEntry,
): string[] {
  const [first = "", ...more] = document.lines(startLine, endLine);
  const own = first.slice(lead.length);
  return [lead.includes("|") ? fromCells(own) : own, ...more];
}

/** Takes entries out of a log. */
export function removeFromLog({ lines }: JournalEdit, entries: readonly LogEntry[]): void {
  for (const { startLine, endLine } of entries) lines.removeLines(startLine, endLine);
}

/** Writes an entry as a log without lists and tables has it. */
export function formatLogEntry({ day, text }: Pick<LogEntry, "day" | "text">): string {
  return `${day} | ${text}`;
}

/** Behind a heading, or a person's words, a blank line shows that a list of entries begins. */
function insertFirst(edit: JournalEdit, written: readonly string[]): void {
  const { document, endOfContent } = edit;
  const isBlankNext = endOfContent < document.note.lineCount &&
    document.line(endOfContent + 1).trim() === "";
  // A rule right below an entry would make a heading of it.
  if (isBlankNext) edit.insertBelow(endOfContent + 1, written);
  else edit.insertBelow(endOfContent, endOfContent === 0 ? written : ["", ...written]);
}

/** Day, type, summary: a bar within the last would begin another cell. */
function toCells(text: string): string {
  const [day = "", kind, ...summary] = text.split("|");
  return [day, ...(kind === undefined ? [] : [kind]), ...cellOf(summary)].join("|");
}

function cellOf(parts: readonly string[]): string[] {
  return parts.length === 0 ? [] : [parts.join("\\|")];
}

function fromCells(text: string): string {
  return text.replace(/\s*(?<!\\)\|\s*$/, "").replaceAll("\\|", "|");
}

/** The number of the nth item behind one. */
function nextLead(lead: string, nth: number): string {
  return lead.replace(/\d+/, (number) => String(Number(number) + nth));
}

function readEntry(document: JournalDocument, line: number): LogEntry | undefined {
  const found = ENTRY.exec(document.line(line));
  if (!found) return undefined;
  const [, lead = "", year = "", month = "", date = "", rest = ""] = found;
  const day = dayOf(year, month, date);
  if (!isRealDay(day)) return undefined;
  const text = lead.includes("|") ? fromCells(rest) : rest;
  return { day, text, startLine: line, endLine: endOf(document, line), lead };
}

function endOf(document: JournalDocument, line: number): number {
  let end = line;
  while (/^[ \t]+\S/.test(document.line(end + 1)) && !ENTRY.test(document.line(end + 1))) end++;
  return end;
}
