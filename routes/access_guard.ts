/**
 * The guard that asks whether a person has allowed what a request is about, and counts what the
 * answer tells. It stands before every route, so that none can be reached around it.
 */
import type { Context, MiddlewareHandler } from "hono";
import { matchedRoutes } from "hono/route";
import { MEMORY_OFF } from "@/lib/access/memory_off.ts";
import { requireRoom, spendAnswer, spendHearsay } from "@/lib/access/spend.ts";
import { type Caller, SEES_NOTHING } from "@/lib/contracts.ts";
import { isRecord } from "@/lib/is_record.ts";
import type { Services } from "@/lib/services.ts";
import { requireOwner } from "@/lib/tasks/request_access.ts";
import { requireModest } from "./_json_bounds.ts";
import { readBody } from "./_read_body.ts";
import { needsOf } from "./access_needs.ts";
import type { AppEnv } from "./app_env.ts";
import { EVERY_PATH, toTemplate } from "./observe.ts";
import { splitQuery } from "./read_query.ts";
import { rawQueryOf } from "./request_target.ts";

type Access = Pick<Services, "access" | "memoryOff">;

/** Comes after the guards that tell who asks. */
export function guardAccess({ access, memoryOff }: Access): MiddlewareHandler<AppEnv> {
  return async function checkAccess(c, next) {
    const caller = c.get("caller");
    // Without those that answer to every method: they refuse what no other takes.
    const route = matchedRoutes(c)
      .findLast(({ method, path }) => path !== EVERY_PATH && method !== "ALL");
    const isBound = access.isBound(caller);
    if (route === undefined || !isBound && memoryOff.isUnused) return await next();
    const { who, grants = [], isCounted = false } = needsOf(c.req.method, toTemplate(route.path));
    if (who === "anybody" || who === "mcp") return await next();
    if (who === "owner" && isBound) {
      requireOwner(caller);
      return await next();
    }
    const said = await readSaid(c);
    const asking: Caller = { ...caller, task: said.task ?? caller.task };
    if (caller.kind === "agent" && memoryOff.isOff(asking)) {
      if (who !== "hints") return c.json(MEMORY_OFF);
      c.set("caller", { ...asking, view: SEES_NOTHING });
      return await next();
    }
    if (!isBound) return await next();
    const admitted = who === "hints"
      // Whoever may not read is not refused: a hook would show that to the person each time.
      ? access.findReader(asking, said) ?? asking
      : access.admit(asking, grants, said);
    c.set("caller", admitted);
    if (grants.includes("read")) requireRoom(access, admitted);
    await next();
    const isTold = (grants.includes("read") || admitted.view !== undefined) && c.res.ok;
    if (isTold) access.confirm(admitted, who === "hints" ? ["read"] : grants);
    // Nobody gets to see the body of an answer to HEAD.
    if (isCounted || c.req.method === "HEAD") return;
    await count(c, grants.includes("read") ? spendAnswer : spendHearsay, access);
  };
}

async function count(
  c: Context<AppEnv>,
  spend: typeof spendAnswer,
  access: Access["access"],
): Promise<void> {
  const isJson = c.res.headers.get("content-type")?.startsWith("application/json");
  if (!c.res.ok || !isJson) return;
  const { status, headers } = c.res;
  const answer: unknown = await c.res.json();
  if (!isRecord(answer)) throw new TypeError("Only objects can be counted");
  const counted = JSON.stringify(spend(access, c.get("caller"), answer));
  headers.delete("content-length");
  c.res = undefined;
  c.res = new Response(counted, { status, headers });
}

/** What a request says of itself, where its route reads it too: nowhere else it would count. */
interface Said {
  readonly task?: string | undefined;
  readonly cwd?: string | undefined;
  readonly repo?: string | undefined;
}

async function readSaid(c: Context<AppEnv>): Promise<Said> {
  const query = new Map(splitQuery(rawQueryOf(c.req.url)));
  const hasBody = ["POST", "PUT", "PATCH"].includes(c.req.method);
  const fields = hasBody ? await readFields(c) : Object.fromEntries(query);
  const field = (name: keyof Said): string | undefined => {
    const value = fields[name];
    return typeof value === "string" && value.trim() !== "" ? value : undefined;
  };
  const task = field("task") ?? query.get("task");
  return { task: task?.trim() || undefined, cwd: field("cwd"), repo: field("repo") };
}

/** Reads the body and puts it back; what is wrong with it is told by the route. */
async function readFields(c: Context<AppEnv>): Promise<Readonly<Record<string, unknown>>> {
  const isJson = c.req.header("content-type")?.trim().toLowerCase().startsWith("application/json");
  if (!isJson || c.req.raw.body === null) return {};
  const bytes = await readBody(c.req.raw);
  c.req.raw = new Request(c.req.raw, { body: bytes.slice() });
  try {
    const text = new TextDecoder().decode(bytes);
    requireModest(text);
    const value: unknown = JSON.parse(text);
    return isRecord(value) ? value : {};
  } catch {
    return {};
  }
}
