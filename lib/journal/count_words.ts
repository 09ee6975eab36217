/** How long a text is, as people count it: 字. */

const WORD =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]|[\p{L}\p{N}][\p{L}\p{N}\p{M}'’._-]*/gu;
const CJK = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]/gu;

/**
 * Counts the characters of Chinese text and the words of all other, as word processors do where they
 * say 字数.
 *
 * @example
 * ```ts
 * import { equal } from "node:assert/strict";
 *
 * equal(countWords("缓存改用 SQLite，因为启动快"), 10);
 * equal(countWords("the cache is SQLite now"), 5);
 * ```
 */
export function countWords(text: string): number {
  return (text.replace(CJK, " $& ").match(WORD) ?? []).length;
}

/** Counts characters as people see their codes: half of an emoji is none. */
export function countChars(text: string): number {
  let count = 0;
  for (const _char of text) count++;
  return count;
}
