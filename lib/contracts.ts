/**
 * What goes over the wire: the schemas of every request and answer, shared by HTTP, OpenAPI and
 * the tools of agents. A request is parsed here once; inside, its type is trusted.
 */
import * as z from "zod";
import { commaList, shortText, wholeNumber } from "./contracts_fields.ts";

/** What a note is to the server; the place of a file decides before its metadata. */
export const NOTE_KINDS = [
  "memory",
  "note",
  "summary",
  "facts",
  "history",
  "shared",
  "journal",
  "derived",
] as const;
export type NoteKind = (typeof NOTE_KINDS)[number];

export const SEARCH_MODES = ["grep", "keyword", "vector", "hybrid"] as const;
export type SearchMode = (typeof SEARCH_MODES)[number];

/** The scope id of the global store. */
export const GLOBAL_SCOPE_ID = "0".repeat(26);

export const MAX_SEARCH_LIMIT = 100;
export const DEFAULT_SEARCH_LIMIT = 10;
/** Longer queries are refused; an agent's message fits many times over. */
export const MAX_QUERY_CHARS = 10_000;

/** As a filter: whatever status a note has. */
export const ANY_STATUS = "any";

/** How deep `offset` may go: who needs more needs another query. */
export const MAX_SEARCH_OFFSET = 1_000;

/** Each one more costs a search over all notes time. */
export const MAX_FILTER_TAGS = 16;
export const MAX_FILTER_KINDS = 16;
export const MAX_FILTER_CHARS = 200;
/** As long as a path may be; ids are free, and one that is longer cannot be asked for. */
export const MAX_ID_CHARS = 4_096;
/** Longer ones are no remotes. */
export const MAX_REPO_CHARS = 2_000;
/** A cursor may hold a path in other letters. */
export const MAX_CURSOR_CHARS = 16_384;

export const queryText = shortText(MAX_QUERY_CHARS);

/** May be empty, which means the whole vault. */
export const folderName = z.string("must be a text").refine(
  (text) => text.length <= MAX_ID_CHARS,
  `must not be longer than ${MAX_ID_CHARS} characters`,
);
const LONG_LABEL = `must not hold one of more than ${MAX_FILTER_CHARS} characters`;

export const SCOPES = ["all", "here", "project", "global"] as const;
export type Scope = (typeof SCOPES)[number];

/** @param standard What is taken where the caller says nothing. */
export const scopeName = (standard: Scope): z.ZodDefault<z.ZodEnum<{ [K in Scope]: K }>> =>
  z.enum(SCOPES).default(standard).describe(
    "here = all but other projects' memories; project, global = that store",
  );

/** Where an agent works, as callers say it. */
export const whereFields = {
  cwd: shortText(MAX_ID_CHARS).optional().describe(
    "Your working directory",
  ),
  repo: shortText(MAX_REPO_CHARS).optional().describe(
    "In place of cwd: the URL of the Git remote",
  ),
};

/** Which part of the vault a call is about, before it is known what that is. */
export interface AskedScope {
  readonly scope: Scope;
  /** Names a project in place of the one that the caller works in. */
  readonly project?: string | undefined;
  readonly cwd?: string | undefined;
  readonly repo?: string | undefined;
}

/** `GET /api/search`: all values come as text. */
export const SearchParams = z.strictObject({
  q: queryText.describe("What to look for, in any language; in mode `grep` a literal text"),
  mode: z.enum(SEARCH_MODES).default("hybrid").describe(
    "`hybrid` by words and meaning, across languages; `keyword` BM25; `vector` meaning alone; " +
      "`grep` the files' own lines. Without an embedding the answer is by `keyword`, and says so " +
      "in `fallback`",
  ),
  limit: wholeNumber(1, MAX_SEARCH_LIMIT).default(DEFAULT_SEARCH_LIMIT)
    .describe("How many hits at the most, 1 to 100"),
  scope: scopeName("all"),
  project: shortText(MAX_FILTER_CHARS).optional().describe(
    "Only the memories of this project: its name, its store's ULID, or its repository's identity",
  ),
  ...whereFields,
  kind: commaList(MAX_FILTER_KINDS).pipe(z.array(z.enum(NOTE_KINDS))).default([]).describe(
    "Only these kinds of note, comma-separated",
  ),
  tags: commaList(MAX_FILTER_TAGS)
    .refine((tags) => tags.every((tag) => tag.length <= MAX_FILTER_CHARS), LONG_LABEL).default([])
    .describe("Only notes with any of these tags, comma-separated"),
  folder: folderName.optional().describe("Only notes in this folder of the vault or below it"),
  status: shortText(MAX_FILTER_CHARS).optional().describe(
    "Only notes with this status, `any` for all; without it memories that are not active are " +
      "left out",
  ),
});
export type SearchInput = z.output<typeof SearchParams> & {
  /** How many of the best hits to leave out, at most `MAX_SEARCH_OFFSET`; 0 without it. */
  readonly offset?: number;
};

/** `GET /api/notes/{path}`. */
export const NoteParams = z.strictObject({
  lines: z.string()
    .regex(/^[1-9]\d{0,9}(-[1-9]\d{0,9})?$/, "must be a line range such as 10-25, from 1")
    .transform((text) => {
      const [start = 1, end = start] = text.split("-").map(Number);
      return { start, end };
    })
    .refine(({ start, end }) => start <= end, "must not end before it starts")
    .optional()
    .describe("Only these lines, counted from 1, both ends included"),
});
export type NoteInput = z.output<typeof NoteParams> & {
  readonly path: string;
  /** The states that the caller has already, and does not want again. */
  readonly knownEtags?: readonly string[];
};

/** `GET /api/diagnostics`. */
export const DiagnosticsParams = z.strictObject({
  limit: wholeNumber(1, 10_000).default(1_000).describe("How many entries at the most"),
  reason: z.string().optional().describe("Only entries with this reason"),
});
export type DiagnosticsInput = z.output<typeof DiagnosticsParams>;

/** For end points without parameters: any is refused. */
export const NoParams = z.strictObject({});

const lineRange = z.object({ start: z.int(), end: z.int() });

/**
 * The parts of a score, raw; `null` = the signal could not speak. `keyword` is BM25 over its ceiling;
 * `metadata` the cosine with name, description and tags, `body` that of the best three chunks,
 * `dense` the better of the two on the model's scale.
 */
export const SignalsShape = z.object({
  keyword: z.number().nullable().describe("Words, 0..1"),
  metadata: z.number().nullable().describe("Cosine"),
  body: z.number().nullable().describe("Cosine"),
  dense: z.number().nullable().describe("Meaning, 0..1"),
});
export type Signals = z.output<typeof SignalsShape>;

export const HitShape = z.object({
  id: z.string().describe("The memory's id, else the path"),
  path: z.string(),
  kind: z.enum(NOTE_KINDS),
  actor: z.string().optional().describe("Who wrote the memory, where it says so"),
  originSessionId: z.string().optional().describe("In which session, where it says so"),
  name: z.string(),
  description: z.string(),
  score: z.number().describe("0..1, from .5 on worth a hint; in mode `grep` always 1"),
  signals: SignalsShape,
  heading: z.string().nullable().describe("The headings above the matched lines, ` > ` between"),
  lines: lineRange.describe("The matched chunk, lines counted from 1"),
  snippet: z.string(),
  tags: z.array(z.string()),
  updatedAt: z.string().describe("`updated_at` as written, else the file's time (ISO 8601)"),
});
export type Hit = z.output<typeof HitShape>;

export const IndexingShape = z.object({ done: z.int(), total: z.int() });
export type Indexing = z.output<typeof IndexingShape>;

export const FreshnessShape = z.object({
  verified: z.boolean(),
  ageMs: z.number().nullable()
    .describe("How long ago the whole vault was last compared with the index; `null` = never yet"),
});
export type Freshness = z.output<typeof FreshnessShape>;

export const SearchAnswerShape = z.object({
  query: z.string(),
  mode: z.enum(SEARCH_MODES).describe("The mode that answered"),
  fallback: z.object({
    from: z.enum(SEARCH_MODES),
    to: z.enum(SEARCH_MODES),
    reason: z.string(),
  }).optional(),
  indexing: IndexingShape.optional(),
  freshness: FreshnessShape.optional(),
  total: z.int().describe("How many notes matched"),
  truncated: z.boolean().optional().describe("Time was up in mode `grep`: there may be more"),
  tookMs: z.number(),
  results: z.array(HitShape),
});
export type SearchAnswer = z.output<typeof SearchAnswerShape>;

export const NAME_SOURCES = ["frontmatter", "heading", "file"] as const;
export type NameSource = (typeof NAME_SOURCES)[number];

export const FrontmatterStateShape = z.object({
  state: z.enum(["ok", "none", "invalid"]),
  reason: z.string().optional(),
  line: z.int().optional(),
});
export type FrontmatterState = z.output<typeof FrontmatterStateShape>;

export const NoteAnswerShape = z.object({
  path: z.string(),
  kind: z.enum(NOTE_KINDS),
  id: z.string(),
  name: z.string(),
  nameFrom: z.enum(NAME_SOURCES),
  description: z.string(),
  tags: z.array(z.string()).describe("As written in the frontmatter"),
  inlineTags: z.array(z.string()).describe("`#tags` of the body"),
  status: z.string().nullable(),
  frontmatter: FrontmatterStateShape,
  lossy: z.boolean().describe("Bytes that are no UTF-8 are shown as U+FFFD"),
  bodyStartLine: z.int().nullable().describe("`null` = nothing stands after the frontmatter"),
  lines: z.object({ start: z.int(), end: z.int(), total: z.int() }),
  markdown: z.string(),
  etag: z.string().describe("SHA-256 of the file's bytes"),
});
export type NoteAnswer = z.output<typeof NoteAnswerShape>;

/** Why an entry stands in the diagnostics. */
export const DIAGNOSTIC_REASONS = [
  "frontmatter-unclosed",
  "frontmatter-not-a-mapping",
  "frontmatter-duplicate-key",
  "frontmatter-tab-indent",
  "frontmatter-bad-yaml",
  "frontmatter-alias-limit",
  "frontmatter-toml",
  "frontmatter-json",
  "encoding-lossy",
  "encoding-unreadable",
  "too-large",
  "symbolic-link",
  "not-a-file",
  "unreadable",
  "odd-name",
  "missing-description",
  "odd-id",
  "wrong-type",
  "duplicate-id",
  "conflict-copy",
  "store-without-project",
  "not-indexed",
] as const;
export type DiagnosticReason = (typeof DIAGNOSTIC_REASONS)[number];

export const DiagnosticShape = z.object({
  path: z.string(),
  line: z.int().optional(),
  reason: z.enum(DIAGNOSTIC_REASONS),
  message: z.string().describe("What is wrong and how to put it right; no note text"),
});
export type Diagnostic = z.output<typeof DiagnosticShape>;

export const DiagnosticsAnswerShape = z.object({
  total: z.int(),
  byReason: z.record(z.string(), z.int()),
  warnings: z.array(z.string()).describe("What concerns the vault as a whole"),
  diagnostics: z.array(DiagnosticShape),
});
export type DiagnosticsAnswer = z.output<typeof DiagnosticsAnswerShape>;

export const StoreShape = z.object({
  scope: z.string().describe("`global`, `project`, or `vault` for what lies in no store"),
  id: z.string().describe("26 zeros for the global store, the ULID of a project's"),
  folder: z.string(),
  notes: z.int(),
  memories: z.int(),
  chunks: z.int(),
  files: z.int().describe("Markdown files on disk, those left out of the index too"),
  bytes: z.int(),
});
export const StoresAnswerShape = z.object({ stores: z.array(StoreShape) });
export type StoresAnswer = z.output<typeof StoresAnswerShape>;

export const HealthAnswerShape = z.object({
  status: z.enum(["ok", "degraded"]),
  notes: z.int(),
  memories: z.int(),
  chunks: z.int(),
  indexing: IndexingShape.nullable(),
  freshness: z.object({
    mode: z.enum(["scan", "watch"]).describe("How changes of files are noticed"),
    reason: z.string().optional().describe("Why every file is looked at before each answer"),
  }),
  embedding: z.string(),
  embeddingProgress: IndexingShape.nullable().describe(
    "Notes that have their vectors; until nearly all have, they are found by their words only",
  ),
  access: z.enum(["open", "ask"]),
  version: z.string(),
});
export type HealthAnswer = z.output<typeof HealthAnswerShape>;

export const ReindexAnswerShape = z.object({
  notes: z.int(),
  added: z.int(),
  changed: z.int(),
  removed: z.int(),
  tookMs: z.number(),
});
export type ReindexAnswer = z.output<typeof ReindexAnswerShape>;

/** What an agent may see of the vault where a person has to be asked. */
export interface View {
  /** False for a task that may only write. */
  readonly canRead: boolean;
  /** @param named The kinds that the caller asks for by name; to open a path names its kind. */
  maySee(kind: NoteKind, path: string, named: readonly NoteKind[]): boolean;
}

/** What a task sees that is done without memory. */
export const SEES_NOTHING: View = { canRead: false, maySee: () => false };

/** The principal of all who bring the owner's token. */
export const OWNER = "owner";

/** Who asks: decided once at the rim. */
export interface Caller {
  readonly kind: "agent" | "owner";
  /** True for a peer on this machine. */
  readonly loopback: boolean;
  /** What the program calls itself. */
  readonly client?: string | undefined;
  /** The same for all requests that bring the same token; empty without one. */
  readonly principal?: string | undefined;
  /** The session in which it asks, where the transport has any. */
  readonly sessionId?: string | undefined;
  /** Where the agent works, where a header says so; what a call itself says goes before. */
  readonly cwd?: string | undefined;
  /** Where its client works, as that says itself, while nobody has said it in the call. */
  readonly foundCwd?: string | undefined;
  /** In place of a folder, the remote that its task works with. */
  readonly repo?: string | undefined;
  /** The task for which it asks, as it says. */
  readonly task?: string | undefined;
  /** What it may see; absent = everything. Set where it is decided that it may ask at all. */
  readonly view?: View | undefined;
  /** The address under which it reached the server, without a path. */
  readonly origin?: string | undefined;
  /** Aborts when nobody waits for the answer any more. */
  readonly signal?: AbortSignal;
}

/** A JSON Schema (draft 2020-12) as plain data. */
export type JsonSchema = Readonly<Record<string, unknown>>;

/**
 * Returns the JSON Schema of a shape.
 *
 * @param side `input` describes what may be sent, `output` what comes out of parsing; where a
 * function makes that, it stays open.
 */
export function toJsonSchema(shape: z.ZodType, side: "input" | "output"): JsonSchema {
  const { $schema: _dialect, ...schema } = z.toJSONSchema(shape, {
    io: side,
    unrepresentable: "any",
    override: ({ jsonSchema }) => {
      // Every whole number carries the safe range, which tells a reader nothing.
      if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
      if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
    },
  });
  return schema;
}
