/** The hooks of an agent: scripts of ours, and where its settings name them. */
import hookScript from "../../examples/hooks/commonplace-hook.sh" with { type: "text" };
import { type CommandToRun, quoteForShell } from "@/lib/command_to_run.ts";
import { isRecord } from "@/lib/is_record.ts";
import type { Machine } from "@/lib/machine.ts";
import type { FileEdits, Wanted } from "./connection.ts";
import { agentFolderOf } from "./connection.ts";
import type { Edit, Json, JsonObject } from "./edit.ts";

/** The script that people copy where they set up hooks by hand. */
export const HAND_MADE_HOOK = "commonplace-hook.sh";

/** Reads, writes and runs; others read and run. */
const SCRIPT_MODE = 0o755;
const SECONDS_TO_REFRESH = 5;

/** The program that a hook runs. */
export function hookFile(machine: Machine, agent: string): FileEdits {
  return scriptFile(hookPath(machine, agent), "the hook that brings hints", hookScript);
}

/** Returns what settings name as command of a hook. */
export function hookCommand(machine: Machine, agent: string, { url }: Wanted): string {
  const script = quoteForShell(hookPath(machine, agent));
  return url === undefined ? script : `COMMONPLACE_URL=${quoteForShell(url)} ${script}`;
}

function hookPath(machine: Machine, agent: string): string {
  return `${agentFolderOf(machine, agent)}/hook.sh`;
}

/** The program that renders lists of memories anew, and keeps nobody waiting. */
export function refreshFile(machine: Machine, agent: string, refresh: CommandToRun): FileEdits {
  const line = [refresh.command, ...refresh.args].map(quoteForShell).join(" ");
  const text = "#!/bin/sh\n" +
    "# Renders the lists of memories anew that this agent is shown, if they have changed.\n" +
    `${line} </dev/null >/dev/null 2>&1 &\nexit 0\n`;
  return scriptFile(refreshPath(machine, agent), "the hook that keeps lists up to date", text);
}

/** Returns the group of hooks that runs it. */
export function refreshGroup(machine: Machine, agent: string): JsonObject {
  const command = quoteForShell(refreshPath(machine, agent));
  return { hooks: [{ type: "command", command, timeout: SECONDS_TO_REFRESH }] };
}

function refreshPath(machine: Machine, agent: string): string {
  return `${agentFolderOf(machine, agent)}/refresh.sh`;
}

function scriptFile(path: string, what: string, text: string): FileEdits {
  return { path, what, mode: SCRIPT_MODE, edits: [{ kind: "file", text }] };
}

/**
 * Returns the edits that add groups of hooks as an example has them, by event, each with our command.
 *
 * @param example What `examples/hooks/` tells people to copy.
 */
export function hookEdits(
  example: { readonly hooks: JsonObject },
  command: string,
  more: Readonly<Record<string, JsonObject>> = {},
): Edit[] {
  return Object.entries(example.hooks).map(([event, groups]) => {
    const items = (Array.isArray(groups) ? groups : []).map((group) => withCommand(group, command));
    const extra = more[event];
    return {
      kind: "json-items",
      at: ["hooks", event],
      items: extra === undefined ? items : [...items, extra],
    };
  });
}

function withCommand(group: Json, command: string): Json {
  if (!isRecord(group) || !Array.isArray(group.hooks)) return group;
  const hooks = group.hooks.map((hook: Json) => isRecord(hook) ? { ...hook, command } : hook);
  return { ...group, hooks };
}
