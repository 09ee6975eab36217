/** Longer names are cut before they are compared: they may come from outside. */
const COMPARED_CHARS = 64;

/**
 * Returns the known name that was most likely meant, or `undefined` when none comes close.
 *
 * Case and the difference between `-` and `_` do not count; two swapped letters count as one slip.
 * One slip in three letters is forgiven, or one in a shorter name, none in a single letter.
 *
 * @example
 * ```ts
 * import { nearestName } from "@/lib/nearest_name.ts";
 * import { equal } from "node:assert/strict";
 *
 * equal(nearestName("prot", ["host", "port"]), "port");
 * equal(nearestName("zebra", ["host", "port"]), undefined);
 * ```
 */
export function nearestName(wanted: string, known: readonly string[]): string | undefined {
  const folded = foldName(wanted);
  let nearest: { name: string; slips: number } | undefined;
  for (const name of known) {
    const slips = countSlips(folded, foldName(name));
    const longest = Math.max(folded.length, name.length);
    const forgiven = longest < 2 ? 0 : Math.max(1, Math.floor(longest / 3));
    if (slips <= forgiven && slips < (nearest?.slips ?? Infinity)) nearest = { name, slips };
  }
  return nearest?.name;
}

/** Returns `; did you mean <name>?` for the end of a message, or nothing. */
export function didYouMean(wanted: string, known: readonly string[]): string {
  const name = nearestName(wanted, known);
  return name === undefined ? "" : `; did you mean ${name}?`;
}

/** Says that there is no thing of a name, and which one may be meant or which there are. */
export function unknownName(thing: string, wanted: string, known: readonly string[]): string {
  const shown = JSON.stringify(wanted.slice(0, COMPARED_CHARS).toWellFormed());
  const hint = didYouMean(wanted, known) || `; known are ${known.join(", ")}`;
  return `There is no ${thing} ${shown}${hint}`;
}

function foldName(name: string): string {
  return name.slice(0, COMPARED_CHARS).toLowerCase().replaceAll("_", "-");
}

/** Counts letters added, dropped, changed or swapped with their neighbour. */
function countSlips(from: string, to: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: to.length + 1 }, (_, column) => column);
  for (let row = 1; row <= from.length; row++) {
    const current = [row];
    for (let column = 1; column <= to.length; column++) {
      const same = from[row - 1] === to[column - 1];
      const swapped = from[row - 1] === to[column - 2] && from[row - 2] === to[column - 1];
      current.push(Math.min(
        cell(last, column) + 1,
        cell(current, column - 1) + 1,
        cell(last, column - 1) + (same ? 0 : 1),
        swapped ? cell(beforeLast, column - 2) + 1 : Infinity,
      ));
    }
    beforeLast = last;
    last = current;
  }
  return cell(last, to.length);
}

function cell(row: readonly number[], column: number): number {
  return row[column] ?? Infinity;
}
