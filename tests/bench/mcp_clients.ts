/**
 * The doors of one server, each with a client that does as little as it can: what differs between
 * them is then the server's own. None parses an answer; that it holds results shows in its text.
 */
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { VERSION } from "@/lib/version.ts";
import { HITS } from "./engine.ts";

export const DOORS = [
  "GET /api/search",
  "MCP 2026-07-28",
  "MCP 2025-06-18",
  "MCP 2024-11-05 (SSE)",
  "MCP 2026-07-28, official client",
] as const;
export type DoorName = (typeof DOORS)[number];

/** Asks one query, prepared beforehand; throws if the answer holds no results. */
export type Ask = () => Promise<void>;

export interface Door extends AsyncDisposable {
  prepare(query: string): Ask;
}

const TOOL = "search_notes";
const CLIENT_INFO = { name: "bench", version: VERSION };
/** As every door writes it, the text that repeats an MCP answer apart. */
const SOME_RESULTS = '"results":[{"';
const NO_CLEANUP = { [Symbol.asyncDispose]: () => Promise.resolve() };

/** Opens one door of the server at an address; use it with `await using`. */
export function openDoor(name: DoorName, url: string): Door | Promise<Door> {
  switch (name) {
    case "GET /api/search":
      return openSearch(url);
    case "MCP 2026-07-28":
      return openModern(url);
    case "MCP 2025-06-18":
      return openLegacy(url);
    case "MCP 2024-11-05 (SSE)":
      return EventStream.open(url);
    case "MCP 2026-07-28, official client":
      return openOfficial(url);
  }
}

function openSearch(url: string): Door {
  return {
    ...NO_CLEANUP,
    prepare: (query) => {
      const parameters = new URLSearchParams({ q: query, mode: "keyword", limit: String(HITS) });
      const address = `${url}/api/search?${parameters}`;
      return async () => requireResults(await readAnswer(await fetch(address)));
    },
  };
}

function openModern(url: string): Door {
  const version = "2026-07-28";
  const headers = {
    "content-type": "application/json",
    "accept": "application/json, text/event-stream",
    "mcp-protocol-version": version,
    "mcp-method": "tools/call",
    "mcp-name": TOOL,
  };
  const meta = {
    "io.modelcontextprotocol/protocolVersion": version,
    "io.modelcontextprotocol/clientInfo": CLIENT_INFO,
    "io.modelcontextprotocol/clientCapabilities": {},
  };
  return {
    ...NO_CLEANUP,
    prepare: (query) => {
      const body = makeCall(1, makeParams(query, { _meta: meta }));
      return () => askByPost(`${url}/mcp`, headers, body);
    },
  };
}

/** One session for all calls. */
async function openLegacy(url: string): Promise<Door> {
  const protocolVersion = "2025-06-18";
  const headers = {
    "content-type": "application/json",
    "accept": "application/json, text/event-stream",
    "mcp-protocol-version": protocolVersion,
  };
  const params = { protocolVersion, capabilities: {}, clientInfo: CLIENT_INFO };
  const body = JSON.stringify({ jsonrpc: "2.0", id: 0, method: "initialize", params });
  const opened = await fetch(`${url}/mcp`, { method: "POST", headers, body });
  await readAnswer(opened);
  const session = { ...headers, "mcp-session-id": opened.headers.get("mcp-session-id") ?? "" };
  let calls = 0;
  return {
    [Symbol.asyncDispose]: async () => {
      await readAnswer(await fetch(`${url}/mcp`, { method: "DELETE", headers: session }));
    },
    prepare: (query) => {
      const call = makeParams(query);
      return () => askByPost(`${url}/mcp`, session, makeCall(++calls, call));
    },
  };
}

async function askByPost(address: string, headers: HeadersInit, body: string): Promise<void> {
  requireResults(await readAnswer(await fetch(address, { method: "POST", headers, body })));
}

async function openOfficial(url: string): Promise<Door> {
  const client = new Client(CLIENT_INFO, { versionNegotiation: { mode: { pin: "2026-07-28" } } });
  await client.connect(new StreamableHTTPClientTransport(new URL(`${url}/mcp`)));
  return {
    [Symbol.asyncDispose]: () => client.close(),
    prepare: (query) => async () => {
      const call = { name: TOOL, arguments: makeArguments(query) };
      const { content: [block] } = await client.callTool(call);
      requireResults(block?.type === "text" ? block.text : "");
    },
  };
}

/** One stream for all answers, and a POST for each call. */
class EventStream implements Door {
  readonly #reader: ReadableStreamDefaultReader<string>;
  readonly #waiting = new Map<string, PromiseWithResolvers<string>>();
  #address = "";
  #text = "";
  #calls = 0;

  private constructor(reader: ReadableStreamDefaultReader<string>) {
    this.#reader = reader;
  }

  static async open(url: string): Promise<EventStream> {
    const { body } = await fetch(`${url}/sse`);
    if (body === null) throw new Error("GET /sse was answered without a stream");
    const stream = new EventStream(body.pipeThrough(new TextDecoderStream()).getReader());
    const endpoint = await stream.#next();
    stream.#address = `${url}${/^data: (.*)$/m.exec(endpoint ?? "")?.[1]}`;
    void stream.#listen();
    return stream;
  }

  prepare(query: string): Ask {
    const headers = { "content-type": "application/json" };
    const params = makeParams(query);
    return async () => {
      // Anew each time, as the same query may be under way twice.
      const id = ++this.#calls;
      const answer = Promise.withResolvers<string>();
      this.#waiting.set(String(id), answer);
      const init = { method: "POST", headers, body: makeCall(id, params) };
      const [text] = await Promise.all([
        answer.promise,
        fetch(this.#address, init).then(readAnswer),
      ]);
      requireResults(text);
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#reader.cancel();
  }

  async #listen(): Promise<void> {
    for (let event = await this.#next(); event !== undefined; event = await this.#next()) {
      // A comment, by which the server shows that it is there.
      if (event.startsWith(":")) continue;
      const id = idOf(event);
      this.#waiting.get(id)?.resolve(event);
      this.#waiting.delete(id);
    }
    for (const { reject } of this.#waiting.values()) reject(new Error("The event stream ended"));
  }

  /** Returns the next event without the empty line behind it, `undefined` at the end. */
  async #next(): Promise<string | undefined> {
    let end = this.#text.indexOf("\n\n");
    while (end < 0) {
      const { value, done } = await this.#reader.read();
      if (done) return undefined;
      const from = Math.max(0, this.#text.length - 1);
      this.#text += value;
      end = this.#text.indexOf("\n\n", from);
    }
    const event = this.#text.slice(0, end);
    this.#text = this.#text.slice(end + 2);
    return event;
  }
}

/** An answer ends with its id; only an error, which ends the bench, has to be parsed. */
function idOf(event: string): string {
  return /"id":(\d+)\}$/.exec(event.slice(-40))?.[1] ??
    String(JSON.parse(event.slice(event.indexOf("{"))).id);
}

function makeParams(query: string, more: object = {}): string {
  return JSON.stringify({ name: TOOL, arguments: makeArguments(query), ...more });
}

function makeCall(id: number, params: string): string {
  return `{"jsonrpc":"2.0","id":${id},"method":"tools/call","params":${params}}`;
}

function makeArguments(query: string): Record<string, unknown> {
  return { query, mode: "keyword", limit: HITS };
}

async function readAnswer(response: Response): Promise<string> {
  const text = await response.text();
  if (response.ok) return text;
  throw new Error(`A call was answered with status ${response.status}: ${text.slice(0, 500)}`);
}

function requireResults(text: string): void {
  if (text.includes(SOME_RESULTS)) return;
  throw new Error(`An answer holds no results: ${text.slice(0, 500)}`);
}
