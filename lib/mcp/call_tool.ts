/** One call of a tool, from its arguments to its result, whatever happens on the way. */
import type { CallToolResult } from "@modelcontextprotocol/server";
import type { Caller } from "@/lib/contracts.ts";
import type { Invocation } from "@/lib/contracts_tools.ts";
import { AppError, describeFailure, toToolError } from "@/lib/errors.ts";
import { roundMs } from "@/lib/seams.ts";
import type { Services } from "@/lib/services.ts";
import { isoTime } from "@/lib/time_text.ts";
import type { InvocationLog } from "./invocation_log.ts";
import { awaitIndex, type OnProgress } from "./progress.ts";
import type { Tool, ToolAnswer } from "./tool.ts";

export interface CallDeps {
  readonly services: Services;
  readonly invocations: InvocationLog;
}

/** Who calls, as far as the log tells it. */
export interface CallContext extends Pick<Invocation, "client" | "transport" | "requestId"> {
  /** Its signal aborts when the call is cancelled. */
  readonly caller: Caller;
}

export interface ToolCall {
  readonly context: CallContext;
  /** As they came. */
  readonly args: Readonly<Record<string, unknown>>;
  /** Tells the client how far its call is; absent if it does not want to know. */
  readonly onProgress?: OnProgress | undefined;
}

/** Calls a tool; what goes wrong becomes a result too, as a model can put that right. */
export async function callTool(
  { services, invocations }: CallDeps,
  tool: Tool,
  { context, args, onProgress }: ToolCall,
): Promise<CallToolResult> {
  const { clock, logger } = services;
  const { caller, ...who } = context;
  const { name } = tool.listing;
  const startedAt = isoTime(clock.nowMs());
  const startMs = clock.monotonicMs();
  const record = (outcome: string): void => {
    const ms = roundMs(clock.monotonicMs() - startMs);
    invocations.add({ tool: name, ...who, startedAt, ms, outcome });
    logger.debug("tool-call", { tool: name, ...who, ms, outcome });
  };
  try {
    if (onProgress) await awaitIndex(services, onProgress, caller.signal);
    const result = toResult(await tool.call(services, caller, withoutNulls(args)));
    record("ok");
    return result;
  } catch (error) {
    const { requestId } = who;
    if (caller.signal?.aborted) record("cancelled");
    else if (error instanceof AppError) record(error.code);
    else {
      record("internal");
      logger.error("tool-failed", { requestId, tool: name, ...describeFailure(error) });
    }
    return { content: [{ type: "text", text: toToolError(error, requestId) }], isError: true };
  }
}

/** Some models write null for what they leave out. */
function withoutNulls(args: ToolCall["args"]): ReadonlyMap<string, unknown> {
  return new Map(Object.entries(args).filter(([, value]) => value !== null));
}

/** Repeats the answer as text, for clients that read no data. */
function toResult(answer: ToolAnswer): CallToolResult {
  return {
    content: [{ type: "text", text: JSON.stringify(answer) }],
    structuredContent: { ...answer },
  };
}
