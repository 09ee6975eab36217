/**
 * `deno task bench:hints`: what hints cost beside a hybrid search of the same words, in a vault of
 * any size whose notes are all memories.
 */
import { parseArgs } from "node:util";
import { writeStderr } from "@/lib/seams.ts";
import { formatTable, print } from "../eval/table.ts";
import { parseCount, parseOrExplain, runAsProgram } from "./command_line.ts";
import { HINT_WAYS, type HintTimes, measureHintTimes } from "./hints_measure.ts";

const USAGE = `Usage: deno task bench:hints [options]

  --notes N    memories in the vault, of five chunks each (default: 10000)
  --queries N  of each class in a round (default: 100)
  --rounds N   the best counts (default: 3)
  --json       print JSON`;

const OPTIONS = {
  notes: { type: "string", default: "10000" },
  queries: { type: "string", default: "100" },
  rounds: { type: "string", default: "3" },
  json: { type: "boolean", default: false },
} as const;

/** How many times a search hints may take. */
const GOAL = 1.3;

async function main(args: string[]): Promise<number> {
  const { values } = parseOrExplain(() => parseArgs({ args, options: OPTIONS }), USAGE);
  const settings = {
    notes: parseCount("notes", values.notes),
    queries: parseCount("queries", values.queries),
    rounds: parseCount("rounds", values.rounds),
  };
  const times = await measureHintTimes(settings, writeStderr);
  print(values.json ? JSON.stringify(times, undefined, 1) : formatHintTimes(settings.notes, times));
  return 0;
}

function formatHintTimes(notes: number, times: HintTimes): string {
  const search = times["hybrid search"];
  const rows = HINT_WAYS.map((way) => ({
    what: way,
    "p50 ms": times[way].p50,
    "p99 ms": times[way].p99,
    "p50: times a search": times[way].p50 / search.p50,
    "p99: times a search": times[way].p99 / search.p99,
  }));
  const table = formatTable(rows, (_, value) => value.toFixed(2));
  return `${notes} memories\n\n${table}\n\nThe goal is ${GOAL}. A long output is cut into up to ` +
    "twelve sentences, each of which is looked for.";
}

if (import.meta.main) void runAsProgram(main);
