/** `GET /api/search`. */
import { Hono } from "hono";
import { SearchParams } from "@/lib/contracts.ts";
import { searchNotes } from "@/lib/recall/search_notes.ts";
import type { Services } from "@/lib/services.ts";
import type { AppEnv } from "./app_env.ts";
import { readQuery } from "./read_query.ts";

export function searchRoutes(services: Services): Hono<AppEnv> {
  const routes = new Hono<AppEnv>();
  routes.get("/", async (c) => {
    const input = readQuery(c, SearchParams);
    return c.json(await searchNotes(services, c.get("caller"), input));
  });
  return routes;
}
