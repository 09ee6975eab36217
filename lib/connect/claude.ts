/** Claude Code. */
import example from "../../examples/hooks/claude-code.settings.json" with { type: "json" };
import { type AgentConnection, type Machine, SERVER_NAME } from "./connection.ts";
import { hookCommand, hookEdits, hookFile } from "./hook_files.ts";

/** The script that people copy where they set up hooks by hand. */
const RIVAL = "commonplace-hook.sh";
const ID = "claude";
/** Its files hold keys at times. */
const MODE = 0o600;

export const claude: AgentConnection = {
  id: ID,
  title: "Claude Code",
  registerArgs: ({ command, args }) => [
    "mcp",
    "add",
    "--scope",
    "user",
    SERVER_NAME,
    "--",
    command,
    ...args,
  ],
  registration: (machine, { command, args }) => ({
    path: statePath(machine),
    what: "the MCP server, for all projects",
    mode: MODE,
    edits: [{
      kind: "json-entry",
      at: ["mcpServers", SERVER_NAME],
      // As its own program writes it.
      value: { type: "stdio", command, args: [...args], env: {} },
    }],
  }),
  files: (machine, wanted) => [
    hookFile(machine, ID),
    {
      path: `${folderOf(machine)}/settings.json`,
      what: "the hooks",
      rival: RIVAL,
      mode: MODE,
      edits: hookEdits(example, hookCommand(machine, ID, wanted)),
    },
  ],
  folder: folderOf,
  afterwards: ["Claude Code knows of it from its next start on; /mcp and /hooks show it there."],
};

function folderOf({ env, home }: Machine): string {
  return env.get("CLAUDE_CONFIG_DIR") || `${home}/.claude`;
}

/** Beside its folder, unless that was moved. */
function statePath({ env, home }: Machine): string {
  return `${env.get("CLAUDE_CONFIG_DIR") || home}/.claude.json`;
}
