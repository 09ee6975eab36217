/** What goes over the wire about reading projects: the memory route, summaries, deep reads. */
import * as z from "zod";
import { shortText } from "./contracts_fields.ts";
import {
  MAX_FILTER_CHARS,
  MAX_FILTER_TAGS,
  MAX_ID_CHARS,
  SearchParams,
  whereFields,
} from "./contracts.ts";
import { MEMORY_HISTORY_MAX_FILES } from "./protocol_keys.ts";

const TAGS = "What the task is about; projects with any of these tags are candidates too";

/** `GET /api/projects/route`: all values come as text. */
export const MemoryRouteParams = z.strictObject({
  ...whereFields,
  tags: SearchParams.shape.tags.describe(`${TAGS}; comma-separated`),
});
export type MemoryRouteInput = z.output<typeof MemoryRouteParams>;

/** `memory_route`. */
export const MemoryRouteArgs = z.strictObject({
  ...whereFields,
  tags: z.array(shortText(MAX_FILTER_CHARS), "must be a list of texts")
    .max(MAX_FILTER_TAGS, `must hold at most ${MAX_FILTER_TAGS} texts`).default([])
    .describe(TAGS),
});

const BudgetAmountShape = z.object({ files: z.int(), chars: z.int(), tokens: z.number() });

/** What stands in every answer that hands out something of a project. */
const budgetFields = {
  budget: z.object({
    used: BudgetAmountShape.describe("Of the whole task where a person is asked, else here"),
    left: BudgetAmountShape,
  }),
  truncated: z.array(z.string()).describe("The limits that kept something back, with their values"),
};

export const RouteCandidateShape = z.object({
  project: z.string(),
  reasons: z.array(z.string()).describe(
    "current:<matched by>, direct:<relation>, reverse:<relation>, tags:<how many are shared>",
  ),
  edge_source: z.array(z.string()).optional()
    .describe("Of a relation that the current project does not declare itself: who declares it"),
  updated: z.string().optional(),
  migration: z.enum(["unmigrated", "incompatible"]).optional()
    .describe("Why its summary has no metadata that count"),
});
export type RouteCandidate = z.output<typeof RouteCandidateShape>;

/** At most 60 entries and 1500 characters, counts and report apart. */
export const MemoryRouteResult = z.object({
  current: z.enum(["found", "conflict", "none"])
    .describe(
      "The project you work in: conflict = several claim to be it, so that none was chosen; none = " +
        "none of the checked is it",
    ),
  candidates: z.array(RouteCandidateShape).describe("Best first"),
  conflicts: z.array(z.string()).describe("What several projects claim: tell the person"),
  incompatible: z.array(z.object({ project: z.string(), problem: z.string() }))
    .describe("Summaries with metadata that cannot be relied on, and how to put them right"),
  unresolved: z.array(z.string())
    .describe("Names that the current project declares, and no checked project has"),
  note: z.string().optional().describe("What the route cannot tell"),
  checked: z.int().describe("Projects whose metadata were looked at"),
  unchecked: z.int().describe("Folders that were not looked at: they may hold further matches"),
  notShown: z.object({
    candidates: z.int(),
    conflicts: z.int(),
    incompatible: z.int(),
    unresolved: z.int(),
  }).describe("For want of room"),
  ...budgetFields,
});
export type MemoryRouteAnswer = z.output<typeof MemoryRouteResult>;

const MAX_NAMED_PROJECTS = 16;
/** As long as what a person may be asked to allow. */
const MAX_TOPICS = 8;

/** `POST /api/reading/summaries`, and the tool `load_summaries`. */
export const LoadSummariesInput = z.strictObject({
  projects: z.array(shortText(MAX_FILTER_CHARS), "must be a list of texts")
    .max(MAX_NAMED_PROJECTS, `must hold at most ${MAX_NAMED_PROJECTS} texts`).optional()
    .describe("Only these, by name, alias or folder; without it the best of the route"),
  shared: z.array(shortText(MAX_ID_CHARS), "must be a list of texts")
    .max(MAX_TOPICS, `must hold at most ${MAX_TOPICS} texts`).default([])
    .describe("Files of _shared/ that the person named"),
  tags: MemoryRouteArgs.shape.tags,
  ...whereFields,
});
export type LoadSummariesInput = z.output<typeof LoadSummariesInput>;

/** `POST /api/reading/deep`, and the tool `read_project`. */
export const ReadProjectInput = z.strictObject({
  project: shortText(MAX_FILTER_CHARS).describe("Its name, alias or folder"),
  history: z.array(shortText(MAX_ID_CHARS), "must be a list of texts")
    .max(
      MEMORY_HISTORY_MAX_FILES,
      `must hold at most ${MEMORY_HISTORY_MAX_FILES} names`,
    )
    .optional()
    .describe(
      "Only if the person wants to look back: files of history/ to read in place of memory.md, at " +
        `most ${MEMORY_HISTORY_MAX_FILES}; [] lists their names`,
    ),
  ...whereFields,
});
export type ReadProjectInput = z.output<typeof ReadProjectInput>;

/** How every answer ends that holds bodies. */
const readingFields = {
  files: z.array(z.string()).describe("Those that were really read"),
  ...budgetFields,
  notRead: z.object({
    candidates: z.int().describe("Of the route"),
    unchecked: z.int().describe("Folders that nobody looked at"),
  }).describe("What nothing may be said of"),
  note: z.string(),
};

const isCut = z.boolean().optional().describe("True = the text is not whole");

export const LoadSummariesResult = z.object({
  summaries: z.array(z.object({
    project: z.string(),
    path: z.string(),
    reasons: z.array(z.string()).describe("As in the route"),
    edge_source: z.array(z.string()).optional(),
    body: z.string(),
    truncated: isCut,
  })),
  shared: z.array(z.object({ path: z.string(), body: z.string(), truncated: isCut })),
  skipped: z.array(z.object({ project: z.string(), reason: z.string() }))
    .describe("Whose summary may not be loaded, or cannot"),
  conflicts: z.array(z.string()).describe("What several projects claim: tell the person"),
  ...readingFields,
});
export type LoadSummariesAnswer = z.output<typeof LoadSummariesResult>;

/** What a fact is worth, best first. What is deprecated is no evidence for anything. */
export const FACT_STANDINGS = ["verified", "assumption", "deprecated"] as const;
export type FactStanding = (typeof FACT_STANDINGS)[number];

/** Why a fact counts as an assumption that does not call itself one. */
export const FACT_DOUBTS = ["expired", "expires-unreadable", "status-unknown"] as const;
export type FactDoubt = (typeof FACT_DOUBTS)[number];

/** The names of what is taken from the file are those of its columns. */
export const FactShape = z.object({
  key: z.string(),
  fact: z.string(),
  status: z.string().describe("As written"),
  verified_at: z.string(),
  source: z.string(),
  expires: z.string().optional(),
  countsAs: z.enum(FACT_STANDINGS).describe(
    "assumption = a clue to be checked, deprecated = no evidence",
  ),
  because: z.enum(FACT_DOUBTS).optional(),
  overruled: z.boolean().optional().describe("True = a better fact has the same key"),
  truncated: isCut,
});

export const ReadProjectResult = z.object({
  project: z.string(),
  precedence: z.string().describe("What goes before what"),
  facts: z.array(FactShape).optional().describe("Of memory.md, best first"),
  factsLeftOut: z.int().optional().describe("For want of room"),
  text: z.string().optional().describe("What else memory.md says"),
  textTruncated: isCut,
  history: z.array(z.object({ path: z.string(), body: z.string(), truncated: isCut })).optional(),
  historyNames: z.array(z.string()).optional().describe("Newest name first"),
  historyNamesLeftOut: z.int().optional(),
  ...readingFields,
});
export type ReadProjectAnswer = z.output<typeof ReadProjectResult>;
