/** Events of hooks with all the fields that Claude Code and Codex document for them. */

export type HookFields = Readonly<Record<string, unknown>>;

const CLAUDE_FIELDS: Readonly<Record<string, HookFields>> = {
  SessionStart: { source: "startup", model: "claude-sonnet-4-6" },
  UserPromptSubmit: { prompt: "Write a function to calculate the factorial of a number" },
  PreToolUse: { tool_name: "Bash", tool_input: {}, tool_use_id: "toolu_01ABC123" },
  PostToolUse: {
    tool_name: "Write",
    tool_input: { file_path: "/path/to/file.txt", content: "file content" },
    tool_response: { filePath: "/path/to/file.txt", success: true },
    tool_use_id: "toolu_01ABC123",
    duration_ms: 12,
  },
  PostToolUseFailure: {
    tool_name: "Bash",
    tool_input: { command: "npm test", description: "Runs all of them" },
    error: "Exit code 1\nError: no test specified",
    is_interrupt: false,
    tool_use_id: "toolu_01ABC123",
  },
  Stop: {
    stop_hook_active: false,
    last_assistant_message: "I've completed the refactoring.",
    background_tasks: [],
    session_crons: [],
  },
};

/** Returns an event of Claude Code, but for what is given. */
export function claudeEvent(name: string, given: HookFields | object = {}): HookFields {
  return {
    session_id: "abc123",
    transcript_path: "/home/u/.claude/projects/my-project/transcript.jsonl",
    cwd: "/home/u/my-project",
    permission_mode: "default",
    hook_event_name: name,
    ...CLAUDE_FIELDS[name],
    ...given,
  };
}

const CODEX_FIELDS: Readonly<Record<string, HookFields>> = {
  SessionStart: { source: "startup" },
  UserPromptSubmit: { turn_id: "1", prompt: "fix it" },
  PostToolUse: {
    turn_id: "1",
    tool_name: "Bash",
    tool_input: { command: "ls" },
    tool_response: "a.txt\n",
    tool_use_id: "call_1",
  },
  Stop: { turn_id: "1", stop_hook_active: false, last_assistant_message: "Done." },
};

/** Returns an event of Codex, but for what is given. */
export function codexEvent(name: string, given: HookFields | object = {}): HookFields {
  return {
    session_id: "0199c4b2-0000-7000-8000-000000000000",
    transcript_path: null,
    cwd: "/home/u/my-project",
    model: "gpt-5-codex",
    permission_mode: "default",
    hook_event_name: name,
    ...CODEX_FIELDS[name],
    ...given,
  };
}
