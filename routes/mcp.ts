/**
 * MCP: `/mcp` for clients of 2025 and later (GET and DELETE for their sessions), `GET /sse` with
 * `POST /messages` for older ones.
 */
import { type Context, Hono, type MiddlewareHandler } from "hono";
import { cors } from "hono/cors";
import { AppError, type ErrorCode, InvalidRequest, type Problem } from "@/lib/errors.ts";
import type { McpEndpoint, SentRequest } from "@/lib/mcp/mcp_endpoint.ts";
import type { Services } from "@/lib/services.ts";
import type { ErrorFormat } from "./answer_error.ts";
import type { AppEnv } from "./app_env.ts";
import { readJsonValue } from "./read_json.ts";
import { rawPathOf } from "./request_target.ts";

export const MCP_PATHS: readonly string[] = ["/mcp", "/sse", "/messages"];

/** What is neither is told in words, as JSON-RPC has no codes for it. */
const RPC_CODES: Partial<Record<ErrorCode, number>> = {
  "malformed-json": -32700,
  "invalid-request": -32600,
  "session-not-found": -32001,
};
const OTHER_RPC_CODE = -32000;

/** An error that concerns no request in particular, as JSON-RPC has it. */
export const RPC_ERROR: ErrorFormat = {
  contentType: "application/json",
  body: ({ code, detail, requestId }: Problem) => ({
    jsonrpc: "2.0",
    id: null,
    error: { code: RPC_CODES[code] ?? OTHER_RPC_CODE, message: detail, data: { code, requestId } },
  }),
};

export function mcpRoutes({ config }: Services, mcp: McpEndpoint): Hono<AppEnv> {
  const routes = new Hono<AppEnv>();
  routes.post("/mcp", async (c) => {
    const body = await readJsonValue(c);
    return await mcp.answer(toSent(c), body);
  });
  if (config.mcpLegacy === "sessions") addSessionRoutes(routes, mcp);
  routes.get("/sse", async (c) => {
    requireSse(config.mcpSse);
    if (c.req.method === "HEAD") return answerHead(c);
    // Beside the path that was asked for, so that a prefix stays.
    const endpoint = rawPathOf(c.req.url).replace(/[^/]*$/, "messages");
    return await mcp.openStream(toSent(c), endpoint);
  });
  routes.post("/messages", async (c) => {
    requireSse(config.mcpSse);
    // First, as it refuses what a page of another site can send.
    const body = await readJsonValue(c);
    const { request, sender } = toSent(c);
    mcp.receive(request, { sessionId: requireSessionId(c), body, sender });
    return c.text("Accepted", 202);
  });
  return routes;
}

function addSessionRoutes(routes: Hono<AppEnv>, mcp: McpEndpoint): void {
  routes.get("/mcp", async (c) => {
    if (c.req.method !== "HEAD") return await mcp.listen(toSent(c));
    mcp.check(toSent(c));
    return answerHead(c);
  });
  routes.delete("/mcp", (c) => mcp.end(toSent(c)));
}

/** What GET would answer, but that nothing is opened. */
function answerHead(c: Context<AppEnv>): Response {
  return c.body(null, 200, { "Content-Type": "text/event-stream" });
}

/** Lets the pages that the guard has let through read the answers. Comes before the token's guard. */
export function mcpCors(): MiddlewareHandler<AppEnv> {
  const addCors = cors({
    origin: (origin) => origin,
    allowMethods: ["GET", "POST", "DELETE", "OPTIONS"],
    allowHeaders: [
      "content-type",
      "accept",
      "authorization",
      "mcp-session-id",
      "mcp-protocol-version",
      "mcp-method",
      "mcp-name",
      "last-event-id",
      "x-commonplace-cwd",
      "x-commonplace-task",
    ],
    exposeHeaders: ["mcp-session-id", "mcp-protocol-version", "www-authenticate"],
  });
  return async function addCorsForPages(c, next) {
    return c.req.header("origin") === undefined ? await next() : await addCors(c, next);
  };
}

function toSent(c: Context<AppEnv>): SentRequest {
  const sender = {
    caller: c.get("caller"),
    requestId: c.get("requestId"),
    userAgent: c.req.header("user-agent"),
  };
  return { request: c.req.raw, sender };
}

function requireSse(mcpSse: "on" | "off"): void {
  if (mcpSse === "on") return;
  throw new AppError(
    "not-found",
    "The SSE transport of 2024 is switched off: use POST /mcp, or start the server with --mcp-sse on",
  );
}

function requireSessionId(c: Context<AppEnv>): string {
  const sessionId = c.req.query("sessionId");
  if (sessionId) return sessionId;
  const message = "must be given: GET /sse tells it";
  throw new InvalidRequest(`Cannot take the message: sessionId ${message}`, [
    { field: "sessionId", message },
  ]);
}
