/** The one factory: every transport and revision of the protocol is served by what it makes. */
import {
  McpServer,
  ProtocolError,
  ProtocolErrorCode,
  type ServerContext,
} from "@modelcontextprotocol/server";
import { clientName } from "@/lib/client_name.ts";
import type { Caller } from "@/lib/contracts.ts";
import type { Invocation } from "@/lib/contracts_tools.ts";
import { VERSION } from "@/lib/version.ts";
import { type CallDeps, callTool } from "./call_tool.ts";
import { ASK_FOR_ROOTS, cwdOfMetadata, readRoots } from "./client_place.ts";
import { addSubscriptions, type ClientSession } from "./client_session.ts";
import { addCompletions } from "./completions.ts";
import { INSTRUCTIONS } from "./instructions.ts";
import { toOnProgress } from "./progress.ts";
import { addPrompts } from "./prompts.ts";
import { changeKey } from "./resource_uris.ts";
import { addResources } from "./resources.ts";
import { needsPlace, type Tool } from "./tool.ts";
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
  /** Whether the client can be asked something before it has its answer. */
  readonly canBeAsked: boolean;
}

/** For whom a server is made. */
export interface ServedAs {
  readonly transport: Invocation["transport"];
  /** Absent where nothing is kept between two requests. */
  readonly session?: ClientSession | undefined;
}

/** Makes a server for one request, session or stream: cheap, as most get one for each request. */
export function buildServer(
  deps: ServerDeps,
  { transport, session }: ServedAs,
): McpServer {
  const mcp = new McpServer(SERVER_INFO, { instructions: INSTRUCTIONS });
  const { server } = mcp;
  // Who keeps nothing and is of no revision with streams of its own cannot be told anything.
  const canTell = session !== undefined || transport === "modern";
  // Through the table itself rather than one registration each: that would check every answer of
  // ours once more, and have words of its own for wrong arguments.
  server.registerCapabilities({
    tools: {},
    resources: canTell ? { subscribe: true, listChanged: true } : {},
    prompts: {},
    completions: {},
  });
  const senderOf = ({ http }: ServerContext) => deps.senderOf(http?.req);
  const callerOf = (context: ServerContext): Caller => {
    const { mcpReq, sessionId } = context;
    const { caller, userAgent } = senderOf(context);
    const client = clientName(server.getClientVersion(), userAgent);
    return { ...caller, client, sessionId, signal: mcpReq.signal };
  };
  const placedCallerOf = async (context: ServerContext): Promise<Caller | undefined> => {
    const { mcpReq } = context;
    const caller = callerOf(context);
    if (caller.cwd !== undefined || !caller.loopback) return caller;
    const said = cwdOfMetadata(mcpReq._meta);
    if (said !== undefined) return { ...caller, cwd: said };
    if (session !== undefined) {
      const { canBeAsked } = senderOf(context);
      return { ...caller, cwd: canBeAsked ? await session.findCwd(mcpReq) : session.cwd };
    }
    if (transport !== "modern" || server.getClientCapabilities()?.roots === undefined) {
      return caller;
    }
    const answer = readRoots(mcpReq);
    return answer && { ...caller, cwd: answer.cwd };
  };
  server.setRequestHandler("tools/list", () => ({
    tools: deps.tools.map(({ listing }) => listing),
  }));
  server.setRequestHandler("tools/call", async ({ params }, context) => {
    const tool = deps.tools.find(({ listing }) => listing.name === params.name);
    if (tool === undefined) {
      throw new ProtocolError(
        ProtocolErrorCode.InvalidParams,
        explainMissingTool(params.name, deps.tools),
      );
    }
    const { arguments: args = {} } = params;
    const caller = needsPlace(tool, args) ? await placedCallerOf(context) : callerOf(context);
    if (caller === undefined) return ASK_FOR_ROOTS;
    const { requestId } = senderOf(context);
    const client = caller.client ?? "unknown";
    return await callTool(deps, tool, {
      context: { client, transport, requestId, caller },
      args,
      onProgress: toOnProgress(context.mcpReq),
    });
  });
  addResources(mcp, deps.services, { callerOf, placedCallerOf });
  addPrompts(mcp, deps.services, { callerOf, placedCallerOf });
  addCompletions(mcp, deps.services);
  if (session !== undefined) addSubscriptions(mcp, session, changeKey);
  session?.attach(mcp);
  return mcp;
}
