/** The program's endpoint for MCP on a socket, with the suite's fixtures in place of its tools. */
import { buildConformanceServer } from "./conformance_server.ts";
import { type EndpointWorld, serveEndpoint } from "./endpoint_world.ts";

/** Serves the fixtures on a free port; use it with `await using`. */
export function serveFixtures(): Promise<EndpointWorld> {
  return serveEndpoint({ options: { build: buildConformanceServer } });
}
