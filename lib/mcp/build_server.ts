/** The one factory: every transport and revision of the protocol is served by what it makes. */
import { McpServer, ProtocolError, ProtocolErrorCode } from "@modelcontextprotocol/server";
import { clientName } from "@/lib/client_name.ts";
import type { Caller } from "@/lib/contracts.ts";
import type { Invocation } from "@/lib/contracts_tools.ts";
import { VERSION } from "@/lib/version.ts";
import { type CallDeps, callTool } from "./call_tool.ts";
import { INSTRUCTIONS } from "./instructions.ts";
import type { Tool } from "./tool.ts";
import { explainMissingTool } from "./tools.ts";

/** Short, as every answer of the current revision carries it. */
const SERVER_INFO = { name: "commonplace", title: "Commonplace", version: VERSION };

export interface ServerDeps extends CallDeps {
  readonly tools: readonly Tool[];
  /** Tells who sent the request that a message came with. */
  readonly senderOf: (request: Request | undefined) => Sender;
}

/** Who sent a request. */
export interface Sender {
  readonly requestId: string;
  readonly caller: Caller;
  /** The User-Agent header, for clients that have not said their name. */
  readonly userAgent: string | undefined;
}

/** Makes a server for one request or stream: cheap, as most clients get one for each request. */
export function buildServer(deps: ServerDeps, transport: Invocation["transport"]): McpServer {
  const mcp = new McpServer(SERVER_INFO, { instructions: INSTRUCTIONS });
  const { server } = mcp;
  // Through the table itself rather than one registration each: that would check every answer of
  // ours once more, and have words of its own for wrong arguments.
  server.registerCapabilities({ tools: {} });
  server.setRequestHandler("tools/list", () => ({
    tools: deps.tools.map(({ listing }) => listing),
  }));
  server.setRequestHandler("tools/call", async ({ params }, { mcpReq, http, sessionId }) => {
    const tool = deps.tools.find(({ listing }) => listing.name === params.name);
    if (tool === undefined) {
      throw new ProtocolError(
        ProtocolErrorCode.InvalidParams,
        explainMissingTool(params.name, deps.tools),
      );
    }
    const sender = deps.senderOf(http?.req);
    const client = clientName(server.getClientVersion(), sender.userAgent);
    const context = {
      client: client ?? "unknown",
      transport,
      requestId: sender.requestId,
      caller: { ...sender.caller, client, sessionId, signal: mcpReq.signal },
    };
    return await callTool(deps, tool, { context, args: params.arguments ?? {} });
  });
  return mcp;
}
