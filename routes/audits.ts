/** `/api/audits`: reports on the journal, and what the person decides on them. */
import { Hono } from "hono";
import { applyAudit } from "@/lib/audit/apply_audit.ts";
import { auditMemory } from "@/lib/audit/audit_memory.ts";
import { ApplyAuditBody, AuditMemoryInput } from "@/lib/contracts_journal.ts";
import type { Services } from "@/lib/services.ts";
import type { AppEnv } from "./app_env.ts";
import { readJson } from "./read_json.ts";

export function auditRoutes(services: Services): Hono<AppEnv> {
  const routes = new Hono<AppEnv>();
  routes.post("/", async (c) => {
    const input = await readJson(c, AuditMemoryInput);
    return c.json(await auditMemory(services, c.get("caller"), input));
  });
  routes.post("/:id/apply", async (c) => {
    const { decisions } = await readJson(c, ApplyAuditBody);
    const audit = c.req.param("id");
    return c.json(await applyAudit(services, c.get("caller"), { audit, decisions }));
  });
  return routes;
}
