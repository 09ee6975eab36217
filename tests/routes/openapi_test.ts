import { deepStrictEqual as deepEqual, ok, strictEqual as equal } from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import {
  DiagnosticsAnswerShape,
  HealthAnswerShape,
  NoteAnswerShape,
  ReindexAnswerShape,
  SearchAnswerShape,
  StoresAnswerShape,
} from "@/lib/contracts.ts";
import { MemoriesAnswerShape, MemoryAnswerShape } from "@/lib/contracts_memories.ts";
import { toTemplate } from "@/routes/observe.ts";
import { createOpenApi } from "@/routes/openapi.ts";
import { HealthMinimumShape } from "@/routes/ops.ts";
import { testWorld } from "@/tests/_support/world.ts";

interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly required?: boolean;
  readonly schema: Readonly<Record<string, unknown>>;
}

interface Operation {
  readonly operationId: string;
  readonly responses: { readonly default: { readonly content: Readonly<Record<string, unknown>> } };
  readonly parameters?: readonly Parameter[];
}

interface Document {
  readonly openapi: string;
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, unknown>> };
}

async function fetchDocument(): Promise<Document> {
  await using world = await testWorld();
  const response = await world.request("/openapi.json");
  equal(response.status, 200);
  equal(response.headers.get("content-type"), "application/json");
  return await response.json();
}

function operationsOf({ paths }: Document): string[] {
  return Object.entries(paths).flatMap(([path, operations]) =>
    Object.keys(operations).map((method) => `${method.toUpperCase()} ${path}`)
  );
}

function parametersOf(document: Document, path: string): Map<string, Parameter> {
  const operations = document.paths[path] ?? {};
  const { parameters = [] } = operations["get"] ?? Object.values(operations)[0] ?? {};
  return new Map(parameters.map((parameter) => [parameter.name, parameter]));
}

describe("GET /openapi.json", () => {
  it("GET /openapi.json describes every route, and no other", async () => {
    await using world = await testWorld();
    const document = await fetchDocument();

    const routes = world.app.routes
      .filter(({ method }) => method !== "ALL")
      .map(({ method, path }) => `${method} ${toTemplate(path)}`);

    deepEqual(operationsOf(document).toSorted(), routes.toSorted());
  });

  it("GET /openapi.json tells of each path what its errors look like", async () => {
    await using world = await testWorld();
    const { paths } = await fetchDocument();

    for (const [path, operations] of Object.entries(paths)) {
      for (const [method, { responses }] of Object.entries(operations)) {
        const refused = await world.request(path, {
          method: method.toUpperCase(),
          headers: { host: "evil.test" },
        });

        equal(refused.status, 403);
        const types = Object.keys(responses.default.content);
        deepEqual([refused.headers.get("content-type")], types, path);
      }
    }
  });

  it("GET /openapi.json is of version 3.1, with unique operation ids", async () => {
    const document = await fetchDocument();

    const ids = Object.values(document.paths).flatMap((operations) =>
      Object.values(operations).map(({ operationId }) => operationId)
    );

    equal(document.openapi, "3.1.0");
    equal(new Set(ids).size, ids.length);
  });

  it("GET /openapi.json refers to nothing that is not there", async () => {
    const document = await fetchDocument();

    const refs = JSON.stringify(document).matchAll(/"\$ref":"([^"]+)"/g);

    const known = Object.keys(document.components.schemas);
    for (const [, ref = ""] of refs) {
      ok(known.includes(ref.replace("#/components/schemas/", "")), ref);
    }
  });

  it("GET /openapi.json declares the parameters of each path", async () => {
    const document = await fetchDocument();

    for (const path of Object.keys(document.paths)) {
      const names = Array.from(path.matchAll(/\{(\w+)\}/g), ([, name]) => name);
      const declared = [...parametersOf(document, path).values()]
        .filter((parameter) => parameter.in === "path" && parameter.required)
        .map(({ name }) => name);

      deepEqual(declared, names, path);
    }
  });

  it("GET /openapi.json describes query parameters as the contract reads them", async () => {
    const parameters = parametersOf(await fetchDocument(), "/api/search");

    deepEqual([...parameters.keys()], [
      "X-Commonplace-Cwd",
      "X-Commonplace-Task",
      "q",
      "mode",
      "limit",
      "scope",
      "project",
      "cwd",
      "repo",
      "kind",
      "tags",
      "folder",
      "status",
    ]);
    ok(parameters.get("q")?.required);
    ok(!parameters.get("limit")?.required);
    deepEqual(parameters.get("limit")?.schema, {
      type: "integer",
      minimum: 1,
      maximum: 100,
      default: 10,
    });
    deepEqual(parameters.get("mode")?.schema, {
      type: "string",
      enum: ["grep", "keyword", "vector", "hybrid"],
      default: "hybrid",
    });
    equal(parameters.get("kind")?.schema["type"], "array");
    equal(parameters.get("tags")?.schema["type"], "string");
  });

  it("createOpenApi() describes lines by their pattern", () => {
    const text = JSON.stringify(createOpenApi());

    ok(text.includes(JSON.stringify("^[1-9]\\d{0,9}(-[1-9]\\d{0,9})?$")));
  });
});

describe("answers", () => {
  const TOKEN = "0123456789abcdef";
  const FILES = {
    "a.md": "# Title\n\nfind me\n",
    "memories/m.md": "---\nid: mem_1\ndescription: find\nmetadata: {actor: codex}\n---\nfind\n",
    "bad.md": "---\na: [\n---\n",
  };
  const cases = [
    ["GET", "/healthz", HealthAnswerShape],
    ["GET", "/api/search?q=find", SearchAnswerShape],
    ["GET", "/api/search?q=find&mode=grep", SearchAnswerShape],
    ["GET", "/api/notes/a.md", NoteAnswerShape],
    ["GET", "/api/notes/bad.md", NoteAnswerShape],
    ["GET", "/api/memories", MemoriesAnswerShape],
    ["GET", "/api/memories?limit=1", MemoriesAnswerShape],
    ["GET", "/api/memories/mem_1", MemoryAnswerShape],
    ["GET", "/api/memories/bad.md", MemoryAnswerShape],
    ["GET", "/api/diagnostics", DiagnosticsAnswerShape],
    ["GET", "/api/stores", StoresAnswerShape],
    ["POST", "/api/reindex", ReindexAnswerShape],
  ] as const;
  for (const [method, path, shape] of cases) {
    it(`${method} ${path} answers with its shape and no more`, async () => {
      await using world = await testWorld(FILES);

      const answer = await (await world.request(path, { method })).json();

      deepEqual(shape.parse(answer), answer);
    });
  }

  it("GET /healthz answers with its minimum to those without the token", async () => {
    await using world = await testWorld(FILES, { token: TOKEN });

    const answer = await (await world.request("/healthz")).json();

    deepEqual(HealthMinimumShape.parse(answer), answer);
  });
});
