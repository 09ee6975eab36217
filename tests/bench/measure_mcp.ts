/** Measures what each door of the real server costs: one search, asked over HTTP and over MCP. */
import { percentile } from "../eval/measures.ts";
import { type Ask, type DoorName, DOORS, openDoor } from "./mcp_clients.ts";
import { startServerProcess } from "./server_process.ts";

export interface CallTimes {
  /** Of all the time, by the number of calls: the inverse of the rate. */
  readonly msPerCall: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
}

export type McpResult = Readonly<Partial<Record<DoorName, CallTimes>>>;

export interface McpTask {
  readonly vault: string;
  readonly queries: readonly string[];
  readonly rounds: number;
}

export const CALLS_AT_ONCE = 8;
const WARM_UP_MS = 1_000;
const ROUND_MS = 3_000;

/**
 * Asks one server the same queries at each door in turn, over and over.
 *
 * @returns What each round took.
 * @throws {Error} If one answer holds no results.
 */
export async function measureMcp({ vault, queries, rounds }: McpTask): Promise<McpResult[]> {
  await using server = await startServerProcess(vault);
  await using opened = new AsyncDisposableStack();
  const asks = new Map<DoorName, readonly Ask[]>();
  for (const name of DOORS) {
    const door = opened.use(await openDoor(name, server.url));
    asks.set(name, queries.map((query) => door.prepare(query)));
  }
  await runRound(asks, WARM_UP_MS);
  const results: McpResult[] = [];
  for (let round = 0; round < rounds; round++) results.push(await runRound(asks, ROUND_MS));
  return results;
}

async function runRound(
  asks: ReadonlyMap<DoorName, readonly Ask[]>,
  durationMs: number,
): Promise<McpResult> {
  const times: Partial<Record<DoorName, CallTimes>> = {};
  for (const [name, calls] of asks) times[name] = await run(calls, durationMs);
  return times;
}

/** Keeps so many calls under way until the time is up. */
async function run(asks: readonly Ask[], durationMs: number): Promise<CallTimes> {
  const tookMs: number[] = [];
  const startMs = performance.now();
  const endMs = startMs + durationMs;
  let next = 0;
  const work = async () => {
    for (let nowMs = performance.now(); nowMs < endMs;) {
      await asks[next++ % asks.length]?.();
      const doneMs = performance.now();
      tookMs.push(doneMs - nowMs);
      nowMs = doneMs;
    }
  };
  await Promise.all(Array.from({ length: CALLS_AT_ONCE }, work));
  return {
    msPerCall: (performance.now() - startMs) / tookMs.length,
    p50Ms: percentile(tookMs, 50),
    p99Ms: percentile(tookMs, 99),
  };
}
