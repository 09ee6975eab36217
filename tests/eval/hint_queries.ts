/** Which queries show what a threshold for hints does to a vault: pure functions. */
import type { Query } from "./data_sets.ts";

/** Returns the first queries of each language. */
export function takeByLang(queries: readonly Query[], count: number): Query[] {
  return [...Map.groupBy(queries, ({ lang }) => lang).values()]
    .flatMap((group) => group.slice(0, count));
}

/**
 * Returns queries of other data sets, as many of each set, and of each of its languages, as of the
 * others while they last.
 *
 * @param turn Each turn begins further on, so that two vaults rarely get the same queries.
 */
export function drawEvenly(
  sets: readonly (readonly Query[])[],
  { count, turn }: { readonly count: number; readonly turn: number },
): Query[] {
  const share = Math.ceil(count / sets.length);
  const mixed = sets.map((queries) =>
    rotate(interleave([...Map.groupBy(queries, ({ lang }) => lang).values()]), turn * share)
  );
  return interleave(mixed).slice(0, count);
}

/** The first of each list, then the second of each, and so on. */
function interleave<T>(lists: readonly (readonly T[])[]): T[] {
  const longest = Math.max(0, ...lists.map((list) => list.length));
  return Array.from(
    { length: longest },
    (_, index) => lists.flatMap((list) => list.slice(index, index + 1)),
  ).flat();
}

function rotate<T>(list: readonly T[], count: number): T[] {
  const start = list.length === 0 ? 0 : count % list.length;
  return [...list.slice(start), ...list.slice(0, start)];
}
