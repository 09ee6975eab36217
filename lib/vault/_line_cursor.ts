/**
 * A place in one line, with columns counted as CommonMark does: a tab reaches to the next multiple
 * of four, and a container may take only a part of it.
 */
import { lineEnd, type NoteText } from "./note_text.ts";

/** The structure of a block shows at the head of its lines; the rest of a longer line is text. */
const MAX_HEAD_CHARS = 32 * 1024;
const TAB_WIDTH = 4;

export interface LineCursor {
  /** The line without its end, cut where no rule looks any more. */
  readonly head: string;
  /** How far the containers have taken the line. */
  offset: number;
  column: number;
  /** The first character from there that is no blank. */
  next: number;
  /** Columns of blanks before `next`. */
  indent: number;
  /** True when nothing but blanks is left. */
  blank: boolean;
  /** What lies behind the head. */
  readonly tailIsBlank: boolean;
}

/** Opens a line at its start. */
export function openLine(note: NoteText, line: number): LineCursor {
  const start = note.lineStarts[line - 1] ?? note.text.length;
  const end = lineEnd(note, line);
  const cut = Math.min(end, start + MAX_HEAD_CHARS);
  const cursor: LineCursor = {
    head: note.text.slice(start, cut),
    offset: 0,
    column: 0,
    next: 0,
    indent: 0,
    blank: false,
    tailIsBlank: cut === end || !/[^ \t]/.test(note.text.slice(cut, end)),
  };
  measure(cursor);
  return cursor;
}

/** Takes columns of blanks, or the marker of a container, from the line. */
export function take(cursor: LineCursor, columns: number): void {
  const target = cursor.column + columns;
  while (cursor.column < target && cursor.offset < cursor.head.length) {
    const after = cursor.head[cursor.offset] === "\t"
      ? cursor.column + TAB_WIDTH - cursor.column % TAB_WIDTH
      : cursor.column + 1;
    if (after > target) {
      // A part of a tab: the offset stays before it, the column is inside.
      cursor.column = target;
      break;
    }
    cursor.column = after;
    cursor.offset++;
  }
  measure(cursor);
}

/** Returns the text from the first character that is no blank. */
export function restOf(cursor: LineCursor): string {
  return cursor.head.slice(cursor.next);
}

function measure(cursor: LineCursor): void {
  let column = cursor.column;
  let next = cursor.offset;
  for (; next < cursor.head.length; next++) {
    const char = cursor.head[next];
    if (char === " ") column++;
    else if (char === "\t") column += TAB_WIDTH - column % TAB_WIDTH;
    else break;
  }
  cursor.next = next;
  cursor.indent = column - cursor.column;
  cursor.blank = next === cursor.head.length && cursor.tailIsBlank;
}
