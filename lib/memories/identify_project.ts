/** Which project a folder or a remote belongs to, for people and scripts. */
import type { Caller } from "@/lib/contracts.ts";
import type { IdentityAnswer, IdentityInput } from "@/lib/contracts_memories.ts";
import type { Projects } from "@/lib/projects/projects.ts";

export interface IdentifyDeps {
  readonly projects: Pick<Projects, "find">;
}

/**
 * Tells the project that an agent works in, and where its memories lie.
 *
 * @throws {InvalidRequest} If `repo` is no remote, or `cwd` is no absolute path of this machine.
 */
export async function identifyProject(
  { projects }: IdentifyDeps,
  caller: Caller,
  input: IdentityInput,
): Promise<IdentityAnswer> {
  const found = await projects.find(caller, input);
  if (!found) return { project: null };
  const { ref, source, branch = null, stores: [store] } = found;
  return {
    project: {
      name: ref.name,
      repoId: ref.repoId,
      source,
      branch,
      store: store ? { id: store.ulid, folder: store.folder } : null,
    },
  };
}
