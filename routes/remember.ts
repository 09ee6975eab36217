/** `POST /api/remember`. */
import { Hono } from "hono";
import { RememberInput } from "@/lib/contracts_memories.ts";
import { remember } from "@/lib/memories/remember.ts";
import type { Services } from "@/lib/services.ts";
import type { AppEnv } from "./app_env.ts";
import { answerSaved } from "./memories.ts";
import { readJson } from "./read_json.ts";

export function rememberRoutes(services: Services): Hono<AppEnv> {
  const routes = new Hono<AppEnv>();
  routes.post("/", async (c) => {
    const input = await readJson(c, RememberInput);
    return answerSaved(c, await remember(services, c.get("caller"), input));
  });
  return routes;
}
