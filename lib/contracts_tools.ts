/**
 * What the tools of agents take and give. Objects are flat and their schemas small, because every
 * client shows them to a model; HTTP has the same things under other names where it can.
 */
import * as z from "zod";
import { flagField, shortText, wholeNumber } from "./contracts_fields.ts";
import {
  DEFAULT_SEARCH_LIMIT,
  folderName,
  IndexingShape,
  MAX_CURSOR_CHARS,
  MAX_FILTER_CHARS,
  MAX_FILTER_KINDS,
  MAX_FILTER_TAGS,
  MAX_ID_CHARS,
  MAX_QUERY_CHARS,
  MAX_SEARCH_LIMIT,
  NOTE_KINDS,
  queryText,
  scopeName,
  SEARCH_MODES,
  whereFields,
} from "./contracts.ts";
import { MemorySummaryShape } from "./contracts_memories.ts";

const BAD_LIMIT = `must be a whole number from 1 to ${MAX_SEARCH_LIMIT}`;
const limitNumber = z.number(BAD_LIMIT).int(BAD_LIMIT)
  .min(1, BAD_LIMIT).max(MAX_SEARCH_LIMIT, BAD_LIMIT)
  .default(DEFAULT_SEARCH_LIMIT);

const cursor = shortText(MAX_CURSOR_CHARS).optional().describe(
  "nextCursor of the answer before",
);
/** What is derived is never found. */
const kind = z.enum(NOTE_KINDS).exclude(["derived"]);
const mode = z.enum(SEARCH_MODES).default("hybrid");

/** How a page ends. */
const pageEnd = {
  leftOut: z.int().optional().describe("Too long to show"),
  nextCursor: z.string().optional().describe("Pass it as cursor for what follows"),
};

export const SearchNotesArgs = z.strictObject({
  query: queryText.describe("What to look for, in any language; with mode grep a literal text"),
  mode: mode.describe("grep = the files' own lines, keyword = BM25"),
  limit: limitNumber.describe("Hits a page"),
  tags: z.array(shortText(MAX_FILTER_CHARS), "must be a list of texts")
    .max(MAX_FILTER_TAGS, `must hold at most ${MAX_FILTER_TAGS} texts`).default([]).describe(
      "Any of these",
    ),
  folder: folderName.optional().describe(
    "This folder and all below",
  ),
  kind: z.array(kind, 'must be a list such as ["memory"]')
    .max(MAX_FILTER_KINDS, `must hold at most ${MAX_FILTER_KINDS} kinds`).default([])
    .describe("Any of these"),
  status: shortText(MAX_FILTER_CHARS).optional().describe(
    "Of memories: any, or one; active without it",
  ),
  scope: scopeName("all"),
  ...whereFields,
  cursor,
});

export const RecallArgs = z.strictObject({
  query: queryText.describe("What to remember, in any language"),
  scope: scopeName("here"),
  ...whereFields,
  mode,
  top_k: limitNumber.describe("Results a page"),
  cursor,
});

export const MemorySearchArgs = z.strictObject({
  query: queryText.describe("A literal text within one line, or a regular expression"),
  limit: limitNumber.describe("Files a page"),
  regex: flagField
    .describe("True = the query is a regular expression (ripgrep's dialect)"),
  scope: scopeName("all"),
  ...whereFields,
  cursor,
});

export const MemoryOpenArgs = z.strictObject({
  id: shortText(MAX_ID_CHARS).describe(
    "The id of a memory, or the path of any note; with scope project or global also its path " +
      "in that store",
  ),
  scope: scopeName("all"),
  ...whereFields,
  cursor,
});

export const ListMemoryArgs = z.strictObject({ scope: scopeName("all"), ...whereFields, cursor });

/** `search`, as clients of OpenAI know it: nothing but a query. */
export const AliasSearchArgs = z.strictObject({
  query: queryText.describe("What to look for, in any language"),
});

/** `fetch`, as clients of OpenAI know it. */
export const AliasFetchArgs = z.strictObject({
  id: shortText(MAX_ID_CHARS).describe("The id of a result of search"),
  cursor,
});

/** Arguments of prompts are texts, which people type. */
export const StartTaskArgs = z.strictObject({
  task: shortText(MAX_QUERY_CHARS).optional().describe("What is to be done"),
  ...whereFields,
});
export type StartTaskInput = z.output<typeof StartTaskArgs>;

export const HandOffArgs = z.strictObject({
  note: shortText(MAX_QUERY_CHARS).optional().describe("What the next run must know in any case"),
});
export type HandOffInput = z.output<typeof HandOffArgs>;

export const AuditArgs = z.strictObject({
  topic: shortText(MAX_QUERY_CHARS).optional().describe("Only what is about this"),
});
export type AuditInput = z.output<typeof AuditArgs>;

/** What search answers say of the state of the index. */
const answerState = {
  indexing: IndexingShape.optional(),
  freshness: z.object({ verified: z.boolean(), ageMs: z.number().nullable() }).optional(),
};

const fallback = z.object({ from: z.string(), to: z.string(), reason: z.string() }).optional();

const signal = z.number().nullable();

export const SearchNotesResult = z.object({
  mode: z.string(),
  fallback,
  total: z.int(),
  truncated: z.boolean().optional(),
  results: z.array(z.object({
    id: z.string(),
    path: z.string(),
    kind: z.string(),
    actor: z.string().optional(),
    originSessionId: z.string().optional(),
    name: z.string(),
    description: z.string(),
    score: z.number(),
    signals: z.object({
      keyword: signal,
      metadata: signal,
      body: signal,
      dense: signal,
    }),
    heading: z.string().nullable(),
    lines: z.object({ start: z.int(), end: z.int() }),
    snippet: z.string(),
    tags: z.array(z.string()),
    updatedAt: z.string(),
  })),
  ...pageEnd,
  ...answerState,
});

/** One thing that was remembered; lean, as agents recall often. */
export const RecalledShape = z.object({
  id: z.string(),
  text: z.string().describe("The passage"),
  score: z.number(),
  source: z.string().describe("Path and lines"),
  time: z.string(),
});
export type Recalled = z.output<typeof RecalledShape>;

export const RecallResult = z.object({
  mode: z.string(),
  fallback,
  total: z.int(),
  truncated: z.boolean().optional(),
  results: z.array(RecalledShape),
  ...pageEnd,
  ...answerState,
});
export type RecallAnswer = Omit<z.output<typeof RecallResult>, keyof typeof pageEnd>;

export const TextMatchShape = z.object({
  line: z.int(),
  text: z.string(),
  before: z.string().optional(),
  after: z.string().optional(),
});
export type TextMatch = z.output<typeof TextMatchShape>;

export const MatchingFileShape = z.object({
  id: z.string(),
  path: z.string(),
  name: z.string(),
  matchCount: z.int().describe("Lines that match; the first are shown"),
  matches: z.array(TextMatchShape),
});
export type MatchingFile = z.output<typeof MatchingFileShape>;

export const MemorySearchResult = z.object({
  engine: z.string(),
  total: z.int().describe("Files that match"),
  truncated: z.boolean().optional().describe("Time was up: there may be more"),
  results: z.array(MatchingFileShape),
  ...pageEnd,
  ...answerState,
});
export type TextSearchAnswer = Omit<z.output<typeof MemorySearchResult>, keyof typeof pageEnd>;

export const MemoryOpenResult = z.object({
  id: z.string(),
  path: z.string(),
  kind: z.string(),
  name: z.string(),
  etag: z.string(),
  lines: z.object({ start: z.int(), end: z.int(), total: z.int() }),
  markdown: z.string(),
  conflicts: z.array(z.string()).optional()
    .describe("Every file that claims the id, if there are several"),
  conflictCopies: z.array(z.string()).optional().describe("Left by sync tools"),
  leftOut: z.int().optional().describe("Paths too many to show"),
  nextCursor: pageEnd.nextCursor,
});

export const ListMemoryResult = z.object({
  total: z.int(),
  memories: z.array(MemorySummaryShape),
  ...pageEnd,
  ...answerState,
});

export const AliasSearchResult = z.object({
  results: z.array(z.object({ id: z.string(), title: z.string(), url: z.string() })),
  ...answerState,
});

export const AliasFetchResult = z.object({
  id: z.string(),
  title: z.string(),
  text: z.string(),
  url: z.string(),
  metadata: z.object({ path: z.string(), kind: z.string(), etag: z.string() }),
  nextCursor: pageEnd.nextCursor,
});

/** A message of JSON-RPC as MCP has it; the protocol's own packages check it. */
export const RpcMessageShape = z.looseObject({
  jsonrpc: z.literal("2.0"),
  id: z.union([z.string(), z.number()]).optional(),
  method: z.string().optional(),
});

/** What went wrong on a path of MCP before any message was read, or with the message itself. */
export const RpcErrorShape = z.object({
  jsonrpc: z.literal("2.0"),
  id: z.null(),
  error: z.object({
    code: z.int(),
    message: z.string(),
    data: z.object({ code: z.string(), requestId: z.string() }),
  }),
});

/** How many invocations are kept and shown at the most. */
export const MAX_INVOCATIONS = 1_000;

/** `GET /api/invocations`. */
export const InvocationsParams = z.strictObject({
  limit: wholeNumber(1, MAX_INVOCATIONS).default(100).describe("How many at the most"),
});

export const InvocationShape = z.object({
  tool: z.string(),
  client: z.string().describe("What the client calls itself"),
  transport: z.enum(["modern", "legacy", "sse"]),
  startedAt: z.string(),
  ms: z.number(),
  outcome: z.string().describe("`ok`, `cancelled`, or the code of the error"),
  requestId: z.string(),
});
export type Invocation = z.output<typeof InvocationShape>;

export const InvocationsAnswerShape = z.object({
  total: z.int().describe("Since the start"),
  invocations: z.array(InvocationShape).describe("Newest first"),
});
export type InvocationsAnswer = z.output<typeof InvocationsAnswerShape>;
