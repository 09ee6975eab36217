/** Knowing when an answer that is sent to a client has ended, and that the client reads it at all. */

export interface TrackOptions {
  /** What may wait for the client; beyond that the stream ends with an error. */
  readonly maxQueuedBytes?: number;
  /** Aborts when the client leaves. */
  readonly signal: AbortSignal;
  /** Called once, whichever side ended it. */
  readonly onEnd: () => void;
  /** Called before that if the client does not read. */
  readonly onGiveUp?: () => void;
}

type Bytes = Uint8Array<ArrayBuffer>;

/** Returns an answer whose body is followed; one without a body is returned as it is. */
export function trackResponse(response: Response, options: TrackOptions): Response {
  const { body, headers, status } = response;
  if (body === null) return response;
  return new Response(trackStream(body, options), { status, headers });
}

/**
 * Passes a body on. The SDK puts what it has to say into a stream whether or not anybody reads it,
 * so what waits is bounded here.
 */
function trackStream(
  body: ReadableStream<Bytes>,
  { maxQueuedBytes = Infinity, signal, onEnd, onGiveUp }: TrackOptions,
): ReadableStream<Bytes> {
  const reader = body.getReader();
  let hasEnded = false;
  const end = (): boolean => {
    if (hasEnded) return false;
    hasEnded = true;
    signal.removeEventListener("abort", leave);
    onEnd();
    return true;
  };
  let controller: ReadableStreamDefaultController<Bytes> | undefined;
  const leave = (): void => {
    if (!end()) return;
    void reader.cancel().catch(() => {});
    controller?.close();
  };
  const passOn = async (to: ReadableStreamDefaultController<Bytes>): Promise<void> => {
    for (;;) {
      const { done, value } = await reader.read();
      if (hasEnded) return;
      if (done) {
        end();
        to.close();
        return;
      }
      if (value.byteLength > (to.desiredSize ?? 0)) {
        end();
        onGiveUp?.();
        // An error, not a close, as only that drops what waits.
        to.error(notRead());
        await reader.cancel();
        return;
      }
      to.enqueue(value);
    }
  };
  return new ReadableStream<Bytes>({
    start: (to) => {
      controller = to;
      if (signal.aborted) leave();
      else signal.addEventListener("abort", leave);
      void passOn(to).catch((error) => {
        if (end()) to.error(error);
      });
    },
    cancel: async (reason) => {
      end();
      await reader.cancel(reason);
    },
  }, new ByteLengthQueuingStrategy({ highWaterMark: maxQueuedBytes }));
}

/** Returns the error that ends a stream which nobody reads. */
export function notRead(): DOMException {
  return new DOMException("The client does not read its event stream", "QuotaExceededError");
}
