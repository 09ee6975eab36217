/** What goes over the wire about hints: memories that come to an agent without being asked for. */
import * as z from "zod";
import { flagField, shortText, wholeNumber } from "./contracts_fields.ts";
import {
  FreshnessShape,
  IndexingShape,
  MAX_FILTER_CHARS,
  SearchAnswerShape,
  whereFields,
} from "./contracts.ts";

/** Whose words ask for hints. */
export const TRIGGERS = ["user", "assistant"] as const;
export type Trigger = (typeof TRIGGERS)[number];

/** Hints for a message of the user. */
export const MAX_USER_HINTS = 3;
/** Hints for what an agent said or did in the middle of its run. */
export const MAX_ASSISTANT_HINTS = 2;
/** Shown to a person whatever their score, without descriptions. */
export const MAX_CANDIDATES = 3;
/** Of those held back, so many are told. */
export const MAX_SUPPRESSED = 10;
/** A user's message brings up nothing that was hinted in so many runs before. */
export const SUPPRESSION_RUNS = 10;

const RECALL_SWITCH = ["on", "off"] as const;

const recallField = z.enum(RECALL_SWITCH).default("on").describe(
  "off = no hint, and nothing is kept of the request",
);

/** `POST /api/recall/hints`. */
export const HintsInput = z.strictObject({
  trigger: z.enum(TRIGGERS).describe(
    "user = a message of the person, at the start of a run; assistant = what the agent said or " +
      "did in the middle of it",
  ),
  text: z.string("must be a text").describe("The message; of a long one, the telling parts count"),
  session: shortText(MAX_FILTER_CHARS).describe("Of the agent: hints are not repeated within it"),
  run: shortText(MAX_FILTER_CHARS).optional().describe(
    "Of the session; without it each user message opens the next one",
  ),
  final: flagField.describe(
    "True = the last output of the run: it is recorded and brings no hint",
  ),
  recall: recallField,
  ...whereFields,
});
export type HintsInput = z.output<typeof HintsInput>;

/** Of `POST /api/hooks`, beside the body. */
export const HookParams = z.strictObject({ recall: recallField });
export type RecallSwitch = z.output<typeof HookParams>["recall"];

/**
 * The body of `POST /api/hooks`: what Claude Code and Codex pass to a hook on stdin, or Codex to its
 * notify program. Other fields are let through, as every version has more of them.
 */
export const HookEvent = z.looseObject({
  hook_event_name: z.string().optional().describe(
    "SessionStart, UserPromptSubmit, PostToolUse, PostToolUseFailure or Stop; others are answered " +
      "with nothing",
  ),
  session_id: z.string().optional(),
  turn_id: z.string().nullish().describe("Of Codex: the run"),
  prompt_id: z.string().nullish().describe("Of Claude Code: the run"),
  agent_id: z.string().nullish(),
  cwd: z.string().nullish(),
  prompt: z.string().nullish(),
  tool_name: z.string().nullish(),
  tool_input: z.unknown().optional(),
  tool_response: z.unknown().optional(),
  error: z.unknown().optional(),
  last_assistant_message: z.string().nullish(),
  type: z.string().nullish().describe("Of Codex' notify program: agent-turn-complete"),
  "thread-id": z.string().nullish(),
  "turn-id": z.string().nullish(),
  "last-assistant-message": z.string().nullish(),
});
export type HookEvent = z.output<typeof HookEvent>;

/** What a hook prints for Claude Code and Codex to take in. */
export const HookAnswerShape = z.object({
  hookSpecificOutput: z.object({
    hookEventName: z.string(),
    additionalContext: z.string(),
  }),
});
export type HookAnswer = z.output<typeof HookAnswerShape>;

export const CandidateShape = z.object({
  id: z.string(),
  score: z.number().describe("0..1"),
  name: z.string().describe("On one line, at most 160 characters"),
});
export type Candidate = z.output<typeof CandidateShape>;

export const HintShape = CandidateShape.extend({
  description: z.string().describe("On one line, at most 160 characters"),
});
export type Hint = z.output<typeof HintShape>;

export const HintsAnswerShape = z.object({
  text: z.string().describe("Ready to inject: [recall] and a line for each hint; may be empty"),
  hints: z.array(HintShape).describe("Best first"),
  candidates: z.array(CandidateShape).describe(
    "For a person to see, of an agent's output: the nearest memories, worth a hint or not",
  ),
  suppressed: z.array(CandidateShape).describe(
    "Worth a hint, but hinted a short time ago; the ten nearest",
  ),
  dropped: z.int().describe("How many more, at least, were worth a hint than fit"),
  recall: z.literal("off").optional().describe("Hints are switched off, by request or settings"),
  fallback: SearchAnswerShape.shape.fallback,
  indexing: IndexingShape.optional(),
  freshness: FreshnessShape.optional(),
});
export type HintsAnswer = z.output<typeof HintsAnswerShape>;

/** Milliseconds since 1970 that a date can have. */
const timeMs = z.int().min(0).max(8.64e15);

/** A line of the record of hints in the state directory. */
export const RecallEventShape = z.union([
  z.object({
    atMs: timeMs,
    hint: z.object({
      id: z.string(),
      etag: z.string().optional(),
      trigger: z.enum(TRIGGERS),
      session: z.string(),
      run: z.string().nullable(),
      score: z.number(),
      given: z.boolean(),
    }),
  }),
  z.object({ atMs: timeMs, hintedAtMs: timeMs, opened: z.string() }),
  z.object({ atMs: timeMs, hintedAtMs: timeMs, updated: z.string() }),
]);
export type RecallEvent = z.output<typeof RecallEventShape>;

/** So many hints are on record; the oldest go first. */
export const MAX_RECORDED_HINTS = 10_000;
export const DEFAULT_RECORDED_HINTS = 100;

/** `GET /api/recall/log`. */
export const RecallLogParams = z.strictObject({
  limit: wholeNumber(1, MAX_RECORDED_HINTS).default(DEFAULT_RECORDED_HINTS)
    .describe("How many hints at the most"),
  session: shortText(MAX_FILTER_CHARS).optional().describe("Only hints of this session"),
});
export type RecallLogInput = z.output<typeof RecallLogParams>;

export const RecordedHintShape = z.object({
  id: z.string().describe("Of the memory"),
  trigger: z.enum(TRIGGERS),
  session: z.string(),
  run: z.string().nullable().describe("null = the session counts its runs itself"),
  score: z.number(),
  at: z.string().describe("When (ISO 8601)"),
  given: z.boolean().describe("False = after the last output of a run: recorded, not shown"),
  openedAt: z.string().nullable().describe(
    "When the memory was opened first in the twelve hours after this hint, if it was the last one " +
      "for it, of all sessions",
  ),
  updatedAt: z.string().nullable().describe("When it was changed first, by the same rule"),
});
export type RecordedHint = z.output<typeof RecordedHintShape>;

export const RecallLogAnswerShape = z.object({
  total: z.int().describe("Hints on record, of all sessions or the one asked for"),
  hints: z.array(RecordedHintShape).describe("Newest first"),
});
export type RecallLogAnswer = z.output<typeof RecallLogAnswerShape>;

/** `GET /api/recall/stats`. */
export const RecallStatsParams = z.strictObject({
  limit: wholeNumber(0, 1_000).default(50).describe("How many memories at the most"),
});
export type RecallStatsInput = z.output<typeof RecallStatsParams>;

const hintCounts = {
  hinted: z.int(),
  opened: z.int().describe("Of a memory that was hinted several times the last hint counts"),
  neverOpened: z.int(),
};

export const RecallStatsAnswerShape = z.object({
  since: z.string().nullable().describe("When the first hint on record was given; null = none"),
  ...hintCounts,
  updated: z.int().describe("Hints after which the memory was changed"),
  recorded: z.int().describe("After the last output of a run, not shown to the agent"),
  byTrigger: z.object({ user: z.object(hintCounts), assistant: z.object(hintCounts) }),
  memories: z.object(hintCounts).describe("The same, of different memories"),
  mostHinted: z.array(z.object({
    id: z.string(),
    ...hintCounts,
    lastHintedAt: z.string(),
  })).describe("Those hinted most often in vain first: their descriptions may promise too much"),
});
export type RecallStatsAnswer = z.output<typeof RecallStatsAnswerShape>;
