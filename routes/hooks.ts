/** `POST /api/hooks`: events of agents' hooks, as they come. */
import { Hono } from "hono";
import { HookEvent, HookParams } from "@/lib/contracts_recall.ts";
import { answerHook } from "@/lib/recall/hook_events.ts";
import type { Services } from "@/lib/services.ts";
import type { AppEnv } from "./app_env.ts";
import { readJson } from "./read_json.ts";
import { readQuery } from "./read_query.ts";

const NO_CONTENT = 204;

export function hookRoutes(services: Services): Hono<AppEnv> {
  const routes = new Hono<AppEnv>();
  routes.post("/", async (c) => {
    const { recall } = readQuery(c, HookParams);
    const event = await readJson(c, HookEvent);
    const answer = await answerHook(services, c.get("caller"), { event, recall });
    return answer === undefined ? c.body(null, NO_CONTENT) : c.json(answer);
  });
  return routes;
}
