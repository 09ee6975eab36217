/**
 * `deno task bench:mcp`: many MCP clients at once, what clients that leave without a word take in
 * the server's memory, and what those do that listen and never read.
 */
import { parseArgs } from "node:util";
import { writeStderr } from "@/lib/seams.ts";
import { formatTable, print, type Row } from "../eval/table.ts";
import { bestOf } from "./best_of.ts";
import { parseCount, parseOrExplain, runAsProgram, UsageError } from "./command_line.ts";
import { type ClientsResult, measureClients } from "./measure_clients.ts";
import { type CrowdResult, CROWDS, measureCrowd } from "./measure_sessions.ts";
import { measureSlowReaders, type SlowReaderResult } from "./measure_slow_reader.ts";
import { writeMemoriesVault } from "./mcp_vault.ts";

const PARTS = ["clients", "memory", "slow"] as const;
type Part = (typeof PARTS)[number];

const USAGE = `Usage: deno task bench:mcp [options]

  --memories N  in the vault, but where clients are slow (default: 500)
  --clients N   of each era at once (default: 200)
  --calls N     of each client (default: 10)
  --sessions N  that are left alone, and event streams (default: 1000)
  --warm-up N   of these before memory is first looked at (default: 100)
  --changes N   of all memories, which slow readers are told of (default: 60)
  --rounds N    for times the best counts (default: 3)
  --only A,B    only these parts: ${PARTS.join(", ")}
  --json        print JSON`;

const OPTIONS = {
  memories: { type: "string", default: "500" },
  clients: { type: "string", default: "200" },
  calls: { type: "string", default: "10" },
  sessions: { type: "string", default: "1000" },
  "warm-up": { type: "string", default: "100" },
  changes: { type: "string", default: "60" },
  rounds: { type: "string", default: "3" },
  only: { type: "string", default: PARTS.join(",") },
  json: { type: "boolean", default: false },
} as const;

const MIB = 1_024 * 1_024;
const CROWDS_LEGEND = `The goal for collected / before is 1.1. "Before" is after a warm-up; what a
larger crowd made the C library set aside stays with the process, so that the rounds are to be
compared with each other too.`;
const SLOW_STEPS = 6;
/** A filter of more would be refused. */
const SLOW_MEMORIES = 500;

interface Settings {
  readonly memories: number;
  readonly clients: number;
  readonly calls: number;
  readonly sessions: number;
  readonly warmUp: number;
  readonly changes: number;
  readonly rounds: number;
  readonly parts: readonly Part[];
  readonly json: boolean;
}

interface Results {
  clients?: ClientsResult;
  readonly crowds: Map<string, CrowdResult>;
  slow?: SlowReaderResult;
}

function parseSettings(args: string[]): Settings {
  const { values } = parseOrExplain(() => parseArgs({ args, options: OPTIONS }), USAGE);
  return {
    memories: parseCount("memories", values.memories),
    clients: parseCount("clients", values.clients),
    calls: parseCount("calls", values.calls),
    sessions: parseCount("sessions", values.sessions),
    warmUp: parseCount("warm-up", values["warm-up"]),
    changes: parseCount("changes", values.changes),
    rounds: parseCount("rounds", values.rounds),
    parts: values.only.split(",").map(parsePart),
    json: values.json,
  };
}

function parsePart(name: string): Part {
  const part = PARTS.find((known) => known === name);
  if (part === undefined) throw new UsageError(`--only knows ${PARTS.join(", ")}, not "${name}"`);
  return part;
}

async function main(args: string[]): Promise<number> {
  const settings = parseSettings(args);
  const results = await runParts(settings);
  if (settings.json) {
    const crowds = Object.fromEntries(results.crowds);
    print(JSON.stringify({ ...settings, ...results, crowds }, undefined, 1));
  } else print(formatResults(settings, results));
  return 0;
}

async function runParts(settings: Settings): Promise<Results> {
  const { memories, sessions: count, parts, warmUp, rounds, changes } = settings;
  await using vault = await writeMemoriesVault({ memories });
  const results: Results = { crowds: new Map() };
  if (parts.includes("clients")) {
    writeStderr(`${settings.clients} clients at once`);
    results.clients = bestOf(await measureClients({ ...settings, vault }));
  }
  for (const crowd of parts.includes("memory") ? CROWDS : []) {
    writeStderr(`${count} ${crowd}`);
    const task = { vault, crowd, count, warmUp, rounds };
    results.crowds.set(crowd, await measureCrowd(task));
  }
  if (parts.includes("slow")) {
    writeStderr("clients that do not read");
    await using long = await writeMemoriesVault({
      memories: SLOW_MEMORIES,
      ids: "long",
      bodies: "line",
    });
    results.slow = await measureSlowReaders({ vault: long, changes, steps: SLOW_STEPS });
  }
  return results;
}

function formatResults(settings: Settings, { clients, crowds, slow }: Results): string {
  const { clients: clientCount, calls, sessions } = settings;
  const sections: string[] = [];
  if (clients) {
    const title = `${clientCount} clients at once, ${calls} calls each, one after the other`;
    sections.push(section(title, clientRows(clients)));
  }
  for (const [crowd, result] of crowds) {
    const title = `${sessions} ${crowd}, one call each: RSS in MiB, ${inMib(result.before)} before`;
    sections.push(section(title, crowdRows(result)));
  }
  if (crowds.size > 0) sections.push(CROWDS_LEGEND);
  if (slow) {
    const title = "Clients that listen and never read: memory of the server, collected, in MiB";
    sections.push(
      section(title, slowRows(slow)),
      section("When they read at last", readRows(slow)),
    );
  }
  return sections.join("\n\n");
}

function section(title: string, rows: readonly Row[]): string {
  const format = (column: string, value: number) =>
    value.toFixed(/ \/ /.test(column) ? 2 : /errors|calls|round|opened/.test(column) ? 0 : 1);
  return `${title}\n\n${formatTable(rows, format)}`;
}

function clientRows(clients: ClientsResult): Row[] {
  return Object.entries(clients).map(([client, round]) => ({
    client,
    "errors": round.errors,
    "calls/s": 1_000 / round.msPerCall,
    "p50 ms": round.p50,
    "p99 ms": round.p99,
    "opened in ms": round.connectMs,
  }));
}

function crowdRows({ before, rounds }: CrowdResult): Row[] {
  const first = rounds[0]?.collected.rssBytes ?? NaN;
  return rounds.map((round, index) => ({
    "round": index + 1,
    "all there": round.open.rssBytes / MIB,
    "collected then": round.openCollected.rssBytes / MIB,
    ...(round.listening ? { "only listeners": round.listening.rssBytes / MIB } : {}),
    "gone": round.gone.rssBytes / MIB,
    "10 s later": round.rested.rssBytes / MIB,
    "collected": round.collected.rssBytes / MIB,
    "collected / before": round.collected.rssBytes / before.rssBytes,
    "collected / round 1": round.collected.rssBytes / first,
    "objects / before": round.collected.heapBytes / before.heapBytes,
    "opened in ms": round.openMs,
  }));
}

function slowRows({ before, steps }: SlowReaderResult): Row[] {
  return [{ toldBytes: 0, collected: before }, ...steps].map(({ toldBytes, collected }) => ({
    "told MiB": toldBytes / MIB,
    "RSS": collected.rssBytes / MIB,
    "objects": collected.heapBytes / MIB,
  }));
}

function readRows({ reads }: SlowReaderResult): Row[] {
  return reads.map(({ door, waitedBytes, wasGivenUp }) => ({
    door,
    "had waited: MiB": waitedBytes / MIB,
    "its stream": wasGivenUp ? "given up" : "still open",
  }));
}

function inMib({ rssBytes }: { readonly rssBytes: number }): string {
  return (rssBytes / MIB).toFixed(0);
}

if (import.meta.main) void runAsProgram(main);
