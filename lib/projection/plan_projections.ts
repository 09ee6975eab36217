/** What the agents of this machine are shown of the vault, and what would change: plans, no deeds. */
import { type Caller, MAX_SEARCH_LIMIT } from "@/lib/contracts.ts";
import type { MemoriesAnswer, MemoriesInput } from "@/lib/contracts_memories.ts";
import type {
  Projection,
  ProjectionsAnswer,
  ProjectionsInput,
} from "@/lib/contracts_projection.ts";
import { AppError } from "@/lib/errors.ts";
import { ACTIVE } from "@/lib/index/note_table.ts";
import type { Projects, Where } from "@/lib/projects/projects.ts";
import type { Clock } from "@/lib/seams.ts";
import type { Vault } from "@/lib/vault/vault.ts";
import { ADAPTERS } from "./adapters.ts";
import type { Machine } from "@/lib/machine.ts";
import type { LocalProject, ProjectionPlan, ProjectionScope } from "./projection.ts";
import { listProjections, type ProjectionRecord } from "./projection_record.ts";

export interface PlanProjectionsDeps {
  readonly vault: Vault;
  readonly clock: Clock;
  readonly projects: Pick<Projects, "find" | "findFolders">;
  /** `undefined` = it is not known whose machine this is. */
  readonly machine: Machine | undefined;
  readonly listMemories: (caller: Caller, page: MemoriesInput) => Promise<MemoriesAnswer>;
}

/**
 * Plans all projections of the person's agents; those of a project need to know where that lies.
 *
 * @throws {AppError} `forbidden-peer` for agents of other machines, `unavailable` if it is not known
 * where the person's home is.
 * @throws {InvalidRequest} If `repo` is no remote, or `cwd` is no absolute path of this machine.
 */
export async function planProjections(
  deps: PlanProjectionsDeps,
  caller: Caller,
  input: ProjectionsInput,
): Promise<ProjectionsAnswer> {
  const { machine, vault, clock, listMemories } = deps;
  if (!caller.loopback && caller.kind !== "owner") {
    throw new AppError("forbidden-peer", "What agents are shown is told to this machine only");
  }
  if (machine === undefined) {
    throw new AppError("unavailable", "It is not known where agents keep their files: set HOME");
  }
  const project = await findLocalProject(deps.projects, caller, input);
  const { records, notes } = await readRecords(machine);
  const context = {
    machine,
    vault,
    project,
    records,
    nowMs: clock.nowMs(),
    listMemories: (scope: ProjectionScope, cursor: string | undefined) =>
      listMemories(caller, toPage(scope, input, cursor)),
  };
  const plans: ProjectionPlan[] = [];
  for (const adapter of ADAPTERS) plans.push(...await adapter.plan(context));
  return { projections: plans.map((plan) => toProjection(plan, notes)) };
}

/** Returns what asks for a page of the memories that a projection shows. */
export function toPage(
  scope: ProjectionScope,
  { cwd, repo }: Where,
  cursor: string | undefined,
): MemoriesInput {
  return { scope, cwd, repo, status: ACTIVE, limit: MAX_SEARCH_LIMIT, cursor };
}

/** Finds a project and where it lies; both, or none. */
export async function findLocalProject(
  projects: Pick<Projects, "find" | "findFolders">,
  caller: Caller,
  where: Where,
): Promise<LocalProject | undefined> {
  const found = await projects.find(caller, where);
  const folders = found && await projects.findFolders(caller, where);
  return found && folders && { ...folders, found };
}

/** What a server may not read is none of its business. */
async function readRecords(
  { home }: Machine,
): Promise<{ readonly records: readonly ProjectionRecord[]; readonly notes: readonly string[] }> {
  try {
    return { records: await listProjections(home), notes: [] };
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    return { records: [], notes: [`What was made before is not known: ${error.message}`] };
  }
}

/** Dresses a plan for the wire: of a file our own block, and nothing else that stands there. */
export function toProjection(plan: ProjectionPlan, more: readonly string[] = []): Projection {
  const { agent, mode, scope, target, state, reason, notes, changes } = plan;
  return {
    agent,
    mode,
    scope,
    target,
    state,
    ...(reason === undefined ? {} : { reason }),
    notes: [...notes, ...more],
    changes: [...changes],
    ...(plan.kind === "block" ? { block: plan.block } : {}),
  };
}
