/** Looks for programs without running any, and without asking the person for a permission. */

const IS_WINDOWS = Deno.build.os === "windows";
const ANYONE_MAY_RUN = 0o111;

/**
 * Returns the path of a program on the search path that this process may run.
 *
 * Only folders that are absolute count, so that nothing in the working directory is taken. No
 * permission is asked for: what is not granted is not there.
 *
 * @param name Without `.exe`.
 * @param searchPath The value of `PATH`.
 */
export async function findProgram(
  name: string,
  searchPath: string | undefined,
): Promise<string | undefined> {
  const isNamed = !(await mayRun(undefined));
  for (const path of listCandidates(programFile(name), searchPath ?? "")) {
    // Where looking is not allowed: whoever allows to run this very path knows what is there.
    if (await mayRun(path) && (await isExecutable(path) ?? isNamed)) return path;
  }
  return undefined;
}

/** Returns what the file of a program is called on this system. */
export function programFile(name: string): string {
  return IS_WINDOWS ? `${name}.exe` : name;
}

/** True if this process may run a program, unless it sees that there is none. */
export async function isUsable(path: string): Promise<boolean> {
  return await mayRun(path) && (await isExecutable(path) ?? true);
}

function listCandidates(file: string, searchPath: string): string[] {
  const isAbsolute = IS_WINDOWS ? /^[a-z]:[/\\]/i : /^\//;
  return searchPath.split(IS_WINDOWS ? ";" : ":")
    .filter((folder) => isAbsolute.test(folder))
    .map((folder) => `${folder.replace(/[/\\]+$/, "")}${IS_WINDOWS ? "\\" : "/"}${file}`);
}

/** @param command A path; `undefined` asks for the right to run anything. */
async function mayRun(command: string | undefined): Promise<boolean> {
  const descriptor = command === undefined ? {} : { command };
  return (await Deno.permissions.query({ name: "run", ...descriptor })).state === "granted";
}

/** Returns `undefined` if this process may not look. */
async function isExecutable(path: string): Promise<boolean | undefined> {
  const { state } = await Deno.permissions.query({ name: "read", path });
  if (state !== "granted") return undefined;
  try {
    const { isFile, mode } = await Deno.stat(path);
    return isFile && (mode === null || (mode & ANYONE_MAY_RUN) !== 0);
  } catch {
    // Absent, or in a folder that may not be looked into.
    return false;
  }
}
