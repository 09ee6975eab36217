/** Headers that every answer carries. */
import type { MiddlewareHandler } from "hono";
import type { AppEnv } from "./app_env.ts";

/** No answer may be taken for a page, be embedded by one, or stay in a cache. */
const HEADERS: readonly (readonly [string, string])[] = [
  ["X-Content-Type-Options", "nosniff"],
  ["Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'"],
  ["Cross-Origin-Resource-Policy", "same-origin"],
  ["Referrer-Policy", "no-referrer"],
  ["Cache-Control", "no-store"],
];

/** Adds the headers that the route did not set itself. */
export function addHeaders(): MiddlewareHandler<AppEnv> {
  return async function addMissingHeaders(c, next) {
    await next();
    // The body is dropped later on, and then the server under us would say that it had none.
    if (c.req.method === "HEAD" && c.res.body !== null) {
      c.res.headers.set("Content-Length", `${await countBytes(c.res.clone())}`);
    }
    for (const [name, value] of HEADERS) {
      if (!c.res.headers.has(name)) c.res.headers.set(name, value);
    }
  };
}

async function countBytes(response: Response): Promise<number> {
  return (await response.arrayBuffer()).byteLength;
}
