/** Reads a project's note: where it stands, what was decided, what went wrong, what is history. */
import type { Block } from "@/lib/vault/markdown.ts";
import { allEntries, entriesIn } from "./all_entries.ts";
import { type Dated, readDated } from "./dated_items.ts";
import { type Entry, toEntries, toQuotedEntry } from "./entries.ts";
import { findHitMark } from "./hit_mark.ts";
import type { JournalDocument, Section } from "./journal_document.ts";
import { partNamed, PROJECT_SECTIONS, STATUS_LABELS, type StatusLabel } from "./journal_names.ts";

/** Ids of entries in project notes begin with it. */
export const PROJECT_PREFIX = "s";

/** A label in the current status, with what stands below it. */
export interface LabelledList {
  readonly line: number;
  /** Of its heading; 0 = it is none. */
  readonly level: number;
  /** Behind the label on its own line; from here on it is not the label any more. */
  readonly inlineFrom: number;
  readonly inline: string;
  /** The last line of the paragraph that goes on below it; its own line if none does. */
  readonly restEndLine: number;
  /** The list right below it; what stands behind another text is somebody else's. */
  readonly items: readonly Entry[];
  /** The paragraph that stands in place of a list. */
  readonly text: Pick<Block, "startLine" | "endLine"> | undefined;
}

export interface ProjectStatus {
  readonly section: Section;
  /** What it says in a sentence; `undefined` if it says nothing yet. */
  readonly sentence: Entry | undefined;
  readonly labels: Readonly<Partial<Record<StatusLabel, LabelledList>>>;
}

export interface DatedEntry extends Dated {
  readonly entry: Entry;
}

export interface ProjectNote {
  readonly document: JournalDocument;
  readonly overview: Section | undefined;
  readonly status: ProjectStatus | undefined;
  readonly pitfalls: Section | undefined;
  readonly history: Section | undefined;
  readonly entries: readonly Entry[];
}

/** Bold, a heading or a colon make a label of a line; what stands behind the colon is not part of it. */
const LABEL =
  /^(\s*(?:#{1,6}\s+)?[*_=]*([^：:*_=]+?)[*_=]*\s*(?:[（(][^（）()]*[)）]\s*)?[*_=]*(?:[：:]\s*[*_=]*|$))\s*(.*)$/u;
/** No label is longer; what stands behind it may be. */
const MAX_LABEL_CHARS = 200;
/** What a person has made a label of, whatever it says. */
const LIKE_A_LABEL = /^\s*(?:\*\*|__|==)|^\s*[^\s：:][^：:。，,.]{0,15}(?:：|:(?:\s|:|$))/u;

/**
 * Reads a project's note.
 *
 * @throws {JournalNotUnderstood} If two of its sections have the same name.
 */
export function readProjectNote(document: JournalDocument): ProjectNote {
  const entries = allEntries(document, PROJECT_PREFIX);
  const section = document.find(PROJECT_SECTIONS.status);
  return {
    document,
    overview: document.find(PROJECT_SECTIONS.overview),
    status: section && readStatus(document, section, entries),
    pitfalls: document.find(PROJECT_SECTIONS.pitfalls),
    history: document.find(PROJECT_SECTIONS.history),
    entries,
  };
}

/** Returns the entries of a section that are no placeholders, with their days. */
export function datedIn(note: ProjectNote, section: Section | undefined): DatedEntry[] {
  return section === undefined ? [] : toDated(entriesIn(note.entries, section));
}

/** Returns the decisions of the current status, with their days. */
export function decisionsOf({ labels }: ProjectStatus): DatedEntry[] {
  return toDated(labels.decisions?.items ?? []);
}

function toDated(entries: readonly Entry[]): DatedEntry[] {
  return entries
    .filter(({ isPlaceholder }) => !isPlaceholder)
    .map((entry) => ({ entry, ...readDated(entry.text) }));
}

function readStatus(
  document: JournalDocument,
  section: Section,
  entries: readonly Entry[],
): ProjectStatus {
  const labels = findLabels(document, section);
  const lists = labels.map((
    label,
  ) => [label.part, { ...label, ...below(document, label, entries) }]);
  return {
    section,
    sentence: findSentence(document, section, labels[0]?.line ?? Infinity),
    labels: Object.fromEntries(lists),
  };
}

interface FoundLabel extends Omit<LabelledList, "items" | "text"> {
  readonly part: StatusLabel;
  /** The block in which it stands ends here; another label may stand before. */
  readonly blockEndLine: number;
}

/** Each label once: a second one of the same name is the person's own. */
function findLabels(document: JournalDocument, { headingEndLine, endLine }: Section): FoundLabel[] {
  const found: FoundLabel[] = [];
  for (const block of document.blocksIn(headingEndLine + 1, endLine)) {
    if (block.kind !== "paragraph" && block.kind !== "heading") continue;
    for (let line = block.startLine; line <= block.endLine; line++) {
      const label = readLabel(document, line, block);
      if (label && found.every(({ part }) => part !== label.part)) found.push(label);
    }
  }
  return found;
}

function readLabel(document: JournalDocument, line: number, block: Block): FoundLabel | undefined {
  const text = document.line(line);
  const found = LABEL.exec(text.slice(0, MAX_LABEL_CHARS));
  // A sentence has a mark, labels have none.
  if (!found || findHitMark(text) !== undefined) return undefined;
  const [, label = "", name = ""] = found;
  const isHeading = block.kind === "heading";
  const part = isHeading || /[*_=：:]/.test(label) ? partNamed(name, STATUS_LABELS) : undefined;
  return part && {
    part,
    line,
    level: isHeading ? block.level ?? 0 : 0,
    inlineFrom: label.trimEnd().length,
    inline: text.slice(label.length).trim(),
    restEndLine: isHeading ? block.endLine : textEnd(document, line, block.endLine),
    blockEndLine: block.endLine,
  };
}

/** Returns the last line of a paragraph that goes on with a line: another label is not part of it. */
function textEnd(document: JournalDocument, line: number, endLine: number): number {
  let end = line;
  while (end < endLine && !LIKE_A_LABEL.test(document.line(end + 1))) end++;
  return end;
}

/** Returns what stands right below a label. */
function below(
  document: JournalDocument,
  { blockEndLine, restEndLine, line, level, inline }: FoundLabel,
  entries: readonly Entry[],
): Pick<LabelledList, "items" | "text"> {
  if (restEndLine < blockEndLine) return { items: [], text: undefined };
  const items: Entry[] = [];
  for (const block of document.blocks) {
    if (block.startLine <= blockEndLine || block.kind === "comment") continue;
    const entry = entries.find(({ startLine }) => startLine === block.startLine);
    const hasNothing = items.length === 0 && inline === "" && (restEndLine === line || level > 0);
    if (block.kind === "paragraph" && hasNothing && block.startLine < document.tailLine) {
      const isText = !LIKE_A_LABEL.test(document.line(block.startLine));
      return { items, text: isText ? block : undefined };
    }
    if (block.kind !== "item" || entry === undefined) break;
    items.push(entry);
  }
  return { items, text: undefined };
}

/** Returns the first words of the section, unless a label stands before them. */
function findSentence(
  document: JournalDocument,
  { headingEndLine, endLine }: Section,
  firstLabel: number,
): Entry | undefined {
  const blocks = document.blocksIn(headingEndLine + 1, Math.min(endLine, document.note.lineCount));
  const block = blocks.find(({ kind }) => !["html", "comment", "quote"].includes(kind));
  if (block === undefined || block.startLine >= firstLabel) {
    const quote = blocks.find((it) => it.kind === "quote" && it.startLine < firstLabel);
    return quote && toQuotedEntry(document, quote, PROJECT_PREFIX);
  }
  const { kind, startLine } = block;
  // A label right below a sentence, without a blank line, is not part of it.
  const end = kind === "paragraph" ? textEnd(document, startLine, block.endLine) : block.endLine;
  const cut = { ...block, endLine: Math.min(end, firstLabel - 1) };
  const [entry] = toEntries(document, [cut], PROJECT_PREFIX);
  return entry && entry.mark === undefined && isLabel(entry) ? undefined : entry;
}

/** The person's own label is no sentence, nor is one of ours that stands in a list. */
function isLabel({ text }: Entry): boolean {
  const name = LABEL.exec(text.slice(0, MAX_LABEL_CHARS))?.[2] ?? "";
  return /[：:][*_\s]*$/u.test(text) ||
    /[：:]/.test(text) && partNamed(name, STATUS_LABELS) !== undefined;
}
