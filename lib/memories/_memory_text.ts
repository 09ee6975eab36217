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
  /** `undefined` takes a field out. */
  readonly fields: ReadonlyMap<string, FrontmatterValue | undefined>;
  /** Absent: the body stays. */
  readonly body?: string | undefined;
  /** Set only if anything else changes. */
  readonly stamps: Fields;
}

const BOM = [0xef, 0xbb, 0xbf];
const BLANK_LINES = /^(?:[ \t]*(?:\r\n|\n|\r))+/;
const LINE_END = /\r\n|\n|\r/g;

/** Returns the bytes of a new memory. */
export function formatMemory(fields: Fields, body: string): Uint8Array {
  const text = toLineEnds(withoutBlankEdges(body), "\n");
  return new TextEncoder().encode(
    `${formatFrontmatter(fields)}${text === "" ? "" : `\n${text}\n`}`,
  );
}

/**
 * Returns the bytes of a memory after an edit, `undefined` if that changes nothing. Line ends, byte
 * order mark, blank lines before the body and all other fields stay as they are.
 *
 * @throws {FrontmatterNotEditable} If the frontmatter cannot be changed safely.
 */
export function* editMemory(
  note: ParsedNote,
  { fields, body, stamps }: MemoryEdit,
): Generator<void, Uint8Array | undefined> {
  const oldBody = bodyOf(note);
  const newBody = body === undefined ? oldBody : replaceBody(note, body);
  const edited = yield* editFrontmatter(note.text, fields);
  if (edited === note.text.text && newBody === oldBody) return undefined;
  const stamped = yield* editFrontmatter(note.text, new Map([...fields, ...stamps]));
  const head = stamped.slice(0, stamped.length - oldBody.length);
  const gap = head === "" || /[\r\n]$/.test(head) || newBody === "" ? "" : lineEndOf(note);
  const bytes = new TextEncoder().encode(head + gap + newBody);
  return note.text.bom ? new Uint8Array([...BOM, ...bytes]) : bytes;
}

function replaceBody(note: ParsedNote, body: string): string {
  const old = bodyOf(note);
  const isSame = toLineEnds(withoutBlankEdges(old), "\n") ===
    toLineEnds(withoutBlankEdges(body), "\n");
  if (isSame) return old;
  const lineEnd = lineEndOf(note);
  const before = BLANK_LINES.exec(old)?.[0] ?? (old === "" ? lineEnd : "");
  const after = old === "" || /[\r\n]$/.test(old) ? lineEnd : "";
  const text = toLineEnds(withoutBlankEdges(body), lineEnd);
  return text === "" ? "" : before + text + after;
}

function withoutBlankEdges(text: string): string {
  return text.replace(BLANK_LINES, "").trimEnd();
}

function toLineEnds(text: string, lineEnd: string): string {
  return text.replace(LINE_END, lineEnd);
}

/** The line end that most lines of the note have. */
function lineEndOf({ text: { text } }: ParsedNote): string {
  const counts = new Map<string, number>();
  for (const [end] of text.matchAll(LINE_END)) counts.set(end, (counts.get(end) ?? 0) + 1);
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
  const text = yield* decodeNote(new TextEncoder().encode(body.replace(BLANK_LINES, "")));
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
