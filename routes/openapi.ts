/** `GET /openapi.json`: the description of the HTTP interface, made from the contracts. */
import { Hono } from "hono";
import {
  DiagnosticsAnswerShape,
  DiagnosticsParams,
  HealthAnswerShape,
  type JsonSchema,
  MemoriesAnswerShape,
  MemoriesParams,
  MemoryAnswerShape,
  NoParams,
  NoteAnswerShape,
  NoteParams,
  ReindexAnswerShape,
  SearchAnswerShape,
  SearchParams,
  StoresAnswerShape,
  toJsonSchema,
} from "@/lib/contracts.ts";
import {
  InvocationsAnswerShape,
  InvocationsParams,
  RpcErrorShape,
  RpcMessageShape,
} from "@/lib/contracts_tools.ts";
import { VERSION } from "@/lib/version.ts";
import type { AppEnv } from "./app_env.ts";
import { HealthMinimumShape } from "./ops.ts";
import { readQuery } from "./read_query.ts";

type Shape = Parameters<typeof toJsonSchema>[0];

interface Operation {
  readonly method: "get" | "post";
  /** With parameters in braces. */
  readonly path: string;
  readonly id: string;
  readonly summary: string;
  readonly query?: { readonly shape: Readonly<Record<string, Shape>> };
  /** Parameters of path and headers. */
  readonly parameters?: readonly JsonSchema[];
  /** May be left out by the caller. */
  readonly body?: Shape;
  /** A shape under its name in `components`, or the content of an answer that is no JSON. */
  readonly answer: { readonly name: string } | { readonly content: JsonSchema };
  /** Headers of the answer. */
  readonly headers?: JsonSchema;
  /** 200 without it. */
  readonly success?: number;
  /** True where errors are those of JSON-RPC. */
  readonly isRpc?: boolean;
  /** Statuses of its own, beside those that any request may meet. */
  readonly statuses?: Readonly<Record<number, string>>;
}

const SHAPES: Readonly<Record<string, Shape>> = {
  SearchAnswer: SearchAnswerShape,
  NoteAnswer: NoteAnswerShape,
  MemoriesAnswer: MemoriesAnswerShape,
  MemoryAnswer: MemoryAnswerShape,
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
const OBJECT = { type: "object" };

const OPERATIONS: readonly Operation[] = [
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
  {
    method: "post",
    path: "/mcp",
    id: "mcp",
    summary: "MCP for clients of 2025 and later: one message of JSON-RPC",
    body: RpcMessageShape,
    answer: { content: { "application/json": { schema: OBJECT }, "text/event-stream": {} } },
    statuses: { 202: "A message that has no answer was taken" },
    isRpc: true,
  },
  {
    method: "get",
    path: "/sse",
    id: "openMcpStream",
    summary: "MCP for clients of 2024: the stream of what goes to the client",
    answer: { content: { "text/event-stream": {} } },
    isRpc: true,
  },
  {
    method: "post",
    path: "/messages",
    id: "sendMcpMessage",
    summary: "MCP for clients of 2024: one message to the session of an open stream; 202",
    parameters: [
      {
        name: "sessionId",
        in: "query",
        required: true,
        description: "As the stream's first event tells it",
        schema: { type: "string" },
      },
    ],
    body: RpcMessageShape,
    success: 202,
    isRpc: true,
    answer: { content: { "text/plain": { schema: { type: "string" } } } },
  },
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

export function openApiRoutes(): Hono<AppEnv> {
  const routes = new Hono<AppEnv>();
  const text = JSON.stringify(createOpenApi());
  routes.get("/openapi.json", (c) => {
    readQuery(c, NoParams);
    return c.body(text, 200, { "Content-Type": "application/json" });
  });
  return routes;
}

/** Returns the OpenAPI 3.1 document. */
export function createOpenApi(): JsonSchema {
  const paths = new Map<string, JsonSchema>();
  for (const operation of OPERATIONS) {
    const { path, method } = operation;
    paths.set(path, { ...paths.get(path), [method]: toOperation(operation) });
  }
  const schemas = Object.entries(SHAPES).map(([name, shape]) => [name, answerSchema(shape)]);
  return {
    openapi: "3.1.0",
    info: {
      title: "Commonplace",
      version: VERSION,
      description: "Search and reading of a vault of Markdown, over HTTP and MCP",
    },
    security: [{}, { token: [] }],
    paths: Object.fromEntries(paths),
    components: {
      securitySchemes: { token: { type: "http", scheme: "bearer" } },
      schemas: { ...Object.fromEntries(schemas), Problem: PROBLEM },
    },
  };
}

function toOperation(operation: Operation): JsonSchema {
  const { id, summary, query, parameters = [], body, success = 200, isRpc } = operation;
  const { answer, headers, statuses = {} } = operation;
  const all = [...parameters, ...(query ? toParameters(query) : [])];
  const content = "name" in answer
    ? { "application/json": { schema: ref(answer.name) } }
    : answer.content;
  const own = Object.entries(statuses).map(([status, description]) => [
    status,
    Number(status) < 400 ? { description } : { description, content: PROBLEM_CONTENT },
  ]);
  return {
    operationId: id,
    summary,
    ...(all.length === 0 ? {} : { parameters: all }),
    ...(body === undefined ? {} : { requestBody: jsonBody(body) }),
    responses: {
      [success]: { description: "The answer", ...(headers ? { headers } : {}), content },
      ...Object.fromEntries(own),
      default: {
        description: "What went wrong",
        content: isRpc ? RPC_ERROR_CONTENT : PROBLEM_CONTENT,
      },
    },
  };
}

function jsonBody(shape: Shape): JsonSchema {
  return { content: { "application/json": { schema: toJsonSchema(shape, "input") } } };
}

/** Describes what may stand in the query: numbers as such, though they come as text. */
function toParameters(query: NonNullable<Operation["query"]>): JsonSchema[] {
  return Object.entries(query.shape).map(([name, shape]) => {
    const parsed = toJsonSchema(shape, "output");
    // What a function makes of the text has no schema: then the text itself is described.
    const { description, ...described } = "type" in parsed ? parsed : toJsonSchema(shape, "input");
    const isList = described["type"] === "array";
    // An empty list as default says the same as none.
    const { default: _none, ...schema } = described;
    return {
      name,
      in: "query",
      required: !isOptional(shape),
      ...(description === undefined ? {} : { description }),
      // Commas between the items.
      ...(isList ? { style: "form", explode: false } : {}),
      schema: isList ? schema : described,
    };
  });
}

function isOptional(shape: Shape): boolean {
  return shape.safeParse(undefined).success;
}

/** As input, so that the document does not forbid the fields that later versions add. */
function answerSchema(shape: Shape): JsonSchema {
  return toJsonSchema(shape, "input");
}

function ref(name: string): JsonSchema {
  return { $ref: `#/components/schemas/${name}` };
}

const PROBLEM: JsonSchema = {
  type: "object",
  description: "RFC 9457",
  properties: {
    type: { type: "string" },
    title: { type: "string" },
    status: { type: "integer" },
    code: { type: "string", description: "Stable name of the error" },
    detail: { type: "string" },
    requestId: { type: "string", description: "Also in the log of the server" },
    problems: {
      type: "array",
      description: "Every field that is wrong",
      items: {
        type: "object",
        properties: {
          field: { type: "string" },
          value: { type: "string" },
          message: { type: "string" },
        },
        required: ["field", "message"],
      },
    },
  },
  required: ["type", "title", "status", "code", "detail", "requestId"],
};

const PROBLEM_CONTENT: JsonSchema = {
  "application/problem+json": { schema: ref("Problem") },
};

const RPC_ERROR_CONTENT: JsonSchema = {
  "application/json": { schema: ref("RpcError") },
};
