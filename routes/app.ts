/** The app: guards first, then the routes. */
import { Hono } from "hono";
import { AppError } from "@/lib/errors.ts";
import { McpEndpoint } from "@/lib/mcp/mcp_endpoint.ts";
import type { Services } from "@/lib/services.ts";
import { accessRoutes } from "./access.ts";
import { guardAccess } from "./access_guard.ts";
import { accessPage } from "./access_page.ts";
import { addHeaders } from "./answer_headers.ts";
import { answerError, PROBLEM_JSON } from "./answer_error.ts";
import type { AppEnv } from "./app_env.ts";
import { auditRoutes } from "./audits.ts";
import { guardNames, guardPeer, guardToken } from "./guards.ts";
import { handoffRoutes } from "./handoff.ts";
import { hookRoutes } from "./hooks.ts";
import { journalRoutes } from "./journal.ts";
import { limitBody, limitUrl } from "./limits.ts";
import { MCP_PATHS, mcpCors, mcpRoutes, RPC_ERROR } from "./mcp.ts";
import { memoryRoutes } from "./memories.ts";
import { HttpMetrics } from "./metrics.ts";
import { noteRoutes } from "./notes.ts";
import { observe } from "./observe.ts";
import { openApiRoutes } from "./openapi.ts";
import { opsRoutes } from "./ops.ts";
import { profileRoutes } from "./profiles.ts";
import { projectionRoutes } from "./projections.ts";
import { projectRoutes } from "./projects.ts";
import { readingRoutes } from "./reading.ts";
import { recallRoutes } from "./recall.ts";
import { rememberRoutes } from "./remember.ts";
import { searchRoutes } from "./search.ts";

/**
 * Puts the HTTP app together; it holds no socket and starts nothing. Each request needs its
 * `remoteAddr` as environment, without it the peer counts as far away.
 *
 * @param mcp To be closed before the socket, by who has to close that.
 */
export function createApp(
  services: Services,
  mcp: McpEndpoint = new McpEndpoint(services),
): Hono<AppEnv> {
  const { config, clock, logger, newId } = services;
  const metrics = new HttpMetrics();
  const app = new Hono<AppEnv>();
  app.onError(answerError(logger, (path) => MCP_PATHS.includes(path) ? RPC_ERROR : PROBLEM_JSON));
  app.notFound(() => {
    throw new AppError("not-found", "Nothing is here. GET /openapi.json lists what there is");
  });
  app.use(
    observe({ clock, logger, newId, metrics }),
    addHeaders(),
    guardNames(config),
    guardPeer(config),
  );
  for (const path of MCP_PATHS) app.use(path, mcpCors());
  app.use(guardToken(config, isOpenPath), limitUrl(), limitBody(), guardAccess(services));
  app.route("/", opsRoutes(services, { metrics, mcp }));
  app.route("/", openApiRoutes());
  app.route("/api/search", searchRoutes(services));
  app.route("/api/notes", noteRoutes(services));
  app.route("/api/memories", memoryRoutes(services));
  app.route("/api/remember", rememberRoutes(services));
  app.route("/api/handoff", handoffRoutes(services));
  app.route("/api/profiles", profileRoutes(services));
  app.route("/api/recall", recallRoutes(services));
  app.route("/api/hooks", hookRoutes(services));
  app.route("/api/projects", projectRoutes(services));
  app.route("/api/projections", projectionRoutes(services));
  app.route("/api/reading", readingRoutes(services));
  app.route("/api/journal", journalRoutes(services));
  app.route("/api/audits", auditRoutes(services));
  app.route("/api/access", accessRoutes(services));
  app.route("/access", accessPage(services));
  app.route("/", mcpRoutes(services, mcp));
  refuseOtherMethods(app);
  return app;
}

/**
 * Paths that answer without the token of agents: health, with little, and the pages on which a person
 * decides, whose browser has none.
 */
function isOpenPath(path: string): boolean {
  return path === "/healthz" || path.startsWith("/access/");
}

/** Comes last: what none of the routes before it took has the wrong method. */
function refuseOtherMethods(app: Hono<AppEnv>): void {
  const methods = new Map<string, string[]>();
  for (const { method, path } of app.routes) {
    if (method === "ALL") continue;
    const names = method === "GET" ? ["GET", "HEAD"] : [method];
    methods.set(path, [...methods.get(path) ?? [], ...names]);
  }
  for (const [path, names] of methods) {
    const allow = names.join(", ");
    app.all(path, () => {
      throw new AppError("method-not-allowed", `Only ${allow} can be used here`, {
        headers: { Allow: allow },
      });
    });
  }
}
