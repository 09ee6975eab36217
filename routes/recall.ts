/** `/api/recall`: hints, their record and what it comes to. */
import { Hono } from "hono";
import { HintsInput, RecallLogParams, RecallStatsParams } from "@/lib/contracts_recall.ts";
import { giveHints } from "@/lib/recall/give_hints.ts";
import type { Services } from "@/lib/services.ts";
import type { AppEnv } from "./app_env.ts";
import { readJson } from "./read_json.ts";
import { readQuery } from "./read_query.ts";

export function recallRoutes(services: Services): Hono<AppEnv> {
  const routes = new Hono<AppEnv>();
  routes.post("/hints", async (c) => {
    const input = await readJson(c, HintsInput);
    return c.json(await giveHints(services, c.get("caller"), input));
  });
  routes.get("/log", (c) => c.json(services.recallLog.list(readQuery(c, RecallLogParams))));
  routes.get("/stats", (c) => c.json(services.recallLog.sumUp(readQuery(c, RecallStatsParams))));
  return routes;
}
