/**
 * The blocks of a Markdown text by their lines, after CommonMark, with what Obsidian adds: `%%`
 * comments, `$$` formulas, tables. Code, comments, quotes and lists hide what only looks like a
 * heading or a tag.
 */
import { BlockScanner } from "./_block_scanner.ts";
import type { NoteText } from "./note_text.ts";

export type BlockKind =
  | "heading"
  | "paragraph"
  | "item"
  | "quote"
  | "code"
  | "table"
  | "math"
  | "html"
  | "comment"
  | "rule";

/** A stretch of whole lines; blank lines between blocks belong to none, all others to one. */
export interface Block {
  readonly kind: BlockKind;
  readonly startLine: number;
  readonly endLine: number;
  /** 1 to 6, for a heading. */
  readonly level?: number;
  /**
   * For an `item` (one top-level item of a list) and a `quote` (callouts too): the blocks in it,
   * those of containers inside it among them, in order of their lines.
   */
  readonly parts?: readonly Block[];
}

export interface Heading {
  readonly level: number;
  /** Without markup; cut when it is absurdly long; may be empty. */
  readonly text: string;
  /** The line on which its text begins. */
  readonly line: number;
}

export interface MarkdownBlocks {
  /** The outermost blocks, in order. */
  readonly blocks: readonly Block[];
  /** Those outside code, comments, quotes and lists. */
  readonly headings: readonly Heading[];
}

const LINES_A_STEP = 128;
const CHARS_A_STEP = 32 * 1024;

/** Reads the blocks from a line to the end of the note. */
export function* scanMarkdown(note: NoteText, fromLine: number): Generator<void, MarkdownBlocks> {
  const scanner = new BlockScanner(note);
  let pauseAt = 0;
  for (let line = fromLine; line <= note.lineCount; line++) {
    scanner.takeLine(line);
    const offset = note.lineStarts[line] ?? 0;
    if (line % LINES_A_STEP === 0 || offset >= pauseAt) {
      pauseAt = offset + CHARS_A_STEP;
      yield;
    }
  }
  return scanner.finish();
}
