/** `/api/memories` lists and makes memories, `/api/memories/{id}` opens and changes one. */
import { type Context, Hono } from "hono";
import { NoParams } from "@/lib/contracts.ts";
import {
  CreateMemoryInput,
  MemoriesParams,
  type SavedMemory,
  UpdateMemoryInput,
} from "@/lib/contracts_memories.ts";
import { listMemories } from "@/lib/memories/list_memories.ts";
import { openMemory } from "@/lib/memories/open_memory.ts";
import { createMemory } from "@/lib/memories/create_memory.ts";
import { updateMemory } from "@/lib/memories/update_memory.ts";
import type { Services } from "@/lib/services.ts";
import { answerUnlessKnown, readExpectedStates, readKnownStates } from "./_known_states.ts";
import { readPathParameter } from "./_path_parameter.ts";
import type { AppEnv } from "./app_env.ts";
import { readJson } from "./read_json.ts";
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
  routes.post("/", async (c) => {
    const input = await readJson(c, CreateMemoryInput);
    return answerSaved(c, await createMemory(services, c.get("caller"), input));
  });
  routes.patch("/:id{[^]+}", async (c) => {
    const id = readPathParameter(c.req.url, "id");
    // First, as it refuses what a page of another site can send.
    const input = await readJson(c, UpdateMemoryInput);
    const etags = readExpectedStates(c);
    const saved = await updateMemory(services, c.get("caller"), { ...input, id, etags });
    return answerSaved(c, saved);
  });
  return routes;
}

const CREATED = 201;

/** Says of a memory that was saved where it is and which state it has. */
export function answerSaved(c: Context<AppEnv>, saved: SavedMemory): Response {
  c.header("ETag", `"${saved.etag}"`);
  if (!saved.created) return c.json(saved);
  c.header("Location", `/api/memories/${encodeURIComponent(saved.id)}`);
  return c.json(saved, CREATED);
}
