import { type Times, timeWays } from "./times.ts";

/** Times several ways to answer the same queries, in turns, over all kinds of queries at once. */
export async function timeTogether<W extends string>(
  queries: readonly string[],
  ways: ReadonlyMap<W, (query: string) => unknown>,
): Promise<Readonly<Record<W, Times>>> {
  const none: readonly string[] = [];
  const asOneClass = { "3 mid": queries, "8 raw": none, "question zh": none, "question en": none };
  const times = (await timeWays(asOneClass, ways))["3 mid"];
  const isWhole = (found: typeof times): found is Record<W, Times> =>
    [...ways.keys()].every((way) => found?.[way] !== undefined);
  if (!isWhole(times)) throw new Error("Nothing was timed");
  return times;
}
