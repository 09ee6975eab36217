/** The Markdown of a memory: made anew, or changed where that is asked for and nowhere else. */
import { InvalidRequest } from "@/lib/errors.ts";
import { editFrontmatter } from "@/lib/vault/edit_frontmatter.ts";
import { formatFrontmatter } from "@/lib/vault/format_frontmatter.ts";
import { type FrontmatterValue, readFrontmatter } from "@/lib/vault/frontmatter.ts";
import { bodyOf, type ParsedNote } from "@/lib/vault/note.ts";
import { decodeNote } from "@/lib/vault/note_text.ts";

export type Fields = ReadonlyMap<string, FrontmatterValue>;

/** What is to be different about a memory. */
export interface MemoryEdit {
  /** Those that have another value by now; `undefined` takes one out. */
  readonly fields: ReadonlyMap<string, FrontmatterValue | undefined>;
  /** Absent: the body stays. */
  readonly body?: string | undefined;
  /** Set only if anything else changes. */
  readonly stamps: Fields;
}

const BOM = [0xef, 0xbb, 0xbf];
/** Enough of a note to see which line ends it has. */
const SAMPLE_CHARS = 64 * 1024;

/** Returns the bytes of a new memory. */
export function* formatMemory(fields: Fields, body: string): Generator<void, Uint8Array> {
  const edges = edgesOf(body);
  yield;
  const text = toLineEnds(body.slice(...edges), "\n");
  yield;
  return new TextEncoder().encode(
    `${formatFrontmatter(fields)}${text === "" ? "" : `\n${text}\n`}`,
  );
}

/**
 * Returns the bytes of a memory after an edit, `undefined` if that changes nothing. Line ends, byte
 * order mark, blank lines before the body and all other fields stay as they are.
 *
 * @throws {FrontmatterNotEditable} If the frontmatter cannot be changed safely.
 * @throws {InvalidRequest} If the new body is none.
 */
export function* editMemory(
  note: ParsedNote,
  { fields, body, stamps }: MemoryEdit,
): Generator<void, Uint8Array | undefined> {
  const oldBody = bodyOf(note);
  const newBody = body === undefined ? oldBody : yield* replaceBody(note, body);
  if (fields.size === 0 && newBody === oldBody) return undefined;
  const stamped = yield* editFrontmatter(note.text, new Map([...fields, ...stamps]));
  const head = stamped.slice(0, stamped.length - oldBody.length);
  const gap = head === "" || /[\r\n]$/.test(head) || newBody === "" ? "" : lineEndOf(note);
  const bytes = new TextEncoder().encode(head + gap + newBody);
  return note.text.bom ? new Uint8Array([...BOM, ...bytes]) : bytes;
}

function* replaceBody(note: ParsedNote, body: string): Generator<void, string> {
  const old = bodyOf(note);
  const [oldStart, oldEnd] = edgesOf(old);
  const oldText = toLineEnds(old.slice(oldStart, oldEnd), "\n");
  yield;
  const edges = edgesOf(body);
  yield;
  const text = toLineEnds(body.slice(...edges), "\n");
  yield;
  // What comes back as it was read stays, whatever it is.
  if (text === oldText) return old;
  yield* requireBody(body);
  if (text === "") return "";
  const lineEnd = lineEndOf(note);
  const before = old.slice(0, oldStart) || (old === "" ? lineEnd : "");
  const after = old === "" || /[\r\n]$/.test(old) ? lineEnd : "";
  return before + toLineEnds(text, lineEnd) + after;
}

/**
 * Returns where a text begins and ends without the blank lines around it. By hand, as a pattern
 * would run out of room over a text of nothing but line ends.
 */
function edgesOf(text: string): [start: number, end: number] {
  let start = 0;
  let at = 0;
  for (; at < text.length && isBlank(text[at]); at++) {
    if (isLineEnd(text[at])) start = at + 1;
  }
  if (at === text.length) return [0, 0];
  let end = text.length;
  for (let last = text.length - 1; isBlank(text[last]); last--) {
    if (isLineEnd(text[last])) end = last;
  }
  return [start, end];
}

function isBlank(char: string | undefined): boolean {
  return char === " " || char === "\t" || isLineEnd(char);
}

function isLineEnd(char: string | undefined): boolean {
  return char === "\n" || char === "\r";
}

function toLineEnds(text: string, lineEnd: string): string {
  const unified = text.includes("\r") ? text.replaceAll("\r\n", "\n").replaceAll("\r", "\n") : text;
  return lineEnd === "\n" ? unified : unified.replaceAll("\n", lineEnd);
}

/** The line end that most lines at the head of the note have. */
function lineEndOf({ text: { text } }: ParsedNote): string {
  const counts = new Map<string, number>();
  for (const [end] of text.slice(0, SAMPLE_CHARS).matchAll(/\r\n|\n|\r/g)) {
    counts.set(end, (counts.get(end) ?? 0) + 1);
  }
  const [most] = [...counts].sort(([, a], [, b]) => b - a);
  return most?.[0] ?? "\n";
}

/**
 * Makes sure that a body is one: with a block of metadata in front, the note would have two, and
 * what the agent meant would not be what is read.
 *
 * @throws {InvalidRequest} If it begins with frontmatter, or cannot be written.
 */
export function* requireBody(body: string): Generator<void, void> {
  const [start] = edgesOf(body);
  const text = yield* decodeNote(new TextEncoder().encode(body.slice(start)));
  if (text === undefined || body.includes("\0")) throw refusedBody("must be plain text");
  const { state, fields } = yield* readFrontmatter(text);
  if (state.state !== "ok" || fields.size === 0) return;
  throw refusedBody("must not begin with frontmatter: pass name, description and tags instead");
}

function refusedBody(message: string): InvalidRequest {
  return new InvalidRequest(`Cannot save the memory: body ${message}`, [{
    field: "body",
    message,
  }]);
}
