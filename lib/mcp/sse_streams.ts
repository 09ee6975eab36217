/**
 * The open event streams of MCP's HTTP+SSE transport, by session id. Guards against clients that
 * ask for too much: streams, and requests without an answer, are bounded in number.
 */
import type { JSONRPCMessage, MessageExtraInfo } from "@modelcontextprotocol/server";
import type { NewId } from "@/lib/seams.ts";
import { OpenMap } from "./_open_map.ts";
import { PendingCalls } from "./_pending_calls.ts";
import { MAX_QUEUED_BYTES, SseTransport } from "./sse_transport.ts";

export const MAX_SSE_STREAMS = 1_024;
/** Well below the 300 s after which common HTTP clients give up a silent answer. */
export const KEEP_ALIVE_MS = 15_000;
/** Requests of one client that may wait for their answers at a time. */
export const MAX_PENDING_CALLS = 64;

export interface SseStreamsOptions {
  /** Makes session ids: whoever knows one can speak for its client. */
  readonly newId: NewId;
  /**
   * Connects an MCP server to a new stream, that a request asked for. The client may leave
   * meanwhile; the server's `onclose` then follows at once.
   */
  readonly connect: (transport: SseTransport, request: Request) => Promise<void>;
  /** Hears of each session that has ended. */
  readonly onEnd?: (sessionId: string) => void;
  /** Hears of each stream that is given up because its client does not read. */
  readonly onGiveUp?: () => void;
  readonly maxStreams?: number;
  readonly keepAliveMs?: number;
  readonly maxPending?: number;
  readonly maxQueuedBytes?: number;
}

/**
 * The answer that opens a stream, or why there is none: as many are open as may be, the server
 * stops, or the client has left.
 */
export type SseOpening =
  | { readonly response: Response; readonly refused?: undefined }
  | { readonly response?: undefined; readonly refused: "full" | "closed" | "gone" };

interface OpenStream {
  readonly transport: SseTransport;
  readonly calls: PendingCalls;
}

/** Opens, finds and closes streams; one that has ended leaves no trace here. */
export class SseStreams {
  readonly #options: Required<SseStreamsOptions>;
  /** Those whose server is still being connected are here too, as they count. */
  readonly #streams: OpenMap<OpenStream>;
  #isClosed = false;

  constructor(options: SseStreamsOptions) {
    this.#options = {
      maxStreams: MAX_SSE_STREAMS,
      keepAliveMs: KEEP_ALIVE_MS,
      maxPending: MAX_PENDING_CALLS,
      maxQueuedBytes: MAX_QUEUED_BYTES,
      onGiveUp: () => {},
      onEnd: () => {},
      ...options,
    };
    this.#streams = new OpenMap({
      everyMs: this.#options.keepAliveMs,
      onTick: () => {
        for (const { transport } of this.#streams.values()) transport.keepAlive();
      },
    });
  }

  /** How many streams are open or about to be. */
  get size(): number {
    return this.#streams.size;
  }

  /**
   * Opens a stream for the client that asks.
   *
   * @param endpointFor Says where the client of a session posts its messages.
   * @throws What `connect` throws; the stream is closed then.
   */
  async open(
    request: Request,
    endpointFor: (sessionId: string) => string,
  ): Promise<SseOpening> {
    if (this.#isClosed) return { refused: "closed" };
    if (request.signal.aborted) return { refused: "gone" };
    if (this.size >= this.#options.maxStreams) return { refused: "full" };
    const transport = this.#register(request.signal, endpointFor);
    try {
      await this.#options.connect(transport, request);
    } catch (error) {
      await transport.close();
      throw error;
    }
    if (this.find(transport.sessionId) === transport) return { response: transport.response() };
    return { refused: this.#isClosed ? "closed" : "gone" };
  }

  /** All streams that are open or about to be. */
  *transports(): Iterable<SseTransport> {
    for (const { transport } of this.#streams.values()) yield transport;
  }

  /** Returns the stream of a session, `undefined` once it has ended. */
  find(sessionId: string): SseTransport | undefined {
    return this.#streams.get(sessionId)?.transport;
  }

  /**
   * Hands a message to the server of its session. A request is refused as `busy` while too many
   * others wait for their answers; notifications and responses never are.
   */
  receive(
    sessionId: string,
    message: JSONRPCMessage,
    extra?: MessageExtraInfo,
  ): "accepted" | "unknown" | "busy" {
    const stream = this.#streams.get(sessionId);
    if (stream === undefined) return "unknown";
    if (!stream.calls.admit(message)) return "busy";
    stream.transport.receive(message, extra);
    return "accepted";
  }

  /** Ends all streams and opens no more; may run twice. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.all([...this.#streams.values()].map(({ transport }) => transport.close()));
  }

  #register(signal: AbortSignal, endpointFor: (sessionId: string) => string): SseTransport {
    const sessionId = this.#options.newId();
    const calls = new PendingCalls(this.#options.maxPending);
    const transport = new SseTransport({
      sessionId,
      endpoint: endpointFor(sessionId),
      maxQueuedBytes: this.#options.maxQueuedBytes,
      signal,
      onSend: (message) => calls.settle(message),
      onGiveUp: this.#options.onGiveUp,
      onEnd: () => {
        this.#streams.remove(sessionId);
        this.#options.onEnd(sessionId);
      },
    });
    this.#streams.add(sessionId, { transport, calls });
    return transport;
  }
}
