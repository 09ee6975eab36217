/**
 * Where a client works, as far as it says so by itself or can be asked: for calls that do not say
 * it. Whatever a client answers is taken for what it claims, and only from this machine.
 */
import {
  inputRequired,
  type InputRequiredResult,
  inputResponse,
  type ServerContext,
} from "@modelcontextprotocol/server";
import { fileURLToPath } from "node:url";
import { isRecord } from "@/lib/is_record.ts";
import { isUsableCwd } from "@/lib/projects/projects.ts";

const ROOTS = "roots";
/** What Codex sends with each call of a tool: `{workspaces: {"/folder/of/the/repository": …}}`. */
const CODEX_METADATA = "x-codex-turn-metadata";

/** The answer to a client of 2026 that is to say first where it works, and then to call again. */
export const ASK_FOR_ROOTS: InputRequiredResult = inputRequired({
  inputRequests: { [ROOTS]: inputRequired.listRoots() },
});

/** Returns the first root that is a folder of this machine, as a path. */
export function firstFolder(roots: readonly { readonly uri: string }[]): string | undefined {
  for (const { uri } of roots) {
    try {
      const path = uri.startsWith("file:") ? fileURLToPath(uri) : "";
      if (isUsableCwd(path)) return path;
    } catch {
      // Of another machine, or no URL at all.
    }
  }
  return undefined;
}

/** Returns where the call itself says that it comes from, beside its arguments. */
export function cwdOfMetadata(meta: ServerContext["mcpReq"]["_meta"]): string | undefined {
  const metadata = meta?.[CODEX_METADATA];
  const workspaces = isRecord(metadata) ? metadata["workspaces"] : undefined;
  return isRecord(workspaces) ? Object.keys(workspaces).find(isUsableCwd) : undefined;
}

/** Returns what a client of 2026 answered, `undefined` if it was not asked yet. */
export function readRoots(
  { inputResponses }: Pick<ServerContext["mcpReq"], "inputResponses">,
): { readonly cwd: string | undefined } | undefined {
  if (inputResponses === undefined) return undefined;
  const view = inputResponse(inputResponses, ROOTS);
  if (view.kind !== "roots") return { cwd: undefined };
  return { cwd: firstFolder(view.roots.filter((root) => typeof root?.uri === "string")) };
}
