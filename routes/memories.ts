/** `GET /api/memories` lists memories, `GET /api/memories/{id}` opens one. */
import { Hono } from "hono";
import { MemoriesParams, NoParams } from "@/lib/contracts.ts";
import { listMemories } from "@/lib/memories/list_memories.ts";
import { openMemory } from "@/lib/memories/open_memory.ts";
import type { Services } from "@/lib/services.ts";
import { answerUnlessKnown, readKnownStates } from "./_known_states.ts";
import { readPathParameter } from "./_path_parameter.ts";
import type { AppEnv } from "./app_env.ts";
import { readQuery } from "./read_query.ts";

export function memoryRoutes(services: Services): Hono<AppEnv> {
  const routes = new Hono<AppEnv>();
  routes.get("/", async (c) => {
    const input = readQuery(c, MemoriesParams);
    return c.json(await listMemories(services, c.get("caller"), input));
  });
  // Of a note that is no memory the id is its path. A dot would not match line breaks.
  routes.get("/:id{[^]+}", async (c) => {
    const id = readPathParameter(c.req.url, "id");
    readQuery(c, NoParams);
    const known = readKnownStates(c);
    const input = { id, knownEtags: known.etags };
    const { etag, memory } = await openMemory(services, c.get("caller"), input);
    return answerUnlessKnown(c, known, { etag, content: memory });
  });
  return routes;
}
