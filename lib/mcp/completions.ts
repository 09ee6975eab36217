/** Completing what people type for the variable of a resource: ids of memories, and stores. */
import { type McpServer, ProtocolError, ProtocolErrorCode } from "@modelcontextprotocol/server";
import type { VaultIndex } from "@/lib/index/vault_index.ts";
import { listManifests } from "@/lib/memories/read_manifest.ts";
import { Slicer } from "@/lib/seams.ts";
import type { Services } from "@/lib/services.ts";
import { requirePrompt } from "./prompts.ts";
import { MANIFEST_TEMPLATE, MEMORY_TEMPLATE } from "./resource_uris.ts";

/** The protocol allows no more. */
export const MAX_COMPLETIONS = 100;
const NOTES_PER_STEP = 500;

/** Lets clients complete the variables of resource templates. */
export function addCompletions({ server }: McpServer, services: Services): void {
  server.setRequestHandler("completion/complete", async ({ params }) => {
    const typed = params.argument.value.toLowerCase();
    return { completion: toCompletion(await findValues(services, params.ref, typed)) };
  });
}

/** What is completed: an argument of a prompt, or the variable of a template. */
type Ref = { readonly type: "ref/prompt"; readonly name: string } | {
  readonly type: "ref/resource";
  readonly uri: string;
};

async function findValues(services: Services, ref: Ref, typed: string): Promise<string[]> {
  if (ref.type === "ref/prompt") {
    requirePrompt(ref.name);
    return [];
  }
  switch (ref.uri) {
    case MEMORY_TEMPLATE:
      await services.index.refresh();
      return await new Slicer(services.clock).run(findIds(services.index, typed));
    case MANIFEST_TEMPLATE:
      return (await listScopes(services)).filter((scope) => scope.toLowerCase().startsWith(typed));
    default:
      throw new ProtocolError(
        ProtocolErrorCode.InvalidParams,
        `There is no such template; known are ${MEMORY_TEMPLATE}, ${MANIFEST_TEMPLATE}`,
      );
  }
}

async function listScopes(services: Services): Promise<string[]> {
  const manifests = await listManifests(services);
  const ulids = manifests.flatMap(({ project, scopeId }) => project === undefined ? [] : [scopeId]);
  return ["global", "project", ...ulids];
}

/** Ids that begin so, then memories that have it anywhere in their id or name. */
function* findIds(index: VaultIndex, typed: string): Generator<void, string[]> {
  const first: string[] = [];
  const others: string[] = [];
  let count = 0;
  for (const note of index.notes()) {
    if (++count % NOTES_PER_STEP === 0) yield;
    if (note.kind !== "memory" || index.isListed(note.path) !== true) continue;
    const id = note.id.toLowerCase();
    if (id.startsWith(typed)) first.push(note.id);
    else if (id.includes(typed) || note.name.toLowerCase().includes(typed)) others.push(note.id);
  }
  return [...first.sort(), ...others.sort()];
}

function toCompletion(
  values: string[],
): { values: string[]; total: number; hasMore: boolean } {
  const total = values.length;
  return { values: values.slice(0, MAX_COMPLETIONS), total, hasMore: total > MAX_COMPLETIONS };
}
