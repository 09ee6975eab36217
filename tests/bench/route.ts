/**
 * `deno run -A tests/bench/route.ts`: what a memory route costs in a vault of many project folders,
 * without the time that Git takes: the first one, and those after it while nothing changes.
 */
import { parseArgs } from "node:util";
import type { Caller } from "@/lib/contracts.ts";
import { ProjectFolders } from "@/lib/projects/project_folders.ts";
import { findRoute, type FindRouteDeps } from "@/lib/reading/find_route.ts";
import { roundMs, systemClock, writeStderr } from "@/lib/seams.ts";
import { openVault } from "@/lib/vault/vault.ts";
import { print } from "../eval/table.ts";
import { tempVault } from "../_support/temp_vault.ts";
import { delay } from "./bench_vault.ts";
import { bestOf } from "./best_of.ts";
import { parseCount, parseOrExplain, runAsProgram } from "./command_line.ts";

const USAGE = `Usage: deno run -A tests/bench/route.ts [options]

  --folders N  project folders in the vault (default: 5000)
  --rounds N   the best counts (default: 3)`;

const OPTIONS = {
  folders: { type: "string", default: "5000" },
  rounds: { type: "string", default: "3" },
} as const;

/** How much of the first one each of the others may take. */
const GOAL = 0.2;
/** Until then, equal stamps of files prove nothing. */
const SETTLING_MS = 3_200;

const CALLER: Caller = { kind: "agent", loopback: true };
const IDENTITY = { repoId: "github.com/acme/project-00042", name: "project-00042" };

interface Times {
  readonly coldMs: number;
  readonly warmMs: number;
  /** For how long nothing else had a turn. */
  readonly longestStallMs: number;
}

async function main(args: string[]): Promise<number> {
  const { values } = parseOrExplain(() => parseArgs({ args, options: OPTIONS }), USAGE);
  const folders = parseCount("folders", values.folders);
  const rounds = parseCount("rounds", values.rounds);
  await using folder = await tempVault({});
  writeStderr(`Making ${folders} project folders`);
  for (let i = 0; i < folders; i++) await makeFolder(folder.root, i, folders);
  await delay(SETTLING_MS);
  const times: Times[] = [];
  for (let i = 0; i < rounds; i++) times.push(await measureRoutes(folder.root));
  const { coldMs, warmMs, longestStallMs } = bestOf(times);
  print(
    `${folders} project folders: cold ${roundMs(coldMs)} ms, warm ${roundMs(warmMs)} ms, ratio ` +
      `${roundMs(warmMs / coldMs)} (goal: ${GOAL} at most), longest stall ` +
      `${roundMs(longestStallMs)} ms`,
  );
  return warmMs / coldMs <= GOAL ? 0 : 1;
}

async function makeFolder(root: string, at: number, count: number): Promise<void> {
  const nameOf = (i: number) => `project-${String(i % count).padStart(5, "0")}`;
  const name = nameOf(at);
  await Deno.mkdir(`${root}/${name}`);
  const lines = [
    "---",
    `project: ${name}`,
    `repo_id: github.com/acme/${name}`,
    `aliases: [alias-${at}]`,
    `tags: [tag-${at % 7}, tag-${at % 11}]`,
    `related: [${nameOf(at + 1)}]`,
    `depends_on: [${nameOf(at + 2)}]`,
    "status: active",
    "updated: 2026-07-15",
    "---",
    "",
    "What it is for, and how to begin.\n".repeat(20),
  ];
  await Deno.writeTextFile(`${root}/${name}/summary.md`, lines.join("\n"));
}

async function measureRoutes(root: string): Promise<Times> {
  const vault = openVault({ root, memoriesFolder: "memories", exclude: [] });
  const deps: FindRouteDeps = {
    projects: { identify: () => Promise.resolve(IDENTITY) },
    projectFolders: new ProjectFolders({ vault, clock: systemClock }),
  };
  const stalls = watchStalls();
  const coldMs = await timeOf(deps);
  const warmMs = await timeOf(deps);
  return { coldMs, warmMs, longestStallMs: await stalls.stop() };
}

async function timeOf(deps: FindRouteDeps): Promise<number> {
  const startMs = systemClock.monotonicMs();
  await findRoute(deps, CALLER, { tags: ["tag-3"] });
  return systemClock.monotonicMs() - startMs;
}

/** Measures the time from turn to turn of the event loop. */
function watchStalls(): { stop(): Promise<number> } {
  let lastMs = systemClock.monotonicMs();
  let longestMs = 0;
  const timer = setInterval(() => {
    const nowMs = systemClock.monotonicMs();
    longestMs = Math.max(longestMs, nowMs - lastMs);
    lastMs = nowMs;
  }, 1);
  return {
    async stop() {
      // The last one may still be under way.
      await delay(5);
      clearInterval(timer);
      return longestMs;
    },
  };
}

if (import.meta.main) void runAsProgram(main);
