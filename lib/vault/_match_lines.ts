/** What is shown of a line that matches. */
import { lineAt, lineEnd, type NoteText } from "./note_text.ts";

export const MAX_LINE_CHARS = 300;
/** Of a long line, so much is shown before the match. */
const LEAD_CHARS = 100;
const DECODED_BYTES = 128 * 1024;

/** A line that matches, with its neighbours. */
export interface GrepMatch {
  /** Counts from 1. */
  readonly line: number;
  /** The line, of a long one at most 300 characters around its first match. */
  readonly text: string;
  /** The line before and the line after, at most 300 characters of each; absent at the ends. */
  readonly before?: string;
  readonly after?: string;
}

/** Shows the line that holds an offset. */
export function showMatch(note: NoteText, offset: number): GrepMatch {
  const line = lineAt(note, offset);
  return {
    line,
    text: showLine(note, line, offset),
    ...(line > 1 ? { before: showLine(note, line - 1) } : {}),
    ...(line < note.lineCount ? { after: showLine(note, line + 1) } : {}),
  };
}

/** Cuts a line to `MAX_LINE_CHARS` around an offset, never through a surrogate pair. */
function showLine(note: NoteText, line: number, offset = 0): string {
  const start = note.lineStarts[line - 1] ?? 0;
  const end = lineEnd(note, line);
  if (end - start <= MAX_LINE_CHARS) return note.text.slice(start, end);
  // Two characters are for the signs that something was cut.
  const shownChars = MAX_LINE_CHARS - 2;
  let from = Math.max(start, Math.min(offset - LEAD_CHARS, end - shownChars));
  let to = Math.min(end, from + shownChars);
  if (from > start && isLowSurrogate(note.text, from)) from++;
  if (to < end && isLowSurrogate(note.text, to)) to--;
  return `${from > start ? "…" : ""}${note.text.slice(from, to)}${to < end ? "…" : ""}`;
}

function isLowSurrogate(text: string, at: number): boolean {
  const unit = text.charCodeAt(at);
  return unit >= 0xdc00 && unit <= 0xdfff;
}

/**
 * Turns places in a file's bytes into places in its text.
 *
 * @param byteOffsets In order.
 */
export function* toCharOffsets(
  bytes: Uint8Array,
  byteOffsets: readonly number[],
): Generator<void, readonly number[]> {
  const decoder = new TextDecoder();
  const offsets: number[] = [];
  let chars = 0;
  let at = 0;
  for (const offset of byteOffsets) {
    while (at < offset) {
      const end = Math.min(offset, at + DECODED_BYTES);
      chars += decoder.decode(bytes.subarray(at, end), { stream: true }).length;
      at = end;
      yield;
    }
    offsets.push(chars);
  }
  return offsets;
}
