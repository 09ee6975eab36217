/** One call of a tool, from its arguments to its result, whatever happens on the way. */
import type { CallToolResult, InputRequiredResult } from "@modelcontextprotocol/server";
import { MEMORY_OFF } from "@/lib/access/memory_off.ts";
import type { SaidPlace } from "@/lib/access/tasks.ts";
import { requireRoom, spendAnswer, spendHearsay } from "@/lib/access/spend.ts";
import type { Caller } from "@/lib/contracts.ts";
import type { Invocation } from "@/lib/contracts_tools.ts";
import { AppError, describeFailure, toToolError } from "@/lib/errors.ts";
import { roundMs } from "@/lib/seams.ts";
import type { Services } from "@/lib/services.ts";
import { isoTime } from "@/lib/time_text.ts";
import type { InvocationLog } from "./invocation_log.ts";
import { ASK_FOR_ROOTS } from "./client_place.ts";
import { awaitIndex, type OnProgress } from "./progress.ts";
import { needsPlace, type Tool, type ToolAnswer } from "./tool.ts";

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
  /**
   * Finds out where the caller works, for a call that depends on it and does not say it; `undefined`
   * if the client is to be asked first.
   */
  readonly place: (caller: Caller) => Promise<Caller | undefined>;
  /** Tells the client how far its call is; absent if it does not want to know. */
  readonly onProgress?: OnProgress | undefined;
}

/** Calls a tool; what goes wrong becomes a result too, as a model can put that right. */
export async function callTool(
  { services, invocations }: CallDeps,
  tool: Tool,
  { context, args, place, onProgress }: ToolCall,
): Promise<CallToolResult | InputRequiredResult> {
  const { access, clock, logger, memoryOff } = services;
  const { caller: asking, ...who } = context;
  const { name } = tool.listing;
  const startedAt = isoTime(clock.nowMs());
  const startMs = clock.monotonicMs();
  const record = (outcome: string): void => {
    const ms = roundMs(clock.monotonicMs() - startMs);
    invocations.add({ tool: name, ...who, startedAt, ms, outcome });
    logger.debug("tool-call", { tool: name, ...who, ms, outcome });
  };
  if (!tool.beginsTask && memoryOff.isOff(asking)) {
    record("memory-off");
    return toResult(MEMORY_OFF);
  }
  const given = withoutNulls(args);
  const said = saidPlaceOf(given);
  const isSaid = (said.cwd ?? said.repo ?? asking.cwd) !== undefined;
  /** Returns `undefined` if the client is to say first where it works. */
  const admit = async (): Promise<Caller | undefined> => {
    const isBound = access.isBound(asking) && tool.grants.length > 0;
    // A task belongs to its folder, also where a call does not name one. Where its task says what it
    // needs, or has to be refused, nobody is asked in vain.
    const isMissing = isBound ? access.worksInFolder(asking) : needsPlace(tool, args);
    if (isSaid || !isMissing) return access.admit(asking, tool.grants, said);
    const placed = await place(asking);
    if (placed === undefined) return undefined;
    const { cwd: found } = placed;
    if (isBound) return access.admit(asking, tool.grants, { found });
    return tool.asksPerson ? { ...asking, foundCwd: found } : placed;
  };
  try {
    const caller = await admit();
    if (caller === undefined) return ASK_FOR_ROOTS;
    if (tool.grants.includes("read")) requireRoom(access, caller);
    if (onProgress) await awaitIndex(services, onProgress, caller.signal);
    const answer = await tool.call(services, caller, given);
    if (tool.grants.includes("read")) access.confirm(caller, tool.grants);
    const result = toResult(spend(services, tool, { caller, answer }));
    record("ok");
    return result;
  } catch (error) {
    const { requestId } = who;
    if (asking.signal?.aborted) record("cancelled");
    else if (error instanceof AppError) record(error.code);
    else {
      record("internal");
      logger.error("tool-failed", { requestId, tool: name, ...describeFailure(error) });
    }
    return { content: [{ type: "text", text: toToolError(error, requestId) }], isError: true };
  }
}

/** Counts what an answer tells, by what the tool is for. */
function spend(
  { access }: CallDeps["services"],
  { grants, isCounted }: Tool,
  { caller, answer }: { readonly caller: Caller; readonly answer: ToolAnswer },
): ToolAnswer {
  if (isCounted || grants.length === 0) return answer;
  if (grants.includes("read")) return spendAnswer(access, caller, answer);
  return spendHearsay(access, caller, answer);
}

/** Where the call itself says that it comes from; what is no text is refused later. */
function saidPlaceOf(args: ReadonlyMap<string, unknown>): SaidPlace {
  const [cwd, repo] = ["cwd", "repo"].map((name) => args.get(name));
  return {
    ...(typeof cwd === "string" ? { cwd } : {}),
    ...(typeof repo === "string" ? { repo } : {}),
  };
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
