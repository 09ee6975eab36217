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
    for (const [name, value] of HEADERS) {
      if (!c.res.headers.has(name)) c.res.headers.set(name, value);
    }
  };
}
