/** Texts of any length and shape on one line that is short enough. */
import { cutText, withoutHalfWord } from "./cut_text.ts";

const BLANKS = /[\s\p{Cc}]+/gu;

/**
 * Returns a text on one line, at most `maxChars` characters (code points) long; one that is longer
 * ends in `…`, where a word ends if one does in the second half.
 *
 * @example
 * ```ts
 * import { equal } from "node:assert/strict";
 *
 * equal(clipLine(" one\ntwo  three ", 20), "one two three");
 * equal(clipLine("one two three", 10), "one two…");
 * equal(clipLine("缓存三件事", 3), "缓存…");
 * ```
 */
export function clipLine(text: string, maxChars: number): string {
  const line = text.replace(BLANKS, " ").trim();
  // A unit is a character or half of one, so most lines need no counting.
  if (line.length <= maxChars || cutText(line, { maxChars }) === line) return line;
  if (maxChars < 1) return "";
  const head = cutText(line, { maxChars: maxChars - 1 });
  return `${withoutHalfWord(head, line.slice(head.length))}…`;
}
