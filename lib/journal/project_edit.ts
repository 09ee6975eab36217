/**
 * Changes of a project's note. What stood there is moved or kept, but for the sentence on the status
 * and the next start, which are about now: those are replaced.
 */
import { saysSomething } from "./_block_kinds.ts";
import { isSaid, orderOf } from "./dated_items.ts";
import { areTasks, type Entry, leadsOf, toEntries } from "./entries.ts";
import {
  asParagraph,
  endOfSaid,
  type JournalEdit,
  lastTextLine,
  ownEndLine,
} from "./journal_edit.ts";
import { PROJECT_SECTIONS, STATUS_LABELS, type StatusLabel, titleOf } from "./journal_names.ts";
import { formatLabel } from "./journal_templates.ts";
import { datedIn, decisionsOf, type LabelledList, type ProjectNote } from "./project_note.ts";
import {
  datedBy,
  formatDated,
  orderIn,
  planStatus,
  type StatusChange,
  type StatusPlan,
} from "./status_plan.ts";

/** What is to be said of a project; what is absent stays as it is. */
export interface ProjectChange extends StatusChange {
  readonly overview?: string | undefined;
  readonly pitfalls: readonly string[];
}

export interface ProjectOutcome {
  readonly decisions: number;
  readonly pitfalls: number;
  /** How many decisions have become history. */
  readonly archived: number;
  /** By how much the current status is longer than it may be, for reasons that lie in the file. */
  readonly over: number;
}

/**
 * Writes what is new into a project's note.
 *
 * @throws {InvalidRequest} If the new status, decisions and next start are together longer than the
 * current status may be.
 */
export function editProject(
  edit: JournalEdit,
  note: ProjectNote,
  change: ProjectChange,
): ProjectOutcome {
  const { day } = edit;
  const decided = decisionsNewTo(note, change, day);
  const plan = planStatus(note, { ...change, decisions: decided }, edit);
  const order = orderIn(note);
  setOverview(edit, note, change.overview);
  const isStatusNew = change.status !== undefined || decided.length > 0 || change.next.length > 0;
  if (note.status === undefined) {
    if (isStatusNew) addStatus(edit, note, { ...change, decisions: plan.fresh });
  } else {
    setSentence(edit, note.status, change.status);
    if (isStatusNew) markStatus(edit, note.status);
    addDecisions(edit, note.status, { plan, order });
    setNext(edit, note.status, change.next);
  }
  for (const { startLine, endLine } of plan.leaving) edit.lines.removeLines(startLine, endLine);
  const pitfalls = pitfallsNewTo(note, change, day);
  addTo(edit, note, {
    part: "pitfalls",
    texts: pitfalls.map((text) => formatDated(datedBy(day, text), edit.language)),
  });
  addTo(edit, note, {
    part: "history",
    texts: [...plan.leaving.map((entry) => wholeText(edit, entry)), ...plan.passed],
  });
  return {
    decisions: decided.length,
    pitfalls: pitfalls.length,
    archived: plan.leaving.length + plan.passed.length,
    over: plan.over,
  };
}

/** Who says the same again on the same day, as after a lost answer, has said it. */
function decisionsNewTo(note: ProjectNote, { decisions }: ProjectChange, day: string): string[] {
  const there = [
    ...(note.status ? decisionsOf(note.status) : []),
    ...datedIn(note, note.history),
  ].map(({ entry }) => entry);
  return distinct(decisions).filter((text) => !isSaid(there, datedBy(day, text)));
}

function pitfallsNewTo(note: ProjectNote, { pitfalls }: ProjectChange, day: string): string[] {
  const there = datedIn(note, note.pitfalls).map(({ entry }) => entry);
  return distinct(pitfalls).filter((text) => !isSaid(there, datedBy(day, text)));
}

function distinct(texts: readonly string[]): string[] {
  return [...new Set(texts)];
}

function setOverview(edit: JournalEdit, note: ProjectNote, text: string | undefined): void {
  if (text === undefined) return;
  const { document } = edit;
  const { overview } = note;
  if (overview === undefined) {
    const heading = `${"#".repeat(levelIn(note))} ${
      titleOf(PROJECT_SECTIONS.overview, edit.language)
    }`;
    edit.insertParted(introEndLine(edit), [heading, asParagraph(text)]);
    return;
  }
  const [first] = document.ownBlocks(overview).filter(({ kind }) => kind === "paragraph");
  const [entry] = first === undefined ? [] : toEntries(document, [first], "");
  if (entry === undefined) edit.insertBelow(overview.headingEndLine, [asParagraph(text)]);
  else edit.rewrite(entry, text, "unmarked");
}

type Status = NonNullable<ProjectNote["status"]>;

function setSentence(edit: JournalEdit, status: Status, text: string | undefined): void {
  if (text === undefined) return;
  const { sentence, section } = status;
  if (sentence !== undefined) edit.rewrite(sentence, text);
  else edit.insertBelow(section.headingEndLine, [asParagraph(text) + edit.markFor(edit.day)]);
}

/** What is written counts as hit, and the mark of the whole status stands behind its sentence. */
function markStatus(edit: JournalEdit, { sentence }: Status): void {
  if (sentence && !sentence.isPlaceholder) edit.markHit(sentence, edit.day);
}

function addDecisions(
  edit: JournalEdit,
  status: Status,
  { plan, order }: { readonly plan: StatusPlan; readonly order: "newest-first" | "oldest-first" },
): void {
  if (plan.fresh.length === 0) return;
  const label = status.labels.decisions;
  if (label === undefined) {
    const lines = plan.fresh.map((text) => `- ${text}`);
    edit.insertParted(lineForLabel(edit, status), [labelFor(edit, status, "decisions"), ...lines]);
    return;
  }
  edit.addToList(label.items, plan.fresh, {
    place: order === "newest-first" ? "first" : "last",
    whenEmpty: () => ({ line: label.restEndLine }),
  });
}

function setNext(edit: JournalEdit, status: Status, texts: readonly string[]): void {
  if (texts.length === 0) return;
  const { document, lines } = edit;
  const label = status.labels.next;
  if (label === undefined) {
    const items = texts.map((text) => `- ${text}`);
    edit.insertParted(lineForLabel(edit, status, status.labels.decisions), [
      labelFor(edit, status, "next"),
      ...items,
    ]);
    return;
  }
  const { line, inline, inlineFrom, restEndLine, items, text, level } = label;
  if (inline !== "" && level === 0) {
    lines.replacePart(line, { from: inlineFrom, to: document.line(line).length }, "");
  }
  const lead = leadsOf(document, items, "first");
  const box = areTasks(document, items) ? "[ ] " : "";
  const written = texts.map((said, index) => lead(index) + box + said);
  const from = level > 0 ? restEndLine : line;
  const after = (text?.endLine ?? restEndLine) + 1;
  // What follows without a blank line would become part of the last item.
  const isApart = after > document.note.lineCount || document.line(after).trim() === "" ||
    items[0]?.startLine === after || /^#{1,6}\s/.test(document.line(after));
  lines.insertAfter(from, isApart ? written : [...written, ""]);
  if (restEndLine > from) lines.removeLines(from + 1, restEndLine);
  if (text !== undefined) lines.removeLines(restEndLine + 1, text.endLine);
  for (const { startLine, endLine } of items) lines.removeLines(startLine, endLine);
}

/** Behind what the current status says itself, or behind the label that comes before. */
function lineForLabel(
  { document }: JournalEdit,
  { section, labels }: Status,
  before?: LabelledList,
): number {
  const last = before?.items.at(-1);
  if (last) return lastTextLine(document, last.startLine, last.endLine);
  if (before) return before.restEndLine;
  const next = labels.next?.line ?? Infinity;
  const own = document.ownBlocks(section)
    .findLast((block) => block.startLine < next && saysSomething(block));
  const end = Math.min(own?.endLine ?? 0, next - 1);
  return own === undefined ? section.headingEndLine : lastTextLine(document, own.startLine, end);
}

/** As the other label of the note stands there: in bold, or as a heading. */
function labelFor(edit: JournalEdit, { labels }: Status, part: StatusLabel): string {
  const level = Math.max(0, ...Object.values(labels).map((label) => label.level));
  const title = titleOf(STATUS_LABELS[part], edit.language);
  return level > 0 ? `${"#".repeat(level)} ${title}` : formatLabel(part, edit.language);
}

/** Returns the level of the sections that the note has, that of a new one if it has none. */
function levelIn({ overview, status, pitfalls, history }: ProjectNote): number {
  const [first] = [status?.section, pitfalls, history, overview].flatMap((it) => it ?? []);
  return first?.level ?? 2;
}

/** Returns the last line of what stands below the title and above the first section. */
function introEndLine({ document }: JournalEdit): number {
  const title = document.sections.find(({ level }) => level === 1);
  if (title === undefined) return document.headEndLine;
  return endOfSaid(document, document.ownBlocks(title)) ?? title.headingEndLine;
}

/** A note without a current status gets one, before what went wrong. */
function addStatus(edit: JournalEdit, note: ProjectNote, change: ProjectChange): void {
  const { day } = edit;
  const { status, decisions, next } = change;
  const label = (part: "decisions" | "next", texts: readonly string[]) => [
    "",
    formatLabel(part, edit.language),
    ...texts.map((text) => `- ${text}`),
  ];
  const lines = [
    `${"#".repeat(levelIn(note))} ${titleOf(PROJECT_SECTIONS.status, edit.language)}`,
    ...(status === undefined ? [] : [asParagraph(status) + edit.markFor(day)]),
    ...(decisions.length > 0 ? label("decisions", decisions) : []),
    ...(next.length > 0 ? label("next", next) : []),
  ];
  const line = note.overview ? ownEndLine(edit.document, note.overview) : introEndLine(edit);
  edit.insertParted(line, lines);
}

function addTo(
  edit: JournalEdit,
  note: ProjectNote,
  { part, texts }: { readonly part: "pitfalls" | "history"; readonly texts: readonly string[] },
): void {
  if (texts.length === 0) return;
  const section = note[part];
  if (section === undefined) {
    const before = part === "pitfalls" ? note.status?.section : undefined;
    const afterLine = before === undefined ? edit.endOfContent : ownEndLine(edit.document, before);
    edit.addSection(PROJECT_SECTIONS[part], texts, { afterLine, level: levelIn(note) });
    return;
  }
  const order = orderOf(datedIn(note, section).map(({ day }) => day));
  edit.addItems(section, texts, order === "newest-first" ? "first" : "last");
}

/** What an entry says with all that is nested in it, its marker taken off. */
function wholeText({ document, eol }: JournalEdit, { startLine, endLine }: Entry): string {
  const lines = document.lines(startLine, endLine);
  while (lines.length > 1 && lines.at(-1)?.trim() === "") lines.pop();
  const [first = "", ...rest] = lines;
  const marker = /^\s*(?:[-*+]|\d{1,9}[.)])\s+/.exec(first)?.[0] ?? "";
  // For a marker of two columns: further right, what is nested would become code.
  const more = " ".repeat(Math.max(0, marker.length - 2));
  return [
    first.slice(marker.length),
    ...rest.map((line) => line.startsWith(more) ? line.slice(more.length) : line),
  ].join(eol);
}
