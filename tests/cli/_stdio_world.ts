/** The command `stdio` as a process of its own, as agents start it, and the servers that it starts. */
import { Client as ClientV2 } from "@modelcontextprotocol/client";
import { StdioClientTransport as StdioV2 } from "@modelcontextprotocol/client/stdio";
import { Client as ClientV1 } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport as StdioV1 } from "@modelcontextprotocol/sdk/client/stdio.js";
import { ResourceUpdatedNotificationSchema } from "@modelcontextprotocol/sdk/types.js";
import { readPortFile } from "@/lib/port_file.ts";
import { MODERN_VERSION } from "../_support/mcp.ts";
import {
  type Home,
  MAIN_PATH,
  makeHome,
  neededEnv,
  TASK_PERMISSIONS,
} from "../_support/program.ts";
import { until } from "../_support/until.ts";

const INFO = { name: "test-client", version: "1.2.3" };

/** Where a shim finds its server. */
export interface Place {
  readonly vault: string;
  readonly state: string;
  /** Of the person. */
  readonly home: string;
}

export interface ShimOptions {
  readonly cwd?: string;
  readonly more?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

/** Returns how an agent starts the shim. */
export function shimCommand(
  { vault, state, home }: Place,
  { cwd = home, more = [], env = {} }: ShimOptions = {},
): { command: string; args: string[]; cwd: string; env: Record<string, string> } {
  const folders = ["--vault", vault, "--state", state];
  return {
    command: Deno.execPath(),
    args: [
      "run",
      "--quiet",
      "--no-prompt",
      ...TASK_PERMISSIONS,
      MAIN_PATH,
      "stdio",
      ...folders,
      ...more,
    ],
    cwd,
    env: { ...neededEnv({ folder: home }), PATH: Deno.env.get("PATH") ?? "", ...env },
  };
}

/** A client that has started a shim and is connected. */
export interface ShimClient extends AsyncDisposable {
  readonly instructions: string | undefined;
  /** All of its stderr so far. */
  readonly stderr: string;
  listTools(): Promise<string[]>;
  call(
    name: string,
    args?: Readonly<Record<string, unknown>>,
    options?: { readonly signal?: AbortSignal; readonly onprogress?: (told: object) => void },
  ): Promise<ShimReply>;
  read(uri: string): Promise<string>;
  /** Has the server tell of changes of a resource; returns what was told so far. */
  watch(uri: string): Promise<readonly string[]>;
  close(): Promise<void>;
}

export interface ShimReply {
  readonly isError: boolean;
  readonly text: string;
  // deno-lint-ignore no-explicit-any
  readonly data: any;
}

export interface ShimClientKind {
  readonly name: string;
  readonly era: "modern" | "legacy";
  connect(place: Place, options?: ShimOptions): Promise<ShimClient>;
}

export const SHIM_CLIENTS: readonly ShimClientKind[] = [{
  name: "client v2, 2026-07-28",
  era: "modern",
  connect: (place, options) => connectV2(place, { ...options, mode: { pin: MODERN_VERSION } }),
}, {
  name: "client v2, 2025",
  era: "legacy",
  connect: (place, options) => connectV2(place, { ...options, mode: "legacy" }),
}, {
  name: "client v1",
  era: "legacy",
  connect: connectV1,
}];

/** The client of the SDK itself, over a shim. */
export async function connectSdkShim(
  place: Place,
  { mode, client: clientOptions = {}, ...options }: ShimOptions & {
    readonly mode: "legacy" | { readonly pin: string };
    readonly client?: ConstructorParameters<typeof ClientV2>[1];
  },
): Promise<{ readonly client: ClientV2; readonly transport: StdioV2; readonly heard: string[] }> {
  const client = new ClientV2(INFO, { ...clientOptions, versionNegotiation: { mode } });
  const transport = new StdioV2({ ...shimCommand(place, options), stderr: "pipe" });
  const heard = collect(transport.stderr);
  await client.connect(transport);
  return { client, transport, heard };
}

async function connectV2(
  place: Place,
  options: ShimOptions & { readonly mode: "legacy" | { readonly pin: string } },
): Promise<ShimClient> {
  const { client, heard } = await connectSdkShim(place, options);
  const updated: string[] = [];
  client.setNotificationHandler("notifications/resources/updated", ({ params }) => {
    updated.push(params.uri);
  });
  const close = () => client.close();
  return {
    instructions: client.getInstructions(),
    get stderr() {
      return heard.join("");
    },
    listTools: async () => (await client.listTools()).tools.map(({ name }) => name),
    call: async (name, args, more) =>
      toReply(await client.callTool({ name, arguments: { ...args } }, more)),
    read: async (uri) => JSON.stringify(await client.readResource({ uri })),
    watch: async (uri) => {
      if (options.mode === "legacy") await client.subscribeResource({ uri });
      else await client.listen({ resourceSubscriptions: [uri] });
      return updated;
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}

interface Updated {
  readonly params: { readonly uri: string };
}

async function connectV1(place: Place, options?: ShimOptions): Promise<ShimClient> {
  const client = new ClientV1(INFO);
  const transport = new StdioV1({ ...shimCommand(place, options), stderr: "pipe" });
  const heard = collect(transport.stderr);
  await client.connect(transport);
  const updated: string[] = [];
  client.setNotificationHandler(ResourceUpdatedNotificationSchema, (told: Updated) => {
    updated.push(told.params.uri);
  });
  const close = () => client.close();
  return {
    instructions: client.getInstructions(),
    get stderr() {
      return heard.join("");
    },
    listTools: async () =>
      (await client.listTools()).tools.map(({ name }: { readonly name: string }) => name),
    call: async (name, args, more) =>
      toReply(await client.callTool({ name, arguments: { ...args } }, undefined, more)),
    read: async (uri) => JSON.stringify(await client.readResource({ uri })),
    watch: async (uri) => {
      await client.subscribeResource({ uri });
      return updated;
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}

function collect(stream: StdioV2["stderr"]): string[] {
  const heard: string[] = [];
  stream?.on("data", (chunk: Uint8Array) => heard.push(new TextDecoder().decode(chunk)));
  return heard;
}

function toReply(result: Readonly<Record<string, unknown>>): ShimReply {
  const { content, structuredContent: data } = result;
  const [first] = Array.isArray(content) ? content : [];
  return { isError: result["isError"] === true, text: String(first?.text), data };
}

/** A home whose servers are ended with it, whoever started them. */
export interface ShimHome extends Place, AsyncDisposable {
  /** Process ids of the servers of this vault. */
  servers(): Promise<number[]>;
  /** The server that runs now, as soon as there is one. */
  serverPid(): Promise<number>;
  /** Kills all servers, without a word to them. */
  killServers(): Promise<void>;
}

/** Makes a home as `makeHome()` does; use it with `await using`. */
export async function makeShimHome(): Promise<ShimHome> {
  const home = await makeHome();
  const servers = () => listServers(home);
  const killServers = async () => {
    for (const pid of await servers()) killIfThere(pid);
    await until(async () => (await servers()).length === 0);
  };
  return {
    vault: home.vault,
    state: home.state,
    home: home.folder,
    servers,
    serverPid: () => until(async () => (await readPortFile(home.state))?.pid),
    killServers,
    [Symbol.asyncDispose]: async () => {
      await killServers();
      await home[Symbol.asyncDispose]();
    },
  };
}

/** By the command line, which names the folder of this test and no other. */
async function listServers({ state, folder }: Home): Promise<number[]> {
  if (Deno.build.os !== "linux") return [(await readPortFile(state))?.pid ?? []].flat();
  const shell = new Deno.Command("sh", { args: ["-c", LIST_SERVERS, "sh", folder] });
  const { stdout } = await shell.output();
  return (new TextDecoder().decode(stdout).match(/\d+/g) ?? []).map(Number);
}

/** By a shell, as Deno lets nobody look there without all permissions. */
const LIST_SERVERS = `for file in $(grep -alF -- "$1" /proc/[0-9]*/cmdline 2>/dev/null); do
  tr '\\0' '\\n' 2>/dev/null < "$file" | grep -qx serve && echo "$file"
done 2>/dev/null`;

function killIfThere(pid: number): void {
  try {
    Deno.kill(pid, "SIGKILL");
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  }
}

/** A shim that a test speaks with itself, line by line. */
export class RawShim implements AsyncDisposable {
  readonly #child: Deno.ChildProcess;
  readonly #input: WritableStreamDefaultWriter<Uint8Array>;
  readonly #reading: Promise<unknown>;
  #stdout = "";
  #stderr = "";

  constructor(place: Place, options: ShimOptions = {}) {
    const { command, args, cwd, env } = shimCommand(place, options);
    this.#child = new Deno.Command(command, {
      args,
      cwd,
      env,
      clearEnv: true,
      stdin: "piped",
      stdout: "piped",
      stderr: "piped",
    }).spawn();
    this.#input = this.#child.stdin.getWriter();
    this.#reading = Promise.all([
      this.#collect(this.#child.stdout, (text) => this.#stdout += text),
      this.#collect(this.#child.stderr, (text) => this.#stderr += text),
    ]);
  }

  get pid(): number {
    return this.#child.pid;
  }

  get stderr(): string {
    return this.#stderr;
  }

  /** All that it has said; fails if one line of it is no message of JSON-RPC. */
  // deno-lint-ignore no-explicit-any
  get messages(): any[] {
    return this.#stdout.split("\n").slice(0, -1).map((line) => {
      const message = JSON.parse(line);
      if (message.jsonrpc !== "2.0") throw new Error(`No JSON-RPC: ${line}`);
      return message;
    });
  }

  /** Sends a message, or a text as it is. */
  async send(message: object | string): Promise<void> {
    const text = typeof message === "string" ? message : JSON.stringify(message);
    await this.sendBare(`${text}\n`);
  }

  /** Sends a text without an end of the line. */
  async sendBare(text: string): Promise<void> {
    await this.#input.write(new TextEncoder().encode(text));
  }

  /** Sends a request, and waits for its answer. */
  // deno-lint-ignore no-explicit-any
  async ask(id: number | string, method: string, params: object = {}): Promise<any> {
    await this.send({ jsonrpc: "2.0", id, method, params });
    return await this.answer(id);
  }

  // deno-lint-ignore no-explicit-any
  answer(id: number | string | null): Promise<any> {
    return until(
      () => Promise.resolve(this.messages.find((each) => each.id === id && !("method" in each))),
      `No answer to ${id}`,
    );
  }

  /** Opens a session of 2025. */
  // deno-lint-ignore no-explicit-any
  async initialize(id: string = "init"): Promise<any> {
    const answer = await this.ask(id, "initialize", {
      protocolVersion: "2025-11-25",
      capabilities: {},
      clientInfo: INFO,
    });
    await this.send({ jsonrpc: "2.0", method: "notifications/initialized" });
    return answer;
  }

  /** Says no more; returns how it ends. */
  async end(): Promise<Deno.CommandStatus> {
    await this.#input.close().catch(() => {});
    return await this.ended();
  }

  async ended(): Promise<Deno.CommandStatus> {
    const status = await this.#child.status;
    await this.#reading;
    return status;
  }

  kill(signal: Deno.Signal): void {
    this.#child.kill(signal);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    try {
      this.#child.kill("SIGKILL");
    } catch {
      // It has ended.
    }
    await this.#input.close().catch(() => {});
    await this.ended();
  }

  async #collect(
    stream: ReadableStream<Uint8Array<ArrayBuffer>>,
    add: (text: string) => void,
  ): Promise<void> {
    for await (const text of stream.pipeThrough(new TextDecoderStream())) add(text);
  }
}

/** Dresses the parameters of a request of 2026. */
export function modernParams(params: object = {}): object {
  return {
    _meta: {
      "io.modelcontextprotocol/protocolVersion": MODERN_VERSION,
      "io.modelcontextprotocol/clientCapabilities": {},
      "io.modelcontextprotocol/clientInfo": INFO,
    },
    ...params,
  };
}
