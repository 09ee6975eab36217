/**
 * From the bytes of a file to text with a table of its lines. Guards the index against files that
 * are no text: UTF-16 and binaries are refused here, so that no NUL byte is ever indexed.
 */

/** The text of a note. Offsets count UTF-16 units of `text`, lines count from 1. */
export interface NoteText {
  /** Without the byte order mark; line ends as they are in the file. */
  readonly text: string;
  /** True when bytes that are no UTF-8 were replaced by U+FFFD. */
  readonly lossy: boolean;
  /** True when the file began with a byte order mark. */
  readonly bom: boolean;
  /** Where each line begins: line `n` at `lineStarts[n - 1]`. */
  readonly lineStarts: Uint32Array;
  /** A line end at the end of the file opens no further line; an empty file has none. */
  readonly lineCount: number;
}

const SLICE_BYTES = 128 * 1024;
const SLICE_CHARS = 128 * 1024;
const SAMPLE_BYTES = 64 * 1024;
/** A NUL may slip into good text; more than one, and a tenth of it no text at all, is a binary. */
const BINARY_SHARE = 0.1;

const LF = 10;
const CR = 13;

/**
 * Decodes the bytes of a note; LF, CR LF and a lone CR end a line.
 *
 * @returns `undefined` for what is no UTF-8 text: UTF-16 or UTF-32 with its mark, or bytes that
 * hold NULs as a binary does.
 */
export function* decodeNote(bytes: Uint8Array): Generator<void, NoteText | undefined> {
  if (hasWideMark(bytes) || looksBinary(bytes)) return undefined;
  const strict = yield* decodeSlices(bytes, "strict");
  const text = strict ?? (yield* decodeSlices(bytes, "lossy")) ?? "";
  const lineStarts = yield* findLineStarts(text);
  return {
    text,
    lossy: strict === undefined,
    bom: bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf,
    lineStarts,
    lineCount: lineStarts.length,
  };
}

/** Returns the offset behind the last character of a line, its line end left out. */
export function lineEnd(note: NoteText, line: number): number {
  const start = note.lineStarts[line - 1] ?? note.text.length;
  let end = note.lineStarts[line] ?? note.text.length;
  if (end > start && note.text.charCodeAt(end - 1) === LF) end--;
  if (end > start && note.text.charCodeAt(end - 1) === CR) end--;
  return end;
}

/** Returns a line without its line end; `""` for a line that is not there. */
export function lineText(note: NoteText, line: number): string {
  return linesText(note, line, line);
}

/** Returns the lines `from` to `to`, both included, without the last one's line end. */
export function linesText(note: NoteText, from: number, to: number): string {
  const last = Math.min(to, note.lineCount);
  if (from < 1 || from > last) return "";
  return note.text.slice(note.lineStarts[from - 1], lineEnd(note, last));
}

/** Returns the line that holds an offset; an offset behind the text belongs to the last line. */
export function lineAt(note: NoteText, offset: number): number {
  let low = 0;
  let high = note.lineCount;
  while (high - low > 1) {
    const middle = (low + high) >>> 1;
    if ((note.lineStarts[middle] ?? Infinity) <= offset) low = middle;
    else high = middle;
  }
  return low + 1;
}

// deno-lint-ignore no-control-regex
const CONTROLS = /\x1b\[[0-?]*[ -/]*[@-~]|[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f]/g;

/**
 * Blanks out control characters and the colour codes of terminals, for the index alone: the
 * length stays the same, so offsets still fit.
 *
 * @example
 * ```ts
 * import { equal } from "node:assert/strict";
 *
 * equal(withoutControls("a \x1b[31mred\x07 b"), "a      red  b");
 * ```
 */
export function withoutControls(text: string): string {
  return text.replace(CONTROLS, (found) => " ".repeat(found.length));
}

function hasWideMark(bytes: Uint8Array): boolean {
  const [a, b, c, d] = bytes;
  return a === 0xff && b === 0xfe || a === 0xfe && b === 0xff ||
    a === 0 && b === 0 && c === 0xfe && d === 0xff;
}

function looksBinary(bytes: Uint8Array): boolean {
  const sample = bytes.subarray(0, SAMPLE_BYTES);
  if (!sample.includes(0)) return false;
  // NULs at the end are padding that a crash left behind good text.
  const end = sample.findLastIndex((byte) => byte !== 0) + 1;
  if (end === 0) return true;
  const body = sample.subarray(0, end);
  const nuls = body.reduce((count, byte) => byte === 0 ? count + 1 : count, 0);
  if (nuls < 2) return false;
  const broken = new TextDecoder().decode(body).split("\ufffd").length - 1;
  return nuls + broken >= body.length * BINARY_SHARE;
}

/** Decodes with a pause after each slice; `undefined` when strict and a byte is no UTF-8. */
function* decodeSlices(
  bytes: Uint8Array,
  mode: "strict" | "lossy",
): Generator<void, string | undefined> {
  const decoder = new TextDecoder("utf-8", { fatal: mode === "strict" });
  const parts: string[] = [];
  try {
    for (let at = 0; at < bytes.length; at += SLICE_BYTES) {
      parts.push(decoder.decode(bytes.subarray(at, at + SLICE_BYTES), { stream: true }));
      yield;
    }
    parts.push(decoder.decode());
  } catch (error) {
    if (error instanceof TypeError) return undefined;
    throw error;
  }
  return parts.join("");
}

function* findLineStarts(text: string): Generator<void, Uint32Array> {
  if (text === "") return new Uint32Array();
  let starts = new Uint32Array(256);
  let count = 1;
  for (let from = 0; from < text.length; from += SLICE_CHARS) {
    const slice = text.slice(from, from + SLICE_CHARS);
    for (let i = 0; i < slice.length; i++) {
      const char = slice.charCodeAt(i);
      if (char !== LF && char !== CR) continue;
      const next = from + i + 1;
      if (char === CR && text.charCodeAt(next) === LF) continue;
      if (next === text.length) break;
      if (count === starts.length) starts = doubled(starts);
      starts[count++] = next;
    }
    yield;
  }
  return starts.slice(0, count);
}

function doubled(array: Uint32Array<ArrayBuffer>): Uint32Array<ArrayBuffer> {
  const larger = new Uint32Array(array.length * 2);
  larger.set(array);
  return larger;
}
