/**
 * MCP over HTTP, for every revision of the protocol, as web requests and responses.
 *
 * - 2026-07-28: each POST is answered by a server of its own; nothing is kept between requests.
 * - 2025-03-26 to 2025-11-25: the same, so that a client survives a restart of the server.
 * - 2024-11-05: an event stream for what goes to the client, POST for what it says.
 */
import {
  createMcpHandler,
  isLegacyRequest,
  type McpHttpHandler,
  parseJSONRPCMessage,
} from "@modelcontextprotocol/server";
import type { Invocation } from "@/lib/contracts_tools.ts";
import { AppError, describeFailure, InvalidRequest } from "@/lib/errors.ts";
import { settleWithin } from "@/lib/seams.ts";
import type { Services } from "@/lib/services.ts";
import { buildServer, type Sender, type ServerDeps } from "./build_server.ts";
import { InvocationLog } from "./invocation_log.ts";
import { KEEP_ALIVE_MS, SseStreams } from "./sse_streams.ts";
import { selectTools } from "./tools.ts";

const EVENTS = "text/event-stream";
/** Begins the line of an event that holds the message. */
const DATA = "data: ";
const JSON_AND_EVENTS = ["application/json", EVENTS];

export interface McpEndpointOptions {
  /** How often silent streams get a sign of life. */
  readonly keepAliveMs?: number;
}

/** A message of a client of 2024. */
export interface SseMessage {
  readonly sessionId: string;
  /** The parsed JSON of the request. */
  readonly body: unknown;
  readonly sender: Sender;
}

/** The MCP side of one server; it holds the open streams and the log of invocations. */
export class McpEndpoint {
  readonly invocations: InvocationLog = new InvocationLog();
  readonly #handler: McpHttpHandler;
  readonly #streams: SseStreams;
  readonly #senders = new WeakMap<Request, Sender>();
  readonly #answering = new Set<Promise<unknown>>();
  #isClosed = false;

  constructor(services: Services, { keepAliveMs = KEEP_ALIVE_MS }: McpEndpointOptions = {}) {
    const { config, logger, newId } = services;
    const tools = selectTools(config.toolsets);
    const deps: ServerDeps = {
      services,
      invocations: this.invocations,
      tools,
      senderOf: (request) => this.#senderOf(request),
    };
    const build = (transport: Invocation["transport"]) => {
      try {
        return buildServer(deps, transport);
      } catch (error) {
        // The SDK tells the client, and nobody else.
        logger.error("mcp-failed", describeFailure(error));
        throw error;
      }
    };
    this.#handler = createMcpHandler(({ era }) => build(era), {
      legacy: config.mcpLegacy === "off" ? "reject" : "stateless",
      keepAliveMs,
      // Mostly requests that were refused and told so; the words may quote them.
      onerror: (error) => logger.debug("mcp-refused", { ...describeFailure(error) }),
    });
    this.#streams = new SseStreams({
      newId,
      keepAliveMs,
      connect: (transport) => build("sse").connect(transport),
      onGiveUp: () => logger.warn("stream-given-up"),
    });
  }

  /** How many event streams of 2024 are open. */
  get streamCount(): number {
    return this.#streams.size;
  }

  /**
   * Answers one POST of a client of 2025 or later.
   *
   * @param body The parsed JSON of the request.
   * @throws {InvalidRequest} If it is a batch, which only the revision of 2025-03-26 has.
   * @throws {AppError} `unavailable` while the server stops.
   */
  async answer(request: Request, body: unknown, sender: Sender): Promise<Response> {
    if (this.#isClosed) throw stopping();
    refuseBatch(body);
    const parsedBody = withoutNullArguments(body);
    const answering = this.#handler.fetch(this.#admit(request, sender), { parsedBody });
    this.#answering.add(answering);
    try {
      const response = await answering;
      const isStream = response.headers.get("content-type")?.startsWith(EVENTS) === true;
      const asksForEvents = request.headers.get("accept")?.includes(EVENTS) === true;
      if (!isStream || asksForEvents) return response;
      return await isLegacyRequest(request, body) ? await toJson(response) : response;
    } finally {
      this.#answering.delete(answering);
    }
  }

  /**
   * Opens an event stream for a client of 2024.
   *
   * @param endpoint Where the client posts its messages; the session is added as a parameter.
   * @throws {AppError} `unavailable` if too many are open or the server stops, `client-gone`.
   */
  async openStream(request: Request, endpoint: string): Promise<Response> {
    const toEndpoint = (sessionId: string) => `${endpoint}?sessionId=${sessionId}`;
    const opening = await this.#streams.open(request, toEndpoint);
    switch (opening.refused) {
      case undefined:
        return opening.response;
      case "gone":
        throw new AppError("client-gone", "The client left before its stream was open");
      case "closed":
        throw stopping();
      case "full":
        throw new AppError(
          "unavailable",
          "Too many event streams are open: close some, or use POST /mcp, which needs none",
          { headers: { "Retry-After": "5" } },
        );
    }
  }

  /**
   * Takes a message of a client of 2024; the answer goes to its event stream.
   *
   * @throws {InvalidRequest} If it is no message of JSON-RPC.
   * @throws {AppError} `not-found` if there is no such session, `too-many-requests` if too many of
   * its requests wait for their answers.
   */
  receive(request: Request, { sessionId, body, sender }: SseMessage): void {
    refuseBatch(body);
    const message = toMessage(withoutNullArguments(body));
    const extra = { request: this.#admit(request, sender) };
    switch (this.#streams.receive(sessionId, message, extra)) {
      case "accepted":
        return;
      case "unknown":
        throw new AppError(
          "not-found",
          "There is no such session: its stream has ended, or the server was started anew. " +
            "Open one with GET /sse",
        );
      case "busy":
        throw new AppError(
          "too-many-requests",
          "Too many requests of this session wait for their answers: send the next one later",
          { headers: { "Retry-After": "1" } },
        );
    }
  }

  /**
   * Takes no more requests and ends all streams at once, and with them the calls of 2024; those of
   * 2026 may finish. For those of 2025 the HTTP server waits.
   *
   * @param graceMs How long calls have to finish.
   */
  async close(graceMs: number): Promise<void> {
    this.#isClosed = true;
    await this.#streams.close();
    // All, not the first that fails.
    await settleWithin(Promise.allSettled(this.#answering), graceMs);
    await this.#handler.close();
  }

  /** Remembers who sent a request; returns the one that the SDK is to see, whose body is not read. */
  #admit(sent: Request, sender: Sender): Request {
    const request = acceptBoth(sent);
    this.#senders.set(request, sender);
    return request;
  }

  #senderOf(request: Request | undefined): Sender {
    const sender = request && this.#senders.get(request);
    if (sender === undefined) throw new TypeError("The SDK passed on another request than it got");
    return sender;
  }
}

/** Lets clients pass that do not name both types, although the protocol wants them to. */
function acceptBoth(request: Request): Request {
  const accept = request.headers.get("accept") ?? "";
  if (JSON_AND_EVENTS.every((type) => accept.includes(type))) return request;
  const { url, method, signal } = request;
  const headers = new Headers(request.headers);
  headers.set("accept", JSON_AND_EVENTS.join(", "));
  return new Request(url, { method, headers, signal });
}

/** Turns the stream of a call of 2025, which ends with its answer, into that answer as JSON. */
async function toJson(response: Response): Promise<Response> {
  // By LF alone: JSON holds other line ends as they are.
  const lines = (await response.text()).split("\n");
  const last = lines.findLast((line) => line.startsWith(DATA));
  return new Response(last?.slice(DATA.length) ?? null, {
    status: response.status,
    headers: { "Content-Type": "application/json" },
  });
}

/** Some clients write null for the arguments of a tool that needs none. */
function withoutNullArguments(body: unknown): unknown {
  if (!isRecord(body) || !isRecord(body["params"])) return body;
  const { arguments: args, ...params } = body["params"];
  return args === null ? { ...body, params } : body;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function refuseBatch(body: unknown): void {
  if (!Array.isArray(body)) return;
  throw new InvalidRequest("Batches are not taken here: send each message in a request of its own");
}

function toMessage(body: unknown): ReturnType<typeof parseJSONRPCMessage> {
  try {
    return parseJSONRPCMessage(body);
  } catch {
    // The SDK's words quote the message.
    throw new InvalidRequest(
      'The body is no message of JSON-RPC 2.0: it needs "jsonrpc": "2.0" and a method, or a result',
    );
  }
}

function stopping(): AppError {
  return new AppError("unavailable", "The server is about to stop", {
    headers: { "Retry-After": "1" },
  });
}
