/**
 * Entries: the items and paragraphs of which sections are made. Each has an id that follows from its
 * own words alone, so that it stays the same whatever else is changed in the file.
 */
import { shortHash } from "@/lib/short_hash.ts";
import type { Block } from "@/lib/vault/markdown.ts";
import { findHitMark, type FoundMark, isMarkLine, withoutHitMarks } from "./hit_mark.ts";
import type { JournalDocument, Section } from "./journal_document.ts";
import { isPlaceholder } from "./journal_templates.ts";

export interface Entry {
  /** Of its words alone; a letter and six digits. */
  readonly id: string;
  /** What it says, on one line, without marker and mark; nested lists are not part of it. */
  readonly text: string;
  readonly startLine: number;
  /** The last line of its own words. */
  readonly textEndLine: number;
  /** Its last line, with what is nested in it. */
  readonly endLine: number;
  readonly mark: (FoundMark & { readonly line: number }) | undefined;
  /** True for what a template has in place of an entry. */
  readonly isPlaceholder: boolean;
}

const ID_DIGITS = 6;
/** Bullets, numbers and check boxes. */
const MARKER = /^\s*(?:[-*+]|\d{1,9}[.)])(?:\s+\[[^[\]]\](?=\s|$))?(?:\s+|$)/;
const BOX = /^\s*(?:[-*+]|\d{1,9}[.)])\s+\[[^[\]]\](?=\s|$)/;
const PLAIN_MARKER = /^(\s*)(?:([-*+])|(\d{1,9})([.)]))(\s*)/;
/** Obsidian's name for a block, to which links may lead. */
const BLOCK_ID = /(?:^|\s)\^[A-Za-z0-9-]+\s*$/;
const QUOTE = /^\s*(?:>\s?)+/;
const COMMENTS = /<!--.*?-->|%%.*?%%/g;

/** Reads the entries of a section, in their order. */
export function readEntries(
  document: JournalDocument,
  section: Section,
  prefix: string,
): Entry[] {
  const blocks = document.ownBlocks(section);
  return toEntries(document, blocks, prefix);
}

/** Makes entries of those blocks that are items or paragraphs. */
export function toEntries(
  document: JournalDocument,
  blocks: readonly Block[],
  prefix: string,
): Entry[] {
  const seen = new Map<string, number>();
  return blocks
    .filter(({ kind }) => kind === "item" || kind === "paragraph")
    .map((block) => toEntry(document, block, (text) => nextId(seen, prefix, text)));
}

/**
 * Returns what the nth new item of a list begins with, up to where its words do: as the items beside
 * it have it, since one that stands further left or right would not be their sibling.
 */
export function leadsOf(
  document: JournalDocument,
  items: readonly Entry[],
  place: "first" | "last",
): (index: number) => string {
  const model = items.at(place === "first" ? 0 : -1);
  const found = model && PLAIN_MARKER.exec(document.line(model.startLine));
  if (!found) return () => "- ";
  const [, indent = "", bullet, number = "", behind = "", blanks = ""] = found;
  const gap = /^ {1,4}$/.test(blanks) ? blanks : " ";
  if (bullet !== undefined) return () => indent + bullet + gap;
  const from = Number(number) + (place === "first" ? 0 : 1);
  return (index) => `${indent}${from + (place === "first" ? 0 : index)}${behind}${gap}`;
}

/** Tells whether each of some items has a check box. */
export function areTasks(document: JournalDocument, items: readonly Entry[]): boolean {
  return items.length > 0 && items.every(({ startLine }) => BOX.test(document.line(startLine)));
}

/** Returns a line without the name that Obsidian's links know it by. */
export function withoutBlockId(line: string): string {
  return line.replace(BLOCK_ID, "");
}

/** Returns the name of an entry that Obsidian's links know it by, with its blank. */
export function blockIdOf(document: JournalDocument, { text, textEndLine }: Entry): string {
  const found = BLOCK_ID.exec(document.line(textEndLine))?.[0].trim();
  return found === undefined || found === text ? "" : ` ${found}`;
}

/** Returns a text without comments on one line, of either kind. */
export function withoutComments(text: string): string {
  return text.replace(COMMENTS, "");
}

/** Returns what a line says, without the marker of its item. */
export function withoutMarker(line: string): string {
  return line.replace(MARKER, "");
}

/** Returns where the words of an item's first line, or of a quote's, begin, as a column from 0. */
export function textColumn(line: string): number {
  const quoted = QUOTE.exec(line)?.[0].length;
  return quoted ?? MARKER.exec(line)?.[0].length ?? /^\s*/.exec(line)?.[0].length ?? 0;
}

/** Returns the id of an entry that says this; the first, if several in a file say the same. */
export function entryId(prefix: string, text: string): string {
  return nextId(new Map(), prefix, text);
}

/** Two that say the same are told apart by their order. */
function nextId(seen: Map<string, number>, prefix: string, text: string): string {
  const folded = text.normalize("NFKC").toLowerCase().replace(/\s+/g, " ").trim();
  const count = (seen.get(folded) ?? 0) + 1;
  seen.set(folded, count);
  const key = count === 1 ? folded : `${folded}\n${count}`;
  return prefix + shortHash(key, ID_DIGITS);
}

function toEntry(
  document: JournalDocument,
  { kind, startLine, endLine, parts = [] }: Block,
  toId: (text: string) => string,
): Entry {
  const [own] = parts;
  const textEndLine = kind === "paragraph"
    ? endLine
    : own?.kind === "paragraph"
    ? own.endLine
    : startLine;
  const lines = document.lines(startLine, textEndLine);
  const said = lines.filter((line) => !isMarkLine(line)).map(withoutHitMarks).map((line, index) =>
    index === 0 && kind === "item" ? withoutMarker(line) : line
  );
  const whole = said.map(withoutComments).join(" ").replace(/\s+/g, " ").trim();
  const text = withoutBlockId(whole).trim() || whole;
  const isBare = parts.every((part) => part.endLine <= textEndLine && part.kind === "paragraph") &&
    (text !== "" || said.join("").trim() === "");
  return {
    id: toId(text),
    text,
    startLine,
    textEndLine,
    endLine,
    mark: findMark(document, startLine, textEndLine),
    isPlaceholder: isBare && isPlaceholder(text),
  };
}

/** Returns what a quote or callout says, as an entry, if it is no more than a sentence or two. */
export function toQuotedEntry(
  document: JournalDocument,
  { startLine, endLine, parts = [] }: Block,
  prefix: string,
): Entry | undefined {
  const isTitled = /^\s*>\s*\[!/.test(document.line(startLine));
  const from = isTitled ? startLine + 1 : startLine;
  const lines = document.lines(from, endLine);
  const said = lines.map((line) =>
    withoutComments(withoutHitMarks(line.replace(QUOTE, ""))).trim()
  );
  const isPlain = parts.every(({ kind }) => kind === "paragraph") && said.every((it) => it !== "");
  if (!isPlain || said.length === 0 || !lines.every((line) => QUOTE.test(line))) return undefined;
  const text = withoutBlockId(said.join(" "));
  return {
    id: entryId(prefix, text),
    text,
    startLine: from,
    textEndLine: endLine,
    endLine,
    mark: findMark(document, from, endLine),
    isPlaceholder: false,
  };
}

function findMark(document: JournalDocument, from: number, to: number): Entry["mark"] {
  for (let line = from; line <= to; line++) {
    const found = findHitMark(document.line(line));
    if (found) return { ...found, line };
  }
  return undefined;
}
