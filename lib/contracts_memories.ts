/** What goes over the wire about memories, projects, profiles and handoffs. */
import * as z from "zod";
import { flagField, shortText, wholeNumber } from "./contracts_fields.ts";
import {
  FreshnessShape,
  IndexingShape,
  MAX_CURSOR_CHARS,
  MAX_FILTER_CHARS,
  MAX_ID_CHARS,
  MAX_SEARCH_LIMIT,
  NOTE_KINDS,
  scopeName,
  whereFields,
} from "./contracts.ts";

export const DEFAULT_MEMORIES_LIMIT = 50;

/** `GET /api/memories`. */
export const MemoriesParams = z.strictObject({
  scope: scopeName("all"),
  ...whereFields,
  tag: shortText(MAX_FILTER_CHARS).optional().describe("Only memories with this tag"),
  status: shortText(MAX_FILTER_CHARS).optional().describe(
    "Only memories with this status, `any` for all; `active` without it",
  ),
  limit: wholeNumber(1, MAX_SEARCH_LIMIT).default(DEFAULT_MEMORIES_LIMIT)
    .describe("How many memories at the most, 1 to 100"),
  cursor: shortText(MAX_CURSOR_CHARS).optional().describe(
    "`nextCursor` of the answer before, for what follows",
  ),
});
export type MemoriesInput = z.output<typeof MemoriesParams>;

/** `GET /api/memories/{id}`. */
export interface MemoryInput {
  /** Of a note that is no memory: its path. */
  readonly id: string;
  /** The states that the caller has already, and does not want again. */
  readonly knownEtags?: readonly string[];
}

export const MemorySummaryShape = z.object({
  id: z.string(),
  path: z.string(),
  name: z.string(),
  description: z.string(),
  tags: z.array(z.string()),
  status: z.string(),
  updatedAt: z.string().describe("`updated_at` as written, else the file's time (ISO 8601)"),
});
export type MemorySummary = z.output<typeof MemorySummaryShape>;

export const MemoriesAnswerShape = z.object({
  total: z.int().describe("How many memories there are, on all pages"),
  memories: z.array(MemorySummaryShape).describe("Newest first"),
  nextCursor: z.string().optional(),
  indexing: IndexingShape.optional(),
  freshness: FreshnessShape.optional(),
});
export type MemoriesAnswer = z.output<typeof MemoriesAnswerShape>;

export const MemoryAnswerShape = z.object({
  id: z.string(),
  path: z.string().describe("Where the file lies now"),
  kind: z.enum(NOTE_KINDS),
  name: z.string(),
  description: z.string(),
  tags: z.array(z.string()).describe("As written in the frontmatter"),
  status: z.string().nullable(),
  frontmatter: z.record(z.string(), z.unknown()).describe(
    "Every value as written; empty if invalid",
  ),
  body: z.string().describe("What stands after the frontmatter"),
  markdown: z.string().describe("The whole file"),
  etag: z.string().describe("SHA-256 of the file's bytes"),
  conflicts: z.array(z.string()).optional()
    .describe("Every file that claims the id, if there are several; no search finds any of them"),
  conflictCopies: z.array(z.string()).optional()
    .describe("Copies of this file that a sync tool left"),
});
export type MemoryAnswer = z.output<typeof MemoryAnswerShape>;

/** Names stand in lists, one a line. */
export const MAX_NAME_CHARS = 200;
export const MAX_DESCRIPTION_CHARS = 1_000;
/** A note may have so many bytes in all; the body of a request has less. */
export const MAX_BODY_CHARS = 2_000_000;
/** Ten of them have to fit into one note. */
export const MAX_HANDOFF_CHARS = 200_000;
export const MAX_TAGS = 32;
export const MAX_TAG_CHARS = 100;

const longText = (maxChars: number) =>
  z.string("must be a text").refine(
    (text) => text.length <= maxChars,
    `must not be longer than ${maxChars} characters`,
  );

/** Where a new memory goes. */
const storeScope = z.enum(["project", "global"]);

const allowSecret = flagField.describe(
  "True = it is no secret, though it looks like one",
);

/** What a memory says, all of it optional when one is updated. */
const contentFields = {
  name: shortText(MAX_NAME_CHARS).optional().describe("A short name for people"),
  description: shortText(MAX_DESCRIPTION_CHARS).optional().describe(
    "One sentence that hints show",
  ),
  body: longText(MAX_BODY_CHARS).optional().describe("Markdown, without frontmatter"),
  tags: z.array(shortText(MAX_TAG_CHARS), "must be a list of texts")
    .min(1, "must hold at least one tag").max(MAX_TAGS, `must hold at most ${MAX_TAGS} tags`)
    .optional().describe("Replaces all tags"),
};

const originFields = {
  origin_session_id: shortText(MAX_FILTER_CHARS).optional().describe(
    "Of your session",
  ),
};

const statusField = z.enum(["active", "deprecated"]).optional().describe(
  "deprecated = not found any more",
);

const createFields = {
  scope: storeScope.optional().describe("Of a new memory; global without it"),
  supersedes: shortText(MAX_ID_CHARS).optional().describe(
    "The id of the memory that the new one replaces",
  ),
  allow_secret: allowSecret,
  ...originFields,
  ...whereFields,
};

/** `POST /api/memories`. */
export const CreateMemoryInput = z.strictObject({ ...contentFields, ...createFields });

/** `PATCH /api/memories/{id}`. */
export const UpdateMemoryInput = z.strictObject({
  ...contentFields,
  status: statusField,
  allow_secret: allowSecret,
});

/** The tool `memory_save`, which creates and updates. */
export const MemorySaveArgs = z.strictObject({
  id: shortText(MAX_ID_CHARS).optional().describe("Of the memory to change"),
  ...contentFields,
  status: statusField,
  etag: shortText(MAX_FILTER_CHARS).optional().describe(
    "Of memory_open: if the note changed since, nothing is written",
  ),
  ...createFields,
});

/** `POST /api/remember`, and the tool. */
export const RememberInput = z.strictObject({
  text: longText(MAX_BODY_CHARS).refine((text) => text.trim() !== "", "must not be empty").describe(
    "One fact",
  ),
  scope: storeScope.default("project").describe(
    "global = of the person, wherever they work",
  ),
  type: shortText(MAX_TAG_CHARS).optional().describe(
    "preference, decision, pitfall, …; fact without it",
  ),
  allow_secret: allowSecret,
  ...originFields,
  ...whereFields,
});
export type RememberInput = z.output<typeof RememberInput>;

/** A memory that says nearly the same as another. */
export const SimilarShape = z.object({
  id: z.string(),
  name: z.string(),
  score: z.number().describe("0..1"),
});
export type Similar = z.output<typeof SimilarShape>;

export const SavedMemoryShape = z.object({
  id: z.string(),
  path: z.string(),
  etag: z.string().describe("SHA-256 of the file's bytes"),
  created: z.boolean(),
  scope: z.enum(["project", "global", "none"]).describe("none = the file lies in no store"),
  name: z.string(),
  description: z.string(),
  tags: z.array(z.string()),
  status: z.string(),
  updatedAt: z.string(),
  similar: z.array(SimilarShape).optional()
    .describe("Of a new memory: those that come nearest to it; judge whether it repeats one"),
  superseded: z.string().optional().describe("The id of the memory that is deprecated now"),
  conflictCopy: z.string().optional()
    .describe("Where another program's change went that came at the same moment"),
  notice: z.string().optional(),
});
export type SavedMemory = z.output<typeof SavedMemoryShape>;

/** `GET /api/projects/identity`. */
export const IdentityParams = z.strictObject({ ...whereFields });
export type IdentityInput = z.output<typeof IdentityParams>;

export const IdentityAnswerShape = z.object({
  project: z.object({
    name: z.string(),
    repoId: z.string().describe("Host and path of the Git origin, or a local stand-in"),
    source: z.enum(["origin", "local", "repo"]).describe("repo = from the URL that was given"),
    branch: z.string().nullable().describe("null = a detached HEAD, or not known"),
    store: z.object({ id: z.string(), folder: z.string() }).nullable()
      .describe("null = nothing has been saved for this project"),
  }).nullable().describe("null = not in a Git repository"),
});
export type IdentityAnswer = z.output<typeof IdentityAnswerShape>;

/** `GET /api/profiles`. */
export const ProfilesAnswerShape = z.object({
  text: z.string().describe("Ready to inject: [agent_profile] and [user_profile]"),
});
export type ProfilesAnswer = z.output<typeof ProfilesAnswerShape>;

const branchField = shortText(MAX_FILTER_CHARS).optional().describe(
  "The Git branch, where it cannot be seen from cwd",
);

/** `PUT /api/handoff`, and the tool `set_handoff`. */
export const HandoffInput = z.strictObject({
  body: longText(MAX_HANDOFF_CHARS).refine((text) => text.trim() !== "", "must not be empty")
    .describe(
      "Markdown: what is done, what comes next, what to watch out for",
    ),
  allow_secret: allowSecret,
  branch: branchField,
  ...whereFields,
});
export type HandoffInput = z.output<typeof HandoffInput>;

/** `GET /api/handoff`, and the tool `resume`. */
export const ResumeParams = z.strictObject({ branch: branchField, ...whereFields });
export type ResumeInput = z.output<typeof ResumeParams>;

export const HandoffAnswerShape = z.object({
  status: z.literal("saved"),
  branch: z.string(),
  scope: z.string().describe("The ULID of the project's store"),
  path: z.string(),
  conflictCopy: z.string().optional()
    .describe("Where another program's change went that came at the same moment"),
});
export type HandoffAnswer = z.output<typeof HandoffAnswerShape>;

export const ResumeAnswerShape = z.object({
  found: z.boolean(),
  branch: z.string().optional(),
  body: z.string().optional(),
  updated_at: z.string().optional(),
  path: z.string().optional().describe("The file, which holds those before it too"),
  note: z.string().optional(),
});
export type ResumeAnswer = z.output<typeof ResumeAnswerShape>;
