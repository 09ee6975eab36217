/** Showing memories in agents' own files and taking that back, for the commands that connect agents. */
import type { Config } from "@/lib/config.ts";
import { EditConflict } from "@/lib/errors.ts";
import { ADAPTERS } from "@/lib/projection/adapters.ts";
import { systemLinkDisk } from "@/lib/projection/link_disk.ts";
import { listProjections, type ProjectionRecord } from "@/lib/projection/projection_record.ts";
import { Git } from "@/lib/projects/git.ts";
import { findGit, gitEnvironment } from "@/lib/projects/git_path.ts";
import {
  findFolder,
  machineOf,
  type OpenPlan,
  openProjectionSession,
  type ProjectionRequest,
  type ProjectionSession,
} from "./projection_session.ts";
import { type Report, wordsOf } from "./report.ts";
import type { Surroundings } from "./surroundings.ts";

/** Whose projections are meant. */
export interface WhichProjections {
  /** An id of `ADAPTERS`; an agent without an adapter has none. */
  readonly agent: string;
  /** The folder of a project, as it was written; absent: of no project, or all when they are undone. */
  readonly project?: string | undefined;
}

/**
 * Shows an agent memories: of a project if one is named, and what it is shown beside any project. In
 * mode `ask` the person is asked.
 *
 * @throws {ConfigError} If there is no such folder or no home, or the vault cannot be opened.
 */
export async function applyProjections(
  config: Config,
  surroundings: Surroundings,
  { agent, project }: WhichProjections,
): Promise<Report> {
  const adapters = ADAPTERS.filter(({ id }) => id === agent);
  if (adapters.length === 0) return { lines: [], refusals: [] };
  const cwd = project === undefined ? undefined : await findFolder(surroundings, project);
  await using session = await openProjectionSession(config, surroundings);
  if (cwd !== undefined && await session.findProject(cwd) === undefined) {
    return { lines: [], refusals: [noProject(cwd)] };
  }
  return await applyAll(session, { adapters, cwd });
}

/** Says of a folder that it belongs to no project. */
export function noProject(cwd: string): string {
  return `${cwd} is in no Git repository that can be read, so there is no project to show`;
}

/**
 * Plans and carries out, one agent after another, as what one of them brings in the next one shows; a
 * plan that is refused does not keep the others back.
 *
 * @param isWanted Which plans to carry out; all of them without it.
 */
export async function applyAll(
  session: Pick<ProjectionSession, "apply" | "plan">,
  request: ProjectionRequest,
  isWanted: (open: OpenPlan) => boolean = () => true,
): Promise<Report> {
  return await collect(async (take) => {
    for (const adapter of request.adapters) {
      const open = await session.plan({ ...request, adapters: [adapter] });
      for (const each of open.filter(isWanted)) {
        await take(() => applyOrPlanAnew(session, each, request));
      }
    }
  });
}

/** A file that somebody has just changed is looked at once more. */
async function applyOrPlanAnew(
  session: Pick<ProjectionSession, "apply" | "plan">,
  open: OpenPlan,
  request: ProjectionRequest,
): Promise<readonly string[]> {
  try {
    return await applyOne(session, open);
  } catch (error) {
    if (!(error instanceof EditConflict) || open.plan.kind !== "block") throw error;
    const plans = await session.plan({ ...request, adapters: [open.adapter] });
    const again = plans.find(({ plan }) => plan.target === open.plan.target);
    return again === undefined ? [] : await applyOne(session, again);
  }
}

async function applyOne(
  session: Pick<ProjectionSession, "apply">,
  open: OpenPlan,
): Promise<readonly string[]> {
  return [...await session.apply(open), ...open.plan.notes];
}

/**
 * Takes back what an agent is shown: of one project, or all of it.
 *
 * @throws {ConfigError} If there is no such folder, or no home.
 * @throws {AppError} `not-writable` if the record cannot be understood.
 */
export async function removeProjections(
  surroundings: Surroundings,
  which: WhichProjections,
): Promise<Report> {
  return await removeAll(surroundings, await listWanted(surroundings, which));
}

/** Lists what is on record of an agent: of one project, or all of it. */
export async function listWanted(
  surroundings: Surroundings,
  { agent, project }: WhichProjections,
): Promise<ProjectionRecord[]> {
  const { home } = machineOf(surroundings);
  const records = (await listProjections(home)).filter((record) => record.agent === agent);
  if (project === undefined) return records;
  const folders = await foldersOf(surroundings, await findFolder(surroundings, project));
  return records.filter((record) =>
    record.project !== undefined && folders.includes(record.project)
  );
}

/** Takes back what is on record, one after another. */
export async function removeAll(
  surroundings: Surroundings,
  records: readonly ProjectionRecord[],
): Promise<Report> {
  const context = {
    machine: machineOf(surroundings),
    clock: surroundings.clock,
    disk: systemLinkDisk,
  };
  return await collect(async (take) => {
    for (const record of records) {
      const adapter = ADAPTERS.find(({ id }) => id === record.agent);
      if (adapter) await take(() => adapter.remove(context, record));
    }
  });
}

/** By whichever of its folders a project is on record. */
async function foldersOf(
  { env }: Pick<Surroundings, "env">,
  folder: string,
): Promise<readonly string[]> {
  const git = new Git({ path: await findGit(env.get("PATH")), env: gitEnvironment(env) });
  const found = await git.findFolders(folder);
  return [folder, ...found ? [found.workTree, found.root] : []];
}

type Take = (work: () => Promise<readonly string[]>) => Promise<void>;

async function collect(work: (take: Take) => Promise<void>): Promise<Report> {
  const lines: string[] = [];
  const refusals: string[] = [];
  await work(async (each) => {
    try {
      lines.push(...await each());
    } catch (error) {
      const words = wordsOf(error);
      if (words === undefined) throw error;
      refusals.push(words);
    }
  });
  return { lines, refusals };
}
