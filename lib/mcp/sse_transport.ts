/**
 * The server's end of MCP's HTTP+SSE transport (revision 2024-11-05): one event stream carries all
 * that goes to a client; what the client says comes in requests of its own and is handed in.
 *
 * Guards against a client that stops reading: what waits for it is bounded in bytes, and beyond the
 * bound the stream is given up together with what waits.
 */
import type { JSONRPCMessage, MessageExtraInfo, Transport } from "@modelcontextprotocol/server";
import { toErrorAnswer } from "./_error_answer.ts";
import { notRead } from "./_tracked_stream.ts";

/** What may wait for one client; an answer that is larger by itself becomes an error. */
export const MAX_QUEUED_BYTES = 4 * 1024 * 1024;

const TOO_LARGE = "The answer is larger than this stream takes: use POST /mcp, or read it in " +
  "parts with memory_open";

const HEADERS = {
  "content-type": "text/event-stream",
  "cache-control": "no-cache, no-transform",
  // Proxies of the nginx kind would else collect events before they pass them on.
  "x-accel-buffering": "no",
};

type Controller = ReadableStreamDefaultController<Uint8Array<ArrayBuffer>>;

export interface SseTransportOptions {
  readonly sessionId: string;
  /** Where the client is told to post its messages; one line. */
  readonly endpoint: string;
  readonly maxQueuedBytes?: number;
  /** Aborts when the client leaves. */
  readonly signal?: AbortSignal;
  /** Hears of each message just before it is written. */
  readonly onSend?: (message: JSONRPCMessage) => void;
  /** Hears that the client does not read, and that the stream is given up for that. */
  readonly onGiveUp?: () => void;
  /** Hears of the end before `onclose` does, and also when nobody has called `start()` yet. */
  readonly onEnd?: () => void;
}

/**
 * One open event stream to a client. It ends when the client leaves, reads too slowly, or the
 * server closes it; `onclose` is called once. After that every method does nothing.
 */
export class SseTransport implements Transport {
  readonly sessionId: string;
  onclose?: Transport["onclose"];
  onerror?: Transport["onerror"];
  onmessage?: Transport["onmessage"];

  readonly #options: SseTransportOptions;
  readonly #stream: ReadableStream<Uint8Array<ArrayBuffer>>;
  /** `undefined` once the stream has ended. */
  #controller: Controller | undefined;
  #isStarted = false;

  constructor(options: SseTransportOptions) {
    const { sessionId, endpoint, signal, maxQueuedBytes = MAX_QUEUED_BYTES } = options;
    this.sessionId = sessionId;
    this.#options = options;
    this.#stream = new ReadableStream<Uint8Array<ArrayBuffer>>({
      start: (controller) => {
        controller.enqueue(encodeEvent("endpoint", endpoint));
        this.#controller = controller;
      },
      cancel: () => this.#end(() => {}),
    }, new ByteLengthQueuingStrategy({ highWaterMark: maxQueuedBytes }));
    signal?.addEventListener("abort", this.#leave);
    if (signal?.aborted) this.#leave();
  }

  /** Dresses the stream as the answer that opens it; to be called once. */
  response(): Response {
    return new Response(this.#stream, { headers: HEADERS });
  }

  /** Called by the MCP server once its handlers are set; only then is `onclose` told of an end. */
  start(): Promise<void> {
    const hasEndedBefore = !this.#isStarted && this.#controller === undefined;
    this.#isStarted = true;
    if (hasEndedBefore) this.onclose?.();
    return Promise.resolve();
  }

  /** Hands a message of the client to the MCP server. */
  receive(message: JSONRPCMessage, extra?: MessageExtraInfo): void {
    if (this.#controller !== undefined) this.onmessage?.(message, extra);
  }

  /**
   * Writes a message. One that comes after the end is dropped in silence: its sender was told by
   * `onclose`, and a rejection would only be reported as an error once more.
   */
  send(message: JSONRPCMessage): Promise<void> {
    return Promise.try(() => {
      if (this.#controller === undefined) return;
      this.#options.onSend?.(message);
      const event = encodeEvent("message", JSON.stringify(message));
      const { maxQueuedBytes = MAX_QUEUED_BYTES } = this.#options;
      const isTooLarge = event.byteLength > maxQueuedBytes;
      const refusal = isTooLarge ? toErrorAnswer(message, TOO_LARGE) : undefined;
      this.#write(refusal ? encodeEvent("message", JSON.stringify(refusal)) : event);
    });
  }

  /** Writes a comment, as clients and proxies cut connections that stay silent. */
  keepAlive(): void {
    this.#write(encode(": keepalive\n\n"));
  }

  /** Ends the stream after what waits in it. */
  close(): Promise<void> {
    return Promise.try(() => this.#end((controller) => controller.close()));
  }

  #write(bytes: Uint8Array<ArrayBuffer>): void {
    if (this.#controller === undefined) return;
    if (bytes.byteLength <= (this.#controller.desiredSize ?? 0)) {
      this.#controller.enqueue(bytes);
      return;
    }
    // An error, not a close, as only that drops what waits.
    this.#end((controller) => controller.error(notRead()));
    this.#options.onGiveUp?.();
  }

  /** No error, which the HTTP server would report although a client may leave as it likes. */
  readonly #leave = (): void => this.#end((controller) => controller.close());

  /** Lets go of everything before anybody is told, as `onclose` may well call `close()`. */
  #end(finish: (controller: Controller) => void): void {
    const controller = this.#controller;
    if (controller === undefined) return;
    this.#controller = undefined;
    this.#options.signal?.removeEventListener("abort", this.#leave);
    finish(controller);
    this.#options.onEnd?.();
    if (this.#isStarted) this.onclose?.();
  }
}

function encodeEvent(event: string, data: string): Uint8Array<ArrayBuffer> {
  return encode(`event: ${event}\ndata: ${data}\n\n`);
}

function encode(text: string): Uint8Array<ArrayBuffer> {
  return new TextEncoder().encode(text);
}
