/** `/api/reading`: summaries of projects, and deep reads. */
import { Hono } from "hono";
import { LoadSummariesInput, ReadProjectInput } from "@/lib/contracts_reading.ts";
import { loadSummaries } from "@/lib/reading/load_summaries.ts";
import { readProject } from "@/lib/reading/read_project.ts";
import type { Services } from "@/lib/services.ts";
import type { AppEnv } from "./app_env.ts";
import { readJson } from "./read_json.ts";

export function readingRoutes(services: Services): Hono<AppEnv> {
  const routes = new Hono<AppEnv>();
  routes.post("/summaries", async (c) => {
    const input = await readJson(c, LoadSummariesInput);
    return c.json(await loadSummaries(services, c.get("caller"), input));
  });
  routes.post("/deep", async (c) => {
    const input = await readJson(c, ReadProjectInput);
    return c.json(await readProject(services, c.get("caller"), input));
  });
  return routes;
}
