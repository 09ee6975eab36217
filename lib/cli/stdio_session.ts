/**
 * The session of a client of 2025, which outlives the server: where another one has come, or this one
 * knows it no more, it is opened again as the client had opened it, and the client does not notice.
 */
import { AppError } from "@/lib/errors.ts";
import { isRecord } from "@/lib/is_record.ts";
import { settleWithin } from "@/lib/seams.ts";
import type { FoundServer } from "./find_server.ts";
import { pause, type ServerLink } from "./server_link.ts";
import {
  askedId,
  cancelledId,
  type ClientAnswer,
  type ClientRequest,
  type Fields,
  isAnswerTo,
  type MessageId,
} from "./stdio_message.ts";
import { endSession, listen, type OnMessage, postMessage, type PostOutcome } from "./stdio_post.ts";

export interface StdioSessionDeps {
  readonly link: ServerLink;
  /** What goes with every request. */
  readonly headers: Readonly<Record<string, string>>;
  /** Writes to the client. */
  readonly write: (message: string) => Promise<void>;
}

/** One life of the session, with one server. */
export interface SessionLife {
  /** Absent where the server keeps no sessions. */
  readonly id: string | undefined;
  readonly serverId: string;
  readonly revision: string | undefined;
  /** Counts from 0. */
  readonly number: number;
}

interface ServedLife {
  readonly server: FoundServer;
  readonly life: SessionLife;
}

const INITIALIZED = JSON.stringify({ jsonrpc: "2.0", method: "notifications/initialized" });
/** As long as the server wants clients to wait whose stream broke. */
const LISTEN_AGAIN_MS = 1_000;
/** A stream that takes longer is not waited for. */
const OPEN_LIMIT_MS = 1_000;
const NOT_ALLOWED = 405;
const NOT_FOUND = 404;

export class StdioSession {
  readonly #deps: StdioSessionDeps;
  #opening: ClientRequest | undefined;
  #life: SessionLife | undefined;
  #lives = 0;
  #reopening: Promise<SessionLife> | undefined;
  #isHearing = false;
  /** Until this life has its stream. */
  #opened = Promise.withResolvers<void>();
  /** Ends the stream of a life that is over, as a server that hangs does not, and the wait for one. */
  #turn: AbortController | undefined;
  /** What the client has set and subscribed to, by what it is about. */
  readonly #kept = new Map<string, ClientRequest>();
  /** What the server has asked and waits for: its own id by the one that the client knows. */
  readonly #asked = new Map<MessageId, MessageId>();

  constructor(deps: StdioSessionDeps) {
    this.#deps = deps;
  }

  /** Whether the client has opened one. */
  get isOpen(): boolean {
    return this.#life !== undefined;
  }

  /** Opens the session for the client, which gets the answer. */
  async open(
    server: FoundServer,
    request: ClientRequest,
    onSent: () => void,
  ): Promise<PostOutcome> {
    this.#opening = request;
    this.#kept.clear();
    return await this.#begin(server, request, {
      onSent,
      onMessage: (_message, text) => this.#deps.write(text),
    });
  }

  /**
   * Returns the session as this server knows it, and opens it again if need be.
   *
   * @returns `undefined` if the client has opened none.
   * @throws {AppError} `unavailable` if the server opens none.
   */
  async ready(server: FoundServer): Promise<SessionLife | undefined> {
    const life = this.#life;
    if (life === undefined || this.#opening === undefined) return undefined;
    if (life.serverId === server.id || life.id === undefined) return life;
    this.#reopening ??= this.#reopen(server, this.#opening)
      .finally(() => this.#reopening = undefined);
    return await this.#reopening;
  }

  /** Takes note that the server has forgotten the session. */
  lose(life: SessionLife): void {
    if (this.#life === life) this.#life = { ...life, serverId: "" };
  }

  headersOf(life: SessionLife | undefined): Record<string, string> {
    return {
      ...this.#deps.headers,
      ...(life?.id === undefined ? {} : { "mcp-session-id": life.id }),
      ...(life?.revision === undefined ? {} : { "mcp-protocol-version": life.revision }),
    };
  }

  /** Returns what hands on to the client what comes from the server in one life. */
  toClient(life: SessionLife | undefined): OnMessage {
    return async (message, text) => {
      await this.#deps.write(life === undefined ? text : this.#translate(life, message, text));
    };
  }

  /** Returns what goes to the server for an answer; `undefined` if nobody waits for it any more. */
  toServer({ id, fields }: ClientAnswer): string | undefined {
    const original = this.#asked.get(id);
    if (original === undefined) return undefined;
    this.#asked.delete(id);
    return JSON.stringify({ ...fields, id: original });
  }

  /** Keeps in mind what another server has to be told, once this one has taken it. */
  keep(request: ClientRequest): void {
    const { method, params: { uri } } = request;
    if (method === "resources/subscribe") this.#kept.set(`uri ${uri}`, request);
    if (method === "resources/unsubscribe") this.#kept.delete(`uri ${uri}`);
    if (method === "logging/setLevel") this.#kept.set("level", request);
  }

  /** Hands on what the session is told unasked, from server to server, until the signal. */
  async hear(signal: AbortSignal): Promise<void> {
    if (this.#isHearing) return;
    this.#isHearing = true;
    let heard: SessionLife | undefined;
    let lastEventId: string | undefined;
    while (!signal.aborted && this.#isHearing) {
      this.#turn = new AbortController();
      const turn = AbortSignal.any([signal, this.#turn.signal]);
      const at = await this.#findLife(turn);
      if (at !== undefined && !turn.aborted) {
        if (at.life !== heard) lastEventId = undefined;
        heard = at.life;
        lastEventId = await this.#listen(at, lastEventId, turn);
      }
      await pause(LISTEN_AGAIN_MS, turn);
    }
    this.#opened.resolve();
  }

  /** Waits until the client would hear of what a server asks or tells that is not bound to a call. */
  async heard(): Promise<void> {
    if (this.#isHearing) await settleWithin(this.#opened.promise, OPEN_LIMIT_MS);
  }

  /** Returns after which event another stream goes on. */
  async #listen(
    { server, life }: ServedLife,
    lastEventId: string | undefined,
    signal: AbortSignal,
  ): Promise<string | undefined> {
    if (life.id === undefined) {
      this.#isHearing = false;
      return undefined;
    }
    const { resolve: onOpen } = this.#opened;
    const headers = this.headersOf(life);
    const onMessage = this.toClient(life);
    const outcome = await listen(server, { headers, signal, lastEventId, onMessage, onOpen });
    this.#deps.link.doubt();
    if (outcome.kind === "ended") return outcome.lastEventId;
    if (outcome.status === NOT_ALLOWED) this.#isHearing = false;
    if (outcome.status === NOT_FOUND) this.lose(life);
    return lastEventId;
  }

  /** Ends the session, as the client has left. */
  async end(): Promise<void> {
    const life = this.#life;
    if (life?.id === undefined) return;
    const server = await this.#deps.link.look();
    if (server?.id === life.serverId) await endSession(server, this.headersOf(life));
  }

  /** Waits for a server, and starts none: the person may have stopped it. */
  async #findLife(signal: AbortSignal): Promise<ServedLife | undefined> {
    const server = await this.#deps.link.look() ?? await this.#deps.link.wait(signal);
    try {
      const life = server && await this.ready(server);
      return server && life && { server, life };
    } catch {
      // The next call tells the client.
      return undefined;
    }
  }

  async #begin(
    server: FoundServer,
    request: ClientRequest,
    { onMessage, onSent = () => {} }: { onMessage: OnMessage; onSent?: () => void },
  ): Promise<PostOutcome> {
    let revision: string | undefined;
    const outcome = await postMessage(server, {
      body: request.line,
      headers: this.#deps.headers,
      id: request.id,
      onSent,
      onMessage: async (message, text) => {
        if (isAnswerTo(message, request.id)) revision = revisionOf(message);
        await onMessage(message, text);
      },
    });
    // An error, too, is an answer.
    if (outcome.kind === "done" && revision !== undefined) {
      const { sessionId: id } = outcome;
      this.#life = { id, serverId: server.id, revision, number: this.#lives++ };
      this.#opened = Promise.withResolvers();
      this.#turn?.abort();
    }
    return outcome;
  }

  async #reopen(server: FoundServer, opening: ClientRequest): Promise<SessionLife> {
    await this.#withdrawQuestions();
    const outcome = await this.#begin(server, opening, { onMessage: () => {} });
    const life = this.#life;
    if (outcome.kind !== "done" || life?.serverId !== server.id) throw notReopened(outcome);
    await this.#tell(server, life, { line: INITIALIZED });
    for (const request of this.#kept.values()) await this.#tell(server, life, request);
    return life;
  }

  async #tell(
    server: FoundServer,
    life: SessionLife,
    { line, id }: { readonly line: string; readonly id?: MessageId },
  ): Promise<void> {
    const headers = this.headersOf(life);
    // The client has had the answers.
    await postMessage(server, {
      body: line,
      headers,
      ...(id === undefined ? {} : { id }),
      onMessage: () => {},
    });
  }

  /** Nobody waits for the answers to what a server asked that is gone. */
  async #withdrawQuestions(): Promise<void> {
    const ids = [...this.#asked.keys()];
    this.#asked.clear();
    for (const requestId of ids) {
      const params = { requestId, reason: "The server was started anew" };
      const method = "notifications/cancelled";
      await this.#deps.write(JSON.stringify({ jsonrpc: "2.0", method, params }));
    }
  }

  /** Each server counts its questions from 0: those of later ones get ids of their own. */
  #translate({ number }: SessionLife, message: Fields, text: string): string {
    const toKnown = (id: MessageId) => number === 0 ? id : `${number}:${JSON.stringify(id)}`;
    const asked = askedId(message);
    if (asked !== undefined) {
      const id = toKnown(asked);
      this.#asked.set(id, asked);
      return id === asked ? text : JSON.stringify({ ...message, id });
    }
    const cancelled = cancelledId(message);
    if (cancelled === undefined || !isRecord(message["params"])) return text;
    const requestId = toKnown(cancelled);
    this.#asked.delete(requestId);
    return JSON.stringify({ ...message, params: { ...message["params"], requestId } });
  }
}

function revisionOf({ result }: Fields): string | undefined {
  const revision = isRecord(result) ? result["protocolVersion"] : undefined;
  return typeof revision === "string" ? revision : undefined;
}

function notReopened(outcome: PostOutcome): AppError {
  const reason = outcome.kind === "refused" ? `: ${outcome.error["message"]}` : "";
  return new AppError(
    "unavailable",
    `The server was started anew, and does not open the session again${reason}`,
  );
}
