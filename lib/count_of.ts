/**
 * Returns a number with what it counts, in English.
 *
 * @param more What several are called, if that is not `one` with an `s`.
 *
 * @example
 * ```ts
 * import { equal } from "node:assert/strict";
 *
 * equal(countOf(1, "line"), "1 line");
 * equal(countOf(0, "line"), "0 lines");
 * equal(countOf(2, "entry", "entries"), "2 entries");
 * ```
 */
export function countOf(number: number, one: string, more = `${one}s`): string {
  return `${number} ${number === 1 ? one : more}`;
}
