/**
 * Finds ripgrep without running anything to find it: the npm package that brings the binary reads
 * the environment when it is loaded, so its code is never run. Deno puts a package into its cache
 * only when some import names it, and what goes with a package only then as well; an import that
 * is never reached is enough, and if the download fails the program starts all the same.
 */
import { createRequire } from "node:module";
import { findProgram, isUsable, programFile } from "@/lib/find_program.ts";

const NAME = "rg";

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
  const found = await findProgram(NAME, searchPath);
  if (found !== undefined) return found;
  const packaged = resolvePackagedRipgrep();
  return packaged !== undefined && await isUsable(packaged) ? packaged : undefined;
}

/** Returns where the npm package keeps the binary for this machine, if it has one. */
export function resolvePackagedRipgrep(): string | undefined {
  try {
    const entry = import.meta.resolve("@vscode/ripgrep");
    return createRequire(entry).resolve(`${platformPackage()}/bin/${programFile(NAME)}`);
  } catch {
    // Not downloaded, none for this machine, or a bundle without an import map: all mean "none".
    return undefined;
  }
}

function platformPackage(): string {
  const os = Deno.build.os === "windows" ? "win32" : Deno.build.os;
  const arch = Deno.build.arch === "aarch64" ? "arm64" : "x64";
  return `@vscode/ripgrep-${os}-${arch}`;
}

/** Never called: makes Deno download the package and the binary that goes with it. */
export function keepInCache(): Promise<unknown> {
  return import("@vscode/ripgrep");
}
