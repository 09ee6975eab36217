/** Edits the keys of a block mapping, and of those inside it, line by line. */
import { type FrontmatterFields, type FrontmatterValue, readFrontmatter } from "./frontmatter.ts";
import type { FrontmatterEdits } from "./edit_frontmatter.ts";
import { type EntryPlace, removeEntry, replaceEntry } from "./_edit_entry.ts";
import { notEditable } from "./_not_editable.ts";
import { decodeNote } from "./note_text.ts";
import type { BlockLine } from "./_yaml_cursor.ts";
import { formatField } from "./_yaml_format.ts";
import { scanBlock, type ScannedEntry } from "./_yaml_lines.ts";
import { sameValue } from "./_yaml_values.ts";

/** The lines of a mapping, and what they are read as. */
export interface MappingText {
  readonly lines: readonly BlockLine[];
  readonly fields: FrontmatterFields;
  /** The line before the mapping, whose line end new lines take. */
  readonly before: BlockLine;
}

/**
 * Returns the lines of a mapping with some keys changed. New keys come last.
 *
 * @throws {FrontmatterNotEditable} If the lines of a key cannot be told from the others.
 */
export function* editMapping(
  { lines, fields, before }: MappingText,
  edits: FrontmatterEdits,
): Generator<void, BlockLine[]> {
  const block = yield* scanBlock(lines);
  const names = yield* nameEntries(block.entries);
  requireSameKeys(names, { lines, fields });
  const edited: BlockLine[] = [];
  let next = 0;
  for (const [entry, name] of names) {
    const old = fields.get(name) ?? null;
    const value = edits.get(name);
    if (!edits.has(name) || value !== undefined && sameValue(old, value)) continue;
    append(edited, lines.slice(next, entry.first));
    append(edited, yield* editEntry({ ...block, lines, entry }, old, value));
    next = entry.last + 1;
  }
  append(edited, lines.slice(next));
  const { end } = edited.at(-1) ?? before;
  append(edited, newLines({ fields, indent: block.indent, end }, edits));
  return edited;
}

function* editEntry(
  place: EntryPlace,
  old: FrontmatterValue,
  value: FrontmatterValue | undefined,
): Generator<void, BlockLine[]> {
  if (value === undefined) return removeEntry(place);
  const { lines, entry: { first, last, rows, value: scanned } } = place;
  const before = lines[first];
  const hasOwnLines = !scanned && rows[0]?.isItem === false;
  if (!before || !hasOwnLines || !isFilledMap(old) || !isFilledMap(value)) {
    return replaceEntry(place, old, value);
  }
  const nested = { lines: lines.slice(first + 1, last + 1), fields: old, before };
  return [before, ...(yield* editMapping(nested, editsBetween(old, value)))];
}

function isFilledMap(value: FrontmatterValue): value is FrontmatterFields {
  return value instanceof Map && value.size > 0;
}

function editsBetween(old: FrontmatterFields, value: FrontmatterFields): FrontmatterEdits {
  const removed = [...old.keys()].filter((key) => !value.has(key));
  return new Map([...value, ...removed.map((key) => [key, undefined] as const)]);
}

/** Reads the names of keys that are quoted, or have an anchor or a tag, all at once. */
function* nameEntries(
  entries: readonly ScannedEntry[],
): Generator<void, Map<ScannedEntry, string>> {
  const odd = entries.filter(({ source }) => /^["'&!]/.test(source));
  const names = new Map<string, string>();
  if (odd.length > 0) {
    // Values tell which is which, as keys that are numbers change their order in reading.
    const text = `---\n${odd.map(({ source }, i) => `${source}: ${i}\n`).join("")}---\n`;
    const note = yield* decodeNote(new TextEncoder().encode(text));
    const { fields } = note ? yield* readFrontmatter(note) : { fields: new Map() };
    for (const [name, index] of fields) if (typeof index === "string") names.set(index, name);
  }
  const oddNames = new Map(odd.map((entry, i) => [entry, names.get(`${i}`)]));
  return new Map(entries.map((entry) => [entry, oddNames.get(entry) ?? entry.source]));
}

/** Guards against a line taken for a key that is none, and the other way round. */
function requireSameKeys(
  names: ReadonlyMap<ScannedEntry, string>,
  { lines, fields }: Pick<MappingText, "lines" | "fields">,
): void {
  const odd = [...names].find(([, name]) => !fields.has(name))?.[0];
  if (!odd && names.size === fields.size) return;
  const line = lines[odd?.first ?? 0]?.number ?? 1;
  throw notEditable(line, "has a key that is not read as it is written; put it in quotes");
}

function newLines(
  { fields, indent, end }: { fields: FrontmatterFields; indent: number; end: string },
  edits: FrontmatterEdits,
): BlockLine[] {
  return [...edits].flatMap(([key, value]) => {
    if (value === undefined || fields.has(key)) return [];
    return formatField(key, value, indent).map((text) => ({ text, end, number: 0 }));
  });
}

/** One by one, as a call takes only so many arguments. */
function append(to: BlockLine[], lines: readonly BlockLine[]): void {
  for (const line of lines) to.push(line);
}
