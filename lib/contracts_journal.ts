/** What goes over the wire about the journal: how a task begins, what is written back, audits. */
import * as z from "zod";
import { flagField, shortText } from "./contracts_fields.ts";
import { MAX_FILTER_CHARS, MAX_ID_CHARS, whereFields } from "./contracts.ts";
import { BudgetShape, PendingShape, taskField, whyField } from "./contracts_access.ts";

const MAX_PROJECTS = 8;
const MAX_ENTRIES = 20;
const MAX_USED = 200;
/** What is longer is no entry; `write_back` says so in words that help. */
const MAX_TEXT_CHARS = 20_000;

/** Without its limit in the schema, which would tell a model that it may write so much. */
const anyText = z.string("must be a text")
  .refine((text) => text.length <= MAX_TEXT_CHARS, "is far too long");

const texts = (what: string) =>
  z.array(anyText, "must be a list of texts")
    .max(MAX_ENTRIES, `must hold at most ${MAX_ENTRIES} texts`).default([]).describe(what);
const text = () => anyText.optional();

/** `POST /api/journal/begin`, and the tool `begin_task`. */
export const BeginTaskInput = z.strictObject({
  projects: z.array(shortText(MAX_FILTER_CHARS), "must be a list of texts")
    .max(MAX_PROJECTS, `must hold at most ${MAX_PROJECTS} names`).default([])
    .describe("Those that the person names, and no others"),
  history: flagField.describe(
    "True only if the person asks for a project's history: its whole note",
  ),
  memory: z.enum(["on", "off"], "must be on or off").default("on")
    .describe("off = the person wants this task done without memory (不用记忆)"),
  why: whyField
    .describe("What the task is about, in the person's language; shown if they have to be asked"),
  task: taskField.describe("Of an earlier answer, to call again after the person has decided"),
  ...whereFields,
});
export type BeginTaskInput = z.output<typeof BeginTaskInput>;

export const BeginTaskAnswerShape = z.object({
  access: z.enum(["open", "ask"]),
  status: z.enum(["ready", "pending", "refused", "off"]),
  task: z.string().optional().describe("To be passed with every call of this task"),
  text: z.string().optional().describe(
    "Rules, profiles, what was asked for of projects, the last log lines; ^id ends an entry",
  ),
  projects: z.array(z.object({
    asked: z.string(),
    path: z.string().optional(),
    problem: z.string().optional().describe("Why nothing of it is shown"),
  })).optional(),
  reminder: z.string().optional().describe("To be put at the end of your answer to the person"),
  notices: z.array(z.string()).optional().describe("What the person should hear of, once"),
  truncated: z.array(z.string()).optional(),
  budget: BudgetShape.optional(),
  pending: PendingShape.optional(),
  page: z.string().optional(),
  next: z.string().describe("What to do now"),
});
export type BeginTaskAnswer = z.output<typeof BeginTaskAnswerShape>;

const ProfileEntryInput = z.strictObject({
  text: anyText,
  section: shortText(MAX_FILTER_CHARS).optional()
    .describe("writing, development, pace, other, or a heading of profile.md"),
  replaces: shortText(MAX_FILTER_CHARS).optional()
    .describe("The ^id of the entry that is not true any more"),
});

/** `POST /api/journal/write-back`, and the tool `write_back`. */
export const WriteBackInput = z.strictObject({
  trigger: anyText.optional()
    .describe("The person's own words that ask for it, such as 更新记忆 or update memory"),
  used: z.array(shortText(MAX_FILTER_CHARS), "must be a list of texts")
    .max(MAX_USED, `must hold at most ${MAX_USED} ids`).default([])
    .describe("The ^ids and rule numbers that you really used; without trigger they wait"),
  profile: z.array(ProfileEntryInput, "must be a list of objects")
    .max(MAX_ENTRIES, `must hold at most ${MAX_ENTRIES} entries`).default([])
    .describe("Lasting preferences that the person has stated"),
  project: shortText(MAX_FILTER_CHARS).optional()
    .describe("Its name; without it the project that you work in"),
  overview: text().describe("What the project is for, in a sentence"),
  status: text().describe("How far it is, what it is stuck on: one sentence, 200 characters"),
  decisions: texts("With reasons, one sentence each"),
  pitfalls: texts("What went wrong, why, and what helped: one entry each"),
  next: texts("Where to go on; replaces what stood there"),
  type: text().describe("Of the task, in a word or two, for the log"),
  summary: text().describe("The task in one sentence, for the log"),
  rules: z.unknown().optional().describe("Never: rules come from audits that were confirmed"),
  allow_secret: flagField.describe("True = write although it looks like a secret: it is none"),
  ...whereFields,
});
export type WriteBackInput = z.output<typeof WriteBackInput>;

export const WriteBackAnswerShape = z.object({
  status: z.enum(["written", "noted", "unchanged"]),
  message: z.string().describe("Say this to the person"),
  written: z.array(z.string()).describe("Paths"),
  notWritten: z.array(z.object({ path: z.string(), reason: z.string() })).optional()
    .describe("Files that were left alone, as they are not understood: tell the person"),
  conflictCopies: z.array(z.string()).optional(),
  notices: z.array(z.string()).optional(),
});
export type WriteBackAnswer = z.output<typeof WriteBackAnswerShape>;

/** `POST /api/audits`, and the tool `audit_memory`. */
export const AuditMemoryInput = z.strictObject({});
export type AuditMemoryInput = z.output<typeof AuditMemoryInput>;

const EntryShape = z.object({
  id: z.string(),
  text: z.string(),
  lastHit: z.string().optional(),
});

export const ConflictShape = z.object({
  item: z.string(),
  section: z.string(),
  old: EntryShape,
  new: EntryShape,
  score: z.number().describe("How likely they conflict, 0..1: judge yourself"),
  proposed: z.boolean().describe("False = too doubtful for all: only if the person picks it"),
});
export type Conflict = z.output<typeof ConflictShape>;

export const RuleCandidateShape = z.object({
  item: z.string(),
  pitfalls: z.array(z.object({ path: z.string(), day: z.string(), text: z.string() })),
  codes: z.array(z.string()).describe("Error codes that they share"),
  score: z.number().describe("How alike they are, 0..1"),
  rule: z.string().describe("A proposal: put it better when you apply it"),
});
export type RuleCandidate = z.output<typeof RuleCandidateShape>;

export const AgeingProjectShape = z.object({
  item: z.string(),
  path: z.string(),
  reason: z.enum(["done", "idle"]),
  lastHit: z.string().optional(),
  days: z.int().optional(),
  status: z.string(),
});
export type AgeingProject = z.output<typeof AgeingProjectShape>;

/** Read-only: nothing is changed before `apply_audit`. */
export const AuditReportShape = z.object({
  audit: z.string().describe("The id for apply_audit"),
  day: z.string(),
  conflicts: z.array(ConflictShape).describe("profile.md: what may contradict each other"),
  rules: z.array(RuleCandidateShape).describe("Pitfalls that came three times or more"),
  ageing: z.array(AgeingProjectShape).describe("projects/: finished, or long untouched"),
  active: z.array(z.object({ path: z.string(), days: z.int().optional() })),
  advice: z.array(z.object({ path: z.string(), id: z.string(), text: z.string(), days: z.int() }))
    .describe("Entries not used for 90 days: nothing is done about them"),
  log: z.object({
    item: z.string().optional(),
    lines: z.int(),
    most: z.int(),
  }),
  notUnderstood: z.array(z.object({ path: z.string(), reason: z.string() })),
  notices: z.array(z.string()),
  text: z.string().describe("The report for the person: show it as it is"),
});
export type AuditReport = z.output<typeof AuditReportShape>;

const MAX_DECISIONS = 500;

/** `POST /api/audits/{id}/apply`, and the tool `apply_audit`. */
export const ApplyAuditBody = z.strictObject({
  decisions: z.union([
    z.enum(["all", "cancel"]),
    z.array(
      z.strictObject({
        item: shortText(MAX_FILTER_CHARS),
        apply: z.boolean("must be true or false"),
        rule: anyText.optional()
          .describe("Of a rule candidate: the rule in one sentence"),
      }),
      "must be all, cancel, or a list",
    ).max(MAX_DECISIONS, `must hold at most ${MAX_DECISIONS} decisions`),
  ], 'must be "all", "cancel", or a list of {item, apply}').describe(
    "What the person has decided: all, cancel, or one by one",
  ),
});

export const ApplyAuditInput = z.strictObject({
  audit: shortText(MAX_ID_CHARS).describe("Of audit_memory"),
  ...ApplyAuditBody.shape,
});
export type ApplyAuditInput = z.output<typeof ApplyAuditInput>;

export const ApplyAuditAnswerShape = z.object({
  status: z.enum(["applied", "cancelled"]),
  message: z.string().describe("Say this to the person"),
  removed: z.int().describe("Entries of profile.md"),
  archived: z.array(z.string()).describe("Where the projects are now"),
  rules: z.array(z.string()).describe("Numbers of the new rules"),
  movedLogLines: z.int(),
  written: z.array(z.string()),
  backup: z.string().optional().describe("In the state directory: what was changed, as it was"),
});
export type ApplyAuditAnswer = z.output<typeof ApplyAuditAnswerShape>;
