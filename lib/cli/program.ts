/** How this program is started once more, by itself or by an agent. */
import type { CommandToRun } from "@/lib/command_to_run.ts";

export interface Program {
  /** Absolute path of Deno. */
  readonly execPath: string;
  /** Absolute path of the main module, of source or bundle. */
  readonly main: string;
  /** Absolute path of the `deno.json` beside it; a bundle has none. */
  readonly config: string | undefined;
}

/** What `deno task start` grants. */
const SERVER_PERMISSIONS = [
  "--allow-read",
  "--allow-write",
  "--allow-net",
  "--allow-env",
  "--allow-run",
  "--allow-sys=statfs",
];

/**
 * Returns what runs this program with the arguments of one of its commands. Neither the folder that it
 * is started in nor a file there has a say in how.
 */
export function toRun(
  { execPath, main, config }: Program,
  args: readonly string[],
): CommandToRun {
  const place = config === undefined
    ? ["--no-config", "--unstable-no-legacy-abort"]
    : ["--config", config];
  const flags = ["--quiet", "--no-prompt", ...place, ...SERVER_PERMISSIONS];
  return { command: execPath, args: ["run", ...flags, main, ...args] };
}
