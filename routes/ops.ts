/** End points for the person who runs the server. */
import { Hono } from "hono";
import { DiagnosticsParams, HealthAnswerShape, NoParams } from "@/lib/contracts.ts";
import { InvocationsParams } from "@/lib/contracts_tools.ts";
import { readDiagnostics, readHealth, reindex } from "@/lib/index/operations.ts";
import type { McpEndpoint } from "@/lib/mcp/mcp_endpoint.ts";
import { INSTANCE_HEADER } from "@/lib/port_file.ts";
import { readStores } from "@/lib/memories/stores.ts";
import type { Services } from "@/lib/services.ts";
import { VERSION } from "@/lib/version.ts";
import type { AppEnv } from "./app_env.ts";
import { formatGauges, type Gauge, type HttpMetrics } from "./metrics.ts";
import { readJson } from "./read_json.ts";
import { readQuery } from "./read_query.ts";

/** What health says to agents that need a grant, and to those who do not show the token. */
export const HealthMinimumShape = HealthAnswerShape.pick({
  status: true,
  version: true,
  access: true,
});

export interface OpsDeps {
  readonly metrics: HttpMetrics;
  readonly mcp: McpEndpoint;
}

export function opsRoutes(services: Services, { metrics, mcp }: OpsDeps): Hono<AppEnv> {
  const routes = new Hono<AppEnv>();
  const startMs = services.clock.monotonicMs();
  routes.get("/", (c) => {
    readQuery(c, NoParams);
    return c.json({ name: "commonplace", version: VERSION, api: "/openapi.json" });
  });
  routes.get("/healthz", (c) => {
    readQuery(c, NoParams);
    const { status, version, access, ...rest } = readHealth(services, c.get("caller"));
    const minimum = { status, version, access };
    c.header(INSTANCE_HEADER, services.instanceId);
    const mayKnow = c.get("isTrusted") && !services.access.isBound(c.get("caller"));
    return c.json(mayKnow ? { ...minimum, ...rest } : minimum);
  });
  routes.get("/api/diagnostics", async (c) => {
    const input = readQuery(c, DiagnosticsParams);
    return c.json(await readDiagnostics(services, c.get("caller"), input));
  });
  routes.get("/api/stores", async (c) => {
    readQuery(c, NoParams);
    return c.json(await readStores(services, c.get("caller")));
  });
  routes.post("/api/reindex", async (c) => {
    readQuery(c, NoParams);
    await readJson(c, NoParams);
    return c.json(await reindex(services, c.get("caller")));
  });
  routes.get("/api/invocations", (c) => {
    const { limit } = readQuery(c, InvocationsParams);
    return c.json(mcp.invocations.list(limit));
  });
  routes.get("/metrics", (c) => {
    readQuery(c, NoParams);
    const upSeconds = (services.clock.monotonicMs() - startMs) / 1000;
    const lines = [...formatGauges(readGauges(services, mcp, upSeconds)), ...metrics.format()];
    return c.body(`${lines.join("\n")}\n`, 200, {
      "Content-Type": "text/plain; version=0.0.4; charset=utf-8",
    });
  });
  return routes;
}

function readGauges({ index }: Services, mcp: McpEndpoint, upSeconds: number): Gauge[] {
  const { notes, memories, chunks } = index.counts;
  const { done, total } = index.indexing ?? { done: 0, total: 0 };
  const { rss, heapUsed, heapTotal, external } = Deno.memoryUsage();
  const labels = { version: VERSION, deno: Deno.version.deno };
  const gauge = (name: string, value: number, help: string): Gauge => ({ name, value, help });
  return [
    { ...gauge("commonplace_build_info", 1, "Versions, as labels"), labels },
    gauge("commonplace_uptime_seconds", upSeconds, "Time since the start"),
    gauge("commonplace_notes", notes, "Notes in the index"),
    gauge("commonplace_memories", memories, "Memories in the index"),
    gauge("commonplace_chunks", chunks, "Chunks in the index"),
    gauge("commonplace_warnings", index.warnings.length, "Warnings about the vault as a whole"),
    gauge("commonplace_indexing", index.indexing ? 1 : 0, "1 while the vault is read whole"),
    gauge("commonplace_indexing_done", done, "Files read of those to read"),
    gauge("commonplace_indexing_total", total, "Files to read"),
    gauge("commonplace_mcp_sessions", mcp.sessionCount, "Sessions of MCP clients of 2025"),
    gauge("commonplace_sse_streams", mcp.streamCount, "Open event streams of MCP clients"),
    gauge("process_resident_memory_bytes", rss, "Memory of the process"),
    gauge("commonplace_heap_used_bytes", heapUsed, "Memory that the program's objects take"),
    gauge("commonplace_heap_size_bytes", heapTotal, "Memory set aside for objects"),
    gauge("commonplace_external_bytes", external, "Memory of typed arrays and the like"),
  ];
}
