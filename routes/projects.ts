/** `/api/projects`: which one an agent works in, and those that matter there. */
import { Hono } from "hono";
import { IdentityParams } from "@/lib/contracts_memories.ts";
import { MemoryRouteParams } from "@/lib/contracts_reading.ts";
import { identifyProject } from "@/lib/memories/identify_project.ts";
import { memoryRoute } from "@/lib/reading/memory_route.ts";
import type { Services } from "@/lib/services.ts";
import type { AppEnv } from "./app_env.ts";
import { readQuery } from "./read_query.ts";

export function projectRoutes(services: Services): Hono<AppEnv> {
  const routes = new Hono<AppEnv>();
  routes.get("/identity", async (c) => {
    const input = readQuery(c, IdentityParams);
    return c.json(await identifyProject(services, c.get("caller"), input));
  });
  routes.get("/route", async (c) => {
    const input = readQuery(c, MemoryRouteParams);
    return c.json(await memoryRoute(services, c.get("caller"), input));
  });
  return routes;
}
