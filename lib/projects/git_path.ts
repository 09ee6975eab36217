import { findProgram } from "@/lib/find_program.ts";

/**
 * Returns the path of a Git that this process may run, from an absolute folder of the search path.
 *
 * @param searchPath The value of `PATH`.
 */
export async function findGit(searchPath: string | undefined): Promise<string | undefined> {
  return await findProgram("git", searchPath);
}
