/** MCP on a socket with an endpoint of one's own, and a clock that can be put forward. */
import type { Config } from "@/lib/config.ts";
import { McpEndpoint, type McpEndpointOptions } from "@/lib/mcp/mcp_endpoint.ts";
import { systemClock } from "@/lib/seams.ts";
import { createApp } from "@/routes/app.ts";
import type { Services } from "@/lib/services.ts";
import { type TestServices, testServices } from "./services.ts";
import type { Files } from "./temp_vault.ts";

export interface EndpointWorld extends AsyncDisposable {
  /** Without a slash at the end. */
  readonly url: string;
  readonly port: number;
  readonly mcp: McpEndpoint;
  readonly services: TestServices;
  /** Puts the clock forward. */
  wait(ms: number): void;
}

export interface EndpointWorldOptions {
  readonly files?: Files;
  readonly config?: Partial<Config>;
  readonly options?: McpEndpointOptions;
  /** Says what the server uses in place of the real thing. */
  readonly replace?: (services: Services) => Partial<Services>;
  /** Whether the vault is read before the first request. */
  readonly isReady?: boolean;
}

/** Serves a vault with these files on a free port; use it with `await using`. */
export async function serveEndpoint(
  { files = {}, config, options = {}, replace, isReady = true }: EndpointWorldOptions = {},
): Promise<EndpointWorld> {
  let aheadMs = 0;
  const clock = { ...systemClock, monotonicMs: () => systemClock.monotonicMs() + aheadMs };
  const services = await testServices(files, { port: 0, ...config }, { clock });
  if (isReady) await services.ready();
  const used = { ...services, ...replace?.(services) };
  const mcp = new McpEndpoint(used, options);
  const app = createApp(used, mcp);
  const server = Deno.serve({
    hostname: "127.0.0.1",
    port: 0,
    onListen: () => {},
    onError: () => new Response(null, { status: 500 }),
  }, (request, { remoteAddr }) => app.fetch(request, { remoteAddr }));
  return {
    url: `http://127.0.0.1:${server.addr.port}`,
    port: server.addr.port,
    mcp,
    services,
    wait: (ms) => aheadMs += ms,
    [Symbol.asyncDispose]: async () => {
      await Promise.all([server.shutdown(), mcp.close(0)]);
      await services[Symbol.asyncDispose]();
    },
  };
}
