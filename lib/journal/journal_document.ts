/**
 * A file of the journal as its parts: sections, the entries in them, the line that says when it was
 * last changed. People write these files too, in any order, with whatever they like between the
 * parts, so nothing is taken for granted but headings; what cannot be told apart safely is refused
 * as a whole, and left as it is.
 */
import type { Block } from "@/lib/vault/markdown.ts";
import { type ParsedNote, parseNote } from "@/lib/vault/note.ts";
import { lineText, type NoteText } from "@/lib/vault/note_text.ts";
import { findUpdated, splitLabel, tailLineOf, type UpdatedLine, withoutTail } from "./_end_line.ts";
import { nameRank, type PartNames } from "./journal_names.ts";
import { JournalNotUnderstood } from "./not_understood.ts";

/** A heading and what stands below it. */
export interface Section {
  /** As written, without markup. */
  readonly title: string;
  readonly level: number;
  /** Where its heading begins and ends. */
  readonly headingLine: number;
  readonly headingEndLine: number;
  /** Its last line; that of the heading if nothing follows. */
  readonly endLine: number;
}

const MAX_LEVEL = 6;
/** Of one line, in characters; nobody writes such, and each is looked through many times. */
const MAX_LINE_CHARS = 10_000;
/** A row of equals signs is a heading's underline as well. */
const MERGE_MARK = /^(?:<{7}|>{7}) /;

/** The parts of one file. */
export class JournalDocument {
  readonly note: NoteText;
  /** The outermost blocks of the body. */
  readonly blocks: readonly Block[];
  readonly sections: readonly Section[];
  readonly updated: UpdatedLine | undefined;
  /**
   * The first line of those that end a file, or the part of it above what a person has put behind
   * them: a rule, the last change. Behind the last line of the file if there are none.
   */
  readonly tailLine: number;
  /** The last line of the frontmatter; 0 = it has none. */
  readonly headEndLine: number;
  /** True if nothing stands in it but blanks, comments and frontmatter. */
  readonly isEmpty: boolean;

  constructor(
    { text: note, blocks, headings, bodyStartLine }: Pick<
      ParsedNote,
      "text" | "blocks" | "headings" | "bodyStartLine"
    >,
  ) {
    this.note = note;
    this.headEndLine = (bodyStartLine ?? note.lineCount + 1) - 1;
    this.updated = findUpdated(note, blocks);
    this.tailLine = tailLineOf(note, blocks, this.updated);
    this.blocks = blocks.map((block) => withoutTail(block, this.tailLine))
      .flatMap((block) => splitLabel(note, block));
    const titles = new Map(headings.map(({ line, text }) => [line, text]));
    this.sections = this.#readSections(titles);
    this.isEmpty = blocks.every(({ kind }) => kind === "comment");
  }

  /**
   * Finds the section of a name; a title counts only if no other has it, and a deeper heading only
   * outside of a section that has it too. Of several, it is the one that has the most usual name and
   * the highest heading.
   *
   * @throws {JournalNotUnderstood} If that is not clear.
   */
  find(names: PartNames): Section | undefined {
    const named = this.sections.flatMap((section) => {
      const rank = nameRank(section.title, names);
      return rank === undefined ? [] : [{ section, rank, level: section.level }];
    });
    const below = named.filter(({ level }) => level > 1);
    const all = (below.length > 0 ? below : named).filter(({ section }, _, those) =>
      !those.some((outer) => isInside(section, outer.section))
    );
    const [first, second] = all;
    if (first === undefined || second === undefined) return first?.section;
    const rank = Math.min(...all.map((it) => it.rank));
    const level = Math.min(...all.map((it) => it.level));
    const best = all.filter((it) => it.rank === rank && it.level === level);
    const [only] = best;
    if (only !== undefined && best.length === 1) return only.section;
    throw new JournalNotUnderstood("secondSection", second.section.headingLine);
  }

  /** Returns the blocks of some lines that begin and end there. */
  blocksIn(from: number, to: number): Block[] {
    return this.blocks.filter(({ startLine, endLine }) => startLine >= from && endLine <= to);
  }

  /** Returns the blocks right below a heading and above the next one, whatever its level. */
  ownBlocks({ headingEndLine, endLine }: Section): Block[] {
    const blocks = this.blocksIn(headingEndLine + 1, endLine);
    const next = blocks.findIndex(({ kind }) => kind === "heading");
    return next < 0 ? blocks : blocks.slice(0, next);
  }

  line(line: number): string {
    return lineText(this.note, line);
  }

  /** Returns the lines `from` to `to`, both included. */
  lines(from: number, to: number): string[] {
    return Array.from(
      { length: Math.max(0, to - from + 1) },
      (_, index) => this.line(from + index),
    );
  }

  #readSections(titles: ReadonlyMap<number, string>): Section[] {
    const headings = this.blocks.filter(({ kind }) => kind === "heading");
    const { lineCount } = this.note;
    /** By level, the first line of the last heading that was met from behind. */
    const following = new Array<number>(MAX_LEVEL + 1).fill(lineCount + 1);
    const ends = headings.toReversed().map(({ level = 1, startLine }) => {
      const end = Math.min(...following.slice(0, level + 1));
      following[level] = startLine;
      return end;
    }).reverse();
    return headings.map(({ level = 1, startLine, endLine }, index) => {
      const hasTail = this.tailLine > endLine;
      const end = Math.min(
        (ends[index] ?? lineCount + 1) - 1,
        hasTail ? this.tailLine - 1 : lineCount,
      );
      const title = titles.get(startLine) ?? titles.get(endLine - 1) ?? "";
      return { title, level, headingLine: startLine, headingEndLine: endLine, endLine: end };
    });
  }
}

/**
 * Reads a file of the journal.
 *
 * @throws {JournalNotUnderstood} If it is no UTF-8 text, holds the marks of a merge, or something in
 * it is left open to its end.
 */
export function* readJournal(
  path: string,
  bytes: Uint8Array,
): Generator<void, JournalDocument> {
  const parsed = yield* parseNote(path, bytes);
  if (parsed === undefined || parsed.text.lossy) {
    throw new JournalNotUnderstood("noText");
  }
  const { text, blocks } = parsed;
  requireShortLines(text);
  requireNoMerge(text, blocks);
  requireClosed(text, blocks.at(-1));
  for (const block of blocks) requireOwnEnd(text, block);
  return new JournalDocument(parsed);
}

function isInside(section: Section, outer: Section): boolean {
  return section.headingLine > outer.headingLine && section.headingLine <= outer.endLine;
}

function requireShortLines({ lineStarts, lineCount, text }: NoteText): void {
  for (let line = 1; line <= lineCount; line++) {
    const end = lineStarts[line] ?? text.length;
    if (end - (lineStarts[line - 1] ?? 0) > MAX_LINE_CHARS) {
      throw new JournalNotUnderstood("longLine", line);
    }
  }
}

/** Code may show such marks; elsewhere a merge waits for somebody to finish it. */
function requireNoMerge(note: NoteText, blocks: readonly Block[]): void {
  const isCode = (line: number) =>
    blocks.some((it) => it.kind === "code" && it.startLine <= line && line <= it.endLine);
  for (let line = 1; line <= note.lineCount; line++) {
    if (!MERGE_MARK.test(lineText(note, line)) || isCode(line)) continue;
    throw new JournalNotUnderstood("openMerge", line);
  }
}

/** What is left open swallows all that follows, and would swallow what is written behind it. */
function requireClosed(note: NoteText, last: Block | undefined): void {
  if (last === undefined) return;
  for (const { kind, startLine, endLine } of [last, ...last.parts ?? []]) {
    if (endLine !== last.endLine) continue;
    const [first, final] = [lineText(note, startLine), lineText(note, endLine)];
    if (isLeftOpen(kind, first, { final, isOneLine: startLine === endLine })) {
      throw new JournalNotUnderstood("neverClosed", startLine);
    }
  }
}

/** A comment that lost its end goes on to that of another one, over the sections between. */
function requireOwnEnd(note: NoteText, { kind, startLine, endLine }: Block): void {
  if (kind !== "comment" || !lineText(note, startLine).includes("<!--")) return;
  let hasHeading = false;
  for (let line = startLine + 1; line <= endLine; line++) {
    const text = lineText(note, line);
    if (hasHeading && text.includes("<!--")) {
      throw new JournalNotUnderstood("neverClosed", startLine);
    }
    hasHeading ||= /^#{1,6}\s/.test(text);
  }
}

function isLeftOpen(
  kind: Block["kind"],
  first: string,
  { final, isOneLine }: { readonly final: string; readonly isOneLine: boolean },
): boolean {
  switch (kind) {
    case "code": {
      const [, fence = ""] = /(`{3,}|~{3,})/.exec(first) ?? [];
      return fence !== "" && (isOneLine || !final.trimEnd().endsWith(fence));
    }
    case "comment":
      if (!/^[\s>]*%%/.test(first) && first.includes("<!--")) return !final.includes("-->");
      return isOneLine ? !/%%.*%%/.test(first) : !final.includes("%%");
    default:
      return false;
  }
}
