/** A server of MCP that does what a test says, for what no real one does on demand. */
import { INSTANCE_HEADER } from "@/lib/port_file.ts";
import type { FoundServer } from "@/lib/cli/find_server.ts";
import { ServerLink } from "@/lib/cli/server_link.ts";
import { StdioBridge } from "@/lib/cli/stdio_bridge.ts";
import { parseClientLine } from "@/lib/cli/stdio_message.ts";
import { systemClock } from "@/lib/seams.ts";
import { silentLogger } from "../_support/silent_logger.ts";
import { until } from "../_support/until.ts";

/** What the server got. */
export interface Got {
  readonly server: string;
  readonly http: string;
  /** Its method; of an answer, `answer`. */
  readonly what: string;
  // deno-lint-ignore no-explicit-any
  readonly body: any;
  readonly headers: Headers;
  readonly signal: AbortSignal | undefined;
}

/** What it does then; `undefined` = what a server does that works. */
export type Reaction = (got: Got) => Response | Promise<Response> | undefined;

// deno-lint-ignore no-explicit-any
type Message = any;

export interface FakeWorld {
  readonly bridge: StdioBridge;
  /** What the client has been told. */
  readonly told: Message[];
  readonly got: Got[];
  /** The methods of what the server got, in their order. */
  readonly methods: string[];
  /** What follows is for a server of another name. */
  restartAs(name: string): void;
  say(message: object): void;
  ask(id: number | string, method: string, params?: object): Promise<Message>;
  answerTo(id: number | string): Promise<Message>;
  /** Opens a session of 2025. */
  initialize(): Promise<void>;
}

export const SESSION_GONE = -32001;

/** Makes a bridge to such a server, which may be found whenever it is looked for. */
export function fakeWorld(
  react: Reaction,
  { write = () => Promise.resolve() }: { readonly write?: () => Promise<void> } = {},
): FakeWorld {
  let current = toFake("first");
  const told: Message[] = [];
  const got: Got[] = [];
  const find = () => Promise.resolve(current);
  const bridge = new StdioBridge({
    link: new ServerLink({ find, ensure: find, clock: systemClock }),
    output: {
      write: async (line) => {
        told.push(JSON.parse(line));
        await write();
      },
    },
    logger: silentLogger(),
    headers: { "x-own": "yes" },
  });
  const world: FakeWorld = {
    bridge,
    told,
    got,
    get methods() {
      return got.map(({ what }) => what);
    },
    restartAs: (name) => current = toFake(name),
    say: (message) => bridge.receive(parseClientLine(JSON.stringify(message))),
    ask: (id, method, params = {}) => {
      world.say({ jsonrpc: "2.0", id, method, params });
      return world.answerTo(id);
    },
    answerTo: (id) =>
      until(() => Promise.resolve(told.find((each) => each.id === id && !("method" in each)))),
    initialize: async () => {
      await world.ask("init", "initialize", { protocolVersion: "2025-11-25", note: "own" });
      world.say({ jsonrpc: "2.0", method: "notifications/initialized" });
      await until(() => Promise.resolve(world.methods.includes("notifications/initialized")));
    },
  };
  return world;

  function toFake(name: string): FoundServer {
    return {
      id: name,
      pid: 1,
      version: "1",
      url: `http://${name}`,
      fetch: async (path, init) => await serve(name, path, init),
      [Symbol.dispose]: () => {},
    };
  }

  async function serve(name: string, path: string, init: RequestInit = {}): Promise<Response> {
    if (name !== current.id) throw refused();
    if (path === "/healthz") return new Response("", { headers: { [INSTANCE_HEADER]: name } });
    const { method: http = "GET", signal, body } = init;
    const message = body ? JSON.parse(String(body)) : undefined;
    const what = message === undefined ? http : message.method ?? "answer";
    const headers = new Headers(init.headers);
    const each = { server: name, http, what, body: message, headers, signal: signal ?? undefined };
    got.push(each);
    return await react(each) ?? answer(each);
  }
}

/** Answers as a server of 2025 or 2026 does that has nothing to say. */
function answer({ server, http, what, body, signal }: Got): Response {
  if (http === "GET") return events([], { ends: false, signal });
  if (http === "DELETE") return new Response(null, { status: 200 });
  if (body.id === undefined || what === "answer") return new Response(null, { status: 202 });
  const result = what === "initialize" ? { protocolVersion: "2025-06-18" } : { from: server };
  const headers: Record<string, string> = { "content-type": "application/json" };
  if (what === "initialize") headers["mcp-session-id"] = `session-${server}`;
  return new Response(JSON.stringify({ jsonrpc: "2.0", id: body.id, result }), { headers });
}

/** What `fetch()` throws where nobody listens. */
export function refused(): TypeError {
  const cause = new Error("error sending request: client error (Connect): Connection refused");
  return new TypeError("fetch failed", { cause });
}

/** What it throws where the connection broke. */
export function broken(): TypeError {
  const cause = new Error("client error (SendRequest): connection closed before message completed");
  return new TypeError("fetch failed", { cause });
}

/** An event stream of these messages; it stays open unless it is to end. */
export function events(
  messages: readonly object[],
  { ends = true, signal }: { readonly ends?: boolean; readonly signal?: AbortSignal | undefined } =
    {},
): Response {
  const text = messages.map((each, at) => `id: e${at}\ndata: ${JSON.stringify(each)}\n\n`).join("");
  const body = new ReadableStream({
    start(controller) {
      controller.enqueue(new TextEncoder().encode(`: alive\n\n${text}`));
      if (ends) controller.close();
      else signal?.addEventListener("abort", () => controller.error(signal.reason));
    },
  });
  return new Response(body, { headers: { "content-type": "text/event-stream" } });
}
