/** The one table of tools; its order is the order in which clients see them. */
import type { Config } from "@/lib/config.ts";
import { unknownName } from "@/lib/nearest_name.ts";
import { ALIAS_TOOLS } from "./alias_tools.ts";
import { JOURNAL_TOOLS } from "./journal_tools.ts";
import { MEMORY_TOOLS } from "./memory_tools.ts";
import { SEARCH_TOOLS } from "./search_tools.ts";
import { READING_TOOLS } from "./reading_tools.ts";
import type { Tool } from "./tool.ts";
import { WRITING_TOOLS } from "./writing_tools.ts";

export const TOOLS: readonly Tool[] = [
  ...SEARCH_TOOLS,
  ...MEMORY_TOOLS,
  ...WRITING_TOOLS,
  ...JOURNAL_TOOLS,
  ...READING_TOOLS,
];

/**
 * Returns the tools of the sets that are switched on, in the order of the table; the aliases come
 * last. What asks the person is there whenever they have to be asked.
 */
export function selectTools(
  { toolsets, mcpAliases, access }: Pick<Config, "toolsets" | "mcpAliases" | "access">,
): readonly Tool[] {
  const table = mcpAliases === "on" ? [...TOOLS, ...ALIAS_TOOLS] : TOOLS;
  return table.filter(({ toolset, asksPerson }) =>
    toolsets.includes(toolset) || (access === "ask" && asksPerson)
  );
}

/** Says in words why a tool cannot be called. */
export function explainMissingTool(name: string, offered: readonly Tool[]): string {
  const isAlias = ALIAS_TOOLS.some(({ listing }) => listing.name === name);
  if (isAlias) return `Tool ${name} is switched off: start the server with --mcp-aliases on`;
  const hidden = TOOLS.find(({ listing }) => listing.name === name);
  if (hidden) {
    return `Tool ${name} is switched off: start the server with ${hidden.toolset} in --toolsets`;
  }
  const names = offered.map(({ listing }) => listing.name);
  return unknownName("tool", name, names);
}
