/** Claude Code: its memory of a project is the store of that project, in both directions. */
import { join } from "node:path";
import type { AgentAdapter } from "./adapter.ts";
import { applyLink, removeLink } from "./apply_link.ts";
import { claudeFolder } from "@/lib/machine.ts";
import { claudeMemoryFolder, readClaudeSettings } from "./claude_place.ts";
import { planLink, refused } from "./plan_link.ts";
import {
  type LocalProject,
  type PlanContext,
  planOrRefuse,
  type PlanSubject,
  type ProjectionPlan,
} from "./projection.ts";

const ID = "claude";
const TITLE = "Claude Code";

export const claude: AgentAdapter = {
  id: ID,
  title: TITLE,
  mode: "SYMLINK",
  folder: claudeFolder,
  needsProject: true,
  plan: async (context) => {
    const { project } = context;
    return project === undefined ? [] : [await plan(context, project)];
  },
  apply: (context, plan) => applyLink(context, plan, TITLE),
  remove: removeLink,
};

async function plan(context: PlanContext, project: LocalProject): Promise<ProjectionPlan> {
  const { machine } = context;
  const { root } = project;
  const subject: PlanSubject = {
    agent: ID,
    mode: "SYMLINK",
    scope: "project",
    target: claudeMemoryFolder(machine, root),
    project: root,
  };
  return await planOrRefuse(context, subject, async () => {
    const { elsewhere, off } = await readClaudeSettings(machine);
    if (elsewhere !== undefined) {
      const settings = join(claudeFolder(machine), "settings.json");
      throw refused(
        subject.target,
        `is not where Claude Code keeps its memory: autoMemoryDirectory in ${settings} says ` +
          `${JSON.stringify(elsewhere)}. Take that out to have the store there`,
      );
    }
    const notes = off === undefined
      ? []
      : [`Claude Code's memory is switched off (${off}), so it would read nothing of it`];
    return await planLink(context, { subject, project, title: TITLE, notes });
  });
}
