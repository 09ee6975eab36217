/**
 * The sessions of clients of 2025 (Streamable HTTP, revisions 2025-03-26 to 2025-11-25), by id.
 *
 * Clients come and go without a word, so that a session ends when nobody has used it for a while; a
 * client that listens uses it. Nobody gets far with an id alone: a session belongs to the token that
 * opened it. Calls are bounded in number, as a client may leave without ending what it asked for.
 */
import {
  isInitializeRequest,
  isSpecType,
  type JSONRPCMessage,
  type Transport,
} from "@modelcontextprotocol/server";
import { AppError, InvalidRequest } from "@/lib/errors.ts";
import { type Clock, type NewId, settleWithin } from "@/lib/seams.ts";
import { OpenMap } from "./_open_map.ts";
import { PendingCalls, tooManyCalls } from "./_pending_calls.ts";
import { SessionTransport } from "./_session_transport.ts";
import { trackResponse } from "./_tracked_stream.ts";
import { ClientSession, type Hearing } from "./client_session.ts";
import { SessionEvents, STANDALONE_STREAM } from "./event_store.ts";
import { KEEP_ALIVE_MS, MAX_PENDING_CALLS } from "./sse_streams.ts";
import { MAX_QUEUED_BYTES } from "./sse_transport.ts";

export const MAX_SESSIONS = 1_024;
/** After so long without a sign of its client a session ends. */
export const SESSION_IDLE_MS = 30 * 60_000;
/** So young ones are never given up for a new one. */
export const SPARED_IDLE_MS = 60_000;
/** Of the events of all sessions; beyond that the ones out of use longest lose theirs. */
const MAX_ALL_EVENT_CHARS = 32 * 1024 * 1024;
const SWEEP_EVERY_MS = 60_000;
/** After so long a client whose stream broke is to come back. */
const RETRY_MS = 1_000;

const SESSION_HEADER = "mcp-session-id";
const LAST_EVENT_HEADER = "last-event-id";

export interface SessionsOptions {
  /** Makes session ids: whoever knows one, and the token, can speak for its client. */
  readonly newId: NewId;
  readonly clock: Clock;
  /** Connects an MCP server to a new session. */
  readonly connect: (transport: Transport, session: ClientSession) => Promise<void>;
  /** Hears of each session that has ended. */
  readonly onEnd?: (sessionId: string) => void;
  /** Tells of which changes the client of a session may hear now; `undefined` = of none. */
  readonly findHearing?: (owner: SessionOwner) => Hearing | undefined;
  /** Hears of each stream that is given up because its client does not read. */
  readonly onGiveUp?: () => void;
  readonly maxSessions?: number;
  readonly idleMs?: number;
  readonly sweepEveryMs?: number;
  readonly keepAliveMs?: number;
  readonly maxEventChars?: number;
}

/** Whose session it is. */
export interface SessionOwner {
  readonly sessionId: string;
  readonly principal: string;
}

/** One request of a client. */
export interface SessionRequest {
  readonly request: Request;
  /** Which token it brought. */
  readonly principal: string;
}

/** One message of a client. */
export interface SessionMessage extends SessionRequest {
  readonly message: JSONRPCMessage;
}

interface Session {
  readonly principal: string;
  readonly client: ClientSession;
  readonly transport: SessionTransport;
  readonly calls: PendingCalls;
  readonly events: SessionEvents;
  /** Bodies that are being sent; the stream of GET is one. */
  readonly bodies: Set<Promise<void>>;
  /** The last event before its stream of GET ended; absent while that is open, and before. */
  leftAt: string | undefined;
  usedAtMs: number;
}

/** Opens, finds, uses and ends sessions; one that has ended leaves no trace here. */
export class McpSessions {
  readonly #options: Required<SessionsOptions>;
  readonly #sessions: OpenMap<Session>;
  /** Of the events that are kept, in all sessions. */
  #eventChars = 0;
  #isClosed = false;

  constructor(options: SessionsOptions) {
    this.#options = {
      maxSessions: MAX_SESSIONS,
      idleMs: SESSION_IDLE_MS,
      sweepEveryMs: SWEEP_EVERY_MS,
      keepAliveMs: KEEP_ALIVE_MS,
      maxEventChars: MAX_ALL_EVENT_CHARS,
      onGiveUp: () => {},
      onEnd: () => {},
      findHearing: () => () => true,
      ...options,
    };
    const everyMs = this.#options.sweepEveryMs;
    this.#sessions = new OpenMap({ everyMs, onTick: () => this.sweep() });
  }

  /** How many sessions there are. */
  get size(): number {
    return this.#sessions.size;
  }

  /** The clients of all sessions. */
  *clients(): Iterable<ClientSession> {
    for (const { client } of this.#sessions.values()) yield client;
  }

  /**
   * Answers a POST. A call to initialize opens a session, also where it names one that has ended.
   *
   * @throws {InvalidRequest} If a call to initialize is malformed, or the id is in use.
   * @throws {AppError} `session-required`, `session-not-found`, `unavailable` if there are too many
   * sessions, `too-many-requests` if too many of this one's requests wait for their answers.
   */
  async post({ request, principal, message }: SessionMessage): Promise<Response> {
    const isFirst = "method" in message && message.method === "initialize";
    if (isFirst && this.#find({ request, principal }) === undefined) {
      return await this.#open({ request, principal, message });
    }
    const session = this.#require({ request, principal });
    const { calls, transport } = session;
    const isCall = "method" in message && "id" in message;
    // The SDK would send both answers to the second, and none to the first.
    if (isCall && calls.has(message.id)) throw sameId();
    if (isCall && !calls.admit(message)) throw tooManyCalls();
    const response = await transport.handleRequest(request, { parsedBody: message });
    if (!response.ok) calls.withdraw(message);
    else if (!isCall) calls.admit(message);
    if (response.ok && isSpecType.CancelledNotification(message)) {
      await transport.endCancelled(message.params.requestId);
    }
    return this.#track(session, request, response);
  }

  /**
   * Answers a GET, which opens the stream of all that is told unasked, or goes on with one.
   *
   * @throws {AppError} `session-required`, `session-not-found`.
   */
  async listen(asked: SessionRequest): Promise<Response> {
    const session = this.#require(asked);
    const { client, events, transport } = session;
    // Before anything was told there is no event that a client could go on after.
    const request = orResume(asked.request, session.leftAt);
    const lastId = request.headers.get(LAST_EVENT_HEADER) ?? "";
    const streamId = await events.getStreamIdForEventId(lastId);
    // Who comes back knows better than we whether the stream has broken.
    if (streamId === STANDALONE_STREAM) transport.closeStandaloneSSEStream();
    const response = await transport.handleRequest(request);
    const isOfCall = streamId !== undefined && streamId !== STANDALONE_STREAM;
    if (!response.ok || isOfCall) return this.#track(session, request, response);
    session.leftAt = undefined;
    const hangUp = client.listen();
    return this.#track(session, request, response, {
      maxQueuedBytes: MAX_QUEUED_BYTES,
      onEnd: () => {
        hangUp();
        session.leftAt = events.mark(STANDALONE_STREAM);
      },
    });
  }

  /**
   * Tells whether a session is there, for HEAD.
   *
   * @throws As `listen()`.
   */
  check(asked: SessionRequest): void {
    this.#require(asked);
  }

  /**
   * Answers a DELETE, which ends a session.
   *
   * @throws As `listen()`.
   */
  async end(asked: SessionRequest): Promise<Response> {
    const { transport } = this.#require(asked);
    return await transport.handleRequest(asked.request);
  }

  /** Ends the sessions that nobody uses any more, and forgets what nobody will ask for again. */
  sweep(): void {
    const beforeMs = this.#options.clock.monotonicMs() - this.#options.idleMs;
    for (const session of this.#sessions.values()) {
      session.events.forgetOld();
      if (session.bodies.size === 0 && session.usedAtMs < beforeMs) void session.transport.close();
    }
  }

  /**
   * Opens no more sessions, ends the streams of those there are at once, and then the sessions.
   *
   * @param graceMs How long calls have to finish whose clients wait.
   */
  async close(graceMs: number): Promise<void> {
    this.#isClosed = true;
    const sessions = [...this.#sessions.values()];
    for (const { transport } of sessions) transport.closeStandaloneSSEStream();
    const bodies = sessions.flatMap((session) => [...session.bodies]);
    await settleWithin(Promise.all(bodies), graceMs);
    await Promise.all(sessions.map(({ transport }) => transport.close()));
  }

  async #open({ request, principal, message }: SessionMessage): Promise<Response> {
    if (!isInitializeRequest(message) || !("id" in message)) throw badInitialize();
    if (this.#isClosed) throw new AppError("unavailable", "The server is about to stop");
    this.#makeRoom();
    const session = this.#register(principal);
    const { client, transport } = session;
    try {
      await this.#options.connect(transport, client);
      const response = await transport.handleRequest(request, { parsedBody: message });
      if (!response.ok) await transport.close();
      return this.#track(session, request, response);
    } catch (error) {
      await transport.close();
      throw error;
    }
  }

  #register(principal: string): Session {
    const { clock, keepAliveMs, newId } = this.#options;
    const id = newId();
    const calls = new PendingCalls(MAX_PENDING_CALLS);
    const onChange = (chars: number) => {
      this.#eventChars += chars;
      if (chars > 0 && this.#eventChars > this.#options.maxEventChars) this.#forgetEvents();
    };
    const events = new SessionEvents({ clock, tag: newId(), onChange });
    const transport = new SessionTransport({
      sessionIdGenerator: () => id,
      eventStore: events,
      retryInterval: RETRY_MS,
      keepAliveMs,
    }, {
      calls,
      onEnd: () => {
        this.#sessions.remove(id);
        this.#options.onEnd(id);
        events.clear();
      },
    });
    const session = {
      principal,
      client: new ClientSession(() => this.#options.findHearing({ sessionId: id, principal })),
      transport,
      calls,
      events,
      bodies: new Set<Promise<void>>(),
      leftAt: undefined,
      usedAtMs: clock.monotonicMs(),
    };
    this.#sessions.add(id, session);
    return session;
  }

  /** What another token opened is not there for this one. */
  #find({ request, principal }: SessionRequest): Session | undefined {
    const session = this.#sessions.get(request.headers.get(SESSION_HEADER) ?? "");
    return session?.principal === principal ? session : undefined;
  }

  #require(asked: SessionRequest): Session {
    if (!asked.request.headers.get(SESSION_HEADER)) throw noSession();
    const session = this.#find(asked);
    if (session === undefined) throw sessionNotFound();
    session.usedAtMs = this.#options.clock.monotonicMs();
    return session;
  }

  /** Gives up the session that was out of use longest, if it was so for a while. */
  #makeRoom(): void {
    if (this.size < this.#options.maxSessions) return;
    this.sweep();
    if (this.size < this.#options.maxSessions) return;
    const beforeMs = this.#options.clock.monotonicMs() - SPARED_IDLE_MS;
    const [oldest] = [...this.#sessions.values()]
      .filter(({ bodies, usedAtMs }) => bodies.size === 0 && usedAtMs < beforeMs)
      .sort((a, b) => a.usedAtMs - b.usedAtMs);
    if (oldest === undefined) throw full();
    void oldest.transport.close();
  }

  /** Gives up what the sessions could ask for again that were out of use longest. */
  #forgetEvents(): void {
    const oldestFirst = [...this.#sessions.values()].sort((a, b) => a.usedAtMs - b.usedAtMs);
    for (const { events } of oldestFirst) {
      if (this.#eventChars <= this.#options.maxEventChars / 2) return;
      events.clear();
    }
  }

  #track(
    session: Session,
    { signal }: Request,
    response: Response,
    bounds: { readonly maxQueuedBytes?: number; readonly onEnd?: () => void } = {},
  ): Response {
    if (response.body === null || !response.ok) return response;
    const { promise: ended, resolve: end } = Promise.withResolvers<void>();
    session.bodies.add(ended);
    return trackResponse(response, {
      ...bounds,
      signal,
      onEnd: () => {
        bounds.onEnd?.();
        session.bodies.delete(ended);
        session.usedAtMs = this.#options.clock.monotonicMs();
        end();
      },
      onGiveUp: this.#options.onGiveUp,
    });
  }
}

/** Asks for what came after an event where a client does not say what it has seen. */
function orResume(request: Request, eventId: string | undefined): Request {
  if (eventId === undefined || request.headers.has(LAST_EVENT_HEADER)) return request;
  const headers = new Headers(request.headers);
  headers.set(LAST_EVENT_HEADER, eventId);
  return new Request(request, { headers });
}

function noSession(): AppError {
  return new AppError(
    "session-required",
    "There is no Mcp-Session-Id header: send initialize first, and then the id that its answer " +
      "carries in that header",
  );
}

function sessionNotFound(): AppError {
  return new AppError(
    "session-not-found",
    "There is no such session: it has ended, or the server was started anew. Send initialize, " +
      "without Mcp-Session-Id, to open another",
  );
}

function badInitialize(): InvalidRequest {
  return new InvalidRequest(
    "Cannot open a session: initialize needs an id, protocolVersion, capabilities and clientInfo",
  );
}

function sameId(): InvalidRequest {
  return new InvalidRequest(
    "Another request of this session has the same id and waits for its answer: take another",
  );
}

function full(): AppError {
  return new AppError(
    "unavailable",
    "Too many MCP sessions are open: end some with DELETE /mcp, or try again later",
    { headers: { "Retry-After": "60" } },
  );
}
