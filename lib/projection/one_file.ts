/** Any file of instructions that the person names: what an agent reads that has no adapter. */
import { dirname, relative } from "node:path";
import { isAbsence } from "@/lib/vault/vault.ts";
import type { AgentAdapter } from "./adapter.ts";
import { applyBlock, removeBlock } from "./apply_block.ts";
import { planBlock } from "./plan_block.ts";
import { isWithin } from "./real_place.ts";
import type { NamedFile, PlanContext, ProjectionPlan } from "./projection.ts";

const ID = "file";

export const oneFile: AgentAdapter = {
  id: ID,
  title: "Any agent",
  mode: "RENDER",
  needsProject: false,
  plan: async (context) => {
    const { file } = context;
    return file === undefined ? [] : [await plan(context, file)];
  },
  apply: applyBlock,
  remove: removeBlock,
};

async function plan(context: PlanContext, file: NamedFile): Promise<ProjectionPlan> {
  const { project } = context;
  const scope = project === undefined ? "global" as const : "project" as const;
  return await planBlock(context, {
    subject: {
      agent: ID,
      mode: "RENDER",
      scope,
      target: file.path,
      ...(project === undefined ? {} : { project: project.workTree }),
    },
    scopes: project === undefined ? ["global"] : ["project", "global"],
    root: await findRoot(file, project?.workTree),
  });
}

/** The project or folder that holds the file; a person's own file elsewhere has none. */
async function findRoot(
  { path, cwd }: NamedFile,
  workTree: string | undefined,
): Promise<string | undefined> {
  for (const root of [workTree, cwd]) {
    if (root !== undefined && await liesBelow(path, root)) return root;
  }
  return undefined;
}

/** Tells whether the way to a file, as it was named, leads through a folder. */
async function liesBelow(path: string, root: string): Promise<boolean> {
  if (isWithin(path, root)) return true;
  for (let folder = dirname(path);; folder = dirname(folder)) {
    if (await isFolder(folder, root)) return true;
    if (dirname(folder) === folder) return false;
  }
}

async function isFolder(folder: string, root: string): Promise<boolean> {
  try {
    return relative(root, await Deno.realPath(folder)) === "";
  } catch (error) {
    if (isAbsence(error)) return false;
    throw error;
  }
}
