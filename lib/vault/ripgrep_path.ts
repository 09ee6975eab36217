/**
 * Finds ripgrep without running anything to find it: the npm package that brings the binary reads
 * the environment when it is loaded, so its code is never run. Deno puts a package into its cache
 * only when some import names it, and what goes with a package only then as well; an import that
 * is never reached is enough, and if the download fails the program starts all the same.
 */
import { createRequire } from "node:module";

const IS_WINDOWS = Deno.build.os === "windows";
const BINARY = IS_WINDOWS ? "rg.exe" : "rg";
const ANYONE_MAY_RUN = 0o111;

/**
 * Returns the path of a ripgrep that this process may run: one on the search path, else the one of
 * the npm package, else `undefined`.
 *
 * Only folders that are absolute count, so that no `rg` in the working directory is taken. No
 * permission is asked for: what is not granted is not there.
 *
 * @param searchPath The value of `PATH`.
 */
export async function findRipgrep(searchPath: string | undefined): Promise<string | undefined> {
  const isNamed = !(await mayRun(undefined));
  for (const path of listCandidates(searchPath ?? "")) {
    // Where looking is not allowed: whoever allows to run this very path knows what is there.
    if (await mayRun(path) && (await isExecutable(path) ?? isNamed)) return path;
  }
  const packaged = resolvePackagedRipgrep();
  if (packaged === undefined || !(await mayRun(packaged))) return undefined;
  return await isExecutable(packaged) ?? true ? packaged : undefined;
}

function listCandidates(searchPath: string): string[] {
  const isAbsolute = IS_WINDOWS ? /^[a-z]:[/\\]/i : /^\//;
  return searchPath.split(IS_WINDOWS ? ";" : ":")
    .filter((folder) => isAbsolute.test(folder))
    .map((folder) => `${folder.replace(/[/\\]+$/, "")}${IS_WINDOWS ? "\\" : "/"}${BINARY}`);
}

/** Returns where the npm package keeps the binary for this machine, if it has one. */
export function resolvePackagedRipgrep(): string | undefined {
  try {
    const entry = import.meta.resolve("@vscode/ripgrep");
    return createRequire(entry).resolve(`${platformPackage()}/bin/${BINARY}`);
  } catch {
    // Not downloaded, none for this machine, or a bundle without an import map: all mean "none".
    return undefined;
  }
}

function platformPackage(): string {
  const os = IS_WINDOWS ? "win32" : Deno.build.os;
  const arch = Deno.build.arch === "aarch64" ? "arm64" : "x64";
  return `@vscode/ripgrep-${os}-${arch}`;
}

/** Never called: makes Deno download the package and the binary that goes with it. */
export function keepInCache(): Promise<unknown> {
  return import("@vscode/ripgrep");
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
