/** `PUT /api/handoff` leaves the state of the work, `GET /api/handoff` reads it. */
import { Hono } from "hono";
import { HandoffInput, ResumeParams } from "@/lib/contracts_memories.ts";
import type { Services } from "@/lib/services.ts";
import { resume, setHandoff } from "@/lib/tasks/handoff.ts";
import type { AppEnv } from "./app_env.ts";
import { readJson } from "./read_json.ts";
import { readQuery } from "./read_query.ts";

export function handoffRoutes(services: Services): Hono<AppEnv> {
  const routes = new Hono<AppEnv>();
  routes.get("/", async (c) => {
    const input = readQuery(c, ResumeParams);
    return c.json(await resume(services, c.get("caller"), input));
  });
  routes.put("/", async (c) => {
    const input = await readJson(c, HandoffInput);
    return c.json(await setHandoff(services, c.get("caller"), input));
  });
  return routes;
}
