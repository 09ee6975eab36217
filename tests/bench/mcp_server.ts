/**
 * The server as it is but for what `main.ts serve` has no settings for: how soon a session ends
 * that nobody uses, and how soon clients are told of changes. Runs until it is killed.
 */
import { loadConfig } from "@/lib/config.ts";
import { systemDisk } from "@/lib/config_disk.ts";
import { McpEndpoint, type McpEndpointOptions } from "@/lib/mcp/mcp_endpoint.ts";
import { createLogger, randomId, systemClock, writeStderr } from "@/lib/seams.ts";
import { createServices } from "@/lib/services.ts";
import { createApp } from "@/routes/app.ts";

/** The only argument, as JSON. */
export interface McpServerTask {
  /** As for `main.ts serve`. */
  readonly args: readonly string[];
  readonly options: Pick<McpEndpointOptions, "changes" | "sessions">;
}

function serve({ args, options }: McpServerTask): void {
  const clock = systemClock;
  const config = loadConfig({ ...systemDisk, args: [...args], env: new Map(), cwd: Deno.cwd() });
  const services = createServices(config, {
    clock,
    logger: createLogger({ level: config.log, clock, pretty: true, write: writeStderr }),
    newId: randomId,
    ripgrepPath: undefined,
  });
  const app = createApp(services, new McpEndpoint(services, options));
  Deno.serve({
    hostname: config.host,
    port: config.port,
    onListen: () => {},
    // Of streams that were given up; their end is what is measured.
    onError: () => new Response(null, { status: 500 }),
  }, (request, { remoteAddr }) => app.fetch(request, { remoteAddr }));
  services.start();
}

if (import.meta.main) serve(JSON.parse(Deno.args[0] ?? ""));
