/** Completing what people type for the variable of a resource: ids of memories, and stores. */
import {
  type McpServer,
  ProtocolError,
  ProtocolErrorCode,
  specTypeSchemas,
} from "@modelcontextprotocol/server";
import { spendList } from "@/lib/access/spend.ts";
import type { VaultIndex } from "@/lib/index/vault_index.ts";
import { listManifests } from "@/lib/memories/read_manifest.ts";
import { Slicer } from "@/lib/seams.ts";
import type { Services } from "@/lib/services.ts";
import { findReader } from "./_find_reader.ts";
import { requirePrompt } from "./prompts.ts";
import type { Senders } from "./resources.ts";
import { MANIFEST_TEMPLATE, MEMORY_TEMPLATE } from "./resource_uris.ts";

/** The protocol allows no more. */
export const MAX_COMPLETIONS = 100;
const NOTES_PER_STEP = 500;

/** Lets clients complete the variables of resource templates. */
export function addCompletions(
  { server }: McpServer,
  services: Services,
  { callerOf }: Pick<Senders, "callerOf">,
): void {
  const { CompleteRequestParams } = specTypeSchemas;
  server.setRequestHandler(
    "completion/complete",
    { params: CompleteRequestParams },
    async (params, context) => {
      const { access } = services;
      const caller = callerOf(context);
      const nothing = { completion: { values: [], total: 0, hasMore: false } };
      const reader = findReader(services, caller);
      if (reader === undefined) return nothing;
      const typed = params.argument.value.toLowerCase();
      const { values, total } = await findValues(services, params.ref, typed);
      if (!access.mayRead(caller)) return nothing;
      const { shown } = spendList(access, reader, { shown: values.slice(0, MAX_COMPLETIONS) });
      // How many there are tells of those that are not shown.
      const count = access.isBound(reader) ? shown.length : total;
      return { completion: { values: [...shown], total: count, hasMore: count > shown.length } };
    },
  );
}

/** What is completed: an argument of a prompt, or the variable of a template. */
type Ref = { readonly type: "ref/prompt"; readonly name: string } | {
  readonly type: "ref/resource";
  readonly uri: string;
};

/** What fits what was typed: the first of it, and how much there is. */
interface Found {
  readonly values: readonly string[];
  readonly total: number;
}

async function findValues(services: Services, ref: Ref, typed: string): Promise<Found> {
  if (ref.type === "ref/prompt") {
    requirePrompt(ref.name);
    return { values: [], total: 0 };
  }
  switch (ref.uri) {
    case MEMORY_TEMPLATE:
      await services.index.refresh();
      return await new Slicer(services.clock).run(findIds(services.index, typed));
    case MANIFEST_TEMPLATE:
      return await findScopes(services, typed);
    default:
      throw new ProtocolError(
        ProtocolErrorCode.InvalidParams,
        `There is no such template; known are ${MEMORY_TEMPLATE}, ${MANIFEST_TEMPLATE}`,
      );
  }
}

async function findScopes(services: Services, typed: string): Promise<Found> {
  const manifests = await listManifests(services);
  const ulids = manifests.flatMap(({ project, scopeId }) => project === undefined ? [] : [scopeId]);
  const values = ["global", "project", ...ulids].filter((scope) =>
    scope.toLowerCase().startsWith(typed)
  );
  return { values, total: values.length };
}

/** Ids that begin so, then memories that have it anywhere in their id or name. */
function* findIds(index: VaultIndex, typed: string): Generator<void, Found> {
  let first: string[] = [];
  let others: string[] = [];
  let [count, total] = [0, 0];
  for (const note of index.notes()) {
    if (++count % NOTES_PER_STEP === 0) {
      // Few are shown, so that there is no need to sort them all.
      [first, others] = [keepFirst(first), keepFirst(others)];
      yield;
    }
    if (note.kind !== "memory" || index.isListed(note.path) !== true) continue;
    const id = note.id.toLowerCase();
    const isFirst = id.startsWith(typed);
    if (!isFirst && !id.includes(typed) && !note.name.toLowerCase().includes(typed)) continue;
    (isFirst ? first : others).push(note.id);
    total++;
  }
  return { values: [...keepFirst(first), ...keepFirst(others)], total };
}

function keepFirst(values: string[]): string[] {
  return values.sort().slice(0, MAX_COMPLETIONS);
}
