import { MACHINE_ENV_NAMES } from "@/lib/config.ts";
import { findProgram } from "@/lib/find_program.ts";

/**
 * Returns the path of a Git that this process may run, from an absolute folder of the search path.
 *
 * @param searchPath The value of `PATH`.
 */
export async function findGit(searchPath: string | undefined): Promise<string | undefined> {
  return await findProgram("git", searchPath);
}

/** Returns what Git may know of the environment: where its settings are, and nothing that is one. */
export function gitEnvironment(env: ReadonlyMap<string, string>): Record<string, string> {
  return Object.fromEntries(MACHINE_ENV_NAMES.flatMap((name) => {
    const value = env.get(name);
    return value === undefined ? [] : [[name, value]];
  }));
}
