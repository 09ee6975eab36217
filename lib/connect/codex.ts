/** Codex. */
import example from "../../examples/hooks/codex.hooks.json" with { type: "json" };
import { codexFolder } from "@/lib/machine.ts";
import { type AgentConnection, SERVER_NAME } from "./connection.ts";
import {
  HAND_MADE_HOOK,
  hookCommand,
  hookEdits,
  hookFile,
  refreshFile,
  refreshGroup,
} from "./hook_files.ts";

const ID = "codex";
const MODE = 0o600;

export const codex: AgentConnection = {
  id: ID,
  title: "Codex",
  registerArgs: ({ command, args }) => ["mcp", "add", SERVER_NAME, "--", command, ...args],
  registration: (machine, { command, args }) => ({
    path: `${codexFolder(machine)}/config.toml`,
    what: "the MCP server",
    mode: MODE,
    edits: [{ kind: "toml-table", at: ["mcp_servers", SERVER_NAME], values: { command, args } }],
  }),
  files: (machine, wanted) => {
    const group = refreshGroup(machine, ID);
    return [
      {
        path: `${codexFolder(machine)}/config.toml`,
        what: "memories of its own off, so that there are not two of each",
        mode: MODE,
        edits: [{ kind: "toml-switch", at: ["features", "memories"], value: false }],
      },
      hookFile(machine, ID),
      refreshFile(machine, ID, wanted.refresh),
      {
        path: `${codexFolder(machine)}/hooks.json`,
        what: "the hooks",
        rival: HAND_MADE_HOOK,
        mode: MODE,
        edits: hookEdits(example, hookCommand(machine, ID, wanted), {
          SessionStart: group,
          Stop: group,
        }),
      },
    ];
  },
  folder: codexFolder,
  afterwards: ["Codex asks at its next start whether you trust the hooks: say yes to get hints."],
};
