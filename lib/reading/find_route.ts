/** Finds the projects that may matter to the task at hand. */
import type { Caller } from "@/lib/contracts.ts";
import type { ProjectFolders } from "@/lib/projects/project_folders.ts";
import type { Projects, Where } from "@/lib/projects/projects.ts";
import type { FoundRoute } from "./candidate.ts";
import { chooseCandidates } from "./choose_candidates.ts";

export interface FindRouteDeps {
  readonly projects: Pick<Projects, "identify">;
  readonly projectFolders: Pick<ProjectFolders, "scan">;
}

export interface RouteInput extends Where {
  /** What the task is about. */
  readonly tags: readonly string[];
  /** Folders to look at before the rest, beside the one that is called as the repository is. */
  readonly alsoNamed?: readonly string[];
}

/**
 * Finds the candidates for an agent, best first. Outside of a Git repository there is no current
 * project, and tags alone decide.
 *
 * @throws {InvalidRequest} If it is said wrongly where the agent works; then the vault is not
 * touched.
 * @throws {IndexNotReady} If the vault cannot be listed.
 */
export async function findRoute(
  { projects, projectFolders }: FindRouteDeps,
  caller: Caller,
  { cwd, repo, tags, alsoNamed = [] }: RouteInput,
): Promise<FoundRoute> {
  const identity = await projects.identify(caller, { cwd, repo });
  const first = identity === undefined ? alsoNamed : [identity.name, ...alsoNamed];
  const { folders, unchecked } = await projectFolders.scan(first, caller.signal);
  return { ...chooseCandidates({ folders, identity, tags }), folders, unchecked };
}
