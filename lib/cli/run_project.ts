/** The command `project`: memories in the files that agents read by themselves. */
import type { Config } from "@/lib/config.ts";
import type { CommandLine } from "@/lib/config_command.ts";
import { AppError, ConfigError } from "@/lib/errors.ts";
import { unknownName } from "@/lib/nearest_name.ts";
import type { AgentAdapter } from "@/lib/projection/adapter.ts";
import { ADAPTERS } from "@/lib/projection/adapters.ts";
import type { Machine } from "@/lib/machine.ts";
import { applyAll, listWanted, noProject, removeAll } from "./project_agents.ts";
import { requirePerson } from "./projection_consent.ts";
import {
  findFolder,
  machineOf,
  type OpenPlan,
  openProjectionSession,
  type ProjectionRequest,
  type ProjectionSession,
  toNamedFile,
} from "./projection_session.ts";
import { describePlan } from "./projection_text.ts";
import { type Report, showReport } from "./report.ts";
import { showText, toPlain } from "./show_text.ts";
import type { Surroundings } from "./surroundings.ts";
import { watchProjections } from "./watch_projections.ts";

const EXIT_WELL = 0;
const EXIT_REFUSED = 1;

/**
 * Shows memories in agents' files, or takes that back; returns the exit code.
 *
 * @throws {ConfigError} If no agent of that name is known, a folder is not there, or flags make no
 * sense together.
 */
export async function runProject(
  config: Config,
  surroundings: Surroundings,
  line: CommandLine,
): Promise<number> {
  try {
    const request = await toRequest(surroundings, line);
    const isWell = line.undo
      ? await undo(surroundings, line, request)
      : await show(config, surroundings, { line, request });
    return isWell ? EXIT_WELL : EXIT_REFUSED;
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    surroundings.terminal.writeError(toPlain(error.message));
    return EXIT_REFUSED;
  }
}

async function toRequest(
  surroundings: Surroundings,
  { agent, file, project }: CommandLine,
): Promise<ProjectionRequest> {
  const cwd = await findFolder(surroundings, project);
  if (file === undefined) {
    return { adapters: await chooseAdapters(machineOf(surroundings), agent), cwd };
  }
  if (agent !== undefined) {
    throw new ConfigError(
      `--file shows memories to whoever reads that file, and ${agent} has its own: pass one of them`,
    );
  }
  return { adapters: ADAPTERS.filter(isForAnyFile), cwd, file: toNamedFile(cwd, file) };
}

function isForAnyFile({ folder }: AgentAdapter): boolean {
  return folder === undefined;
}

async function chooseAdapters(
  machine: Machine,
  agent: string | undefined,
): Promise<readonly AgentAdapter[]> {
  const agents = ADAPTERS.filter((adapter) => !isForAnyFile(adapter));
  if (agent === undefined) {
    const areThere = await Promise.all(agents.map((adapter) => isThere(machine, adapter)));
    return agents.filter((_, at) => areThere[at]);
  }
  const chosen = agents.filter(({ id }) => id === agent.toLowerCase());
  if (chosen.length > 0) return chosen;
  throw new ConfigError(unknownName("agent", agent, agents.map(({ id }) => id)));
}

async function isThere(machine: Machine, { folder }: AgentAdapter): Promise<boolean> {
  if (folder === undefined) return false;
  try {
    return (await Deno.stat(folder(machine))).isDirectory;
  } catch {
    // Not used here, or nobody's to look at.
    return false;
  }
}

interface ToShow {
  readonly line: CommandLine;
  readonly request: ProjectionRequest;
}

/** Returns whether nothing was refused. */
async function show(
  config: Config,
  surroundings: Surroundings,
  { line, request }: ToShow,
): Promise<boolean> {
  const { terminal } = surroundings;
  await using session = await openProjectionSession(config, surroundings);
  if (request.adapters.length === 0) {
    showText(
      terminal,
      "No agent with files of its own is here; --file FILE takes any Markdown file",
    );
    return true;
  }
  const project = request.cwd === undefined ? undefined : await session.findProject(request.cwd);
  if (project === undefined && line.project !== undefined) {
    throw new AppError("scope-unresolved", noProject(line.project));
  }
  if (project === undefined && request.adapters.every(({ needsProject }) => needsProject)) {
    return sayNoProject(surroundings, { line, request });
  }
  if (line.dryRun) return await showPlans(session, await session.plan(request));
  const done = await applyAll(session, request, line.refresh ? isShownAlready : undefined);
  const isWell = report(surroundings, done, { isQuiet: line.refresh });
  if (line.watch) {
    // Listened for before it is said: who reads that may act on it at once.
    const stopped = surroundings.askedToStop();
    showText(terminal, "Following changes; Ctrl-C ends it");
    await watchProjections(session, request, { stopped, told: done.refusals });
  }
  return isWell;
}

/** An agent that was named and has nowhere to show anything is refused. */
function sayNoProject({ terminal }: Surroundings, { line, request }: ToShow): boolean {
  const words = noProject(request.cwd ?? "");
  if (line.agent !== undefined) throw new AppError("scope-unresolved", words);
  showText(terminal, words);
  return true;
}

/** Lists that stand in a file already: who has taken one out wants none. */
function isShownAlready({ plan }: OpenPlan): boolean {
  return plan.kind === "block" && plan.state === "stale" && plan.record !== undefined;
}

/** Returns whether nothing would be refused. */
async function showPlans(
  session: ProjectionSession,
  open: readonly OpenPlan[],
): Promise<boolean> {
  const { terminal } = session.surroundings;
  let isWell = true;
  for (const each of open) {
    await requirePerson(session.consentFor(each.adapter), each.plan);
    showText(terminal, describePlan(each, session.vaultRoot).join("\n"));
    if (each.plan.kind !== "refused") continue;
    terminal.writeError(toPlain(each.plan.reason));
    isWell = false;
  }
  showText(terminal, "Nothing was changed.");
  return isWell;
}

/** Takes back what the same command without `--undo` would make. */
async function undo(
  surroundings: Surroundings,
  { dryRun, project }: CommandLine,
  { adapters, file }: ProjectionRequest,
): Promise<boolean> {
  const listed = await Promise.all(adapters.map(async ({ id }) => {
    const all = await listWanted(surroundings, { agent: id });
    if (file !== undefined) return all.filter(({ target }) => target === file.path);
    const ofProject = await listWanted(surroundings, { agent: id, project: project ?? "." });
    const isWanted = (target: string) => ofProject.some((each) => each.target === target);
    return all.filter(({ scope, target }) =>
      isWanted(target) || (project === undefined && scope === "global")
    );
  }));
  const records = listed.flat();
  if (!dryRun) return report(surroundings, await removeAll(surroundings, records));
  const lines = records.map(({ target }) => `   ${target}`);
  showText(
    surroundings.terminal,
    ["This would be taken back:", ...lines, "Nothing was changed."].join("\n"),
  );
  return true;
}

/** Returns whether nothing was refused. */
function report(
  { terminal }: Pick<Surroundings, "terminal">,
  done: Report,
  { isQuiet } = { isQuiet: false },
): boolean {
  const isNothing = done.lines.length === 0 && done.refusals.length === 0;
  if (isNothing && !isQuiet) showText(terminal, "Nothing had to be changed");
  return showReport(terminal, done);
}
