/** The commands `install`, `uninstall` and `status`: agents' own settings, and what we put there. */
import type { Config } from "@/lib/config.ts";
import type { CommandLine } from "@/lib/config_command.ts";
import type { AgentConnection } from "@/lib/connect/connection.ts";
import type { Machine } from "@/lib/machine.ts";
import { CONNECTIONS } from "@/lib/connect/connections.ts";
import { ConfigError } from "@/lib/errors.ts";
import { unknownName } from "@/lib/nearest_name.ts";
import { installAgent } from "./install_agent.ts";
import { machineOf } from "./projection_session.ts";
import { wordsOf } from "./report.ts";
import { showStatus } from "./show_status.ts";
import { toPlain } from "./show_text.ts";
import type { Surroundings } from "./surroundings.ts";
import { uninstallAgent } from "./uninstall_agent.ts";

const EXIT_WELL = 0;
const EXIT_FAILED = 1;

/**
 * Runs one of the three; returns the exit code.
 *
 * @throws {ConfigError} If no agent of that name is known, or there is no home folder.
 */
export async function runInstall(
  config: Config,
  surroundings: Surroundings,
  line: CommandLine,
): Promise<number> {
  const machine = machineOf(surroundings);
  try {
    const isWell = await runOne({ config, surroundings, machine, line });
    return isWell ? EXIT_WELL : EXIT_FAILED;
  } catch (error) {
    const words = wordsOf(error);
    if (words === undefined || error instanceof ConfigError) throw error;
    surroundings.terminal.writeError(toPlain(words));
    return EXIT_FAILED;
  }
}

/** What the commands of this family work with. */
export interface InstallContext {
  readonly config: Config;
  readonly surroundings: Surroundings;
  readonly machine: Machine;
  readonly line: CommandLine;
}

/** Returns whether all went well. */
async function runOne(context: InstallContext): Promise<boolean> {
  const { command, agent } = context.line;
  if (command === "status") return await showStatus(context);
  const connection = requireConnection(command, agent);
  return command === "install"
    ? await installAgent(context, connection)
    : await uninstallAgent(context, connection);
}

function requireConnection(command: string, agent: string | undefined): AgentConnection {
  const known = CONNECTIONS.map(({ id }) => id);
  if (agent === undefined) {
    throw new ConfigError(`${command} needs the name of an agent: ${known.join(" or ")}`);
  }
  const connection = CONNECTIONS.find(({ id }) => id === agent.toLowerCase());
  if (connection === undefined) throw new ConfigError(unknownName("agent", agent, known));
  return connection;
}
