/**
 * Changes keys of a note's frontmatter as text, so that nothing else of it changes: no comment, no
 * quotes, no order, no line end. An edit is made by what the lines look like, and given out only
 * when a YAML parser reads the result as it was meant; else it is refused.
 */
import {
  type Frontmatter,
  type FrontmatterFields,
  type FrontmatterValue,
  readFrontmatter,
} from "./frontmatter.ts";
import { editMapping } from "./_edit_mapping.ts";
import { formatFrontmatter } from "./format_frontmatter.ts";
import { type MeantEdit, refusalOf, requireReadable } from "./_not_editable.ts";
import { decodeNote, lineEnd, type NoteText } from "./note_text.ts";
import type { BlockLine } from "./_yaml_cursor.ts";
import { sameValue } from "./_yaml_values.ts";

/** The new values by key; `undefined` = the key goes. */
export type FrontmatterEdits = ReadonlyMap<string, FrontmatterValue | undefined>;

const LINES_A_STEP = 512;

/**
 * Returns the whole text of a note, without a byte order mark, with keys of the top level changed:
 * `undefined` removes a key, a key that is not there comes last, and one that has its value
 * already stays as it is written. A note without frontmatter gets a block in front of all its text.
 *
 * The empty text counts as `null`, as it is read so.
 *
 * @throws {FrontmatterNotEditable} If the note is not UTF-8, its block is no valid YAML of one
 * `key: value` a line, or the change would be read as more or less than what was asked for.
 */
export function* editFrontmatter(
  note: NoteText,
  edits: FrontmatterEdits,
): Generator<void, string> {
  const old = yield* readFrontmatter(note);
  requireReadable(note, old);
  const meant = applyEdits(old.fields, edits);
  if (sameValue(old.fields, meant)) return note.text;
  if (old.state.state === "none") return newBlock(note, meant) + note.text;

  const lines = yield* blockLines(note, old);
  const before = lineAt(note, old.startLine);
  const edited = yield* editMapping({ lines, fields: old.fields, before }, edits);
  const parts = [before, ...edited, lineAt(note, old.endLine)];
  const head = parts.map(({ text, end }) => text + end).join("");
  yield* requireMeant(head, { note, old, meant });
  return head + note.text.slice(note.lineStarts[old.endLine] ?? note.text.length);
}

function applyEdits(old: FrontmatterFields, edits: FrontmatterEdits): FrontmatterFields {
  const meant = new Map(old);
  for (const [key, value] of edits) {
    if (value === undefined) meant.delete(key);
    else meant.set(key, value);
  }
  return meant;
}

/** Takes the line end that the note uses first. */
function newBlock(note: NoteText, fields: FrontmatterFields): string {
  const { end } = lineAt(note, 1);
  return formatFrontmatter(fields).replaceAll("\n", end === "" ? "\n" : end);
}

function* blockLines(note: NoteText, { endLine }: Frontmatter): Generator<void, BlockLine[]> {
  const lines: BlockLine[] = [];
  for (let line = 2; line < endLine; line++) {
    if (line % LINES_A_STEP === 0) yield;
    lines.push(lineAt(note, line));
  }
  return lines;
}

function lineAt(note: NoteText, line: number): BlockLine {
  const end = lineEnd(note, line);
  return {
    text: note.text.slice(note.lineStarts[line - 1] ?? note.text.length, end),
    end: note.text.slice(end, note.lineStarts[line] ?? note.text.length),
    number: line,
  };
}

/**
 * Reads a block again, up to its closing fence.
 *
 * @throws {FrontmatterNotEditable} If it is not read as what was meant, in the old order.
 */
function* requireMeant(head: string, edit: MeantEdit): Generator<void, void> {
  const note = yield* decodeNote(new TextEncoder().encode(head));
  const read = note && (yield* readFrontmatter(note));
  const isWhole = read?.endLine === note?.lineCount && read?.state.state === "ok";
  if (read && isWhole && sameValue(read.fields, edit.meant) && hasOldOrder(read, edit)) return;
  throw refusalOf(read, edit);
}

function hasOldOrder({ fields }: Frontmatter, { old, meant }: MeantEdit): boolean {
  const order = [...fields.keys()].filter((key) => old.fields.has(key));
  const expected = [...old.fields.keys()].filter((key) => meant.has(key));
  return order.every((key, i) => key === expected[i]);
}
