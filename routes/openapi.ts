/** `GET /openapi.json`: the description of the HTTP interface, made from the contracts. */
import { Hono } from "hono";
import { type JsonSchema, NoParams, toJsonSchema } from "@/lib/contracts.ts";
import { VERSION } from "@/lib/version.ts";
import type { AppEnv } from "./app_env.ts";
import { needsOf } from "./access_needs.ts";
import { type Operation, type Shape, TASK } from "./openapi_operation.ts";
import { OPERATIONS, ref, SHAPES } from "./openapi_operations.ts";
import { readQuery } from "./read_query.ts";

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
      description: "Search, reading and writing of a vault of Markdown, over HTTP and MCP",
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
  const { who } = needsOf(operation.method.toUpperCase(), operation.path);
  const task = who === "agent" || who === "hints" ? [TASK] : [];
  const all = [...parameters, ...task, ...(query ? toParameters(query) : [])];
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
