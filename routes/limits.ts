/** Bounds on what a request may bring. */
import type { MiddlewareHandler } from "hono";
import { AppError, PayloadTooLarge } from "@/lib/errors.ts";
import type { AppEnv } from "./app_env.ts";

export const MAX_BODY_BYTES = 4 * 1024 * 1024;
/** Above 65 534 the server under us answers by itself: 400 with an empty body. */
export const MAX_URL_CHARS = 64_000;

/** Refuses addresses that are too long. */
export function limitUrl(maxChars: number = MAX_URL_CHARS): MiddlewareHandler<AppEnv> {
  return async function checkUrl(c, next) {
    if (c.req.url.length > maxChars) {
      throw new AppError(
        "uri-too-long",
        `The address has ${c.req.url.length} characters, but may have ${maxChars}`,
      );
    }
    await next();
  };
}

/** Refuses bodies that are too large: by the length that is told, or else by counting. */
export function limitBody(maxBytes: number = MAX_BODY_BYTES): MiddlewareHandler<AppEnv> {
  return async function checkBody(c, next) {
    const told = c.req.header("content-length");
    if (told !== undefined && Number(told) > maxBytes) throw tooLarge(maxBytes);
    const body = c.req.raw.body;
    if (told === undefined && body !== null) {
      c.req.raw = new Request(c.req.raw, { body: body.pipeThrough(countBytes(maxBytes)) });
    }
    await next();
  };
}

/** A reader of the stream gets the error in place of the byte that is one too many. */
function countBytes(maxBytes: number): TransformStream<Uint8Array, Uint8Array> {
  let bytes = 0;
  return new TransformStream({
    transform(chunk, controller) {
      bytes += chunk.byteLength;
      if (bytes > maxBytes) controller.error(tooLarge(maxBytes));
      else controller.enqueue(chunk);
    },
  });
}

function tooLarge(maxBytes: number): PayloadTooLarge {
  return new PayloadTooLarge(`The body may have ${maxBytes} bytes at the most`);
}
