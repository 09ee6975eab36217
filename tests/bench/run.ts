/**
 * `deno task bench`: how fast the index takes in, embeds, ranks and keeps notes, beside Orama's own
 * full-text and hybrid search and SQLite's FTS5 on the same notes and queries, in one run on one
 * machine; and what MCP costs beside plain HTTP. Ratios hold on other machines as well; milliseconds do not, and
 * are the best of some rounds.
 */
import { parseArgs } from "node:util";
import { writeStderr } from "@/lib/seams.ts";
import { print } from "../eval/table.ts";
import { parseCount, parseOrExplain, runAsProgram, UsageError } from "./command_line.ts";
import { Corpus } from "./corpus.ts";
import { formatReport } from "./report.ts";
import { type Part, PARTS, runBench } from "./results.ts";

const USAGE = `Usage: deno task bench [options]

  --notes N       notes in the vault, five chunks each (default: 10000)
  --queries N     queries of each class (default: 200)
  --rounds N      how often each part runs; the best counts (default: 3)
  --only A,B      only these parts: ${PARTS.join(", ")}
  --json          print JSON`;

const OPTIONS = {
  notes: { type: "string", default: "10000" },
  queries: { type: "string", default: "200" },
  rounds: { type: "string", default: "3" },
  only: { type: "string", default: PARTS.join(",") },
  json: { type: "boolean", default: false },
} as const;

interface Settings {
  readonly notes: number;
  readonly queries: number;
  readonly rounds: number;
  readonly parts: readonly Part[];
  readonly json: boolean;
}

function parseSettings(args: string[]): Settings {
  const { values } = parseCommandLine(args);
  return {
    notes: parseCount("notes", values.notes),
    queries: parseCount("queries", values.queries),
    rounds: parseCount("rounds", values.rounds),
    parts: values.only.split(",").map(parsePart),
    json: values.json,
  };
}

function parseCommandLine(args: string[]) {
  return parseOrExplain(() => parseArgs({ args, options: OPTIONS }), USAGE);
}

function parsePart(name: string): Part {
  const part = PARTS.find((known) => known === name);
  if (part === undefined) throw new UsageError(`--only knows ${PARTS.join(", ")}, not "${name}"`);
  return part;
}

async function main(args: string[]): Promise<number> {
  const { json, ...settings } = parseSettings(args);
  const results = await runBench({ ...settings, corpus: new Corpus(), say: writeStderr });
  if (json) print(JSON.stringify({ ...settings, ...toPlain(results) }, undefined, 1));
  else print(formatReport(results, settings.parts, settings.notes));
  return 0;
}

function toPlain(results: object): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(results).map(([key, value]) => [
      key,
      value instanceof Map ? Object.fromEntries(value) : value,
    ]),
  );
}

if (import.meta.main) void runAsProgram(main);
