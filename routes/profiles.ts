/** `GET /api/profiles`. */
import { Hono } from "hono";
import { NoParams } from "@/lib/contracts.ts";
import { readProfiles } from "@/lib/journal/profiles.ts";
import type { Services } from "@/lib/services.ts";
import type { AppEnv } from "./app_env.ts";
import { readQuery } from "./read_query.ts";

export function profileRoutes(services: Services): Hono<AppEnv> {
  const routes = new Hono<AppEnv>();
  routes.get("/", async (c) => {
    readQuery(c, NoParams);
    return c.json(await readProfiles(services, c.get("caller")));
  });
  return routes;
}
