/** Edits a list with one item a line: the lines of items that stay are not touched. */
import type { FrontmatterValue } from "./frontmatter.ts";
import { type CommentedLines, commentLines, isBetween } from "./_yaml_comments.ts";
import type { BlockLine } from "./_yaml_cursor.ts";
import { formatItem } from "./_yaml_format.ts";
import type { ScannedEntry } from "./_yaml_lines.ts";
import { identify } from "./_yaml_values.ts";

/** The lines of an item, from its dash to the last that holds a part of it. */
interface ListItem {
  readonly first: number;
  readonly last: number;
}

interface ListPlace extends CommentedLines {
  readonly entry: ScannedEntry;
}

/**
 * Returns the lines of the key with the new list. Comments between items stay where they are; if
 * items change places, each takes its lines along, and the other comments follow behind.
 *
 * @returns `undefined` if the old value is no such list.
 */
export function editBlockList(
  place: ListPlace,
  old: readonly FrontmatterValue[],
  value: readonly FrontmatterValue[],
): BlockLine[] | undefined {
  const items = findItems(place);
  if (items.length === 0 || items.length !== old.length) return undefined;
  const sources = matchItems(old, value);
  const writer = new ListWriter(place, items);
  writer.copyUntil(items[0]?.first ?? 0);
  if (isAscending(sources.filter((source) => source !== undefined))) {
    value.forEach((item, i) => writer.write(item, sources[i]));
    writer.copyUntil(place.entry.last + 1);
  } else {
    value.forEach((item, i) => writer.move(item, sources[i]));
    writer.appendComments();
  }
  return writer.lines;
}

function findItems(place: ListPlace): ListItem[] {
  const { entry: { rows, last, value } } = place;
  const [head] = rows;
  if (value || !head?.isItem) return [];
  const firsts = rows.filter((row) => row.isItem && row.indent === head.indent)
    .map((row) => row.index);
  return firsts.map((first, i) => {
    let end = firsts[i + 1] ?? last + 1;
    while (isBetween(place, end - 1)) end--;
    return { first, last: end - 1 };
  });
}

/** Returns for each new item the index of the old one that it is, each old one at most once. */
function matchItems(
  old: readonly FrontmatterValue[],
  value: readonly FrontmatterValue[],
): (number | undefined)[] {
  const unused = Map.groupBy(old.keys(), (index) => identify(old[index] ?? null));
  let last = -1;
  return value.map((item) => {
    const indexes = unused.get(identify(item));
    while (indexes && indexes.length > 1 && (indexes[0] ?? 0) < last) indexes.shift();
    const index = indexes?.shift();
    last = Math.max(last, index ?? -1);
    return index;
  });
}

function isAscending(numbers: readonly number[]): boolean {
  return numbers.every((number, i) => i === 0 || number > (numbers[i - 1] ?? 0));
}

class ListWriter {
  readonly lines: BlockLine[] = [];
  readonly #place: ListPlace;
  readonly #items: readonly ListItem[];
  /** By the line with the dash, until an item is kept. */
  readonly #gone: Map<number, ListItem>;
  readonly #style: { indent: number; gap: string; like: string };
  #next: number;

  constructor(place: ListPlace, items: readonly ListItem[]) {
    this.#place = place;
    this.#items = items;
    this.#gone = new Map(items.map((item) => [item.first, item]));
    this.#style = styleOf(place.lines[items.at(-1)?.first ?? 0]?.text ?? "");
    this.#next = place.entry.first;
    this.#copy(this.#next, this.#next);
    this.#next++;
  }

  /** Copies what is between items; items that are passed by go, but for their comments. */
  copyUntil(end: number): void {
    const { indent } = this.#style;
    while (this.#next < end) {
      const gone = this.#gone.get(this.#next);
      const last = gone?.last ?? this.#next;
      if (gone) {
        this.lines.push(...commentLines(this.#place, { from: gone.first, to: last + 1, indent }));
      } else this.#copy(this.#next, last);
      this.#next = last + 1;
    }
  }

  /** Writes an item where it comes in the old order. */
  write(value: FrontmatterValue, source: number | undefined): void {
    const item = source === undefined ? undefined : this.#items[source];
    if (!item) return this.#add(value);
    this.copyUntil(item.first);
    this.#copy(item.first, item.last);
    this.#next = item.last + 1;
  }

  /** Writes an item wherever it was. */
  move(value: FrontmatterValue, source: number | undefined): void {
    const item = source === undefined ? undefined : this.#items[source];
    if (!item) return this.#add(value);
    this.#copy(item.first, item.last);
    this.#gone.delete(item.first);
  }

  /** Writes the comments of all lines that were not copied. */
  appendComments(): void {
    const { entry: { last } } = this.#place;
    const kept = new Map(
      this.#items.filter((item) => !this.#gone.has(item.first)).map((item) => [item.first, item]),
    );
    for (let index = this.#next; index <= last; index++) {
      const item = kept.get(index);
      if (item) index = item.last;
      else this.lines.push(...commentLines(this.#place, { from: index, to: index + 1 }));
    }
  }

  #copy(first: number, last: number): void {
    for (const line of this.#place.lines.slice(first, last + 1)) this.lines.push(line);
  }

  #add(value: FrontmatterValue): void {
    const line = this.lines.at(-1);
    if (!line) return;
    for (const text of formatItem(value, this.#style)) this.lines.push({ ...line, text });
  }
}

function styleOf(line: string): { indent: number; gap: string; like: string } {
  const [, before = "", gap = " ", like = ""] = /^( *)-(?:( +)([^ #].*))?/.exec(line) ?? [];
  return { indent: before.length, gap, like };
}
