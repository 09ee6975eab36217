/** `/api/journal`: how a task begins, and what it leaves. */
import { Hono } from "hono";
import { BeginTaskInput, WriteBackInput } from "@/lib/contracts_journal.ts";
import type { Services } from "@/lib/services.ts";
import { beginTask } from "@/lib/tasks/begin_task.ts";
import { writeBack } from "@/lib/tasks/write_back.ts";
import type { AppEnv } from "./app_env.ts";
import { readJson } from "./read_json.ts";

export function journalRoutes(services: Services): Hono<AppEnv> {
  const routes = new Hono<AppEnv>();
  routes.post("/begin", async (c) => {
    const input = await readJson(c, BeginTaskInput);
    return c.json(await beginTask(services, c.get("caller"), input));
  });
  routes.post("/write-back", async (c) => {
    const input = await readJson(c, WriteBackInput);
    return c.json(await writeBack(services, c.get("caller"), input));
  });
  return routes;
}
