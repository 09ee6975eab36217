/** The one factory: every transport and revision of the protocol is served by what it makes. */
import {
  isInputRequiredResult,
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
import { askPerson, takeCarriedAnswer } from "./ask_person.ts";
import { cwdOfMetadata, readRoots } from "./client_place.ts";
import { addSubscriptions, type ClientSession } from "./client_session.ts";
import { addCompletions } from "./completions.ts";
import { instructionsFor } from "./instructions.ts";
import { toOnProgress } from "./progress.ts";
import { addPrompts } from "./prompts.ts";
import { changeKey, requireVisibleUri } from "./resource_uris.ts";
import { addResources } from "./resources.ts";
import { type Tool, withTaskField } from "./tool.ts";
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
  const { access } = deps.services;
  const mcp = new McpServer(SERVER_INFO, { instructions: instructionsFor(access.mode) });
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
    const task = taskOfMetadata(mcpReq._meta) ?? caller.task;
    return { ...caller, client, sessionId, task, signal: mcpReq.signal };
  };
  const place = async (caller: Caller, context: ServerContext): Promise<Caller | undefined> => {
    const { mcpReq } = context;
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
    tools: deps.tools.map(({ listing, grants }) =>
      access.mode === "ask" && grants.length > 0 ? withTaskField(listing) : listing
    ),
  }));
  server.setRequestHandler("tools/call", async ({ params }, context) => {
    const tool = deps.tools.find(({ listing }) => listing.name === params.name);
    if (tool === undefined) {
      throw new ProtocolError(
        ProtocolErrorCode.InvalidParams,
        explainMissingTool(params.name, deps.tools),
      );
    }
    const { arguments: { task, ...args } = {} } = params;
    const caller = callerOf(context);
    const { requestId, canBeAsked } = senderOf(context);
    const carried = tool.asksPerson
      ? takeCarriedAnswer(deps.services, caller, context.mcpReq)
      : undefined;
    const call = async (taskId: string | undefined) =>
      await callTool(deps, tool, {
        context: {
          client: caller.client ?? "unknown",
          transport,
          requestId,
          caller: { ...caller, task: taskId ?? caller.task },
        },
        args,
        place: (admitted) => place(admitted, context),
        onProgress: toOnProgress(context.mcpReq),
      });
    const result = await call(carried ?? toTaskId(task));
    if (!tool.asksPerson || isInputRequiredResult(result)) return result;
    const { mcpElicitation } = deps.services.config;
    const how = mcpElicitation === "off"
      ? "never"
      : transport === "modern"
      ? "by-answer"
      : canBeAsked
      ? "on-stream"
      : "never";
    const asking = { mcp, mcpReq: context.mcpReq, how } as const;
    return await askPerson(deps.services, caller, { asking, result, again: call });
  });
  const senders = { callerOf, place };
  addResources(mcp, deps.services, senders);
  addPrompts(mcp, deps.services, senders);
  addCompletions(mcp, deps.services, senders);
  if (session !== undefined) {
    const check = (context: ServerContext, uri: string) => {
      const reader = access.admitSession(callerOf(context), ["read"]);
      requireVisibleUri(deps.services.vault, reader, uri);
    };
    addSubscriptions(mcp, session, { toKey: changeKey, check });
  }
  session?.attach(mcp);
  return mcp;
}

/** Nothing but a text that says something names a task: some models fill in what they leave out. */
function toTaskId(value: unknown): string | undefined {
  return typeof value === "string" ? value.trim() || undefined : undefined;
}

/** Where a client names the task of what has no arguments of its own. */
const TASK_KEY = "commonplace/task";

function taskOfMetadata(meta: ServerContext["mcpReq"]["_meta"]): string | undefined {
  return toTaskId(meta?.[TASK_KEY]);
}
