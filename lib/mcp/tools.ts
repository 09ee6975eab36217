/** The one table of tools; its order is the order in which clients see them. */
import type { Toolset } from "@/lib/config.ts";
import { unknownName } from "@/lib/nearest_name.ts";
import { ALIAS_TOOLS } from "./alias_tools.ts";
import { MEMORY_TOOLS } from "./memory_tools.ts";
import { SEARCH_TOOLS } from "./search_tools.ts";
import type { Tool } from "./tool.ts";
import { WRITING_TOOLS } from "./writing_tools.ts";

export const TOOLS: readonly Tool[] = [...SEARCH_TOOLS, ...MEMORY_TOOLS, ...WRITING_TOOLS];

/** Returns the tools of these sets, in the order of the table; the aliases come last. */
export function selectTools(
  toolsets: readonly Toolset[],
  aliases: "on" | "off" = "off",
): readonly Tool[] {
  const table = aliases === "on" ? [...TOOLS, ...ALIAS_TOOLS] : TOOLS;
  return table.filter(({ toolset }) => toolsets.includes(toolset));
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
