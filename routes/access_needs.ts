/**
 * What each route needs where a person has to be asked: one line a route, and a route without a line
 * is for the person alone.
 */
import type { Grant } from "@/lib/contracts_access.ts";

/** What stands between a request and its route. */
export interface RouteNeeds {
  /**
   * `anybody`: says nothing of the vault. `owner`: for the person alone. `agent`: needs the grants.
   * `hints`: says nothing to who may not read, and refuses nobody. `mcp`: each message is looked at
   * by itself.
   */
  readonly who: "anybody" | "owner" | "agent" | "hints" | "mcp";
  readonly grants?: readonly Grant[];
  /** True if the use case counts by itself what it tells. */
  readonly isCounted?: boolean;
}

const ANYBODY: RouteNeeds = { who: "anybody" };
const OWNER: RouteNeeds = { who: "owner" };
const READ: RouteNeeds = { who: "agent", grants: ["read"] };
const COUNTED_READ: RouteNeeds = { ...READ, isCounted: true };
const DEEP: RouteNeeds = { who: "agent", grants: ["read", "deep"], isCounted: true };
const WRITE: RouteNeeds = { who: "agent", grants: ["write"] };
const HINTS: RouteNeeds = { who: "hints", isCounted: true };
const MCP: RouteNeeds = { who: "mcp" };

/** By method and address as OpenAPI writes it. */
export const ROUTE_NEEDS: ReadonlyMap<string, RouteNeeds> = new Map([
  ["GET /", ANYBODY],
  ["GET /healthz", ANYBODY],
  ["GET /openapi.json", ANYBODY],
  ["GET /access/{id}", ANYBODY],
  ["POST /access/{id}", ANYBODY],
  ["POST /api/access/requests", ANYBODY],
  ["POST /api/access/requests/{id}/decision", OWNER],
  ["GET /api/access/tasks/{id}", ANYBODY],
  ["DELETE /api/access/tasks/{id}", ANYBODY],
  ["GET /api/search", READ],
  ["GET /api/notes/{path}", READ],
  ["GET /api/memories", READ],
  ["GET /api/memories/{id}", READ],
  ["POST /api/memories", WRITE],
  ["PATCH /api/memories/{id}", WRITE],
  ["POST /api/remember", WRITE],
  ["GET /api/handoff", READ],
  ["PUT /api/handoff", WRITE],
  ["GET /api/profiles", COUNTED_READ],
  ["GET /api/projects/identity", READ],
  ["GET /api/projects/route", COUNTED_READ],
  ["GET /api/projections", OWNER],
  ["POST /api/reading/summaries", COUNTED_READ],
  ["POST /api/reading/deep", DEEP],
  // It asks by itself, and tells nothing before that is allowed.
  ["POST /api/journal/begin", ANYBODY],
  ["POST /api/journal/write-back", WRITE],
  ["POST /api/audits", COUNTED_READ],
  ["POST /api/audits/{id}/apply", WRITE],
  ["POST /api/recall/hints", HINTS],
  ["POST /api/hooks", HINTS],
  ["GET /api/recall/log", OWNER],
  ["GET /api/recall/stats", OWNER],
  ["GET /api/diagnostics", OWNER],
  ["GET /api/stores", OWNER],
  ["GET /api/invocations", OWNER],
  ["POST /api/reindex", OWNER],
  ["GET /metrics", OWNER],
  ["POST /mcp", MCP],
  ["GET /mcp", MCP],
  ["DELETE /mcp", MCP],
  ["GET /sse", MCP],
  ["POST /messages", MCP],
]);

/** Returns what a route needs; the answer for one that nobody has thought of is the safest. */
export function needsOf(method: string, template: string): RouteNeeds {
  return ROUTE_NEEDS.get(`${method === "HEAD" ? "GET" : method} ${template}`) ?? OWNER;
}
