/** The one table of tools; its order is the order in which clients see them. */
import type { Toolset } from "@/lib/config.ts";
import { didYouMean } from "@/lib/nearest_name.ts";
import { MEMORY_TOOLS } from "./memory_tools.ts";
import { SEARCH_TOOLS } from "./search_tools.ts";
import type { Tool } from "./tool.ts";
import { WRITING_TOOLS } from "./writing_tools.ts";

export const TOOLS: readonly Tool[] = [...SEARCH_TOOLS, ...MEMORY_TOOLS, ...WRITING_TOOLS];

/** Returns the tools of these sets, in the order of the table. */
export function selectTools(toolsets: readonly Toolset[]): readonly Tool[] {
  return TOOLS.filter(({ toolset }) => toolsets.includes(toolset));
}

/** Says in words why a tool cannot be called. */
export function explainMissingTool(name: string, offered: readonly Tool[]): string {
  const hidden = TOOLS.find(({ listing }) => listing.name === name);
  if (hidden) {
    return `Tool ${name} is switched off: start the server with ${hidden.toolset} in --toolsets`;
  }
  const names = offered.map(({ listing }) => listing.name);
  const shown = JSON.stringify(name.slice(0, 64).toWellFormed());
  const hint = didYouMean(name, names) || `; known are ${names.join(", ")}`;
  return `There is no tool ${shown}${hint}`;
}
