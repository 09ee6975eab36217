/**
 * `deno task soak saves`: shows that a save is never lost, never half, and seen at once: by kills in
 * the midst of saving, by rivals on one vault, and by asking right after.
 */
import type { KillCounts } from "../_support/kill_counts.ts";
import { crashTogether, type TogetherKills } from "../_support/together_kills.ts";
import { formatTable, type Row } from "../eval/table.ts";
import { Random } from "./random.ts";
import { crashChild } from "./saves_child_crash.ts";
import { crashServer } from "./saves_crash.ts";
import { type RivalCounts, soakRivals } from "./saves_rivals.ts";
import { type SeenCounts, soakSeen } from "./saves_seen.ts";
import { makeBase } from "./saves_server.ts";
import type { Freshness } from "./soak_world.ts";

export interface SavesSettings {
  /** Of a server, and as many again of each process that does nothing but write. */
  readonly kills: number;
  /** How many rivals send. */
  readonly saves: number;
  /** How often a save is looked for right after, with either freshness. */
  readonly looks: number;
  readonly seed: number;
}

export interface SavesOutcome {
  readonly server: KillCounts;
  readonly child: KillCounts;
  /** Of a process that writes several files together. */
  readonly together: TogetherKills;
  readonly rivals: RivalCounts;
  readonly seen: ReadonlyMap<Freshness, SeenCounts>;
}

const FRESHNESSES = ["auto", "scan"] as const;

/** Runs all parts, each over a vault of its own. */
export async function soakSaves(
  { kills, saves, looks, seed }: SavesSettings,
  say: (line: string) => void,
): Promise<SavesOutcome> {
  const random = new Random(seed);
  say(`${kills} kills of a process that writes`);
  const child = await withBase((base) => crashChild(base, kills, random));
  say(`${kills} kills of a process that writes several files together`);
  const below = (limit: number) => random.below(limit);
  const together = await withBase((base) => crashTogether(base, kills, below));
  say(`${kills} kills of a server`);
  const server = await withBase((base) => crashServer(base, kills, random));
  say(`${saves} saves of rivals`);
  const rivals = await withBase((base) => soakRivals(base, saves, random));
  const seen = new Map<Freshness, SeenCounts>();
  for (const freshness of FRESHNESSES) {
    say(`${looks} looks right after a save, ${freshness}`);
    seen.set(freshness, await withBase((base) => soakSeen(base, { looks, freshness })));
  }
  return { server, child, together, rivals, seen };
}

async function withBase<T>(work: (base: string) => Promise<T>): Promise<T> {
  await using made = await makeBase();
  return await work(made.base);
}

/** Returns all that went wrong. */
export function wrongsOf({ server, child, together, rivals, seen }: SavesOutcome): string[] {
  const parts = [server, child, together, rivals, ...seen.values()];
  return parts.flatMap(({ wrongs }) => [...wrongs]);
}

const MAX_TOLD = 20;

/** Tells what came of it, for people. */
export function formatSaves(outcome: SavesOutcome): string {
  const { server, child, together, rivals, seen } = outcome;
  const kills = [["server", server], ["writer", child]] as const;
  const { wrongs: _, ...rivalCounts } = rivals;
  const { wrongs: apart, ...togetherCounts } = together;
  const wrongs = wrongsOf(outcome);
  return [
    table(kills.map(([killed, { wrongs, ...counts }]) => ({
      killed,
      ...counts,
      wrongs: wrongs.length,
    }))),
    table([{ killed: "writer of several", ...togetherCounts, wrongs: apart.length }]),
    table(Object.entries(rivalCounts).map(([rivals, count]) => ({ rivals, count }))),
    table([...seen].map(([freshness, { wrongs, ...counts }]) => ({
      freshness,
      ...counts,
      unseen: wrongs.length,
    }))),
    wrongs.length === 0 ? "Nothing was wrong" : `WRONG: ${wrongs.length}`,
    ...wrongs.slice(0, MAX_TOLD),
  ].join("\n\n");
}

function table(rows: readonly Row[]): string {
  return formatTable(rows, (_, value) => String(value));
}
