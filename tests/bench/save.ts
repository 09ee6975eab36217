/**
 * `deno task bench:save`: what a save costs beside the bare write of the same bytes, in a vault of
 * any size with the program's default settings.
 */
import { parseArgs } from "node:util";
import { writeStderr } from "@/lib/seams.ts";
import { formatTable, print } from "../eval/table.ts";
import { parseCount, parseOrExplain, runAsProgram } from "./command_line.ts";
import { measureSaves, SAVE_WAYS, type SaveTimes } from "./save_measure.ts";

const TASK = "deno task bench:save";
const USAGE = `Usage: ${TASK} [options]

  --notes N    notes in the vault, of five chunks each (default: 10000)
  --saves N    of each kind in a round (default: 300)
  --rounds N   the best counts (default: 3)
  --json       print JSON`;

const OPTIONS = {
  notes: { type: "string", default: "10000" },
  saves: { type: "string", default: "300" },
  rounds: { type: "string", default: "3" },
  json: { type: "boolean", default: false },
} as const;

/** How many times the bare write's p99 a save may take. */
const GOAL = 3;

function parseCommandLine(args: string[]) {
  return parseOrExplain(() => parseArgs({ args, options: OPTIONS }).values, USAGE);
}

/** Returns the table for people. */
export function formatSaves(notes: number, times: SaveTimes): string {
  const bare = times["bare write"];
  const rows = SAVE_WAYS.map((way) => ({
    what: way,
    "p50 ms": times[way].p50,
    "p99 ms": times[way].p99,
    "p50: times bare": times[way].p50 / bare.p50,
    "p99: times bare": times[way].p99 / bare.p99,
  }));
  const table = formatTable(rows, (_, value) => value.toFixed(2));
  return `${notes} notes\n\n${table}\n\nThe goal for p99 of a change and of a new memory is ${GOAL}.`;
}

async function main(args: string[]): Promise<number> {
  const { notes, saves, rounds, json } = parseCommandLine(args);
  const settings = {
    notes: parseCount("notes", notes),
    saves: parseCount("saves", saves),
    rounds: parseCount("rounds", rounds),
  };
  const result = await measureSaves(settings, writeStderr);
  print(json ? JSON.stringify(result, undefined, 1) : formatSaves(settings.notes, result));
  return 0;
}

if (import.meta.main) void runAsProgram(main);
