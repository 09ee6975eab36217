/**
 * A client that stays connected: what it wants to be told of, and where it works. Clients of 2026
 * have none of this, as each of their requests stands by itself.
 */
import {
  type McpServer,
  ProtocolError,
  ProtocolErrorCode,
  ResourceNotFoundError,
  SdkError,
  SdkErrorCode,
  type ServerContext,
  specTypeSchemas,
} from "@modelcontextprotocol/server";
import { orProtocolError } from "./_protocol_error.ts";
import { firstFolder } from "./client_place.ts";

/** What one client may want to be told of. */
export const MAX_SUBSCRIPTIONS = 1_000;
export const MAX_SUBSCRIBED_CHARS = 512 * 1024;
/** One that says again and again that it works elsewhere now is not asked for ever. */
const MAX_QUESTIONS = 3;
/** A client that does not answer by then works nowhere, as far as is known. */
const ROOTS_LIMIT_MS = 2_000;

/** What has changed, for clients that want to know. */
export interface ResourceChange {
  /** The resources that are not what they were. */
  readonly uris: ReadonlySet<string>;
  /** Whether the list of resources is another one. */
  readonly isListChanged: boolean;
}

/**
 * Whether there is a way now to tell a client something unasked (`here`), there was and may be again
 * (`away`), or never was.
 */
export type Attention = "here" | "away" | "none";

/** Where a client says that it works; `undefined` = it does not say. */
interface Place {
  readonly cwd: string | undefined;
}

/** Tells whether a client may hear that a resource changes. */
export type Hearing = (key: string) => boolean;

/** One client, from its first message to its end. */
export class ClientSession {
  readonly #findHearing: () => Hearing | undefined;
  readonly #subscriptions = new Map<string, string>();
  #server: McpServer | undefined;
  /** Of what it wants to be told of, with the names that it uses. */
  #subscribedChars = 0;
  #ears = 0;
  #hasListened = false;
  /** Where it works; absent until it was asked. */
  #place: Place | undefined;
  #asking: Promise<Place | undefined> | undefined;
  /** How often it said that it works elsewhere now. */
  #moves = 0;
  /** How often it did not answer. */
  #silences = 0;

  /** @param findHearing Tells of what the client may hear now; `undefined` = of nothing. */
  constructor(findHearing: () => Hearing | undefined = () => () => true) {
    this.#findHearing = findHearing;
  }

  get attention(): Attention {
    if (this.#ears > 0) return "here";
    return this.#hasListened ? "away" : "none";
  }

  /** To be called once, when the server of this client is made. */
  attach(mcp: McpServer): void {
    this.#server = mcp;
    mcp.server.setNotificationHandler("notifications/roots/list_changed", () => {
      this.#place = undefined;
      this.#moves++;
    });
  }

  /** From now on there is a way to tell the client something unasked; returns what ends that. */
  listen(): () => void {
    this.#hasListened = true;
    this.#ears++;
    return () => this.#ears--;
  }

  /**
   * Takes note of what the client wants to be told of.
   *
   * @param key The name under which changes of the resource are told.
   * @param uri What the client calls it.
   * @throws {ProtocolError} If it is too much.
   */
  subscribe(key: string, uri: string): void {
    this.unsubscribe(key);
    const chars = this.#subscribedChars + key.length + uri.length;
    if (this.#subscriptions.size >= MAX_SUBSCRIPTIONS || chars > MAX_SUBSCRIBED_CHARS) {
      throw new ProtocolError(
        ProtocolErrorCode.InvalidParams,
        `A client may subscribe to ${MAX_SUBSCRIPTIONS} resources, with ${MAX_SUBSCRIBED_CHARS} ` +
          "characters in all: unsubscribe from some first",
      );
    }
    this.#subscriptions.set(key, uri);
    this.#subscribedChars = chars;
  }

  unsubscribe(key: string): void {
    const uri = this.#subscriptions.get(key);
    if (uri === undefined) return;
    this.#subscriptions.delete(key);
    this.#subscribedChars -= key.length + uri.length;
  }

  /** Tells the client as much of a change as it wants to know. */
  tell({ uris, isListChanged }: ResourceChange): void {
    const server = this.#server?.server;
    if (!this.#hasListened || server === undefined) return;
    const mayHear = this.#findHearing();
    if (mayHear === undefined) return;
    const sent: Promise<void>[] = [];
    if (isListChanged) sent.push(server.sendResourceListChanged());
    for (const [key, uri] of this.#subscriptions) {
      const isTold = uris.has(key) && mayHear(key);
      if (isTold) sent.push(server.sendResourceUpdated({ uri }));
    }
    // It has left meanwhile, or is about to.
    for (const each of sent) each.catch(() => {});
  }

  /** Where the client said that it works, if it was asked. */
  get cwd(): string | undefined {
    return this.#place?.cwd;
  }

  /**
   * Returns the folder in which the client works: the first of its roots. It is asked once, until it
   * says that they have changed, on the stream of the call that wants to know; `undefined` if it
   * does not say. One that does not answer is asked a few times, by one call each.
   */
  async findCwd({ send, signal }: ServerContext["mcpReq"]): Promise<string | undefined> {
    if (this.#server?.server.getClientCapabilities()?.roots === undefined) return undefined;
    let latest: Place | undefined;
    for (let left = MAX_QUESTIONS; left > 0 && !this.#place && !signal.aborted; left--) {
      // Calls at once share the question, and ask anew if the one that asked it is cancelled.
      this.#asking ??= this.#ask({ send, signal }).finally(() => {
        this.#asking = undefined;
      });
      const silences = this.#silences;
      latest = await this.#asking ?? latest;
      if (this.#silences > silences) break;
    }
    return (this.#place ?? latest)?.cwd;
  }

  /** Returns `undefined` if the call that asks is cancelled, or there is no answer. */
  async #ask(
    { send, signal }: Pick<ServerContext["mcpReq"], "send" | "signal">,
  ): Promise<Place | undefined> {
    const moves = this.#moves;
    let cwd: string | undefined;
    try {
      const options = { timeout: ROOTS_LIMIT_MS, signal };
      const { roots } = await send({ method: "roots/list" }, options);
      cwd = firstFolder(roots);
    } catch (error) {
      if (signal.aborted) return undefined;
      if (isSilence(error) && ++this.#silences < MAX_QUESTIONS) return undefined;
    }
    // It may have moved meanwhile.
    if (moves === this.#moves) this.#place = { cwd };
    return { cwd };
  }
}

/** Tells that there was no answer, from one that says no or makes no sense. */
function isSilence(error: unknown): boolean {
  const codes: readonly SdkErrorCode[] = [
    SdkErrorCode.RequestTimeout,
    SdkErrorCode.ConnectionClosed,
  ];
  return error instanceof SdkError && codes.includes(error.code);
}

/**
 * Lets a client subscribe to resources; what it hears of them comes by `session.tell()`.
 *
 * @param toKey Returns the name under which changes of a resource are told, `undefined` for one
 * that this server does not have.
 * @param check Throws if the client may not hear of changes.
 */
export function addSubscriptions(
  { server }: McpServer,
  session: ClientSession,
  { toKey, check }: {
    readonly toKey: (uri: string) => string | undefined;
    readonly check: (context: ServerContext, uri: string) => void;
  },
): void {
  const requireKey = (uri: string): string => {
    const key = toKey(uri);
    if (key === undefined) throw new ResourceNotFoundError(uri);
    return key;
  };
  const { SubscribeRequestParams: params } = specTypeSchemas;
  server.setRequestHandler("resources/subscribe", { params }, async ({ uri }, context) => {
    await orProtocolError(() => check(context, uri));
    session.subscribe(requireKey(uri), uri);
    return {};
  });
  server.setRequestHandler("resources/unsubscribe", { params }, ({ uri }) => {
    session.unsubscribe(requireKey(uri));
    return {};
  });
}
