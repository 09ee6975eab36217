/** A server with everything that the conformance suite asks for by name; for tests only. */
import { createRequestStateCodec, McpServer } from "@modelcontextprotocol/server";
import type { ServedAs } from "@/lib/mcp/build_server.ts";
import { addSubscriptions } from "@/lib/mcp/client_session.ts";
import { registerInputTools } from "./conformance_input.ts";
import { registerPrompts } from "./conformance_prompts.ts";
import { registerPushTools } from "./conformance_push.ts";
import { registerResources } from "./conformance_resources.ts";
import { registerTools } from "./conformance_tools.ts";

/** At least 32 bytes; it guards nothing, and each request must find the same. */
const STATE_KEY = "a key that only the tests of conformance know";

/** Makes a server for one request or session, as the factory of the program's own does. */
export function buildConformanceServer({ session }: ServedAs): McpServer {
  const states = createRequestStateCodec({ key: STATE_KEY });
  const mcp = new McpServer({ name: "conformance", version: "1.0.0" }, {
    // Nobody is told of other tools or prompts, as the program has the same ones all the time.
    capabilities: { logging: {}, tools: { listChanged: false }, prompts: { listChanged: false } },
    requestState: { verify: states.verify },
  });
  registerTools(mcp);
  registerPushTools(mcp);
  registerInputTools(mcp, (state) => states.mint(state));
  registerPrompts(mcp);
  registerResources(mcp);
  if (session !== undefined) {
    mcp.server.registerCapabilities({ resources: { subscribe: true } });
    addSubscriptions(mcp, session, { toKey: (uri) => uri, check: () => {} });
    session.attach(mcp);
  }
  return mcp;
}
