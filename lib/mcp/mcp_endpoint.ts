/**
 * MCP over HTTP, for every revision of the protocol, as web requests and responses.
 *
 * - 2026-07-28: each POST is answered by a server of its own; nothing is kept between requests.
 * - 2025-03-26 to 2025-11-25: the same, so that a client survives a restart of the server.
 * - 2024-11-05: an event stream for what goes to the client, POST for what it says.
 */
import {
  createMcpHandler,
  type McpHttpHandler,
  parseJSONRPCMessage,
} from "@modelcontextprotocol/server";
import { AppError, describeFailure, InvalidRequest } from "@/lib/errors.ts";
import { settleWithin } from "@/lib/seams.ts";
import type { Services } from "@/lib/services.ts";
import { buildServer, type ServerDeps, type Visitor } from "./build_server.ts";
import { InvocationLog } from "./invocation_log.ts";
import { KEEP_ALIVE_MS, SseStreams } from "./sse_streams.ts";
import { selectTools } from "./tools.ts";

const JSON_AND_EVENTS = ["application/json", "text/event-stream"];

export interface McpEndpointOptions {
  /** How often silent streams get a sign of life. */
  readonly keepAliveMs?: number;
}

/** A message of a client of 2024. */
export interface SseMessage {
  readonly sessionId: string;
  /** The parsed JSON of the request. */
  readonly body: unknown;
  readonly visitor: Visitor;
}

/** The MCP side of one server; it holds the open streams and the log of invocations. */
export class McpEndpoint {
  readonly invocations: InvocationLog = new InvocationLog();
  readonly #handler: McpHttpHandler;
  readonly #streams: SseStreams;
  readonly #visitors = new WeakMap<Request, Visitor>();
  readonly #answering = new Set<Promise<unknown>>();
  #isClosed = false;

  constructor(services: Services, { keepAliveMs = KEEP_ALIVE_MS }: McpEndpointOptions = {}) {
    const { config, logger, newId } = services;
    const tools = selectTools(config.toolsets);
    const deps: ServerDeps = {
      services,
      invocations: this.invocations,
      tools,
      visitorOf: (request) => this.#visitorOf(request),
    };
    this.#handler = createMcpHandler(({ era }) => buildServer(deps, era), {
      legacy: config.mcpLegacy === "off" ? "reject" : "stateless",
      keepAliveMs,
      // Mostly requests that were refused and told so; the words may quote them.
      onerror: (error) => logger.debug("mcp-refused", { ...describeFailure(error) }),
    });
    this.#streams = new SseStreams({
      newId,
      keepAliveMs,
      connect: (transport) => buildServer(deps, "sse").connect(transport),
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
   * @throws {InvalidRequest} If it is a batch: no revision since 2025-06-18 has them.
   * @throws {AppError} `unavailable` while the server stops.
   */
  async answer(request: Request, body: unknown, visitor: Visitor): Promise<Response> {
    if (this.#isClosed) throw stopping();
    refuseBatch(body);
    const answering = this.#handler.fetch(this.#admit(request, visitor), { parsedBody: body });
    this.#answering.add(answering);
    try {
      return await answering;
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
  receive(request: Request, { sessionId, body, visitor }: SseMessage): void {
    refuseBatch(body);
    const message = toMessage(body);
    const extra = { request: this.#admit(request, visitor) };
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
   * Takes no more requests and ends all streams; calls under way may finish.
   *
   * @param graceMs How long these have.
   */
  async close(graceMs: number): Promise<void> {
    this.#isClosed = true;
    await this.#streams.close();
    await settleWithin(Promise.allSettled(this.#answering), graceMs);
    await this.#handler.close();
  }

  /** Remembers who sent a request; returns the one that the SDK is to see, whose body is not read. */
  #admit(sent: Request, visitor: Visitor): Request {
    const request = acceptBoth(sent);
    this.#visitors.set(request, visitor);
    return request;
  }

  #visitorOf(request: Request | undefined): Visitor {
    const visitor = request && this.#visitors.get(request);
    if (visitor === undefined) throw new TypeError("The SDK passed on another request than it got");
    return visitor;
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

function refuseBatch(body: unknown): void {
  if (!Array.isArray(body)) return;
  throw new InvalidRequest(
    "Batches are not part of MCP: send each message in a request of its own",
  );
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
