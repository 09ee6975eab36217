/** The person's side of a machine: their home, and where their agents keep settings. */
import { join, resolve } from "node:path";

/** Whose files they are. */
export interface Machine {
  /** Absolute. */
  readonly home: string;
  readonly env: ReadonlyMap<string, string>;
}

/** Returns the folder of Claude Code's settings. */
export function claudeFolder(machine: Machine): string {
  return movedFolder(machine, "CLAUDE_CONFIG_DIR") ?? join(machine.home, ".claude");
}

/** Returns the file of Claude Code's own state, which lies beside that folder unless it was moved. */
export function claudeStateFile(machine: Machine): string {
  return join(movedFolder(machine, "CLAUDE_CONFIG_DIR") ?? machine.home, ".claude.json");
}

/** Returns the folder of Codex' settings. */
export function codexFolder(machine: Machine): string {
  return movedFolder(machine, "CODEX_HOME") ?? join(machine.home, ".codex");
}

/** The same from wherever a command is run: as seen from the home. */
function movedFolder({ env, home }: Machine, variable: string): string | undefined {
  const folder = env.get(variable);
  return folder ? resolve(home, folder) : undefined;
}
