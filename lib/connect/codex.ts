/** Codex. */
import example from "../../examples/hooks/codex.hooks.json" with { type: "json" };
import { type AgentConnection, type Machine, SERVER_NAME } from "./connection.ts";
import { hookCommand, hookEdits, hookFile, refreshFile, refreshGroup } from "./hook_files.ts";

/** The script that people copy where they set up hooks by hand. */
const RIVAL = "commonplace-hook.sh";
const ID = "codex";
const MODE = 0o600;

export const codex: AgentConnection = {
  id: ID,
  title: "Codex",
  registerArgs: ({ command, args }) => ["mcp", "add", SERVER_NAME, "--", command, ...args],
  registration: (machine, { command, args }) => ({
    path: `${folderOf(machine)}/config.toml`,
    what: "the MCP server",
    mode: MODE,
    edits: [{ kind: "toml-table", at: ["mcp_servers", SERVER_NAME], values: { command, args } }],
  }),
  files: (machine, wanted) => {
    const group = refreshGroup(machine, ID);
    return [
      {
        path: `${folderOf(machine)}/config.toml`,
        what: "memories of its own off, so that there are not two of each",
        mode: MODE,
        edits: [{ kind: "toml-switch", at: ["features", "memories"], value: false }],
      },
      hookFile(machine, ID),
      refreshFile(machine, ID, wanted.refresh),
      {
        path: `${folderOf(machine)}/hooks.json`,
        what: "the hooks",
        rival: RIVAL,
        mode: MODE,
        edits: hookEdits(example, hookCommand(machine, ID, wanted), {
          SessionStart: group,
          Stop: group,
        }),
      },
    ];
  },
  folder: folderOf,
  afterwards: ["Codex asks at its next start whether you trust the hooks: say yes to get hints."],
};

function folderOf({ env, home }: Machine): string {
  return env.get("CODEX_HOME") || `${home}/.codex`;
}
