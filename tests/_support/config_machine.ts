import { ok, throws } from "node:assert/strict";
import { type Config, loadConfig } from "@/lib/config.ts";
import type { ConfigInput } from "@/lib/config_disk.ts";
import { ConfigError } from "@/lib/errors.ts";

export const TOKEN = "0123456789abcdef";

/** What is on a pretended machine. */
export interface World {
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** Text by path; `mode` is 0600 unless it stands in `modes`. */
  readonly files?: Readonly<Record<string, string>>;
  readonly folders?: readonly string[];
  readonly modes?: Readonly<Record<string, number>>;
  readonly links?: Readonly<Record<string, string>>;
  readonly bindsAnywhere?: boolean;
  readonly assumedDimensions?: number;
}

/** A machine with a home folder and an empty vault in /vault, where commands run in /here. */
function machine(world: World = {}): ConfigInput {
  const folders = new Set(["/", "/vault", "/here", "/home/ada", ...world.folders ?? []]);
  const files = new Map(Object.entries(world.files ?? {}));
  const links = new Map(Object.entries(world.links ?? {}));
  const modes = new Map(Object.entries(world.modes ?? {}));
  return {
    args: world.args ?? [],
    env: new Map(Object.entries({ HOME: "/home/ada", ...world.env })),
    cwd: "/here",
    bindsAnywhere: world.bindsAnywhere ?? false,
    ...(world.assumedDimensions ? { assumedDimensions: world.assumedDimensions } : {}),
    readTextFile: (path) => files.get(path),
    stat: (path) => {
      const [isFile, isDirectory] = [files.has(path), folders.has(path)];
      if (!isFile && !isDirectory) return undefined;
      return { isFile, isDirectory, mode: modes.get(path) ?? 0o100600 };
    },
    realPath: (path) =>
      links.get(path) ?? (files.has(path) || folders.has(path) ? path : undefined),
  };
}

/** Loads the configuration of a pretended machine. */
export function loadOn(world?: World): Config {
  return loadConfig(machine(world));
}

/** Returns the problems that loading tells of, and fails if it tells of none. */
export function problemsOn(world: World): string[] {
  let problems: string[] = [];
  throws(() => loadOn(world), (error) => {
    ok(error instanceof ConfigError);
    problems = error.message.split("\n");
    return true;
  });
  return problems;
}
