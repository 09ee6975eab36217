/**
 * `deno task soak`: shows that the index is never wrong, whatever happens to the files, to the
 * process, or how often. What it finds can be had again by the same seed.
 */
import { parseArgs } from "node:util";
import { writeStderr } from "@/lib/seams.ts";
import { print } from "../eval/table.ts";
import { findPrograms } from "./programs.ts";
import { formatChurn, formatLedger } from "./report.ts";
import { formatSaves, soakSaves, wrongsOf } from "./saves.ts";
import { churnApart, soakChurn } from "./soak_churn.ts";
import { soakCrash } from "./soak_crash.ts";
import { neededPrograms, soakEdits } from "./soak_edits.ts";

const USAGE = `Usage: deno task soak edits|crash|churn|saves [options]

  edits: random edits of every kind, each followed by searches
    --edits N         how many (default: 10000)
    --by WHO          who edits: self, other (another process) or both (default)
    --notes N         about so many notes (default: 300)
    --freshness HOW   auto (default) or scan
  crash: a server that is killed at any moment and started again
    --rounds N        how often (default: 50)
    --notes N, --freshness HOW
  churn: notes that change again and again, then a fresh index beside
    --notes N         (default: 1000)
    --updates N       (default: 50000)
    --queries N       in each mode (default: 300)
  saves: a server that is killed while it saves, two of them on one vault, and looks after each save
    --kills N         of a server, of a process that only writes, and of one that writes several
                      files together (default: 200)
    --saves N         of rivals (default: 2000)
    --looks N         with either freshness (default: 1000)

  --seed N            what is random is the same for a seed (default: a new one)`;

const OPTIONS = {
  edits: { type: "string", default: "10000" },
  by: { type: "string", default: "both" },
  notes: { type: "string" },
  freshness: { type: "string", default: "auto" },
  rounds: { type: "string", default: "50" },
  updates: { type: "string", default: "50000" },
  queries: { type: "string", default: "300" },
  kills: { type: "string", default: "200" },
  saves: { type: "string", default: "2000" },
  looks: { type: "string", default: "1000" },
  seed: { type: "string" },
} as const;

const WHOS = ["self", "other", "both"] as const;
const FRESHNESSES = ["auto", "scan"] as const;
const MAX_LIFE_MS = 4_000;
const BATCH = 100;
const MAX_SEED = 1_000_000;

/** The command line cannot be followed. */
class UsageError extends Error {
  override name = "UsageError";
}

type Values = ReturnType<typeof parseCommandLine>["values"];

function parseCommandLine(args: string[]) {
  try {
    return parseArgs({ args, options: OPTIONS, allowPositionals: true });
  } catch (error) {
    throw new UsageError(`${error instanceof Error ? error.message : error}\n\n${USAGE}`);
  }
}

function parseCount(flag: string, text: string): number {
  if (!/^[1-9]\d*$/.test(text)) throw new UsageError(`--${flag} must be a whole number from 1`);
  return Number(text);
}

function parseChoice<T extends string>(flag: string, text: string, choices: readonly T[]): T {
  const choice = choices.find((known) => known === text);
  if (choice === undefined) throw new UsageError(`--${flag} must be one of ${choices.join(", ")}`);
  return choice;
}

/** @returns True if nothing was wrong. */
async function main(args: string[]): Promise<boolean> {
  const { values, positionals } = parseCommandLine(args);
  const seed = values.seed === undefined
    ? 1 + Math.floor(Math.random() * MAX_SEED)
    : parseCount("seed", values.seed);
  const [what, ...more] = positionals;
  if (more.length > 0) throw new UsageError(USAGE);
  writeStderr(`seed ${seed}`);
  switch (what) {
    case "edits":
      return await runEdits(values, seed);
    case "crash":
      return await runCrash(values, seed);
    case "churn":
      return await runChurn(values, seed);
    case "saves":
      return await runSaves(values, seed);
    default:
      throw new UsageError(USAGE);
  }
}

async function runEdits(values: Values, seed: number): Promise<boolean> {
  const needed = neededPrograms();
  const programs = await findPrograms(needed);
  const missing = needed.filter((name) => !programs.has(name));
  if (missing.length > 0) writeStderr(`not installed, so left out: ${missing.join(", ")}`);
  const ledger = await soakEdits({
    seed,
    programs,
    edits: parseCount("edits", values.edits),
    by: parseChoice("by", values.by, WHOS),
    notes: parseCount("notes", values.notes ?? "300"),
    freshness: parseChoice("freshness", values.freshness, FRESHNESSES),
  }, writeStderr);
  print(formatLedger(ledger));
  return ledger.wrongCount === 0;
}

async function runCrash(values: Values, seed: number): Promise<boolean> {
  const ledger = await soakCrash({
    seed,
    rounds: parseCount("rounds", values.rounds),
    notes: parseCount("notes", values.notes ?? "300"),
    freshness: parseChoice("freshness", values.freshness, FRESHNESSES),
    maxLifeMs: MAX_LIFE_MS,
  }, writeStderr);
  print(formatLedger(ledger));
  return ledger.wrongCount === 0;
}

async function runChurn(values: Values, seed: number): Promise<boolean> {
  const result = await soakChurn({
    seed,
    notes: parseCount("notes", values.notes ?? "1000"),
    updates: parseCount("updates", values.updates),
    queries: parseCount("queries", values.queries),
    batch: BATCH,
  }, churnApart);
  print(formatChurn(result));
  return [...result.differing.values()].every((count) => count === 0);
}

async function runSaves(values: Values, seed: number): Promise<boolean> {
  const outcome = await soakSaves({
    seed,
    kills: parseCount("kills", values.kills),
    saves: parseCount("saves", values.saves),
    looks: parseCount("looks", values.looks),
  }, writeStderr);
  print(formatSaves(outcome));
  return wrongsOf(outcome).length === 0;
}

if (import.meta.main) {
  main(Deno.args).then((isRight) => Deno.exit(isRight ? 0 : 1), (error) => {
    if (!(error instanceof UsageError)) throw error;
    writeStderr(error.message);
    Deno.exit(2);
  });
}
