/** The lines that end a file: a rule, and the day on which it was last changed. */
import type { Block } from "@/lib/vault/markdown.ts";
import { lineText, type NoteText } from "@/lib/vault/note_text.ts";
import { isHiding } from "./_block_kinds.ts";
import { findHitMark } from "./hit_mark.ts";

/** Where it says when the file was last changed. */
export interface UpdatedLine {
  readonly line: number;
  /** Columns of the day, from 0. */
  readonly from: number;
  readonly to: number;
}

const UPDATED =
  /^[\s>*_]*(?:(最后更新|最後更新|last[ -]updated)|updated)[\s*_]*[：:][\s*_]*(\d{4}[-/.年]\d{1,2}[-/.月]\d{1,2}日?|YYYY-MM-DD)?/iu;
/** Without indent, it stands in an item only by its closeness. */
const LABEL_TOO_CLOSE =
  /^(?:\*\*[^*]+[：:]\s*\*\*|\*\*[^*]+\*\*\s*[：:])|^[^\s：:]{2,12}[：:]\s*$/u;

/** Finds the last line of that kind; what stands in code or comments is none. */
export function findUpdated(note: NoteText, blocks: readonly Block[]): UpdatedLine | undefined {
  const [first] = blocks;
  for (let line = note.lineCount; line >= (first?.startLine ?? Infinity); line--) {
    const text = lineText(note, line);
    const found = readUpdated(text);
    const block = found && blocks.find((it) => it.startLine <= line && line <= it.endLine);
    if (found === undefined || block === undefined || isHiding(block)) continue;
    // Indented, it is part of an item; else it has only followed one too closely.
    if (block.kind === "item" && /^\s/.test(text)) continue;
    return { line, ...found };
  }
  return undefined;
}

function readUpdated(text: string): Omit<UpdatedLine, "line"> | undefined {
  const found = UPDATED.exec(text);
  // What has a mark, or a bullet, is an entry that begins with these words.
  if (!found || findHitMark(text) !== undefined || /^\s*\*\s/.test(text)) return undefined;
  const { 0: { length: to }, 1: fullWords, 2: day = "" } = found;
  // Who writes what was updated, and no day, has not written when.
  const saysMore = /[\p{L}\p{N}]/u.test(text.slice(to).replace(/<!--.*?-->/g, ""));
  if (saysMore && (day === "" || fullWords === undefined)) return undefined;
  return { from: to - day.length, to };
}

/** Returns where the end begins; above a text of the same section, the last change ends nothing. */
export function tailLineOf(
  note: NoteText,
  blocks: readonly Block[],
  updated: UpdatedLine | undefined,
): number {
  const none = note.lineCount + 1;
  if (updated === undefined) return none;
  const next = blocks.find(({ kind, startLine }) => startLine > updated.line && kind !== "comment");
  if (next !== undefined && next.kind !== "heading") return none;
  let line = updated.line - 1;
  while (line > 0 && lineText(note, line).trim() === "") line--;
  return /^ {0,3}(?:(?:-\s*){3,}|(?:\*\s*){3,}|(?:_\s*){3,})$/.test(lineText(note, line))
    ? line
    : updated.line;
}

/**
 * Returns a block without the lines that end the file, where these follow it without a blank line. A
 * rule right under a text makes a heading of it, which nobody means there.
 */
export function withoutTail(block: Block, tailLine: number): Block {
  const { kind, startLine, endLine, parts } = block;
  if (startLine >= tailLine || endLine < tailLine) return block;
  if (kind === "heading") return { kind: "paragraph", startLine, endLine: tailLine - 1 };
  if (!["paragraph", "item", "quote", "table"].includes(kind)) return block;
  const own = parts?.filter((part) => part.startLine < tailLine)
    .map((part) => withoutTail(part, tailLine));
  return { kind, startLine, endLine: tailLine - 1, ...(own ? { parts: own } : {}) };
}

/**
 * Parts an item, quote or table from a label that follows without a blank line: for Markdown that is
 * more of the same, for who wrote it it is not.
 */
export function splitLabel(note: NoteText, block: Block): Block[] {
  const { kind, startLine, endLine, parts } = block;
  if (!["item", "quote", "table"].includes(kind)) return [block];
  for (let line = startLine + 1; line <= endLine; line++) {
    if (!LABEL_TOO_CLOSE.test(lineText(note, line))) continue;
    const own = parts?.filter((part) => part.startLine < line)
      .map((part) => ({ ...part, endLine: Math.min(part.endLine, line - 1) }));
    let end = line;
    while (end < endLine && !/^ {0,3}>/.test(lineText(note, end + 1))) end++;
    return [
      { kind, startLine, endLine: line - 1, ...(own ? { parts: own } : {}) },
      { kind: "paragraph", startLine: line, endLine: end },
      ...(end < endLine ? [{ kind: "quote", startLine: end + 1, endLine } as const] : []),
    ];
  }
  return [block];
}
