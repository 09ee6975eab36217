/** What goes over the wire about what agents may do: questions, decisions, tasks, budgets. */
import * as z from "zod";
import { flagField, shortText } from "./contracts_fields.ts";
import { MAX_FILTER_CHARS, whereFields } from "./contracts.ts";

/** Each is asked for by itself, and none brings another with it. */
export const GRANTS = ["read", "deep", "write"] as const;
export type Grant = (typeof GRANTS)[number];

/** What a person decides; `reopen` lets the caller ask again after a refusal. */
export const DECISIONS = ["allow", "refuse", "reopen"] as const;
export type Decision = (typeof DECISIONS)[number];

/** A person has to read them all. */
const MAX_SHARED = 8;
const MAX_TOPIC_CHARS = 100;
const MAX_PROJECT_CHARS = 100;
const MAX_WHY_CHARS = 160;

/** What something is good for, in the agent's words, for the person to read. */
export const whyField = shortText(MAX_WHY_CHARS).optional();

/** The id of a task, as `request_access` returns it. */
export const taskField = shortText(MAX_FILTER_CHARS).optional();

/** `POST /api/access/requests`, and the tool `request_access`. */
export const RequestAccessInput = z.strictObject({
  grant: z.enum(GRANTS).default("read").describe(
    "read = search, memories, notes, memory_route, load_summaries; deep = read_project; write = save",
  ),
  why: whyField.describe("What for, in the person's language"),
  project: shortText(MAX_PROJECT_CHARS).optional().describe("With deep: the one project"),
  history: flagField.describe(
    "With deep: its history/ too, only if the person wants to look back",
  ),
  shared: z.array(shortText(MAX_TOPIC_CHARS), "must be a list of texts")
    .max(MAX_SHARED, `must hold at most ${MAX_SHARED} texts`).default([])
    .describe("With read: files of _shared/, by name"),
  task: taskField.describe("Of an earlier answer, for more in the same task"),
  ...whereFields,
});
export type RequestAccessInput = z.output<typeof RequestAccessInput>;

const amountShape = z.object({ files: z.int(), chars: z.int(), tokens: z.number() });

/** What a task, or an answer, has got to see and still may. */
export const BudgetShape = z.object({ used: amountShape, left: amountShape });

export const PendingShape = z.object({
  requestId: z.string(),
  text: z.string().describe("What the person is asked"),
  url: z.string().describe("The page on which the person decides"),
});

export const RequestAccessAnswerShape = z.object({
  access: z.enum(["open", "ask"]),
  status: z.enum(["granted", "refused", "pending", "not-needed"]),
  task: z.string().optional().describe("To be passed with every call"),
  grants: z.array(z.enum(GRANTS)).optional(),
  expiresAt: z.string().optional(),
  budget: BudgetShape.optional(),
  pending: PendingShape.optional(),
  page: z.string().optional().describe("Where the person can take a refusal back"),
  next: z.string().describe("What to do now"),
});
export type RequestAccessAnswer = z.output<typeof RequestAccessAnswerShape>;

/** `POST /api/access/requests/{id}/decision`. */
export const DecisionInput = z.strictObject({
  decision: z.enum(DECISIONS).describe(
    "allow; refuse, also to take back; reopen = after a refusal the agent may ask again",
  ),
});

export const AccessRequestShape = z.object({
  requestId: z.string(),
  task: z.string(),
  state: z.enum(["pending", "granted", "refused", "reopened"]),
  text: z.string(),
});
export type AccessRequestAnswer = z.output<typeof AccessRequestShape>;

/** `GET /api/access/tasks/{id}`. */
export const TaskAnswerShape = z.object({
  task: z.string(),
  grants: z.array(z.enum(GRANTS)),
  expiresAt: z.string(),
  budget: BudgetShape,
});
export type TaskAnswer = z.output<typeof TaskAnswerShape>;
