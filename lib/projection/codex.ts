/** Codex: blocks in the instructions that it reads, of the project and of the person. */
import { dirname, join } from "node:path";
import type { AgentAdapter } from "./adapter.ts";
import { applyBlock, removeBlock } from "./apply_block.ts";
import { planBlock } from "./plan_block.ts";
import { codexFolder } from "@/lib/machine.ts";
import { isThere } from "@/lib/outside_files.ts";
import type { LocalProject, PlanContext, ProjectionPlan } from "./projection.ts";

const ID = "codex";
const FILE = "AGENTS.md";
/** Read in place of the other, where it is there. */
const OVERRIDE = "AGENTS.override.md";
/** It reads no more of them, unless it is told otherwise. */
const BYTES_READ = 32 * 1024;

export const codex: AgentAdapter = {
  id: ID,
  title: "Codex",
  mode: "RENDER",
  folder: codexFolder,
  needsProject: false,
  plan: planAll,
  apply: applyBlock,
  remove: removeBlock,
};

async function planAll(context: PlanContext): Promise<ProjectionPlan[]> {
  const { machine, project } = context;
  const own = join(codexFolder(machine), FILE);
  const plans = [await planGlobal(context, own)];
  if (project === undefined) return plans;
  const target = join(project.workTree, FILE);
  // A person may keep their settings in a repository.
  return target === own ? plans : [await planProject(context, project, target), ...plans];
}

async function planGlobal(context: PlanContext, target: string): Promise<ProjectionPlan> {
  return await planBlock(context, {
    subject: { agent: ID, mode: "RENDER", scope: "global", target },
    scopes: ["global"],
    findNotes: (after) => findNotes(target, after),
  });
}

async function planProject(
  context: PlanContext,
  { workTree }: LocalProject,
  target: string,
): Promise<ProjectionPlan> {
  return await planBlock(context, {
    subject: { agent: ID, mode: "RENDER", scope: "project", target, project: workTree },
    scopes: ["project"],
    root: workTree,
    findNotes: (after) => findNotes(target, after),
  });
}

async function findNotes(target: string, after: Uint8Array): Promise<string[]> {
  const override = join(dirname(target), OVERRIDE);
  return [
    ...(await isThere(override) ? [`Codex reads ${override}, and not this file`] : []),
    ...(after.length > BYTES_READ
      ? [`Codex reads the first ${BYTES_READ} bytes of such files, unless it is told otherwise`]
      : []),
  ];
}
