/** How long things take, in milliseconds. */
import { percentile } from "../eval/measures.ts";
import { QUERY_CLASSES, type QueryClass } from "./queries.ts";

export interface Times {
  readonly p50: number;
  readonly p99: number;
}

const WARM_UP_QUERIES = 20;

/** Returns the median and the 99th percentile of some times. */
export function toTimes(times: readonly number[]): Times {
  return { p50: percentile(times, 50), p99: percentile(times, 99) };
}

export async function timeOf(work: () => unknown): Promise<number> {
  const startMs = performance.now();
  const done = work();
  if (done instanceof Promise) await done;
  return performance.now() - startMs;
}

/** What each way took, by the class of the queries. */
export type WayTimes<W extends string> = Readonly<
  Partial<Record<QueryClass, Readonly<Partial<Record<W, Times>>>>>
>;

/** Times several ways to answer the same queries, one class after the other. */
export async function timeWays<W extends string, Q>(
  queries: Readonly<Record<QueryClass, readonly Q[]>>,
  ways: ReadonlyMap<W, (query: Q) => unknown>,
): Promise<WayTimes<W>> {
  const times: Partial<Record<QueryClass, Readonly<Partial<Record<W, Times>>>>> = {};
  for (const name of QUERY_CLASSES) times[name] = await timeInTurn(queries[name], ways);
  return times;
}

/**
 * Times several ways to answer the same queries. The ways take turns, so that a busy moment of the
 * machine does not hit one alone, and at a time each is asked another query, so that none finds
 * warm what the one before it had to fetch.
 */
export async function timeInTurn<W extends string, Q>(
  queries: readonly Q[],
  ways: ReadonlyMap<W, (query: Q) => unknown>,
): Promise<Readonly<Partial<Record<W, Times>>>> {
  const measured = new Map<W, number[]>([...ways.keys()].map((name) => [name, []]));
  const apart = Math.ceil(queries.length / ways.size);
  const warmUp = Math.min(WARM_UP_QUERIES, queries.length);
  for (let turn = 0; turn < warmUp + queries.length; turn++) {
    let at = turn;
    for (const [name, ask] of ways) {
      const query = queries[at % queries.length];
      at += apart;
      if (query === undefined) continue;
      const tookMs = await timeOf(() => ask(query));
      if (turn >= warmUp) measured.get(name)?.push(tookMs);
    }
  }
  const times: Partial<Record<W, Times>> = {};
  for (const [name, values] of measured) times[name] = toTimes(values);
  return times;
}
