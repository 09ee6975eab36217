/** `/api/access`: questions to the person, their decisions, and tasks. */
import { Hono } from "hono";
import { NoParams } from "@/lib/contracts.ts";
import { DecisionInput, RequestAccessInput } from "@/lib/contracts_access.ts";
import type { Services } from "@/lib/services.ts";
import { decideAccess, readTask, requestAccess } from "@/lib/tasks/request_access.ts";
import type { AppEnv } from "./app_env.ts";
import { readJson } from "./read_json.ts";
import { readQuery } from "./read_query.ts";

const NO_CONTENT = 204;

export function accessRoutes(services: Services): Hono<AppEnv> {
  const routes = new Hono<AppEnv>();
  routes.post("/requests", async (c) => {
    const input = await readJson(c, RequestAccessInput);
    return c.json(requestAccess(services, c.get("caller"), input));
  });
  routes.post("/requests/:id/decision", async (c) => {
    const { decision } = await readJson(c, DecisionInput);
    return c.json(decideAccess(services, c.get("caller"), { id: c.req.param("id"), decision }));
  });
  routes.get("/tasks/:id", (c) => {
    readQuery(c, NoParams);
    return c.json(readTask(services, c.get("caller"), c.req.param("id")));
  });
  routes.delete("/tasks/:id", (c) => {
    readQuery(c, NoParams);
    services.access.end(c.get("caller"), c.req.param("id"));
    return c.body(null, NO_CONTENT);
  });
  return routes;
}
