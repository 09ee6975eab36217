/** Edits that all files of the journal have in common: marks, the last change, lists, sections. */
import type { Block } from "@/lib/vault/markdown.ts";
import { saysSomething } from "./_block_kinds.ts";
import {
  blockIdOf,
  type Entry,
  leadsOf,
  textColumn,
  toEntries,
  withoutBlockId,
} from "./entries.ts";
import { formatHitMark } from "./hit_mark.ts";
import type { JournalDocument, Section } from "./journal_document.ts";
import { type JournalLanguage, languageOfName, type PartNames, titleOf } from "./journal_names.ts";
import { formatUpdated } from "./journal_templates.ts";
import { LineEdits, lineEndingOf } from "./line_edits.ts";

/** A file while it is changed. */
export class JournalEdit {
  readonly document: JournalDocument;
  readonly language: JournalLanguage;
  readonly day: string;
  readonly lines: LineEdits;
  /** First lines of entries that have been changed: no two changes may meet on one line. */
  readonly #claimed = new Set<number>();

  /** @param language Of words that are added, where the file itself does not show one. */
  constructor(
    document: JournalDocument,
    { language, day }: { readonly language: JournalLanguage; readonly day: string },
  ) {
    this.document = document;
    this.language = language;
    this.day = day;
    this.lines = new LineEdits(document.note);
  }

  /** What its lines end with. */
  get eol(): string {
    return lineEndingOf(this.document.note);
  }

  /** Takes an entry to be changed; false if that was done before. */
  claim({ startLine }: Entry): boolean {
    if (this.#claimed.has(startLine)) return false;
    this.#claimed.add(startLine);
    return true;
  }

  /** Sets an entry's mark to a day, unless it has a later one or is changed anyway. */
  markHit(entry: Entry, day: string): void {
    if (!this.claim(entry)) return;
    const { mark, textEndLine } = entry;
    if (mark !== undefined) {
      if ((mark.day ?? "") < day) this.lines.replacePart(mark.line, mark, day);
      return;
    }
    const line = this.#lineOfMark(entry);
    const said = withoutBlockId(this.document.line(line)).trimEnd();
    const at = line === textEndLine ? said.length : this.document.line(line).trimEnd().length;
    const gap = said.endsWith("\\") ? " " : "";
    this.lines.replacePart(line, { from: at, to: at }, gap + this.markFor(day));
  }

  /** Replaces what an entry says, and marks it if it has marks; what is nested in it stays. */
  rewrite(entry: Entry, text: string, marking: "marked" | "unmarked" = "marked"): void {
    const { document, lines } = this;
    const { startLine, textEndLine } = entry;
    const first = document.line(startLine);
    const marker = first.slice(0, textColumn(first));
    const gap = marker === "" || /\s$/.test(marker) ? "" : " ";
    // Links that lead here still do.
    const id = blockIdOf(document, entry);
    const mark = marking === "marked" ? this.markFor(this.day) : "";
    const words = /^[\s>]*$/.test(marker) ? asParagraph(text) : text;
    this.claim(entry);
    lines.replaceLine(startLine, marker + gap + words + mark + id);
    if (textEndLine > startLine) lines.removeLines(startLine + 1, textEndLine);
  }

  /** Writes a mark as it stands behind a text. */
  markFor(day: string): string {
    const mark = formatHitMark(day, this.language);
    return this.language === "zh" ? mark : ` ${mark}`;
  }

  /** Sets the day on which the file was last changed; call it last. */
  touch(): void {
    const { document, day } = this;
    const { updated } = document;
    if (updated !== undefined) {
      if (document.line(updated.line).slice(updated.from, updated.to) === day) return;
      this.lines.replacePart(updated.line, updated, day);
      return;
    }
    const end = lastTextLine(document, document.headEndLine + 1, document.note.lineCount);
    this.lines.insertAfter(end, ["", "---", formatUpdated(day, this.language)]);
  }

  /** Adds items to a section's own list, and takes the template's placeholders out of it. */
  addItems(section: Section, texts: readonly string[], place: "first" | "last" = "last"): void {
    const blocks = this.document.ownBlocks(section);
    const items = toEntries(this.document, blocks.filter(({ kind }) => kind === "item"), "");
    this.addToList(items, texts, {
      place,
      whenEmpty: () => this.#placeInSection(section),
    });
  }

  /**
   * Adds items to a list.
   *
   * @param whenEmpty Tells behind which line they go if the list has none, and whether a blank line
   * has to part them from what stands there.
   */
  addToList(
    items: readonly Entry[],
    texts: readonly string[],
    { place, whenEmpty }: {
      readonly place: "first" | "last";
      readonly whenEmpty: () => { readonly line: number; readonly isParted?: boolean };
    },
  ): void {
    if (texts.length === 0) return;
    const lead = leadsOf(this.document, items, place);
    const lines = texts.flatMap((text, index) => itemLines(lead(index), text));
    const [first, last] = [items[0], items.at(-1)];
    for (const { isPlaceholder, startLine, endLine } of items) {
      if (isPlaceholder) this.lines.removeLines(startLine, endLine);
    }
    if (first === undefined || last === undefined) {
      const { line, isParted = false } = whenEmpty();
      this.insertBelow(line, isParted ? ["", ...lines] : lines);
    } else {
      const isFirst = place === "first" || items.every(({ isPlaceholder }) => isPlaceholder);
      const line = isFirst ? first.startLine - 1 : this.#lastLineOf(last);
      this.lines.insertAfter(line, lines);
    }
  }

  /** Adds a section behind some line, with its own heading. */
  addSection(
    names: PartNames,
    texts: readonly string[],
    { afterLine, level = 2 }: { readonly afterLine: number; readonly level?: number | undefined },
  ): void {
    const items = texts.flatMap((text) => itemLines("- ", text));
    const heading = `${"#".repeat(level)} ${titleOf(names, this.language)}`;
    this.insertParted(afterLine, [heading, ...items]);
  }

  /** Puts lines right below a line, and a blank one behind them if they would run into the next. */
  insertBelow(line: number, lines: readonly string[]): void {
    const { document } = this;
    const next = line < document.note.lineCount ? document.line(line + 1).trim() : "";
    const isApart = next === "" || /^#{1,6}\s/.test(next);
    this.lines.insertAfter(line, isApart ? lines : [...lines, ""]);
  }

  /** Puts lines behind a line, with blank lines around them. */
  insertParted(afterLine: number, lines: readonly string[]): void {
    const { document } = this;
    const next = afterLine < document.note.lineCount ? document.line(afterLine + 1).trim() : "";
    const isFirst = afterLine === 0 || document.line(afterLine).trim() === "";
    this.lines.insertAfter(afterLine, [
      ...(isFirst ? [] : [""]),
      ...lines,
      ...(next === "" ? [] : [""]),
    ]);
  }

  /** Returns the last line of the file that says something, above its end line. */
  get endOfContent(): number {
    const { document } = this;
    const { blocks, tailLine, updated, headEndLine, note } = document;
    const isEnd = updated !== undefined &&
      !blocks.some(({ kind, startLine }) => startLine > updated.line && kind !== "comment");
    return lastTextLine(document, headEndLine + 1, isEnd ? tailLine - 1 : note.lineCount);
  }

  /** A line that holds nothing but a block's name takes no mark. */
  #lineOfMark({ startLine, textEndLine }: Entry): number {
    let line = textEndLine;
    while (line > startLine && withoutBlockId(this.document.line(line)).trim() === "") line--;
    return line;
  }

  #placeInSection(section: Section): { line: number; isParted: boolean } {
    const last = this.document.ownBlocks(section).findLast(saysSomething);
    if (last === undefined) return { line: section.headingEndLine, isParted: false };
    return { line: last.endLine, isParted: true };
  }

  /** Blank lines at the end of an item belong to nobody. */
  #lastLineOf({ startLine, endLine }: Entry): number {
    return lastTextLine(this.document, startLine, endLine);
  }
}

/** Keeps a sentence from becoming a quote, a list or a tag by the sign that it begins with. */
export function asParagraph(text: string): string {
  return /^(?:[<>]|\$\$|[-+*]\s)/.test(text) ? `\\${text}` : text;
}

/** The lines of an item; those below its first are indented as for a marker of two columns. */
function itemLines(lead: string, text: string): string[] {
  const [first = "", ...rest] = text.split(/\r\n|[\r\n]/);
  const more = lead.length - 2;
  const blanks = (line: string) => line.startsWith("\t") ? "\t" : " ".repeat(more);
  return [
    lead + first,
    ...rest.map((line) => more === 0 || line.trim() === "" ? line : blanks(line) + line),
  ];
}

/** Returns the last line of some that is not blank; the one before them if all are. */
export function lastTextLine(document: JournalDocument, from: number, to: number): number {
  let line = Math.min(to, document.note.lineCount);
  while (line >= from && document.line(line).trim() === "") line--;
  return line;
}

/**
 * Returns the last line of a section that is its own: a comment at its end speaks of the next one.
 */
export function ownEndLine(
  document: JournalDocument,
  { headingEndLine, endLine }: Section,
): number {
  return endOfSaid(document, document.blocksIn(headingEndLine + 1, endLine)) ?? headingEndLine;
}

/** Returns the last line of what some blocks say; `undefined` if they say nothing. */
export function endOfSaid(
  document: JournalDocument,
  blocks: readonly Block[],
): number | undefined {
  const last = blocks.findLast(saysSomething);
  return last && lastTextLine(document, last.startLine, last.endLine);
}

/** Tells the language of a file by the names of its sections; `undefined` if they do not show one. */
export function languageOfSections(
  document: JournalDocument,
  parts: readonly PartNames[],
): JournalLanguage | undefined {
  const found = document.sections.flatMap(({ title }) =>
    parts.flatMap((names) => languageOfName(title, names) ?? [])
  );
  const chinese = found.filter((language) => language === "zh").length;
  if (found.length === 0 || chinese * 2 === found.length) return undefined;
  return chinese * 2 > found.length ? "zh" : "en";
}
