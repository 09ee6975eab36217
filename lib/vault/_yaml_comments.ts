/** Comments of a block, as lines or behind a value. */
import { type BlockLine, endWithoutBlanks } from "./_yaml_cursor.ts";

/** What `scanBlock()` found in these lines. */
export interface CommentedLines {
  readonly lines: readonly BlockLine[];
  /** The column of the `#` by the index of the line. */
  readonly comments: ReadonlyMap<number, number>;
}

/** Returns the comment behind a value with the blanks before it; `""` if there is none. */
export function tailAt({ lines, comments }: CommentedLines, index: number): string {
  const text = lines[index]?.text ?? "";
  const column = comments.get(index);
  return column === undefined ? "" : text.slice(endWithoutBlanks(text, column));
}

/** Says whether a line holds nothing but a comment, or is blank between values. */
export function isBetween({ lines, comments }: CommentedLines, index: number): boolean {
  const text = lines[index]?.text ?? "";
  return endWithoutBlanks(text, comments.get(index)) === 0;
}

/**
 * Returns the comments of some lines, each on a line of its own.
 *
 * @param part.to Not included.
 * @param part.indent Blanks before each; as they were if it is left out.
 */
export function commentLines(
  { lines, comments }: CommentedLines,
  { from, to, indent }: { from: number; to: number; indent?: number },
): BlockLine[] {
  return lines.slice(from, to).flatMap((line, offset) => {
    const column = comments.get(from + offset);
    if (column === undefined) return [];
    const { text } = line;
    if (indent === undefined && endWithoutBlanks(text, column) === 0) return [line];
    const blanks = indent ?? text.search(/[^ ]/);
    return [{ ...line, text: " ".repeat(blanks) + text.slice(column) }];
  });
}
