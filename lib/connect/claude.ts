/** Claude Code. */
import example from "../../examples/hooks/claude-code.settings.json" with { type: "json" };
import { claudeFolder, claudeStateFile } from "@/lib/machine.ts";
import { type AgentConnection, SERVER_NAME } from "./connection.ts";
import { HAND_MADE_HOOK, hookCommand, hookEdits, hookFile } from "./hook_files.ts";

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
    path: claudeStateFile(machine),
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
      path: `${claudeFolder(machine)}/settings.json`,
      what: "the hooks",
      rival: HAND_MADE_HOOK,
      mode: MODE,
      edits: hookEdits(example, hookCommand(machine, ID, wanted)),
    },
  ],
  folder: claudeFolder,
  afterwards: ["Claude Code knows of it from its next start on; /mcp and /hooks show it there."],
};
