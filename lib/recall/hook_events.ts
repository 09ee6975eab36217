/**
 * Events of agents' hooks, as Claude Code and Codex pass them on stdin, so that a hook needs no more
 * than `curl`: the JSON goes to the server as it is, and what the server answers is printed.
 *
 * Sources: the hooks reference of Claude Code (code.claude.com/docs/en/hooks) and the schemas of
 * Codex (`codex-rs/hooks/schema`), both as of 2026; Codex' notify program, which is older, gets
 * `agent-turn-complete` alone.
 */
import type { Caller } from "@/lib/contracts.ts";
import { MAX_FILTER_CHARS } from "@/lib/contracts.ts";
import type {
  HintsInput,
  HookAnswer,
  HookEvent,
  RecallSwitch,
  Trigger,
} from "@/lib/contracts_recall.ts";
import { InvalidRequest } from "@/lib/errors.ts";
import { type ProfilesDeps, readProfiles } from "@/lib/journal/profiles.ts";
import { giveHints, type HintDeps } from "./give_hints.ts";

export interface HookDeps extends HintDeps, ProfilesDeps {}

/** Tools of ours: what they return was asked for. */
const OWN_TOOL = /^mcp__.*commonplace/i;
/** Of one text among the values of a tool; errors stand at its end. */
const MAX_TEXT_CHARS = 12_000;
const MAX_TEXTS = 64;
const MAX_DEPTH = 6;

/**
 * Does what an event of a hook asks for: profiles at the start of a session, hints for a prompt and
 * for what a tool was called with and returned, a record of the last message.
 *
 * @returns What the hook has to print; `undefined` = nothing, also for events that mean nothing here.
 * @throws {InvalidRequest} If the event names no session.
 * @throws What `giveHints()` throws.
 */
export async function answerHook(
  deps: HookDeps,
  caller: Caller,
  { event, recall }: { readonly event: HookEvent; readonly recall: RecallSwitch },
): Promise<HookAnswer | undefined> {
  const name = event.hook_event_name ?? "";
  if (name === "SessionStart") return toAnswer(name, (await readProfiles(deps, caller)).text);
  const message = messageOf(event);
  if (message === undefined) return undefined;
  const { text } = await giveHints(deps, caller, { ...toInput(event, caller), ...message, recall });
  return toAnswer(name, text);
}

function toAnswer(hookEventName: string, additionalContext: string): HookAnswer | undefined {
  if (additionalContext === "") return undefined;
  return { hookSpecificOutput: { hookEventName, additionalContext } };
}

type Message = Pick<HintsInput, "text" | "final"> & { readonly trigger: Trigger };

/** Returns what an event says that memories may be compared with. */
function messageOf(event: HookEvent): Message | undefined {
  if (event.type === "agent-turn-complete") {
    return { trigger: "assistant", text: event["last-assistant-message"] ?? "", final: true };
  }
  switch (event.hook_event_name) {
    case "UserPromptSubmit":
      return { trigger: "user", text: event.prompt ?? "", final: false };
    case "PostToolUse":
      if (OWN_TOOL.test(event.tool_name ?? "")) return undefined;
      return { trigger: "assistant", text: toolText(event), final: false };
    case "Stop":
      return { trigger: "assistant", text: event.last_assistant_message ?? "", final: true };
    default:
      return undefined;
  }
}

function toInput(
  event: HookEvent,
  { loopback }: Caller,
): Pick<HintsInput, "session" | "run" | "cwd"> {
  const session = event.session_id ?? event["thread-id"];
  if (!session) throw noSession();
  const run = event.turn_id ?? event["turn-id"];
  return {
    // What a subagent is told the others do not know.
    session: shorten(event.agent_id ? `${session}/${event.agent_id}` : session),
    run: run ? shorten(run) : undefined,
    // Of an agent on another machine it says nothing here.
    cwd: loopback && event.cwd ? event.cwd : undefined,
  };
}

/** Keeps the end, which tells more apart. */
function shorten(id: string): string {
  return id.slice(-MAX_FILTER_CHARS);
}

/** What the agent called a tool with, which is its output, and what came of that. */
function toolText({ tool_input, tool_response }: HookEvent): string {
  const texts: string[] = [];
  collectTexts(tool_input, texts, 0);
  collectTexts(tool_response, texts, 0);
  return texts.map((text) => text.slice(-MAX_TEXT_CHARS)).join("\n");
}

function collectTexts(value: unknown, texts: string[], depth: number): void {
  if (texts.length >= MAX_TEXTS || depth > MAX_DEPTH) return;
  if (typeof value === "string") texts.push(value);
  else if (typeof value === "object" && value !== null) {
    for (const inner of Object.values(value)) collectTexts(inner, texts, depth + 1);
  }
}

function noSession(): InvalidRequest {
  const message = "must be given: hints are not repeated within a session";
  return new InvalidRequest(`Cannot use the event: session_id ${message}`, [
    { field: "session_id", message },
  ]);
}
