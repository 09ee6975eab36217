import { timeInTurn, type Times } from "./times.ts";

/** Times several ways to answer the same queries, in turns, over all kinds of queries at once. */
export async function timeTogether<W extends string>(
  queries: readonly string[],
  ways: ReadonlyMap<W, (query: string) => unknown>,
): Promise<Readonly<Record<W, Times>>> {
  const times = await timeInTurn(queries, ways);
  const isWhole = (found: typeof times): found is Record<W, Times> =>
    [...ways.keys()].every((way) => found[way] !== undefined);
  if (!isWhole(times)) throw new Error("Nothing was timed");
  return times;
}
