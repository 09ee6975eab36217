/** What an agent is shown in its own files, as a part of connecting it. */
import type { AgentConnection } from "@/lib/connect/connection.ts";
import { isThere } from "@/lib/outside_files.ts";
import { ADAPTERS } from "@/lib/projection/adapters.ts";
import { applyProjections, noProject } from "./project_agents.ts";
import { requirePerson } from "./projection_consent.ts";
import { findFolder, openProjectionSession } from "./projection_session.ts";
import { describePlan } from "./projection_text.ts";
import type { Report } from "./report.ts";
import type { InstallContext } from "./run_install.ts";

const NOTHING: Report = { lines: [], refusals: [] };

/**
 * Says what would be shown, and what stands in the way; changes nothing.
 *
 * @throws {AppError} `owner-required` in mode `ask`, if somebody else may be looking.
 */
export async function planShown(
  { config, line, surroundings }: InstallContext,
  { id }: AgentConnection,
): Promise<Report> {
  if (!await isThere(config.vault)) return NOTHING;
  const adapters = ADAPTERS.filter((adapter) => adapter.id === id);
  const cwd = line.project === undefined ? undefined : await findFolder(surroundings, line.project);
  await using session = await openProjectionSession(config, surroundings);
  if (cwd !== undefined && await session.findProject(cwd) === undefined) {
    return { lines: [], refusals: [noProject(cwd)] };
  }
  const open = await session.plan({ adapters, cwd });
  // Names and descriptions are for the person alone.
  for (const { adapter, plan } of open) await requirePerson(session.consentFor(adapter), plan);
  return {
    lines: open.flatMap((each) => describePlan(each, session.vaultRoot)),
    refusals: open.flatMap(({ plan }) => plan.kind === "refused" ? [plan.reason] : []),
  };
}

/** Shows an agent what it is to be shown; a vault that is still to be made has nothing to show. */
export async function showMemories(
  { config, line, surroundings }: InstallContext,
  { id }: AgentConnection,
): Promise<Report> {
  if (!await isThere(config.vault)) return NOTHING;
  return await applyProjections(config, surroundings, { agent: id, project: line.project });
}
