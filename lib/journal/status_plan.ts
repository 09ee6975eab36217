/** What of a project's current status stays there, and what makes room for the new. */
import { InvalidRequest } from "@/lib/errors.ts";
import { countWords } from "./count_words.ts";
import { type Dated, newestFirst, orderOf, readDated } from "./dated_items.ts";
import type { Entry } from "./entries.ts";
import type { JournalLanguage } from "./journal_names.ts";
import { MAX_DECISIONS, MAX_STATUS_CHARS } from "./journal_templates.ts";
import { decisionsOf, type ProjectNote } from "./project_note.ts";

/** What is to be said in the current status; what is absent stays as it is. */
export interface StatusChange {
  readonly status?: string | undefined;
  /** In the order in which they were made. */
  readonly decisions: readonly string[];
  /** Takes the place of what stood there. */
  readonly next: readonly string[];
}

interface PlannedDecision extends Dated {
  /** Absent for one of this change. */
  readonly entry: Entry | undefined;
}

/** What of the current status is going to stand there. */
export interface StatusPlan {
  /** Those of this change that stay in the status, in the order of the list. */
  readonly fresh: readonly string[];
  /** Those of this change for which it has no room, oldest first. */
  readonly passed: readonly string[];
  /** Those that leave the status, oldest first. */
  readonly leaving: readonly Entry[];
  readonly over: number;
}

/** Tells in which order decisions stand: where a note does not show it, the newest comes first. */
export function orderIn({ status }: ProjectNote): "newest-first" | "oldest-first" {
  const days = status ? decisionsOf(status).map(({ day }) => day) : [];
  return orderOf(days) ?? "newest-first";
}

/**
 * Decides what stays in the status: the newest three, and no more of them than it has room for.
 *
 * @throws {InvalidRequest} If what is new is longer than all of it may be.
 */
export function planStatus(
  note: ProjectNote,
  change: StatusChange,
  { day, language }: { readonly day: string; readonly language: JournalLanguage },
): StatusPlan {
  const order = orderIn(note);
  const there = note.status ? decisionsOf(note.status) : [];
  const isTouched = change.status !== undefined || change.decisions.length > 0 ||
    change.next.length > 0;
  if (!isTouched) return { fresh: [], passed: [], leaving: [], over: 0 };
  const fresh = [...change.decisions].reverse()
    .map((said) => ({ ...datedBy(day, said), entry: undefined }));
  const all = newestFirst<PlannedDecision>(
    [...fresh, ...newestFirst(there, order)],
    "newest-first",
  );
  const fixed = lengthAround(note, change);
  let kept = change.decisions.length === 0 ? all.length : Math.min(MAX_DECISIONS, all.length);
  const lengthOf = (count: number) =>
    all.slice(0, count).reduce((sum, { text }) => sum + countWords(text), fixed);
  while (kept > 1 && lengthOf(kept) > MAX_STATUS_CHARS) kept--;
  requireShort(change);
  const staying = all.slice(0, kept);
  const leaving = all.slice(kept).reverse();
  const inList = staying.flatMap((it) => it.entry ? [] : [formatDated(it, language)]);
  return {
    fresh: order === "newest-first" ? inList : inList.reverse(),
    passed: leaving.flatMap((it) => it.entry ? [] : [formatDated(it, language)]),
    leaving: leaving.flatMap(({ entry }) => entry ?? []),
    over: Math.max(0, lengthOf(kept) - MAX_STATUS_CHARS),
  };
}

/** The length of what stands in the status beside its decisions, once the change is made. */
function lengthAround({ status }: ProjectNote, change: StatusChange): number {
  const sentence = change.status ?? said(status?.sentence);
  const next = change.next.length > 0
    ? change.next
    : (status?.labels.next?.items ?? []).map((item) => said(item));
  return countWords([sentence, ...next].join(" "));
}

function said(entry: Entry | undefined): string {
  return entry === undefined || entry.isPlaceholder ? "" : entry.text;
}

/** What the change itself brings has to fit, whatever stands there. */
function requireShort({ status = "", decisions, next }: StatusChange): void {
  const [newest = ""] = decisions.slice(-1);
  const words = countWords([status, newest, ...next].join(" "));
  if (words <= MAX_STATUS_CHARS) return;
  const message =
    `would make the current status ${words} characters long (words, of English), of ` +
    `${MAX_STATUS_CHARS} that it may have: shorten status, decisions and next`;
  throw new InvalidRequest(`Nothing was written: this ${message}`, [
    { field: "status", message },
  ]);
}

/** Dates a text by a day, unless it says itself on which day it was, not later than that. */
export function datedBy(day: string, said: string): Dated {
  const dated = readDated(said);
  return dated.day !== "" && dated.day <= day && dated.text !== "" ? dated : { day, text: said };
}

/** Writes an item that begins with its day. */
export function formatDated({ day, text }: Dated, language: JournalLanguage): string {
  return language === "zh" ? `${day}：${text}` : `${day}: ${text}`;
}
