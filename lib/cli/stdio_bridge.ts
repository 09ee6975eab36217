/** Between a client on stdio and a server behind HTTP: every message of either gets to the other. */
import { AppError, describeFailure } from "@/lib/errors.ts";
import { type Logger, settleWithin } from "@/lib/seams.ts";
import { pause, type ServerLink } from "./server_link.ts";
import {
  type BadLine,
  cancelledId,
  type ClientAnswer,
  type ClientMessage,
  type ClientNotification,
  type ClientRequest,
  isRepeatable,
  type MessageId,
  revisionHeaders,
  SHIM_ERROR,
  toErrorLine,
} from "./stdio_message.ts";
import type { StdioOutput } from "./stdio_output.ts";
import { postMessage, type PostOutcome } from "./stdio_post.ts";
import { StdioSession } from "./stdio_session.ts";
import { keepSubscribed } from "./stdio_subscription.ts";

export interface StdioBridgeDeps {
  readonly link: ServerLink;
  readonly output: Pick<StdioOutput, "write">;
  readonly logger: Logger;
  /** What goes with every request: who the agent is, and where it works. */
  readonly headers: Readonly<Record<string, string>>;
}

/** A request of the client that waits for its answer. */
interface Call {
  readonly message: ClientRequest;
  readonly controller: AbortController;
  /** The server has got it, or never will. */
  readonly sent: PromiseWithResolvers<void>;
  /** Of the client: what has to be said before it. */
  readonly before: Promise<unknown>;
  isCancelled: boolean;
}

/** What became of a request; `forgotten`: the server does not know its session any more. */
type SendOutcome = PostOutcome | { readonly kind: "forgotten" };

const UNAVAILABLE = 503;
const NOT_FOUND = 404;
/** A server that is about to stop is gone by then. */
const TRY_AGAIN_MS = 500;
/** How long the server may take to hear that the client has left. */
const END_LIMIT_MS = 500;

export class StdioBridge {
  readonly #deps: StdioBridgeDeps;
  readonly #session: StdioSession;
  readonly #calls = new Map<MessageId, Call>();
  readonly #work = new Set<Promise<void>>();
  readonly #ending = new AbortController();
  /** Until the client of 2025 has its session. */
  #opening: Promise<void> = Promise.resolve();
  /** Until the server has what the client of 2025 has notified it of. */
  #notified: Promise<void> = Promise.resolve();
  /** What the client of 2026 said last. */
  #revision: string | undefined;

  constructor(deps: StdioBridgeDeps) {
    const { link, headers, output } = deps;
    this.#deps = deps;
    this.#session = new StdioSession({ link, headers, write: (text) => output.write(text) });
  }

  /** Takes a message of the client, and waits for nothing. */
  receive(message: ClientMessage | BadLine): void {
    switch (message.kind) {
      case "request":
        return this.#request(message);
      case "notification":
        return this.#notify(message);
      case "answer":
        return this.#do(() => this.#answer(message));
      case "bad":
        return this.#do(() => this.#deps.output.write(toErrorLine(null, message.error)));
    }
  }

  /**
   * Ends everything: what is under way may finish first, and then the server is told.
   *
   * @param graceMs How long that may take.
   * @param hurry Ends that time.
   */
  async close(graceMs: number, hurry: Promise<void>): Promise<void> {
    await settleWithin(Promise.race([this.#settle(), hurry]), graceMs);
    this.#ending.abort();
    for (const { controller } of this.#calls.values()) controller.abort();
    await settleWithin(this.#session.end(), END_LIMIT_MS);
  }

  async #settle(): Promise<void> {
    while (this.#work.size > 0) await Promise.all(this.#work);
  }

  /** Does something that may take its time. */
  #do(task: () => Promise<void>): void {
    const work = task()
      .catch((error) => this.#deps.logger.error("stdio-failed", describeFailure(error)))
      .finally(() => this.#work.delete(work));
    this.#work.add(work);
  }

  #request(message: ClientRequest): void {
    const isOpening = message.method === "initialize" && message.revision === undefined;
    const call: Call = {
      message,
      controller: new AbortController(),
      sent: Promise.withResolvers(),
      before: isOpening ? Promise.resolve() : Promise.all([this.#opening, this.#notified]),
      isCancelled: false,
    };
    this.#calls.set(message.id, call);
    if (message.revision !== undefined) this.#revision = message.revision;
    if (message.revision !== undefined && message.method === "subscriptions/listen") {
      // Not waited for at the end: it has none of its own.
      void this.#run(call, () => this.#listen(call, message.revision ?? ""));
      return;
    }
    const running = this.#run(call, () => this.#carry(call));
    if (isOpening) this.#opening = running;
    this.#do(() => running);
  }

  /** Runs a call to its end; what went wrong is its answer. */
  async #run(call: Call, task: () => Promise<void>): Promise<void> {
    const { id } = call.message;
    try {
      await task();
    } catch (error) {
      if (!(error instanceof AppError)) {
        this.#deps.logger.error("stdio-failed", describeFailure(error));
      }
      if (!isOver(call)) await this.#refuse(id, messageOf(error));
    } finally {
      call.sent.resolve();
      if (this.#calls.get(id) === call) this.#calls.delete(id);
    }
  }

  async #listen({ message, controller: { signal } }: Call, revision: string): Promise<void> {
    const { link, output } = this.#deps;
    const headers = { ...this.#deps.headers, ...revisionHeaders(message, revision) };
    await keepSubscribed(
      { link, headers, write: (text) => output.write(text) },
      message,
      signal,
    );
  }

  /** Sends a request, a second time if that is sure to do no harm. */
  async #carry(call: Call): Promise<void> {
    const { id, method } = call.message;
    if (call.message.revision === undefined) await call.before;
    for (let isFirst = true;; isFirst = false) {
      const outcome = await this.#send(call);
      if (outcome.kind === "done" || isOver(call)) return;
      this.#deps.link.doubt();
      if (!isFirst || !mayRepeat(outcome, method)) {
        const { output } = this.#deps;
        if (outcome.kind === "refused") return await output.write(toErrorLine(id, outcome.error));
        return await this.#refuse(id, wentAway(method));
      }
      if (isStopping(outcome)) await pause(TRY_AGAIN_MS, call.controller.signal);
    }
  }

  async #send(call: Call): Promise<SendOutcome> {
    const { message, controller: { signal } } = call;
    const server = await this.#deps.link.reach();
    const onSent = () => call.sent.resolve();
    const { line: body, id, method, revision } = message;
    if (revision !== undefined) {
      return await postMessage(server, {
        body,
        headers: { ...this.#deps.headers, ...revisionHeaders(message, revision) },
        signal,
        id,
        onSent,
        onMessage: (_message, text) => this.#deps.output.write(text),
      });
    }
    if (method === "initialize") return await this.#session.open(server, message, onSent);
    const life = await this.#session.ready(server);
    await this.#session.heard();
    const headers = this.#session.headersOf(life);
    const onMessage = this.#session.toClient(life);
    const outcome = await postMessage(server, { body, headers, signal, id, onSent, onMessage });
    if (outcome.kind === "done") this.#session.keep(message);
    if (life?.id === undefined || outcome.kind !== "refused" || outcome.status !== NOT_FOUND) {
      return outcome;
    }
    this.#session.lose(life);
    return { kind: "forgotten" };
  }

  #notify(message: ClientNotification): void {
    const id = cancelledId(message);
    const call = id === undefined ? undefined : this.#calls.get(id);
    if (call !== undefined) return this.#do(() => this.#cancel(call, message));
    const before = Promise.all([this.#opening, this.#notified]);
    const isOfSession = message.revision === undefined;
    const work = before.then(() => this.#post(message));
    if (isOfSession) this.#notified = work.catch(() => {});
    this.#do(() => work);
    if (message.method !== "notifications/initialized" || !isOfSession) return;
    void work.finally(() => this.#session.hear(this.#ending.signal)).catch(() => {});
  }

  /** A server of 2026 hears of it by the end of the connection, which others do not take for it. */
  async #cancel(call: Call, notification: ClientNotification): Promise<void> {
    call.isCancelled = true;
    if (call.message.revision === undefined) {
      await call.sent.promise;
      await this.#post(notification);
    }
    call.controller.abort();
  }

  /** Tells the server something that it need not hear if it is not there. */
  async #post(message: ClientNotification): Promise<void> {
    const { link, headers: own } = this.#deps;
    const server = await link.look();
    if (server === undefined) return;
    const revision = message.revision ?? (this.#session.isOpen ? undefined : this.#revision);
    const headers = revision === undefined
      ? this.#session.headersOf(await this.#session.ready(server))
      : { ...own, ...revisionHeaders(message, revision) };
    const outcome = await postMessage(server, { body: message.line, headers, onMessage: ignore });
    this.#logUnheard(message.method, outcome);
  }

  async #answer(answer: ClientAnswer): Promise<void> {
    const server = await this.#deps.link.look();
    if (server === undefined) return;
    const headers = this.#session.headersOf(await this.#session.ready(server));
    // Looked up last: what a server asked that is gone, another one must not take for its own.
    const body = this.#session.toServer(answer);
    if (body === undefined) return;
    const outcome = await postMessage(server, { body, headers, onMessage: ignore });
    this.#logUnheard("answer", outcome);
  }

  #logUnheard(what: string, outcome: PostOutcome): void {
    if (outcome.kind === "done") return;
    const status = outcome.kind === "refused" ? outcome.status : undefined;
    this.#deps.logger.debug("stdio-unheard", { what: what.slice(0, 100), status });
  }

  async #refuse(id: MessageId, message: string): Promise<void> {
    await this.#deps.output.write(toErrorLine(id, { code: SHIM_ERROR, message }));
  }
}

function ignore(): void {}

/** Tells a call that nobody waits for. */
function isOver({ isCancelled, controller }: Call): boolean {
  return isCancelled || controller.signal.aborted;
}

function mayRepeat(outcome: SendOutcome, method: string): boolean {
  if (outcome.kind === "broken") return !outcome.wasSent || isRepeatable(method);
  return outcome.kind === "forgotten" || isStopping(outcome);
}

function isStopping(outcome: SendOutcome): boolean {
  return outcome.kind === "refused" && outcome.status === UNAVAILABLE;
}

function messageOf(error: unknown): string {
  return error instanceof AppError
    ? error.message
    : "Something went wrong on the way to the server";
}

function wentAway(method: string): string {
  if (isRepeatable(method)) return "The server went away twice before it answered: try again";
  return "The server went away during this call, which may or may not have been carried out. The " +
    "next call finds it again: look what there is before you repeat this one";
}
