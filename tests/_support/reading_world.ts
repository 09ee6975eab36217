/** A real vault with all that reading projects needs; consent is what the test says. */
import { Budget } from "@/lib/access/budget.ts";
import type { DeepScope, ReadingAccess } from "@/lib/access/reading_access.ts";
import type { Caller } from "@/lib/contracts.ts";
import {
  type LoadSummariesAnswer,
  LoadSummariesInput,
  type ReadProjectAnswer,
  ReadProjectInput,
} from "@/lib/contracts_reading.ts";
import { GrantMissing } from "@/lib/errors.ts";
import { parseInput } from "@/lib/parse_input.ts";
import { ProjectFolders } from "@/lib/projects/project_folders.ts";
import { projectNameOf, repoIdOf } from "@/lib/projects/repo_identity.ts";
import { loadSummaries, type LoadSummariesDeps } from "@/lib/reading/load_summaries.ts";
import { readProject } from "@/lib/reading/read_project.ts";
import { Semaphore, systemClock } from "@/lib/seams.ts";
import { openVault } from "@/lib/vault/vault.ts";
import { type Files, type TempVault, tempVault } from "./temp_vault.ts";

export interface ReadingWorld extends TempVault {
  readonly deps: LoadSummariesDeps;
  /** What access was asked, in order; `look` = the disk was looked at for folders. */
  readonly asked: readonly string[];
}

export interface ReadingOptions {
  /** One for all answers, as in mode `ask`; without it each answer has its own. */
  readonly budget?: Budget;
  /** What the person has not allowed. */
  readonly refuses?: "deep" | "shared";
  /** Local time. */
  readonly now?: string;
}

export const reader: Caller = { kind: "agent", loopback: true };

/** The remote of the project `site`. */
export const SITE = "https://github.com/acme/site";

/** Writes a summary with metadata. */
export function summary(project: string, body: string, ...lines: readonly string[]): string {
  return `---\nproject: ${project}\n${lines.map((line) => `${line}\n`).join("")}---\n${body}`;
}

/** Loads summaries as a call does; without `input` those of `SITE`. */
export async function load(
  { deps }: ReadingWorld,
  input: unknown = { repo: SITE },
  caller: Caller = reader,
): Promise<LoadSummariesAnswer> {
  return await loadSummaries(deps, caller, LoadSummariesInput.parse(input));
}

/** Reads a project deeply as a call does. */
export async function read(
  { deps }: ReadingWorld,
  input: Readonly<Record<string, unknown>>,
): Promise<ReadProjectAnswer> {
  const checked = parseInput(ReadProjectInput, new Map(Object.entries(input)));
  return await readProject(deps, reader, checked);
}

/** Makes a vault with these files; use it with `await using`. */
export async function readingWorld(
  files: Files,
  { budget, refuses, now = "2026-07-15T12:00:00" }: ReadingOptions = {},
): Promise<ReadingWorld> {
  const temp = await tempVault(files);
  const vault = openVault({ root: temp.root, memoriesFolder: "memories", exclude: [] });
  const clock = { ...systemClock, nowMs: () => new Date(now).getTime() };
  const folders = new ProjectFolders({ vault, clock });
  const asked: string[] = [];
  const deps: LoadSummariesDeps = {
    clock,
    vault,
    noteReads: new Semaphore(4),
    access: testAccess(asked, budget, refuses),
    projects: {
      identify: (_caller, { repo }) => {
        const repoId = repo === undefined ? undefined : repoIdOf(repo);
        return Promise.resolve(
          repoId === undefined ? undefined : { repoId, name: projectNameOf(repoId) },
        );
      },
    },
    projectFolders: {
      scan: (first, signal) => {
        asked.push("look");
        return folders.scan(first, signal);
      },
    },
  };
  return { ...temp, deps, asked };
}

function testAccess(
  asked: string[],
  budget: Budget | undefined,
  refuses: ReadingOptions["refuses"],
): ReadingAccess {
  const ask = (kind: "deep" | "shared", what: string) => {
    asked.push(`${kind} ${what}`);
    if (refuses === kind) throw new GrantMissing(`The person has not allowed ${what}`);
  };
  return {
    budgetOf: () => budget ?? new Budget(),
    requireDeep: (_caller, scope) => ask("deep", show(scope)),
    requireShared: (_caller, topics) => ask("shared", topics.join()),
    noteDeepFolder: (_caller, scope, folder) => asked.push(`folder ${show(scope)}: ${folder}`),
  };
}

function show({ project, history }: DeepScope): string {
  return history ? `${project} with history` : project;
}
