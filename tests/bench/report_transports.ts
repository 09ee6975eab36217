/** What was measured of MCP's transports, as rows of tables. */
import type { Row } from "../eval/table.ts";
import { type DoorName, DOORS } from "./mcp_clients.ts";
import type { McpResult } from "./measure_mcp.ts";
import type { StreamsResult } from "./measure_streams.ts";
import type { Target } from "./report.ts";
import type { BenchResults } from "./results.ts";

const MIB = 1_024 * 1_024;
const HTTP: DoorName = "GET /api/search";
const MODERN: DoorName = "MCP 2026-07-28";

export function doorRows({ mcp }: BenchResults): Row[] {
  return [...mcp].flatMap(([notes, doors]) =>
    DOORS.flatMap((name) => {
      const times = doors[name];
      const own = times && doors[HTTP];
      return times && own
        ? [{
          "notes": notes,
          "door": name,
          "calls/s": 1_000 / times.msPerCall,
          "of HTTP's rate": own.msPerCall / times.msPerCall,
          "ms a call beyond HTTP": times.msPerCall - own.msPerCall,
          "p50 ms": times.p50Ms,
          "p99 ms": times.p99Ms,
        }]
        : [];
    })
  );
}

export function streamTitle(
  { streams = 0, beforeBytes = 0 }: Partial<StreamsResult> = {},
): string {
  const before = (beforeBytes / MIB).toFixed(0);
  return `${streams} event streams, over and over: RSS of the server in MiB, ${before} before`;
}

export function streamRows(result: StreamsResult | undefined): Row[] {
  const [first] = result?.rounds ?? [];
  if (!result || !first) return [];
  return result.rounds.map((round, index) => ({
    "round": index + 1,
    "all open": round.openBytes / MIB,
    "all gone": round.releasedBytes / MIB,
    "collected": round.collectedBytes / MIB,
    "collected / in round 1": round.collectedBytes / first.collectedBytes,
    "opened in ms": round.connectMs,
    "let go in ms": round.releaseMs,
  }));
}

export function transportTargets({ mcp, streams }: BenchResults): Target[] {
  return [
    ...[...mcp].map(([notes, doors]): Target => ({
      name: `calls of ${MODERN} at ${notes} notes: rate / HTTP's`,
      reached: rateOfHttp(doors),
      goal: 0.4,
      sense: "at least",
    })),
    {
      name: "RSS after the last round of event streams / after the first",
      reached: growthOf(streams),
      goal: 1.1,
      sense: "at most",
    },
  ];
}

function rateOfHttp(doors: McpResult): number | undefined {
  const http = doors[HTTP];
  const modern = doors[MODERN];
  return http && modern && http.msPerCall / modern.msPerCall;
}

function growthOf(streams: StreamsResult | undefined): number | undefined {
  const first = streams?.rounds[0];
  const last = streams?.rounds.at(-1);
  return first && last && last.collectedBytes / first.collectedBytes;
}
