/**
 * Puts a question to the person through the client that asks, where it offers that: a client of 2026
 * gets the question in place of the answer and calls again, one of 2025 and 2024 is asked while its
 * call waits. Whatever a client says for itself counts only for a question that was put to it.
 */
import {
  type CallToolResult,
  type ElicitRequestFormParams,
  inputRequired,
  type InputRequiredResult,
  inputResponse,
  type McpServer,
  type ServerContext,
} from "@modelcontextprotocol/server";
import type { Caller } from "@/lib/contracts.ts";
import { isRecord } from "@/lib/is_record.ts";
import type { Services } from "@/lib/services.ts";
import { type Reply, takeAnswer } from "@/lib/tasks/request_access.ts";

/** Clients give up a call after a minute; until then the person may answer here, later on the page. */
const ANSWER_LIMIT_MS = 50_000;
const CONSENT = "consent";

type Deps = Pick<Services, "access" | "logger">;

/** Through what a client can be asked. */
export interface Asking {
  readonly mcp: McpServer;
  readonly mcpReq: ServerContext["mcpReq"];
  /** Of 2026: asked by its answer; else on the stream of its call; or not at all. */
  readonly how: "by-answer" | "on-stream" | "never";
}

/**
 * Takes the person's answer to a question that was put to them by the answer to an earlier call.
 *
 * @returns The task that the question was about; `undefined` if the call carries no such answer.
 */
export function takeCarriedAnswer(
  deps: Deps,
  caller: Caller,
  { inputResponses, requestState }: ServerContext["mcpReq"],
): string | undefined {
  const requestId = requestState<string>();
  if (typeof requestId !== "string" || inputResponses === undefined) return undefined;
  const view = inputResponse(inputResponses, CONSENT);
  const reply = view.kind === "elicit" ? toReply(view.action, view.content) : "none";
  return takeAnswer(deps, caller, { requestId, reply });
}

/**
 * Puts the question that a result names to the person, if it names one.
 *
 * @param again Makes the call once more, for the same task.
 */
export async function askPerson(
  deps: Deps,
  caller: Caller,
  { asking: { mcp, mcpReq, how }, result, again }: {
    readonly asking: Asking;
    readonly result: CallToolResult;
    readonly again: (task: string) => Promise<CallToolResult | InputRequiredResult>;
  },
): Promise<CallToolResult | InputRequiredResult> {
  const pending = pendingOf(result);
  if (pending === undefined || how === "never" || !offersForms(mcp)) return result;
  const { requestId, task, text } = pending;
  if (!deps.access.putForward(caller, requestId)) return result;
  const form = toForm(text);
  if (how === "by-answer") {
    return inputRequired({
      inputRequests: { [CONSENT]: inputRequired.elicit(form) },
      requestState: requestId,
    });
  }
  takeAnswer(deps, caller, { requestId, reply: await ask(mcpReq, form) });
  return await again(task);
}

/**
 * Asks on the stream of the call itself: the one beside it may not be open, and then nobody is asked.
 *
 * @returns `none` if there is no answer in time.
 */
async function ask(
  { elicitInput, id, signal }: ServerContext["mcpReq"],
  form: ElicitRequestFormParams,
): Promise<Reply> {
  try {
    const { action, content } = await elicitInput(form, {
      timeout: ANSWER_LIMIT_MS,
      signal,
      relatedRequestId: id,
    });
    return toReply(action, content);
  } catch {
    // Left, too late, or it cannot ask after all: the page is there still.
    return "none";
  }
}

/** To close the question is no answer; to submit it without saying yes is one. */
function toReply(action: string, content: unknown): Reply {
  if (action === "cancel") return "none";
  if (action !== "accept") return "declined";
  return isRecord(content) && content["decision"] === "allow" ? "allow" : "refuse";
}

function toForm(message: string): ElicitRequestFormParams {
  return {
    message,
    requestedSchema: {
      type: "object",
      properties: {
        decision: {
          type: "string",
          title: "决定 / Decision",
          description: "allow = 允许, refuse = 拒绝",
          enum: ["refuse", "allow"],
        },
      },
      required: ["decision"],
    },
  };
}

/** A client that says nothing more of how it asks has forms. */
function offersForms({ server }: McpServer): boolean {
  const offered = server.getClientCapabilities()?.elicitation;
  return offered !== undefined && (offered.form !== undefined || offered.url === undefined);
}

function pendingOf(
  { structuredContent }: CallToolResult,
): { requestId: string; task: string; text: string } | undefined {
  if (!isRecord(structuredContent)) return undefined;
  const { task, pending } = structuredContent;
  if (typeof task !== "string" || !isRecord(pending)) return undefined;
  const { requestId, text } = pending;
  if (typeof requestId !== "string" || typeof text !== "string") return undefined;
  return { requestId, task, text };
}
