/** `GET /api/projections`: what agents are shown in files of their own; nothing is done to them. */
import { Hono } from "hono";
import type { Caller } from "@/lib/contracts.ts";
import type { MemoriesInput } from "@/lib/contracts_memories.ts";
import { ProjectionsParams } from "@/lib/contracts_projection.ts";
import { listMemories } from "@/lib/memories/list_memories.ts";
import { planProjections } from "@/lib/projection/plan_projections.ts";
import type { Services } from "@/lib/services.ts";
import type { AppEnv } from "./app_env.ts";
import { readQuery } from "./read_query.ts";

export function projectionRoutes(services: Services): Hono<AppEnv> {
  const routes = new Hono<AppEnv>();
  const { clock, machine, projects, vault } = services;
  const deps = {
    clock,
    machine,
    projects,
    vault,
    listMemories: (caller: Caller, page: MemoriesInput) => listMemories(services, caller, page),
  };
  routes.get("/", async (c) => {
    const input = readQuery(c, ProjectionsParams);
    return c.json(await planProjections(deps, c.get("caller"), input));
  });
  return routes;
}
