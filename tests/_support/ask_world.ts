/** A server in mode `ask`, with a vault and an index that nobody may touch while they are sealed. */
import { deepStrictEqual as deepEqual } from "node:assert/strict";
import type { Grant } from "@/lib/contracts_access.ts";
import type { Services } from "@/lib/services.ts";
import { type McpWorld, type McpWorldOptions, serveMcp } from "./mcp.ts";
import type { Files } from "./temp_vault.ts";

export const ZEBRA =
  "---\nid: m_zebra\nname: Zebra\ndescription: Stripes of zebras\ntags: [a]\n---\nstripes\n";

/** A vault with something of each kind that might be told. */
export const ZOO: Files = {
  "memories/zebra.md": ZEBRA,
  "zoo/summary.md": "---\nproject: zoo\nupdated: 2026-01-01\n---\nzebra summary\n",
  "zoo/memory.md": "zebra facts\n",
  "profiles/user.md": "zebra person\n",
};

/** A memory as it is saved. */
export const MEMORY_INPUT = { name: "n", description: "d", body: "b", tags: ["t"] };

export const OWNER_TOKEN = "the-owners-own-token";

/** What leads to the vault, whoever goes there. */
const WAYS: readonly (keyof Services)[] = [
  "vault",
  "index",
  "grep",
  "writer",
  "projects",
  "projectFolders",
  "manifests",
  "nearProjects",
  "hintSessions",
  "recallLog",
  "noteReads",
];

/** When somebody begins to listen, the server asks itself whether it still reads the vault. */
const OF_THE_SERVER = "index.indexing";

export interface AskWorld extends McpWorld {
  /** While it is set, every touch of the vault or the index fails, and is counted. */
  readonly seal: { isClosed: boolean; touches: string[] };
  /** Asks over HTTP, as an agent does, unless `init` has the owner's token. */
  request(path: string, init?: RequestInit): Promise<Response>;
  /** Has the owner allow something for a task of HTTP, a new one by default; returns its id. */
  grant(grant: Grant, more?: Readonly<Record<string, unknown>>): Promise<string>;
}

/** Serves a vault with these files in mode `ask`; use it with `await using`. */
export async function serveAsking(
  files: Files = {},
  { config, ...options }: Omit<McpWorldOptions, "replace"> = {},
): Promise<AskWorld> {
  const seal = { isClosed: false, touches: [] as string[] };
  const world = await serveMcp(files, {
    ...options,
    config: { access: "ask", ownerToken: OWNER_TOKEN, ...config },
    replace: (services) =>
      Object.fromEntries(WAYS.map((way) => [way, sealed(services, way, seal)])),
  });
  const request = (path: string, init?: RequestInit) => fetch(`${world.server.url}${path}`, init);
  return {
    ...world,
    seal,
    request,
    grant: async (grant, more = {}) => {
      const asked = await (await request("/api/access/requests", json("POST", { grant, ...more })))
        .json();
      if (asked.pending) await decide(request, asked.pending.requestId, "allow");
      return asked.task;
    },
  };
}

/** Does some work that may touch neither the vault nor the index. */
export async function untouched<T>(
  { seal }: Pick<AskWorld, "seal">,
  work: () => Promise<T>,
): Promise<T> {
  seal.touches.length = 0;
  seal.isClosed = true;
  const done = await work().finally(() => {
    seal.isClosed = false;
  });
  deepEqual(seal.touches, []);
  return done;
}

/** Decides as the owner does. */
export async function decide(
  request: AskWorld["request"],
  requestId: string,
  decision: string,
): Promise<void> {
  const init = json("POST", { decision }, { authorization: `Bearer ${OWNER_TOKEN}` });
  const response = await request(`/api/access/requests/${requestId}/decision`, init);
  if (!response.ok) throw new Error(await response.text());
  await response.body?.cancel();
}

export function json(
  method: string,
  body: object,
  headers: Record<string, string> = {},
): RequestInit {
  return {
    method,
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify(body),
  };
}

function sealed(
  services: Services,
  way: keyof Services,
  seal: AskWorld["seal"],
): unknown {
  const check = (name: PropertyKey) => {
    const touch = `${way}.${String(name)}`;
    if (!seal.isClosed || touch === OF_THE_SERVER) return;
    seal.touches.push(touch);
    throw new Error(`${touch} was touched without a grant`);
  };
  return new Proxy(services[way] as object, {
    get: (target, name) => {
      check(name);
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === "function" ? value.bind(target) : value;
    },
    apply: (target, self, args) => {
      check("call");
      return Reflect.apply(target as (...all: unknown[]) => unknown, self, args);
    },
  });
}
