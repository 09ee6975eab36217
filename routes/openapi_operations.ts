/** What the HTTP interface does, as its description lists it: a table, and nothing else. */
import {
  DiagnosticsAnswerShape,
  DiagnosticsParams,
  HealthAnswerShape,
  type JsonSchema,
  NoParams,
  NoteAnswerShape,
  NoteParams,
  ReindexAnswerShape,
  SearchAnswerShape,
  SearchParams,
  StoresAnswerShape,
} from "@/lib/contracts.ts";
import {
  CreateMemoryInput,
  HandoffAnswerShape,
  HandoffInput,
  IdentityAnswerShape,
  IdentityParams,
  MemoriesAnswerShape,
  MemoriesParams,
  MemoryAnswerShape,
  ProfilesAnswerShape,
  RememberInput,
  ResumeAnswerShape,
  ResumeParams,
  SavedMemoryShape,
  UpdateMemoryInput,
} from "@/lib/contracts_memories.ts";
import { InvocationsAnswerShape, InvocationsParams, RpcErrorShape } from "@/lib/contracts_tools.ts";
import { ACCESS_OPERATIONS, ACCESS_SHAPES } from "./openapi_access.ts";
import { JOURNAL_OPERATIONS, JOURNAL_SHAPES } from "./openapi_journal.ts";
import { MCP_OPERATIONS } from "./openapi_mcp.ts";
import { CWD, OBJECT, type Operation, type Shape } from "./openapi_operation.ts";
import { RECALL_OPERATIONS, RECALL_SHAPES } from "./openapi_recall.ts";
import { HealthMinimumShape } from "./ops.ts";

/** Answers by the names that they have in the description. */
export const SHAPES: Readonly<Record<string, Shape>> = {
  SearchAnswer: SearchAnswerShape,
  NoteAnswer: NoteAnswerShape,
  MemoriesAnswer: MemoriesAnswerShape,
  MemoryAnswer: MemoryAnswerShape,
  SavedMemory: SavedMemoryShape,
  IdentityAnswer: IdentityAnswerShape,
  ProfilesAnswer: ProfilesAnswerShape,
  HandoffAnswer: HandoffAnswerShape,
  ResumeAnswer: ResumeAnswerShape,
  ...RECALL_SHAPES,
  ...ACCESS_SHAPES,
  ...JOURNAL_SHAPES,
  DiagnosticsAnswer: DiagnosticsAnswerShape,
  StoresAnswer: StoresAnswerShape,
  HealthAnswer: HealthAnswerShape,
  HealthMinimum: HealthMinimumShape,
  InvocationsAnswer: InvocationsAnswerShape,
  ReindexAnswer: ReindexAnswerShape,
  RpcError: RpcErrorShape,
};

const ETAG = { ETag: { description: "SHA-256 of the file's bytes", schema: { type: "string" } } };
const IF_NONE_MATCH: JsonSchema = {
  name: "If-None-Match",
  in: "header",
  description: "ETags that the caller has already",
  schema: { type: "string" },
};
const IF_MATCH: JsonSchema = {
  name: "If-Match",
  in: "header",
  required: true,
  description: "The ETag of the state that is to be changed, or *",
  schema: { type: "string" },
};
const SAVED_HEADERS = {
  ...ETAG,
  Location: { description: "Of the memory", schema: { type: "string" } },
};
const SAVE_STATUSES = {
  422: "There is no project, a text looks like it holds a secret, or the file cannot be changed " +
    "safely",
};

export const OPERATIONS: readonly Operation[] = [
  {
    method: "get",
    path: "/",
    id: "getPointer",
    summary: "Says what this is and where its description lies",
    answer: { content: { "application/json": { schema: OBJECT } } },
  },
  {
    method: "get",
    path: "/healthz",
    id: "getHealth",
    summary: "State of server and index; waits for nothing. Without the token, if there is one, " +
      "only status, version and access",
    answer: {
      content: {
        "application/json": { schema: { anyOf: [ref("HealthAnswer"), ref("HealthMinimum")] } },
      },
    },
  },
  {
    method: "get",
    path: "/api/search",
    id: "searchNotes",
    summary: "Finds notes, the best first; sees every change that was made before",
    query: SearchParams,
    parameters: [CWD],
    answer: { name: "SearchAnswer" },
  },
  {
    method: "get",
    path: "/api/notes/{path}",
    id: "openNote",
    summary: "Opens a note as it is on disk now, whole or by lines",
    query: NoteParams,
    parameters: [
      pathParameter("path", "Path in the vault; slashes may stand as they are or encoded"),
      IF_NONE_MATCH,
    ],
    answer: { name: "NoteAnswer" },
    headers: ETAG,
    statuses: {
      304: "The file is as the caller has it",
      416: "The note has no such lines",
    },
  },
  {
    method: "get",
    path: "/api/memories",
    id: "listMemories",
    summary: "Lists memories, the newest first, page by page",
    query: MemoriesParams,
    parameters: [CWD],
    answer: { name: "MemoriesAnswer" },
  },
  {
    method: "get",
    path: "/api/memories/{id}",
    id: "openMemory",
    summary: "Opens a memory by its id, wherever its file lies now",
    parameters: [
      pathParameter("id", "Of a note that is no memory: its path in the vault"),
      IF_NONE_MATCH,
    ],
    answer: { name: "MemoryAnswer" },
    headers: ETAG,
    statuses: { 304: "The file is as the caller has it" },
  },
  {
    method: "post",
    path: "/api/memories",
    id: "createMemory",
    summary: "Makes a memory in the global store or that of a project; the next search finds it",
    parameters: [CWD],
    body: CreateMemoryInput,
    success: 201,
    answer: { name: "SavedMemory" },
    headers: SAVED_HEADERS,
    statuses: SAVE_STATUSES,
  },
  {
    method: "patch",
    path: "/api/memories/{id}",
    id: "updateMemory",
    summary: "Changes what is passed of a memory, and nothing else in its file",
    parameters: [
      pathParameter("id", "As search results and the list have it"),
      IF_MATCH,
    ],
    body: UpdateMemoryInput,
    answer: { name: "SavedMemory" },
    headers: ETAG,
    statuses: {
      ...SAVE_STATUSES,
      409: "Several files claim the id",
      412: "The memory is in another state by now",
      428: "There is no If-Match",
    },
  },
  {
    method: "post",
    path: "/api/remember",
    id: "remember",
    summary: "Saves one fact, in the store of the project unless scope says global",
    parameters: [CWD],
    body: RememberInput,
    success: 201,
    answer: { name: "SavedMemory" },
    headers: SAVED_HEADERS,
    statuses: SAVE_STATUSES,
  },
  {
    method: "get",
    path: "/api/handoff",
    id: "resume",
    summary: "Reads what was handed off last on this project and branch",
    query: ResumeParams,
    parameters: [CWD],
    answer: { name: "ResumeAnswer" },
  },
  {
    method: "put",
    path: "/api/handoff",
    id: "setHandoff",
    summary: "Keeps the state of the work for the next run on this project and branch",
    parameters: [CWD],
    body: HandoffInput,
    answer: { name: "HandoffAnswer" },
    statuses: SAVE_STATUSES,
  },
  {
    method: "get",
    path: "/api/profiles",
    id: "getProfiles",
    summary: "Both profiles as one text, ready to inject at the start of a task",
    answer: { name: "ProfilesAnswer" },
  },
  ...RECALL_OPERATIONS,
  {
    method: "get",
    path: "/api/projects/identity",
    id: "identifyProject",
    summary: "Tells which project a folder of this machine or a Git remote belongs to",
    query: IdentityParams,
    parameters: [CWD],
    answer: { name: "IdentityAnswer" },
  },
  {
    method: "get",
    path: "/api/diagnostics",
    id: "getDiagnostics",
    summary: "Lists what is wrong with notes and files",
    query: DiagnosticsParams,
    answer: { name: "DiagnosticsAnswer" },
  },
  {
    method: "get",
    path: "/api/stores",
    id: "getStores",
    summary: "Counts notes and bytes of each store",
    answer: { name: "StoresAnswer" },
  },
  {
    method: "get",
    path: "/api/invocations",
    id: "getInvocations",
    summary: "Lists which tools were called, by whom, when, for how long and how it ended",
    query: InvocationsParams,
    answer: { name: "InvocationsAnswer" },
  },
  ...ACCESS_OPERATIONS,
  ...JOURNAL_OPERATIONS,
  ...MCP_OPERATIONS,
  {
    method: "post",
    path: "/api/reindex",
    id: "reindex",
    summary: "Reads the whole vault again and answers when it is done",
    body: NoParams,
    answer: { name: "ReindexAnswer" },
  },
  {
    method: "get",
    path: "/openapi.json",
    id: "getOpenApi",
    summary: "This description",
    answer: { content: { "application/json": { schema: OBJECT } } },
  },
  {
    method: "get",
    path: "/metrics",
    id: "getMetrics",
    summary: "Numbers for Prometheus",
    answer: { content: { "text/plain": { schema: { type: "string" } } } },
  },
];

function pathParameter(name: string, description: string): JsonSchema {
  return { name, in: "path", required: true, description, schema: { type: "string" } };
}

/** Refers to a shape by its name. */
export function ref(name: string): JsonSchema {
  return { $ref: `#/components/schemas/${name}` };
}
