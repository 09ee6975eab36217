/** Measures the real server with many official clients at once, in each era of the protocol. */
import { type ClientKind, CLIENTS, type McpClient } from "../_support/mcp.ts";
import type { MemoriesVault } from "./mcp_vault.ts";
import { startServerProcess } from "./server_process.ts";
import { timeOf, type Times, toTimes } from "./times.ts";

export interface ClientsRound extends Times {
  readonly msPerCall: number;
  /** Until all clients are connected, know the tools and have called each once. */
  readonly connectMs: number;
  /** Calls that failed, or were answered with something else than was asked for. */
  readonly errors: number;
}

/** By the name of the kind of client. */
export type ClientsResult = Readonly<Record<string, ClientsRound>>;

export interface ClientsTask {
  readonly vault: MemoriesVault;
  readonly clients: number;
  readonly calls: number;
  readonly rounds: number;
}

/** The old clients over SSE differ from the new ones in nothing that the server sees. */
const KINDS: readonly ClientKind[] = CLIENTS.filter(({ name }) => name !== "client v1, SSE");
const WARM_UP_CLIENTS = 8;
const TOOLS = 3;

/** Connects so many clients of each kind in turn, which then all call at the same time. */
export async function measureClients(task: ClientsTask): Promise<ClientsResult[]> {
  const { vault, rounds } = task;
  await using server = await startServerProcess(vault.folder);
  const run = async (clients: number): Promise<ClientsResult> => {
    const result: Record<string, ClientsRound> = {};
    for (const kind of KINDS) {
      result[kind.name] = await measureKind(kind, server.url, { ...task, clients });
    }
    return result;
  };
  await run(WARM_UP_CLIENTS);
  const results: ClientsResult[] = [];
  for (let round = 0; round < rounds; round++) results.push(await run(task.clients));
  return results;
}

async function measureKind(
  kind: ClientKind,
  url: string,
  { vault, clients: count, calls }: ClientsTask,
): Promise<ClientsRound> {
  const clients: McpClient[] = [];
  const connectMs = await timeOf(async () => {
    const connecting = Array.from({ length: count }, () => kind.connect(url));
    clients.push(...await Promise.all(connecting));
  });
  const tookMs: number[] = [];
  let errors = 0;
  const work = async (client: McpClient, first: number, calls: number) => {
    for (let call = 0; call < calls; call++) {
      let isRight = false;
      tookMs.push(
        await timeOf(async () => {
          isRight = await ask(client, vault, first + call).catch(() => false);
        }),
      );
      if (!isRight) errors++;
    }
  };
  // Clients prepare for the answers of a tool when they first call it: that is theirs, not ours.
  const firstMs = await timeOf(() => Promise.all(clients.map((each) => work(each, 0, TOOLS))));
  tookMs.length = 0;
  const allMs = await timeOf(() =>
    Promise.all(clients.map((each, at) => work(each, at * calls, calls)))
  );
  await Promise.all(clients.map((client) => client.close()));
  return {
    ...toTimes(tookMs),
    msPerCall: allMs / tookMs.length,
    connectMs: connectMs + firstMs,
    errors,
  };
}

/** Calls one of three tools in turn; tells whether the answer is one to this question. */
async function ask(
  client: McpClient,
  { ids, queries }: MemoriesVault,
  number: number,
): Promise<boolean> {
  const at = number % ids.length;
  switch (number % TOOLS) {
    case 0: {
      const { data } = await client.call("recall", { query: queries[at] });
      return Array.isArray(data?.results) && data.results.some(({ id }) => id === ids[at]);
    }
    case 1: {
      const { data } = await client.call("memory_open", { id: ids[at] });
      return data?.id === ids[at];
    }
    default: {
      const { data } = await client.call("list_memory");
      return Array.isArray(data?.memories) && data.memories.length > 0;
    }
  }
}
