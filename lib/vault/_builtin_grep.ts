/**
 * Finds lines without ripgrep. Patterns of callers run here in a regular expression engine that
 * backtracks, so a bad one could hold the process for good: each piece of text is searched under
 * a time limit that V8 enforces, and no piece is long.
 */
import { createContext, Script } from "node:vm";
import { InvalidRequest } from "@/lib/errors.ts";
import { toJsExpression, toLiteralExpression } from "./_rust_regex.ts";
import type { NoteText } from "./note_text.ts";

/** What to look for, in ripgrep's dialect when `regex`. */
export interface GrepPattern {
  readonly text: string;
  readonly regex: boolean;
  readonly ignoreCase: boolean;
}

/** Where lines match: the first match of each, as offsets in the note's text. */
export interface LineMatches {
  /** In order, the first `keep` ones. */
  readonly offsets: readonly number[];
  /** How many lines match; lines end at LF or CR LF, as for ripgrep. */
  readonly matchCount: number;
}

/** Searches one note in steps; `keep` bounds the offsets, not the count. */
export type LineFinder = (note: NoteText, keep: number) => Generator<void, LineMatches>;

const PIECE_CHARS = 64 * 1024;
/** Of a line longer than a piece, so much is seen around each part. */
const MARGIN_CHARS = 1024;
/** Far above what a piece takes, so that a busy machine refuses no honest pattern. */
const PIECE_LIMIT_MS = 250;

/** Puts the offset of the first match of each line into `found`; `from` = one line, from there. */
const FIND_LINES = new Script(`{
  const { expression, found, from, isLiteral, text } = input;
  found.length = 0;
  expression.lastIndex = 0;
  if (!isLiteral || expression.test(text)) {
    let start = 0;
    for (const line of from === undefined ? text.split("\\n") : [text]) {
      expression.lastIndex = from ?? 0;
      const match = expression.exec(line.endsWith("\\r") ? line.slice(0, -1) : line);
      if (match) found.push(start + match.index);
      start += line.length + 1;
    }
  }
}`);

interface PieceInput {
  readonly expression: RegExp;
  readonly isLiteral: boolean;
  readonly found: number[];
  text: string;
  from: number | undefined;
}

/** Returns the first match of each line of a piece; with `from`, the piece is part of one line. */
type PieceSearch = (text: string, from?: number) => readonly number[];

/**
 * Prepares a pattern for the built-in engine.
 *
 * @throws {InvalidRequest} If it is no pattern; later, from the finder, if it takes too long.
 */
export function createLineFinder(pattern: GrepPattern): LineFinder {
  const search = createPieceSearch(pattern);
  const margin = Math.max(MARGIN_CHARS, pattern.text.length);
  return (note, keep) => findLines(note.text, { search, margin, keep });
}

interface FindOptions {
  readonly search: PieceSearch;
  readonly margin: number;
  readonly keep: number;
}

function* findLines(text: string, options: FindOptions): Generator<void, LineMatches> {
  const offsets: number[] = [];
  let matchCount = 0;
  for (let start = 0; start < text.length;) {
    const lastBreak = text.lastIndexOf("\n", start + PIECE_CHARS);
    const fits = lastBreak >= start || text.length - start <= PIECE_CHARS;
    const end = fits ? (lastBreak >= start ? lastBreak : text.length) : lineEndFrom(text, start);
    const found = fits
      ? options.search(text.slice(start, end))
      : yield* findInLongLine(text.slice(start, end), options);
    matchCount += found.length;
    for (const offset of found.slice(0, options.keep - offsets.length)) {
      offsets.push(start + offset);
    }
    start = end + 1;
    yield;
  }
  return { offsets, matchCount };
}

function lineEndFrom(text: string, start: number): number {
  const end = text.indexOf("\n", start);
  return end < 0 ? text.length : end;
}

/** Returns at most one offset: that of the first match. */
function* findInLongLine(
  line: string,
  { search, margin }: FindOptions,
): Generator<void, readonly number[]> {
  for (let start = 0; start < line.length; start += PIECE_CHARS) {
    const from = Math.min(start, margin);
    const [offset] = search(line.slice(start - from, start + PIECE_CHARS + margin), from);
    // Behind the piece it belongs to the next one, which sees more of what follows it.
    if (offset !== undefined && offset < from + PIECE_CHARS) return [start - from + offset];
    yield;
  }
  return [];
}

function createPieceSearch(pattern: GrepPattern): PieceSearch {
  const input: PieceInput = {
    expression: compile(pattern),
    isLiteral: !pattern.regex,
    found: [],
    text: "",
    from: undefined,
  };
  const context = createContext({ input });
  return (text, from) => {
    input.text = text;
    input.from = from;
    try {
      FIND_LINES.runInContext(context, { timeout: PIECE_LIMIT_MS });
    } catch (cause) {
      throw new InvalidRequest(
        "Cannot search for this pattern: it takes too long on the text of this vault; make it " +
          "simpler, above all where one repetition stands inside another",
        [{ field: "query", message: String(cause) }],
      );
    }
    return input.found;
  };
}

function compile({ text, regex, ignoreCase }: GrepPattern): RegExp {
  try {
    return regex ? toJsExpression(text, ignoreCase) : toLiteralExpression(text, ignoreCase);
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message.split(": ").at(-1) : "no pattern";
    throw new InvalidRequest(`Cannot use the query as a regular expression: ${reason}`);
  }
}
