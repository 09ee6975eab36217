/** The program's endpoint for MCP on a socket, with the suite's fixtures in place of its tools. */
import { McpEndpoint } from "@/lib/mcp/mcp_endpoint.ts";
import { createApp } from "@/routes/app.ts";
import { buildConformanceServer } from "./conformance_server.ts";
import { testServices } from "./services.ts";

export interface ConformanceWorld extends AsyncDisposable {
  /** Without a slash at the end. */
  readonly url: string;
}

/** Serves the fixtures on a free port; use it with `await using`. */
export async function serveFixtures(): Promise<ConformanceWorld> {
  const services = await testServices({}, { port: 0 });
  await services.ready();
  const mcp = new McpEndpoint(services, { build: buildConformanceServer });
  const app = createApp(services, mcp);
  const server = Deno.serve(
    { hostname: services.config.host, port: services.config.port, onListen: () => {} },
    (request, { remoteAddr }) => app.fetch(request, { remoteAddr }),
  );
  return {
    url: `http://${services.config.host}:${server.addr.port}`,
    [Symbol.asyncDispose]: async () => {
      await Promise.all([server.shutdown(), mcp.close(0)]);
      await services[Symbol.asyncDispose]();
    },
  };
}
