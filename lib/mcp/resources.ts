/** What clients can read by a URI: memories and notes, profiles, and the manifests of stores. */
import {
  type McpServer,
  ResourceNotFoundError,
  type ServerContext,
  specTypeSchemas,
} from "@modelcontextprotocol/server";
import { MEMORY_OFF } from "@/lib/access/memory_off.ts";
import { requireRoom, spendFile, spendList } from "@/lib/access/spend.ts";
import type { Caller } from "@/lib/contracts.ts";
import { PROFILED, type Profiled, profilePath, readProfile } from "@/lib/journal/profiles.ts";
import { listMemories } from "@/lib/memories/list_memories.ts";
import { openMemory } from "@/lib/memories/open_memory.ts";
import { listManifests, type ManifestRef, readManifest } from "@/lib/memories/read_manifest.ts";
import type { Services } from "@/lib/services.ts";
import { statFile } from "@/lib/vault/vault.ts";
import { findReader } from "./_find_reader.ts";
import { orProtocolError } from "./_protocol_error.ts";
import { ASK_FOR_ROOTS } from "./client_place.ts";
import { clip } from "./pack.ts";
import {
  MANIFEST_TEMPLATE,
  manifestUri,
  MEMORY_TEMPLATE,
  memoryUri,
  parseResourceUri,
  profileUri,
  type ResourceName,
} from "./resource_uris.ts";
import { MAX_NAME_CHARS, shortenDescription } from "./shorten.ts";

/** Memories on one page of the list. */
export const RESOURCES_A_PAGE = 100;

const MIME_TYPE = "text/markdown";

/** A resource as lists show it. */
interface ListedResource {
  readonly uri: string;
  readonly name: string;
  readonly title: string;
  readonly description?: string;
  readonly mimeType: string;
}

const RESOURCE_TEMPLATES: readonly {
  readonly uriTemplate: string;
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly mimeType: string;
}[] = [{
  uriTemplate: MEMORY_TEMPLATE,
  name: "memory",
  title: "A memory or note",
  description: "The whole Markdown of a memory by its id, or of any note by its path in the vault",
  mimeType: MIME_TYPE,
}, {
  uriTemplate: MANIFEST_TEMPLATE,
  name: "manifest",
  title: "The list of a store's memories",
  description: "MEMORY.md of a store: scope is global, project (where you work), or a store's ULID",
  mimeType: MIME_TYPE,
}];

/** Tells who sent a message. */
export interface Senders {
  callerOf(context: ServerContext): Caller;
  /**
   * Finds out where a caller works who has not said it, which may mean to ask; `undefined` if they are
   * to be asked first.
   */
  place(caller: Caller, context: ServerContext): Promise<Caller | undefined>;
}

/**
 * Lists what can be read: first the profiles that are there and the manifests, then the memories that
 * are active, newest first, page by page.
 *
 * @throws {InvalidRequest} If the cursor is none of ours.
 */
async function listResources(
  services: Services,
  caller: Caller,
  cursor: string | undefined,
): Promise<{ resources: ListedResource[]; nextCursor?: string }> {
  const limit = RESOURCES_A_PAGE;
  const input = { scope: "all" as const, tag: undefined, status: undefined, limit, cursor };
  const { memories, nextCursor } = await listMemories(services, caller, input);
  const others = cursor === undefined ? await listOthers(services) : [];
  const listed = memories.map((memory): ListedResource => {
    const { name: title, description } = shortenDescription(memory);
    return {
      uri: memoryUri(memory.id),
      name: clip(memory.id, MAX_NAME_CHARS),
      title,
      ...(description === "" ? {} : { description }),
      mimeType: MIME_TYPE,
    };
  });
  const resources = [...others, ...listed];
  return nextCursor === undefined ? { resources } : { resources, nextCursor };
}

/** Lets clients list and read the resources. */
export function addResources(
  { server }: McpServer,
  services: Services,
  { callerOf, place }: Senders,
): void {
  const { PaginatedRequestParams, ReadResourceRequestParams } = specTypeSchemas;
  server.setRequestHandler("resources/list", { params: PaginatedRequestParams }, async (
    { cursor },
    context,
  ) => {
    const caller = callerOf(context);
    const reader = findReader(services, caller);
    // A client that lists as it connects is to see a list, and not an error.
    if (reader === undefined) return { resources: [] };
    return await orProtocolError(async () => {
      const list = await listResources(services, reader, cursor);
      services.access.confirm(reader, ["read"]);
      return spendList(services.access, reader, list);
    });
  });
  server.setRequestHandler("resources/templates/list", () => ({
    resourceTemplates: [...RESOURCE_TEMPLATES],
  }));
  server.setRequestHandler("resources/read", { params: ReadResourceRequestParams }, async (
    { uri },
    context,
  ) => {
    const name = parseResourceUri(uri);
    if (name === undefined) throw new ResourceNotFoundError(uri);
    const asking = callerOf(context);
    if (services.memoryOff.isOff(asking)) {
      return { contents: [{ uri, mimeType: MIME_TYPE, text: MEMORY_OFF.note }] };
    }
    const reader = await orProtocolError(() => admit(services, asking));
    const caller = isOfPlace(name) ? await place(reader, context) : reader;
    if (caller === undefined) return ASK_FOR_ROOTS;
    const text = await orProtocolError(async () => {
      const found = await readText(services, caller, name);
      services.access.confirm(caller, ["read"]);
      return found;
    }, uri);
    if (text === undefined) throw new ResourceNotFoundError(uri);
    return { contents: [{ uri, mimeType: MIME_TYPE, text }] };
  });
}

/** Lets a caller read, as far as its session or its request names a task that may. */
function admit({ access }: Services, caller: Caller): Caller {
  const reader = access.admitSession(caller, ["read"]);
  requireRoom(access, reader);
  return reader;
}

/** Whether it depends on where somebody works what a name means. */
function isOfPlace(name: ResourceName): boolean {
  return name.kind === "manifest" && name.scope === "project";
}

/** Reads one resource as it is on disk now; `undefined` if there is no such profile. */
async function readText(
  services: Services,
  caller: Caller,
  name: ResourceName,
): Promise<string | undefined> {
  switch (name.kind) {
    case "memory": {
      const { memory } = await openMemory(services, caller, { id: name.id });
      if (memory === undefined) return undefined;
      return spendFile(services.access, caller, { ...memory, text: memory.markdown });
    }
    case "profile":
      return await readProfile(services, caller, { who: name.who });
    case "manifest": {
      const text = await readManifest(services, caller, name.scope);
      return spendFile(services.access, caller, {
        path: manifestUri(name.scope),
        kind: "derived",
        text,
      });
    }
  }
}

async function listOthers(services: Services): Promise<ListedResource[]> {
  const profiles = PROFILED.filter((who) =>
    statFile(services.vault, profilePath(who)).state === "file"
  );
  const manifests = await listManifests(services);
  return [...profiles.map(toProfile), ...manifests.map(toManifest)];
}

function toProfile(who: Profiled): ListedResource {
  return {
    uri: profileUri(who),
    name: `${who}-profile`,
    title: who === "agent" ? "How the agent works" : "Who the person is",
    description: "Read at the start of every task",
    mimeType: MIME_TYPE,
  };
}

function toManifest({ project, scopeId }: ManifestRef): ListedResource {
  const of = project === undefined ? "the global store" : `project ${clip(project, 80)}`;
  return {
    uri: manifestUri(scopeId),
    name: project === undefined ? "global-memories" : `memories-${scopeId}`,
    title: `Memories of ${of}`,
    description: `The list of all memories of ${of}, with a line each`,
    mimeType: MIME_TYPE,
  };
}
