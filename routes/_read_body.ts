/** The body of a request, which a client may send as slowly and in as small pieces as it likes. */
import { AppError } from "@/lib/errors.ts";
import { Slicer, systemClock } from "@/lib/seams.ts";

/** Long for 4 MiB over any line that a person would use. */
export const BODY_TIME_LIMIT_MS = 60_000;
const FIRST_BYTES = 4 * 1024;

/**
 * Reads a body as it comes: asked for all at once, it takes the room that the client has announced.
 * It is copied piece by piece, as each holds on to a buffer far larger than itself.
 *
 * @throws {AppError} `request-timeout` if it is not there in time, `invalid-request` if it breaks off.
 * @throws {PayloadTooLarge} If the stream was made to count, and counts too much.
 */
export async function readBody(
  request: Request,
  timeLimitMs: number = BODY_TIME_LIMIT_MS,
): Promise<Uint8Array> {
  const reader = request.body?.getReader();
  if (reader === undefined) return new Uint8Array();
  const slicer = new Slicer(systemClock);
  const buffer = new ByteBuffer();
  let giveUp = (_error: AppError) => {};
  const timer = setTimeout(() => giveUp(tooSlow(timeLimitMs)), timeLimitMs);
  try {
    for (;;) {
      // A promise for each piece: a race with one for all would be remembered by that.
      const { promise, resolve, reject } = Promise.withResolvers<Piece>();
      giveUp = reject;
      reader.read().then(resolve, reject);
      const { done, value } = await promise;
      if (done) return buffer.bytes;
      buffer.add(value);
      await slicer.pause();
    }
  } catch (cause) {
    // The rest is left unread: Deno would stop everything else to throw it away.
    if (cause instanceof AppError) throw cause;
    // The client went away, or the server is about to stop.
    throw new AppError("invalid-request", "The body broke off while it was read", { cause });
  } finally {
    clearTimeout(timer);
  }
}

type Piece = ReadableStreamReadResult<Uint8Array<ArrayBuffer>>;

function tooSlow(timeLimitMs: number): AppError {
  return new AppError(
    "request-timeout",
    `The body was not there within ${timeLimitMs / 1_000} seconds`,
  );
}

/** Bytes that grow, with room for twice as many at the most. */
class ByteBuffer {
  #room = new Uint8Array(FIRST_BYTES);
  #length = 0;

  get bytes(): Uint8Array {
    return this.#room.subarray(0, this.#length);
  }

  add(piece: Uint8Array): void {
    const needed = this.#length + piece.length;
    if (needed > this.#room.length) {
      const larger = new Uint8Array(Math.max(needed, 2 * this.#room.length));
      larger.set(this.bytes);
      this.#room = larger;
    }
    this.#room.set(piece, this.#length);
    this.#length = needed;
  }
}
