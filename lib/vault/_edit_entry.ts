/**
 * Writes new lines for one key of a block: as few as can be, in the style of the old ones. A
 * person's comment never goes: it stays on its line, or becomes a line of its own.
 */
import type { FrontmatterValue } from "./frontmatter.ts";
import { editBlockList } from "./_edit_list.ts";
import { commentLines, tailAt } from "./_yaml_comments.ts";
import { type BlockLine, endWithoutBlanks, isBlank } from "./_yaml_cursor.ts";
import { formatFlow, type FormattedValue, formatValue } from "./_yaml_format.ts";
import type { ScannedBlock, ScannedEntry, ScannedValue } from "./_yaml_lines.ts";
import { identify, isList } from "./_yaml_values.ts";

const INDENT_STEP = 2;

/** A key, and the lines among which it stands. */
export interface EntryPlace extends ScannedBlock {
  readonly lines: readonly BlockLine[];
  readonly entry: ScannedEntry;
}

/** Returns what is left of a key that goes: its comments, as lines at the depth of the key. */
export function removeEntry(place: EntryPlace): BlockLine[] {
  const { entry: { first, last }, indent } = place;
  return commentLines(place, { from: first, to: last + 1, indent });
}

/** Returns the lines of a key with its new value. */
export function replaceEntry(
  place: EntryPlace,
  old: FrontmatterValue,
  value: FrontmatterValue,
): BlockLine[] {
  if (isList(old) && isList(value) && value.length > 0) {
    const edited = editBlockList(place, old, value);
    if (edited) return edited;
  }
  return replaceValue(place, formatLike(place, old, value));
}

function formatLike(
  { lines, indent, entry }: EntryPlace,
  old: FrontmatterValue,
  value: FrontmatterValue,
): FormattedValue {
  const { value: scanned, first } = entry;
  const text = lines[first]?.text ?? "";
  if (scanned?.kind === "flow" && value !== null && typeof value !== "string") {
    const isOneLine = scanned.lastIndex === first;
    const keepsItems = isList(old) && isList(value) && isOneLine;
    return { inline: keepsItems ? editFlowList(text, scanned, { old, value }) : formatFlow(value) };
  }
  const like = scanned && text.slice(scanned.token, endOnFirstLine(scanned, first));
  return formatValue(value, { indent: indent + INDENT_STEP, like });
}

function endOnFirstLine({ lastIndex, end }: ScannedValue, first: number): number | undefined {
  return lastIndex === first ? end : undefined;
}

/** Puts a value in the place of the old one, and the comments that were inside it behind. */
function replaceValue(place: EntryPlace, formatted: FormattedValue): BlockLine[] {
  const { lines, comments, entry: { first, last, colon, value } } = place;
  const keyLine = lines[first];
  if (!keyLine) return [];
  const tailIndex = comments.has(first) ? first : value?.lastIndex ?? first;
  const tail = tailAt(place, tailIndex);
  const head = keyLine.text.slice(0, colon);
  const gap = value ? keyLine.text.slice(colon, value.start) : " ";
  const inline = "inline" in formatted && formatted.inline !== "" ? gap + formatted.inline : "";
  const below = "lines" in formatted ? formatted.lines : [];
  return [
    { ...keyLine, text: head + inline + tail },
    ...below.map((text) => ({ ...keyLine, text })),
    ...commentLines(place, { from: first + 1, to: tailIndex }),
    ...commentLines(place, { from: Math.max(first, tailIndex) + 1, to: last + 1 }),
  ];
}

/** Keeps the items that stay as they are written, and the blanks between them. */
function editFlowList(
  text: string,
  { token, end, commas }: ScannedValue,
  { old, value }: { old: readonly FrontmatterValue[]; value: readonly FrontmatterValue[] },
): string {
  const close = end - 1;
  const starts = [token, ...commas].map((mark) => skipBlanks(text, mark + 1));
  const sources = starts.map((start, i) =>
    text.slice(start, endWithoutBlanks(text, commas[i] ?? close))
  );
  if (sources.at(-1) === "") sources.pop(); // behind a last comma, or in an empty list
  const known = new Map(
    sources.length === old.length ? old.map((item, i) => [identify(item), sources[i] ?? ""]) : [],
  );
  const like = sources.at(-1);
  const items = value.map((item) => known.get(identify(item)) ?? formatFlow(item, like));
  const gap = sources.length < 2 ? " " : text.slice((commas[0] ?? token) + 1, starts[1]);
  const padding = sources.length === 0 || items.length === 0
    ? ""
    : text.slice(token + 1, starts[0]);
  return `[${padding}${items.join(`,${gap}`)}${padding}]`;
}

function skipBlanks(text: string, column: number): number {
  while (isBlank(text[column])) column++;
  return column;
}
