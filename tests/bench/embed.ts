/**
 * `deno task bench:embed`: what embedding a vault with a provider makes of the provider's limit, and
 * what it costs those who search meanwhile. The provider is an imitation with a limit of its own, in
 * a process of its own; so is the server, which is the real program.
 */
import { parseArgs } from "node:util";
import { writeStderr } from "@/lib/seams.ts";
import { formatTable, print, type Row } from "../eval/table.ts";
import { bestOf } from "./best_of.ts";
import { parseCount, parseOrExplain, runAsProgram, UsageError } from "./command_line.ts";
import { Corpus } from "./corpus.ts";
import { type EmbedRound, type Form, FORMS, measureEmbedding } from "./embed_measure.ts";
import { type Latencies, type Latency, type Probe, PROBES } from "./embed_probe.ts";

const USAGE = `Usage: deno task bench:embed [options]

  --notes N        notes in the vault, of five chunks each (default: 2000)
  --forms A,B      how vectors come: ${FORMS.join(", ")} (default: both)
  --dimensions N   of a vector (default: 512)
  --per-second N   requests that the provider takes (default: 10)
  --burst N        requests that it takes at once after a rest (default: 4)
  --latency N      milliseconds that it takes to answer (default: 50)
  --rounds N       the best counts (default: 3)
  --json           print JSON`;

const OPTIONS = {
  "notes": { type: "string", default: "2000" },
  "forms": { type: "string", default: FORMS.join(",") },
  "dimensions": { type: "string", default: "512" },
  "per-second": { type: "string", default: "10" },
  "burst": { type: "string", default: "4" },
  "latency": { type: "string", default: "50" },
  "rounds": { type: "string", default: "3" },
  "json": { type: "boolean", default: false },
} as const;

/** Of the provider's limit, at least. */
const SHARE_GOAL = 0.8;
/** So many times what it takes otherwise a search may take. */
const LATENCY_GOAL = 2;
const LATENCIES = ["p50", "p95", "p99"] as const;

export interface EmbedSettings {
  readonly notes: number;
  readonly forms: readonly Form[];
  readonly dimensions: number;
  readonly rate: { readonly perSecond: number; readonly burst: number };
  readonly latencyMs: number;
  readonly rounds: number;
  readonly json: boolean;
}

/** @throws {UsageError} If the command line cannot be followed. */
export function parseSettings(args: string[]): EmbedSettings {
  const { forms, json, ...values } = parseOrExplain(
    () => parseArgs({ args, options: OPTIONS }).values,
    USAGE,
  );
  const count = (flag: Exclude<keyof typeof values, "forms" | "json">) =>
    parseCount(flag, values[flag]);
  return {
    notes: count("notes"),
    forms: forms.split(",").map(parseForm),
    dimensions: count("dimensions"),
    rate: { perSecond: count("per-second"), burst: count("burst") },
    latencyMs: count("latency"),
    rounds: count("rounds"),
    json,
  };
}

function parseForm(name: string): Form {
  const form = FORMS.find((known) => known === name);
  if (form === undefined) throw new UsageError(`--forms knows ${FORMS.join(", ")}, not "${name}"`);
  return form;
}

/** What was reached in the best round of a form. */
export interface Verdict {
  readonly form: Form;
  readonly share: number;
  /** How many times as long as otherwise searches took, at the worst. */
  readonly latency: number;
  readonly isMet: boolean;
}

/**
 * Returns what was reached of what is wanted: the best share, and the least of each latency beside
 * the least when idle, as a round that is disturbed when idle makes little of what is lost.
 */
export function judge(rounds: readonly EmbedRound[]): Verdict[] {
  return [...Map.groupBy(rounds, ({ form }) => form)].map(([form, group]) => {
    const share = Math.max(...group.map(({ limit }) => limit.share));
    const { busy, idle } = bestOf(group);
    const latency = Math.max(
      ...LATENCIES.flatMap((key) =>
        SEARCHES.map((way) => divide(busy[way], usualOf(idle, way), key))
      ),
    );
    return { form, share, latency, isMet: share >= SHARE_GOAL && latency <= LATENCY_GOAL };
  });
}

const SEARCHES = ["keyword", "fallback"] as const;

/** What is answered by words takes what a search by words does. */
function usualOf(idle: Latencies, way: Probe): Latency | undefined {
  return idle[way === "fallback" ? "keyword" : way];
}

/** NaN if there is nothing to compare. */
function divide(
  one: Latency | undefined,
  other: Latency | undefined,
  key: (typeof LATENCIES)[number],
): number {
  return (one?.[key] ?? NaN) / (other?.[key] ?? NaN);
}

function formatRounds(rounds: readonly EmbedRound[], verdicts: readonly Verdict[]): string {
  const tables: readonly Row[][] = [
    rounds.map(({ form, chunks, limit }) => ({
      "vectors as": form,
      chunks,
      ...limit,
      "texts/s": limit.texts / limit.seconds,
    })),
    rounds.flatMap((round) => PROBES.flatMap((way) => toLatencyRows(round, way))),
    verdicts.map(({ form, share, latency, isMet }) => ({
      "vectors as": form,
      [`share of the limit (${SHARE_GOAL})`]: share,
      [`search: times idle (${LATENCY_GOAL})`]: latency,
      "verdict": isMet ? "met" : "MISSED",
    })),
  ];
  return tables.map((rows) => formatTable(rows, formatNumber)).join("\n\n");
}

function toLatencyRows({ form, busy, idle }: EmbedRound, way: Probe): Row[] {
  const usual = usualOf(idle, way);
  const row = (when: string, latency: Latency | undefined): Row[] => {
    if (!latency) return [];
    const times = LATENCIES.map((key) => [`${key}: times`, divide(latency, usual, key)]);
    return [{
      "vectors as": form,
      "asked for": way,
      when,
      ...latency,
      ...Object.fromEntries(times),
    }];
  };
  return [...row("embedding", busy[way]), ...row("idle", idle[way])];
}

function formatNumber(_column: string, value: number): string {
  return Number.isInteger(value) ? value.toFixed(0) : value.toFixed(2);
}

/** Returns the exit code. */
async function main(args: string[]): Promise<number> {
  const { json, ...settings } = parseSettings(args);
  const rounds = await measureEmbedding({ ...settings, corpus: new Corpus(), say: writeStderr });
  const verdicts = judge(rounds);
  if (json) print(JSON.stringify({ ...settings, rounds, verdicts }, undefined, 1));
  else print(formatRounds(rounds, verdicts));
  return verdicts.every(({ isMet }) => isMet) ? 0 : 1;
}

if (import.meta.main) void runAsProgram(main);
