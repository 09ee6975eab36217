/** `GET /api/projects/identity`. */
import { Hono } from "hono";
import { IdentityParams } from "@/lib/contracts_memories.ts";
import { identifyProject } from "@/lib/memories/identify_project.ts";
import type { Services } from "@/lib/services.ts";
import type { AppEnv } from "./app_env.ts";
import { readQuery } from "./read_query.ts";

export function projectRoutes(services: Services): Hono<AppEnv> {
  const routes = new Hono<AppEnv>();
  routes.get("/identity", async (c) => {
    const input = readQuery(c, IdentityParams);
    return c.json(await identifyProject(services, c.get("caller"), input));
  });
  return routes;
}
