/**
 * MCP over HTTP, for every revision of the protocol, as web requests and responses.
 *
 * - 2026-07-28: each POST is answered by a server of its own; nothing is kept between requests.
 * - 2025-03-26 to 2025-11-25: sessions or, where that is asked for, the same as 2026.
 * - 2024-11-05: an event stream for what goes to the client, POST for what it says.
 */
import {
  createMcpHandler,
  InMemoryServerEventBus,
  isLegacyRequest,
  type McpHttpHandler,
  type McpServer,
} from "@modelcontextprotocol/server";
import { AppError, describeFailure } from "@/lib/errors.ts";
import { settleWithin, Slicer } from "@/lib/seams.ts";
import type { Services } from "@/lib/services.ts";
import { tooManyCalls } from "./_pending_calls.ts";
import { trackResponse } from "./_tracked_stream.ts";
import {
  acceptBoth,
  isEvents,
  isListen,
  refuseBatch,
  requireModestFilter,
  takesEvents,
  toJson,
  toMessage,
  withoutNullArguments,
} from "./_wire.ts";
import { hearingOf } from "./_may_hear.ts";
import { buildServer, type Sender, type ServedAs } from "./build_server.ts";
import { type Attention, ClientSession, type ResourceChange } from "./client_session.ts";
import { InvocationLog } from "./invocation_log.ts";
import { ResourceChanges, type ResourceChangesOptions } from "./resource_changes.ts";
import { McpSessions, type SessionOwner, type SessionsOptions } from "./sessions.ts";
import { KEEP_ALIVE_MS, SseStreams } from "./sse_streams.ts";
import { MAX_QUEUED_BYTES, type SseTransport } from "./sse_transport.ts";
import { selectTools } from "./tools.ts";

export interface McpEndpointOptions {
  /** How often silent streams get a sign of life. */
  readonly keepAliveMs?: number;
  /** Makes servers in place of our own, which have the tools, resources and prompts. */
  readonly build?: (context: ServedAs) => McpServer;
  /** Bounds on sessions, where they are to differ. */
  readonly sessions?: Pick<
    SessionsOptions,
    "idleMs" | "maxEventChars" | "maxSessions" | "sweepEveryMs"
  >;
  /** How soon clients are told of changes, where that is to differ. */
  readonly changes?: Pick<ResourceChangesOptions, "lookEveryMs" | "tellDelayMs">;
}

/** A request as it came, and from whom. */
export interface SentRequest {
  readonly request: Request;
  readonly sender: SentBy;
}

/** Who sent a request; whether they can be asked something shows in the request. */
export type SentBy = Omit<Sender, "canBeAsked">;

/** A message of a client of 2024. */
export interface SseMessage {
  readonly sessionId: string;
  /** The parsed JSON of the request. */
  readonly body: unknown;
  readonly sender: SentBy;
}

/** Whose stream of 2024 it is. */
interface Owner {
  readonly principal: string;
  readonly client: ClientSession;
}

/** The MCP side of one server; it holds sessions, open streams and the log of invocations. */
export class McpEndpoint {
  readonly invocations: InvocationLog = new InvocationLog();
  readonly #services: Services;
  readonly #handler: McpHttpHandler;
  /** Of 2026: those who listen. */
  readonly #bus = new InMemoryServerEventBus();
  readonly #sessions: McpSessions;
  readonly #streams: SseStreams;
  readonly #owners = new WeakMap<SseTransport, Owner>();
  readonly #changes: ResourceChanges;
  readonly #senders = new WeakMap<Request, Sender>();
  readonly #answering = new Set<Promise<unknown>>();
  #isClosed = false;

  constructor(services: Services, options: McpEndpointOptions = {}) {
    const { access, config, clock, logger, newId, vault, index } = services;
    const { keepAliveMs = KEEP_ALIVE_MS, sessions, changes } = options;
    this.#services = services;
    const build = this.#toFactory(options.build);
    const onGiveUp = () => logger.warn("stream-given-up");
    const onEnd = (sessionId: string) => access.endSession(sessionId);
    const findHearing = (owner: SessionOwner) => hearingOf(services, owner);
    this.#handler = createMcpHandler(({ era }) => build({ transport: era }), {
      legacy: config.mcpLegacy === "stateless" ? "stateless" : "reject",
      keepAliveMs,
      bus: this.#bus,
      // Mostly requests that were refused and told so; the words may quote them.
      onerror: (error) => logger.debug("mcp-refused", { ...describeFailure(error) }),
    });
    this.#sessions = new McpSessions({
      ...sessions,
      newId,
      clock,
      keepAliveMs,
      connect: (transport, session) => build({ transport: "legacy", session }).connect(transport),
      onGiveUp,
      onEnd,
      findHearing,
    });
    this.#streams = new SseStreams({
      newId,
      keepAliveMs,
      connect: async (transport, request) => {
        const { principal = "" } = this.#senderOf(request).caller;
        const { sessionId } = transport;
        const client = new ClientSession(() => findHearing({ sessionId, principal }));
        this.#owners.set(transport, { principal, client });
        const mcp = build({ transport: "sse", session: client });
        mcp.server.oninitialized = () => this.#beginToListen(client);
        await mcp.connect(transport);
      },
      onGiveUp,
      onEnd,
    });
    this.#changes = new ResourceChanges({
      ...changes,
      vault,
      index,
      clock,
      audience: () => this.#audience(),
      tell: (change) => void this.tell(change),
    });
  }

  /** How many event streams of 2024 are open. */
  get streamCount(): number {
    return this.#streams.size;
  }

  /** How many sessions of 2025 there are. */
  get sessionCount(): number {
    return this.#sessions.size;
  }

  /** Ends the sessions that are out of use, as it is done from time to time anyway. */
  sweep(): void {
    this.#sessions.sweep();
  }

  /**
   * Answers one POST of a client of 2025 or later.
   *
   * @param body The parsed JSON of the request.
   * @throws {InvalidRequest} If it is a batch, which only the revision of 2025-03-26 has, or no
   * message.
   * @throws {AppError} `unavailable` while the server stops; for sessions see `McpSessions.post()`.
   */
  async answer(sent: SentRequest, body: unknown): Promise<Response> {
    if (this.#isClosed) throw stopping();
    refuseBatch(body);
    if (isListen(body)) requireModestFilter(body);
    const parsedBody = withoutNullArguments(body);
    const isLegacy = await isLegacyRequest(sent.request, body);
    const request = this.#admit(sent);
    const answering = isLegacy && this.#services.config.mcpLegacy === "sessions"
      ? this.#sessions.post({ ...toSessionRequest(sent, request), message: toMessage(parsedBody) })
      : this.#handler.fetch(request, { parsedBody });
    this.#hold(answering);
    const response = await answering;
    if (!isEvents(response)) return response;
    if (isLegacy) return takesEvents(sent.request) ? response : await toJson(response);
    return this.#track(sent.request, response, isListen(body) ? "listen" : "call");
  }

  /**
   * Opens the stream of a session of 2025, or goes on with one.
   *
   * @throws {AppError} `unavailable` while the server stops; else see `McpSessions.listen()`.
   */
  async listen(sent: SentRequest): Promise<Response> {
    if (this.#isClosed) throw stopping();
    const response = await this.#sessions.listen(toSessionRequest(sent, this.#admit(sent)));
    this.#changes.watch();
    return response;
  }

  /**
   * Tells whether a session of 2025 is there.
   *
   * @throws {AppError} If it is not.
   */
  check(sent: SentRequest): void {
    this.#sessions.check(toSessionRequest(sent, sent.request));
  }

  /**
   * Ends a session of 2025.
   *
   * @throws {AppError} If it is not there.
   */
  async end(sent: SentRequest): Promise<Response> {
    return await this.#sessions.end(toSessionRequest(sent, sent.request));
  }

  /**
   * Opens an event stream for a client of 2024.
   *
   * @param endpoint Where the client posts its messages; the session is added as a parameter.
   * @throws {AppError} `unavailable` if too many are open or the server stops, `client-gone`.
   */
  async openStream({ request, sender }: SentRequest, endpoint: string): Promise<Response> {
    const toEndpoint = (sessionId: string) => `${endpoint}?sessionId=${sessionId}`;
    this.#senders.set(request, { ...sender, canBeAsked: false });
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
   * @throws {AppError} `not-found` if there is no such session, or another token opened it;
   * `too-many-requests` if too many of its requests wait for their answers.
   */
  receive(request: Request, { sessionId, body, sender }: SseMessage): void {
    refuseBatch(body);
    const message = toMessage(withoutNullArguments(body));
    const { principal = "" } = sender.caller;
    const transport = this.#streams.find(sessionId);
    const isOwn = transport && this.#owners.get(transport)?.principal === principal;
    if (!isOwn) throw noStream();
    this.#senders.set(request, { ...sender, canBeAsked: true });
    switch (this.#streams.receive(sessionId, message, { request })) {
      case "accepted":
        return;
      case "unknown":
        throw noStream();
      case "busy":
        throw tooManyCalls();
    }
  }

  /**
   * Takes no more requests and ends the streams of 2025 and 2024 at once, and with the latter their
   * calls. Calls of 2025 in sessions and of 2026 may finish whose clients wait; then the streams of
   * 2026 end too. For others of 2025 the HTTP server waits.
   *
   * @param graceMs How long calls have to finish.
   */
  async close(graceMs: number): Promise<void> {
    this.#isClosed = true;
    this.#changes.close();
    await this.#streams.close();
    // All, not the first that fails.
    await Promise.all([
      this.#sessions.close(graceMs),
      settleWithin(Promise.allSettled(this.#answering), graceMs),
    ]);
    await this.#handler.close();
  }

  #toFactory(
    build: McpEndpointOptions["build"],
  ): (context: ServedAs) => McpServer {
    const { config, logger } = this.#services;
    const deps = {
      services: this.#services,
      invocations: this.invocations,
      tools: selectTools(config),
      senderOf: (request: Request | undefined) => this.#senderOf(request),
    };
    const make = build ?? ((context) => buildServer(deps, context));
    return (context) => {
      try {
        return make(context);
      } catch (error) {
        // The SDK tells the client, and nobody else.
        logger.error("mcp-failed", describeFailure(error));
        throw error;
      }
    };
  }

  #beginToListen(client: ClientSession): void {
    client.listen();
    this.#changes.watch();
  }

  /** Tells the clients that listen of a change, each as much as it wants to know. */
  async tell(change: ResourceChange): Promise<void> {
    const slicer = new Slicer(this.#services.clock);
    for (const client of [...this.#clients()]) {
      client.tell(change);
      await slicer.pause();
    }
    // Nobody knows whose task a client of 2026 listens for.
    if (this.#bus.listenerCount === 0 || this.#services.access.mode === "ask") return;
    const { notify } = this.#handler;
    if (change.isListChanged) notify.resourcesChanged();
    for (const uri of change.uris) {
      notify.resourceUpdated(uri);
      await slicer.pause();
    }
  }

  #audience(): Attention {
    const attentions = new Set([...this.#clients()].map(({ attention }) => attention));
    if (this.#bus.listenerCount > 0 || attentions.has("here")) return "here";
    return attentions.has("away") ? "away" : "none";
  }

  /** Those of 2025 and 2024. */
  *#clients(): Iterable<ClientSession> {
    yield* this.#sessions.clients();
    for (const transport of this.#streams.transports()) {
      const owner = this.#owners.get(transport);
      if (owner) yield owner.client;
    }
  }

  /**
   * Follows a stream to a client of 2026: what one that listens does not read must not heap up, and
   * a stop waits for the end of a call.
   */
  #track({ signal }: Request, response: Response, kind: "listen" | "call"): Response {
    const { promise, resolve: onEnd } = Promise.withResolvers<void>();
    const onGiveUp = () => this.#services.logger.warn("stream-given-up");
    if (kind === "listen") this.#changes.watch();
    else this.#hold(promise);
    const bounds = kind === "listen" ? { maxQueuedBytes: MAX_QUEUED_BYTES } : {};
    return trackResponse(response, { ...bounds, signal, onGiveUp, onEnd });
  }

  /** Has a stop wait for something. */
  #hold(work: Promise<unknown>): void {
    const held = work.catch(() => undefined).finally(() => this.#answering.delete(held));
    this.#answering.add(held);
  }

  /** Remembers who sent a request; returns the one that the SDK is to see, whose body is not read. */
  #admit({ request: sent, sender }: SentRequest): Request {
    const request = acceptBoth(sent);
    // Else the question would wait in what is sent with the answer, and the answer for its own.
    this.#senders.set(request, { ...sender, canBeAsked: takesEvents(sent) });
    return request;
  }

  #senderOf(request: Request | undefined): Sender {
    const sender = request && this.#senders.get(request);
    if (sender === undefined) throw new TypeError("The SDK passed on another request than it got");
    return sender;
  }
}

function toSessionRequest(
  { sender: { caller: { principal = "" } } }: SentRequest,
  request: Request,
): { request: Request; principal: string } {
  return { request, principal };
}

function noStream(): AppError {
  return new AppError(
    "not-found",
    "There is no such session: its stream has ended, or the server was started anew. " +
      "Open one with GET /sse",
  );
}

function stopping(): AppError {
  return new AppError("unavailable", "The server is about to stop", {
    headers: { "Retry-After": "1" },
  });
}
