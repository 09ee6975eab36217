/**
 * Our block in a file that people and other programs write: between two comments on lines of their
 * own. Guards all that stands around it, byte for byte: what cannot be told apart safely is refused,
 * and a comment inside code is text like any other.
 */
import { AppError } from "@/lib/errors.ts";
import { scanMarkdown } from "@/lib/vault/markdown.ts";
import { decodeNote, lineEnd, lineText, type NoteText } from "@/lib/vault/note_text.ts";

export const BLOCK_START = "<!-- commonplace:memory:start -->";
export const BLOCK_END = "<!-- commonplace:memory:end -->";

/** An answer of `renderInto()`. */
export interface Rendered {
  readonly bytes: Uint8Array;
  /** The block as it stands there. */
  readonly block: string;
  /** The block that stood there before. */
  readonly oldBlock?: string;
  /** What was put before the block to part it from the text above; absent if it was there already. */
  readonly separator?: string;
}

/** Where our block stands in a text, its line ends inside included. */
interface BlockPlace {
  readonly start: number;
  readonly end: number;
}

/**
 * Puts a block into a file, in place of the one that is there, else at its end.
 *
 * @param lines Of the block, without the two comments; none of them may look like one.
 * @throws {AppError} `not-writable` if the file is no text in UTF-8, holds half a block or several, or
 * ends inside of code.
 */
export function* renderInto(
  before: Uint8Array,
  lines: readonly string[],
): Generator<void, Rendered> {
  const note = yield* decode(before);
  const { text } = note;
  const place = yield* findBlock(note);
  const newLine = lineEndOf(note, place);
  const block = [BLOCK_START, ...lines, BLOCK_END].join(newLine);
  const after = place ? replaced(text, place, block) : appended(text, block, newLine);
  const bytes = encode(note, after.text);
  const end = after.start + block.length;
  if (!(yield* isBlock(bytes, { start: after.start, end }))) {
    throw refused("its end lies inside of code or a comment that nothing closes");
  }
  return {
    bytes,
    block,
    ...(place ? { oldBlock: text.slice(place.start, place.end) } : { separator: after.separator }),
  };
}

/**
 * Takes the block out of a file.
 *
 * @param separator What `renderInto()` put before it.
 * @returns The bytes without it, and the block as it stood there; `undefined` if there is none.
 * @throws {AppError} As `renderInto()`.
 */
export function* removeFrom(
  before: Uint8Array,
  separator: string,
): Generator<void, { readonly bytes: Uint8Array; readonly block: string } | undefined> {
  const note = yield* decode(before);
  const place = yield* findBlock(note);
  if (place === undefined) return undefined;
  const rest = note.text.slice(place.end).replace(/^(?:\r\n|\n|\r)/, "");
  const top = note.text.slice(0, place.start);
  const block = note.text.slice(place.start, place.end);
  // Where something follows, it parts that from what stands above.
  const left = rest === "" ? withoutSeparator(top, separator) : top;
  return { bytes: encode(note, left + rest), block };
}

/** As many line ends as were put there, whatever somebody has made of them. */
function withoutSeparator(top: string, separator: string): string {
  const count = separator.match(LINE_ENDS)?.length ?? 0;
  const ends = [...top.matchAll(LINE_ENDS)].slice(-count);
  const start = ends[0]?.index ?? top.length;
  const isOurs = count > 0 && ends.length === count &&
    ends.map(([end]) => end).join("") === top.slice(start);
  return isOurs ? top.slice(0, start) : top;
}

const LINE_ENDS = /\r\n|\n|\r/g;

interface Placed {
  readonly text: string;
  readonly start: number;
  readonly separator: string;
}

function replaced(text: string, { start, end }: BlockPlace, block: string): Placed {
  return { text: text.slice(0, start) + block + text.slice(end), start, separator: "" };
}

function appended(text: string, block: string, newLine: string): Placed {
  const separator = separatorFor(text, newLine);
  const start = text.length + separator.length;
  return { text: text + separator + block + newLine, start, separator };
}

/** Returns what an empty line takes behind a text. */
function separatorFor(text: string, newLine: string): string {
  if (text === "" || ENDS_IN_EMPTY_LINE.test(text)) return "";
  // Together with a line feed it would become another line end.
  if (text.endsWith("\r")) return "\r";
  return text.endsWith("\n") ? newLine : newLine + newLine;
}

const ENDS_IN_EMPTY_LINE = /(?:^|\r\n|\n|\r(?!\n))(?:\r\n|\n|\r)$/;

/** Returns the line end that most lines have outside of our block. */
function lineEndOf({ text }: NoteText, place: BlockPlace | undefined): "\n" | "\r\n" {
  // A blank in its place, as what stands around it must not become one line end.
  const around = place ? `${text.slice(0, place.start)} ${text.slice(place.end)}` : text;
  const all = around.split("\n").length - 1;
  const withCr = around.split("\r\n").length - 1;
  return withCr * 2 > all ? "\r\n" : "\n";
}

function* decode(bytes: Uint8Array): Generator<void, NoteText> {
  const note = yield* decodeNote(bytes);
  if (note === undefined || note.lossy) throw refused("it is no text in UTF-8");
  return note;
}

function encode({ bom }: NoteText, text: string): Uint8Array {
  return new TextEncoder().encode(bom ? `\ufeff${text}` : text);
}

/** Reads once more what is to be written, as what stands before a block may hide it. */
function* isBlock(bytes: Uint8Array, { start, end }: BlockPlace): Generator<void, boolean> {
  try {
    const found = yield* findBlock(yield* decode(bytes));
    return found?.start === start && found.end === end;
  } catch (error) {
    if (error instanceof AppError) return false;
    throw error;
  }
}

function* findBlock(note: NoteText): Generator<void, BlockPlace | undefined> {
  const { blocks } = yield* scanMarkdown(note, 1);
  const comments = blocks.filter(({ kind, startLine, endLine }) =>
    kind === "comment" && startLine === endLine
  ).map(({ startLine }) => startLine);
  const linesWith = (fence: string) =>
    comments.filter((line) => lineText(note, line).trim() === fence);
  const [starts, ends] = [linesWith(BLOCK_START), linesWith(BLOCK_END)];
  if (starts.length > 1 || ends.length > 1) {
    throw refused("it holds several blocks of ours: delete all but one");
  }
  const [[start], [end]] = [starts, ends];
  if (start === undefined && end === undefined) return undefined;
  if (start === undefined || end === undefined || end < start) {
    throw refused(
      `it holds half a block of ours: delete the line ${
        start === undefined ? BLOCK_END : BLOCK_START
      }` +
        ", or put the other line back",
    );
  }
  return { start: note.lineStarts[start - 1] ?? 0, end: lineEnd(note, end) };
}

/** The reason goes on from the name of the file. */
function refused(reason: string): AppError {
  return new AppError("not-writable", reason);
}
