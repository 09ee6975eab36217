/** What the server tells of each request: its id, one log line, and the numbers of `/metrics`. */
import type { Context, MiddlewareHandler } from "hono";
import { matchedRoutes } from "hono/route";
import { AppError } from "@/lib/errors.ts";
import { type Clock, type Logger, type NewId, roundMs } from "@/lib/seams.ts";
import type { AppEnv } from "./app_env.ts";
import type { HttpMetrics } from "./metrics.ts";

export interface ObserveDeps {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly newId: NewId;
  readonly metrics: HttpMetrics;
}

/** Safe in logs and headers alike, and short enough for both. */
const REQUEST_ID = /^[\w.:@/+=-]{1,64}$/;
const METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"];
/** The pattern of what stands before every route. */
export const EVERY_PATH = "/*";

/**
 * Keeps the request id that came, or makes one; logs and counts the request when it is answered.
 * Neither path nor query is logged, as both hold words of people: the route's pattern stands in.
 */
export function observe(deps: ObserveDeps): MiddlewareHandler<AppEnv> {
  const { clock, newId } = deps;
  return async function observeRequest(c, next) {
    const startMs = clock.monotonicMs();
    const given = c.req.header("x-request-id");
    const requestId = given !== undefined && REQUEST_ID.test(given) ? given : newId();
    c.set("requestId", requestId);
    await next();
    c.res.headers.set("X-Request-Id", requestId);
    report(deps, c, clock.monotonicMs() - startMs);
  };
}

function report({ logger, metrics }: ObserveDeps, c: Context<AppEnv>, ms: number): void {
  const method = METHODS.includes(c.req.method) ? c.req.method : "other";
  const route = routeOf(c);
  const { status } = c.res;
  metrics.count({ method, route, status, ms });
  const fields = {
    requestId: c.get("requestId"),
    caller: c.get("caller")?.kind ?? "unknown",
    method,
    route,
    status,
    ms: roundMs(ms),
    ...(c.error instanceof AppError ? { code: c.error.code } : {}),
  };
  // A server that is full, or stops, has not failed.
  if (status === 503) logger.warn("request", fields);
  else if (status >= 500) logger.error("request", fields);
  else logger.info("request", fields);
}

function routeOf(c: Context<AppEnv>): string {
  const route = matchedRoutes(c).findLast(({ path }) => path !== EVERY_PATH);
  return route === undefined ? "unmatched" : toTemplate(route.path);
}

/**
 * Writes the pattern of a route as OpenAPI does.
 *
 * @example
 * ```ts
 * import { toTemplate } from "@/routes/observe.ts";
 * import { equal } from "node:assert/strict";
 *
 * equal(toTemplate("/api/notes/:path{.+}"), "/api/notes/{path}");
 * ```
 */
export function toTemplate(pattern: string): string {
  return pattern.replace(/:(\w+)(?:\{[^}]*\})?/g, "{$1}");
}
