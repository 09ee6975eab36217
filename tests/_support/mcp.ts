/** MCP over real sockets: a server on a free port, and every client that may come to it. */
import {
  Client as ClientV2,
  SSEClientTransport as SseV2,
  StreamableHTTPClientTransport as HttpV2,
} from "@modelcontextprotocol/client";
import { Client as ClientV1 } from "@modelcontextprotocol/sdk/client/index.js";
import { SSEClientTransport as SseV1 } from "@modelcontextprotocol/sdk/client/sse.js";
import { StreamableHTTPClientTransport as HttpV1 } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { after, before, describe } from "@std/testing/bdd";
import type { Config } from "@/lib/config.ts";
import type { Invocation } from "@/lib/contracts_tools.ts";
import type { Seams, Services } from "@/lib/services.ts";
import { type RunningServer, startServer } from "@/routes/server.ts";
import { type TestServices, testServices } from "./services.ts";
import type { Files } from "./temp_vault.ts";

export const MODERN_VERSION = "2026-07-28";

/** How the clients of tests introduce themselves. */
const INFO = { name: "test-client", version: "1.2.3" };

export interface McpWorld extends AsyncDisposable {
  readonly services: TestServices;
  readonly server: RunningServer;
}

export interface McpWorldOptions {
  readonly config?: Partial<Config>;
  readonly seams?: Partial<Seams>;
  /** Says what the server uses in place of the real thing. */
  readonly replace?: (services: Services) => Partial<Services>;
  /** How long a stop waits. */
  readonly graceMs?: number;
}

/** Serves a vault with these files, read whole, on a free port; use it with `await using`. */
export async function serveMcp(
  files: Files = {},
  { config, seams, replace, graceMs }: McpWorldOptions = {},
): Promise<McpWorld> {
  const services = await testServices(files, { port: 0, ...config }, seams);
  await services.ready();
  const server = await startServer({ ...services, ...replace?.(services) }, graceMs);
  return {
    services,
    server,
    [Symbol.asyncDispose]: async () => {
      await server.stop();
      await services[Symbol.asyncDispose]();
    },
  };
}

/** Dresses a request as the current revision has it, headers and all. */
export function modernRequest(method: string, params: object = {}): RequestInit {
  const named = "name" in params ? params.name : "uri" in params ? params.uri : undefined;
  const name = named === undefined ? {} : { "mcp-name": String(named) };
  const meta = {
    "io.modelcontextprotocol/protocolVersion": MODERN_VERSION,
    "io.modelcontextprotocol/clientCapabilities": {},
    "io.modelcontextprotocol/clientInfo": INFO,
  };
  return {
    method: "POST",
    headers: {
      "content-type": "application/json",
      "mcp-protocol-version": MODERN_VERSION,
      "mcp-method": method,
      ...name,
    },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params: { _meta: meta, ...params } }),
  };
}

/** A tool as a client sees it. */
export interface ListedTool {
  readonly name: string;
  readonly title?: string | undefined;
  readonly annotations?: object | undefined;
  readonly outputSchema?: object | undefined;
}

/** What a call of a tool came to. */
export interface ToolReply {
  readonly isError: boolean;
  readonly text: string;
  readonly data: Readonly<Record<string, unknown>> | undefined;
}

/** A connected client, whichever it is; it knows the tools, so it checks their answers. */
export interface McpClient extends AsyncDisposable {
  readonly serverName: string | undefined;
  readonly instructions: string | undefined;
  listTools(): Promise<readonly ListedTool[]>;
  /** Fails where the protocol has an error, not where the tool has one. */
  call(name: string, args?: object, signal?: AbortSignal): Promise<ToolReply>;
  close(): Promise<void>;
}

/** A kind of client, as a row of a table. */
export interface ClientKind {
  readonly name: string;
  readonly transport: Invocation["transport"];
  /** @param url Of the server, without a slash at the end. */
  connect(url: string): Promise<McpClient>;
}

/** What both major versions of the client have in common. */
interface SdkClient {
  getServerVersion(): { readonly name: string } | undefined;
  getInstructions(): string | undefined;
  listTools(): Promise<{ readonly tools: readonly ListedTool[] }>;
  close(): Promise<void>;
}

type CallSdk = (
  params: { name: string; arguments: Record<string, unknown> },
  options: { signal?: AbortSignal },
) => Promise<Readonly<Record<string, unknown>>>;

export const CLIENTS: readonly ClientKind[] = [{
  name: "client v2, 2026-07-28",
  transport: "modern",
  connect: (url) => connectV2(new HttpV2(new URL(`${url}/mcp`)), { pin: MODERN_VERSION }),
}, {
  name: "client v2, legacy HTTP",
  transport: "legacy",
  connect: (url) => connectV2(new HttpV2(new URL(`${url}/mcp`)), "legacy"),
}, {
  name: "client v2, SSE",
  transport: "sse",
  connect: (url) => connectV2(new SseV2(new URL(`${url}/sse`)), "legacy"),
}, {
  name: "client v1, streamable HTTP",
  transport: "legacy",
  connect: (url) => connectV1(new HttpV1(new URL(`${url}/mcp`))),
}, {
  name: "client v1, SSE",
  transport: "sse",
  connect: (url) => connectV1(new SseV1(new URL(`${url}/sse`))),
}];

/** Returns the first client of the table that speaks over a transport. */
export function clientOver(transport: Invocation["transport"]): ClientKind {
  const kind = CLIENTS.find((each) => each.transport === transport);
  if (kind === undefined) throw new TypeError(`No client speaks ${transport}`);
  return kind;
}

/** The SDK's own client in one era, for what `McpClient` has no words for. */
export interface SdkConnection extends AsyncDisposable {
  readonly client: ClientV2;
}

/** Connects the client of the SDK over a transport. */
export async function connectSdk(
  url: string,
  transport: Invocation["transport"],
  options: ConstructorParameters<typeof ClientV2>[1] = {},
): Promise<SdkConnection> {
  const mode = transport === "modern" ? { pin: MODERN_VERSION } : "legacy";
  const client = new ClientV2(INFO, { ...options, versionNegotiation: { mode } });
  const wire = transport === "sse"
    ? new SseV2(new URL(`${url}/sse`))
    : new HttpV2(new URL(`${url}/mcp`));
  await client.connect(wire);
  return {
    client,
    [Symbol.asyncDispose]: async () => {
      if (wire instanceof HttpV2) await wire.terminateSession().catch(() => {});
      await client.close();
    },
  };
}

/** Calls a tool with the client of the SDK; `data` is typed by nothing but what a test looks for. */
export async function callTool(
  client: ClientV2,
  name: string,
  args: Readonly<Record<string, unknown>>,
  // deno-lint-ignore no-explicit-any
): Promise<ToolReply & { readonly data: any }> {
  return toReply(await client.callTool({ name, arguments: args }));
}

/** Has tests run with a client of the SDK over each transport; to be called inside of a `describe()`. */
export function describeOverEach(
  open: () => McpWorld,
  define: (connection: Pick<SdkConnection, "client">) => void,
): void {
  for (const transport of ["modern", "legacy", "sse"] as const) {
    describe(`for ${transport}`, () => {
      let connection: SdkConnection;
      before(async () => {
        connection = await connectSdk(open().server.url, transport);
      });
      after(() => connection[Symbol.asyncDispose]());
      define({
        get client() {
          return connection.client;
        },
      });
    });
  }
}

async function connectV2(
  transport: HttpV2 | SseV2,
  mode: "legacy" | { readonly pin: string },
): Promise<McpClient> {
  const client = new ClientV2(INFO, { versionNegotiation: { mode } });
  await client.connect(transport);
  return await toMcpClient(
    client,
    transport,
    (params, options) => client.callTool(params, options),
  );
}

async function connectV1(transport: HttpV1 | SseV1): Promise<McpClient> {
  const client = new ClientV1(INFO);
  await client.connect(transport);
  return await toMcpClient(
    client,
    transport,
    (params, options) => client.callTool(params, undefined, options),
  );
}

async function toMcpClient(
  client: SdkClient,
  transport: HttpV1 | HttpV2 | SseV1 | SseV2,
  callSdk: CallSdk,
): Promise<McpClient> {
  await client.listTools();
  const close = async () => {
    // Without it Deno keeps the sockets of old clients, and the process never ends.
    if ("terminateSession" in transport) await transport.terminateSession();
    await client.close();
  };
  return {
    serverName: client.getServerVersion()?.name,
    instructions: client.getInstructions(),
    listTools: async () => (await client.listTools()).tools,
    call: async (name, args, signal) => {
      const params = { name, arguments: { ...args } };
      return toReply(await callSdk(params, signal ? { signal } : {}));
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}

function toReply(result: Readonly<Record<string, unknown>>): ToolReply {
  const { content, structuredContent: data } = result;
  const [first] = Array.isArray(content) ? content : [];
  return {
    isError: result.isError === true,
    text: String(first?.text),
    data: isRecord(data) ? data : undefined,
  };
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
