/** Who may use MCP, and how those hear of it who may not. */
import { deepStrictEqual as deepEqual, match, ok, strictEqual as equal } from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import { MCP_PATHS } from "@/routes/mcp.ts";
import { serveMcp } from "@/tests/_support/mcp.ts";
import {
  checkRows,
  INITIALIZE,
  INITIALIZED,
  JSON_TYPE,
  modernWith,
  post,
  type Row,
} from "@/tests/_support/mcp_rows.ts";
import { sendRaw } from "@/tests/_support/raw_http.ts";

describe("methods that there are not", () => {
  const methods: readonly [path: string, allow: string, methods: readonly string[]][] = [
    ["/mcp", "POST, GET, HEAD, DELETE", ["PUT", "PATCH"]],
    ["/sse", "GET, HEAD", ["POST", "PUT", "DELETE"]],
    ["/messages", "POST", ["GET", "PUT", "DELETE"]],
  ];
  checkRows(methods.flatMap(([path, allow, refused]) =>
    refused.map((method): Row => (
      {
        name: "it",
        path,
        ask: { method },
        status: 405,
        code: -32000,
        headers: { allow },
      }
    ))
  ));
});

describe("who may come", () => {
  const origins = ["https://evil.test", "null", "http://127.0.0.1.evil.test"];
  checkRows(
    MCP_PATHS.flatMap((path) =>
      origins.flatMap((origin) => [...["GET", "POST", "OPTIONS", "DELETE"].map((method): Row => (
        {
          name: `from ${origin}`,
          path,
          ask: { method, headers: { origin } },
          status: 403,
          code: -32000,
        }
      ))])
    ),
  );
});

describe("who may come, by Host", () => {
  for (const path of MCP_PATHS) {
    for (const method of ["GET", "POST", "OPTIONS"]) {
      it(`${method} ${path} for a foreign Host: 403`, async () => {
        await using world = await serveMcp();

        const answer = await sendRaw(
          world.server.port,
          `${method} ${path} HTTP/1.1\r\nHost: evil.test\r\nConnection: close\r\n\r\n`,
        );

        match(answer, /^HTTP\/1\.1 403 /);
        match(answer, /forbidden-host/);
      });
    }
  }
});

const APP = "http://app.test:6274";

describe("with a token", () => {
  const bearer = { authorization: "Bearer sesame" };
  const challenge = { "www-authenticate": 'Bearer realm="commonplace"' };
  const preflight = { origin: APP, "access-control-request-method": "POST" };
  const methodOf = (path: string) => (path === "/sse" ? "GET" : "POST");
  checkRows([
    ...MCP_PATHS.flatMap((
      path,
    ): Row[] => [{
      name: "none",
      path,
      ask: { method: methodOf(path) },
      status: 401,
      code: -32000,
      headers: challenge,
    }, {
      name: "a wrong one",
      path,
      ask: { method: methodOf(path), headers: { authorization: "Bearer x" } },
      status: 401,
      code: -32000,
      headers: challenge,
    }, {
      name: "none, from an allowed page, which may read the refusal",
      path,
      ask: { method: methodOf(path), headers: { origin: APP } },
      status: 401,
      code: -32000,
      headers: { ...challenge, "access-control-allow-origin": APP },
    }, {
      name: "none, as a preflight",
      path,
      ask: { method: "OPTIONS", headers: preflight },
      status: 204,
      says: /^$/,
      headers: { "access-control-allow-origin": APP },
    }]),
    { name: "the token", ask: post(INITIALIZE, bearer), status: 200 },
    {
      name: "the token, no session",
      ask: post(INITIALIZED, bearer),
      status: 400,
      code: -32000,
    },
    {
      name: "the token, 2026",
      ask: modernWith(bearer, "tools/list"),
      status: 200,
    },
    {
      name: "the token, no session",
      path: "/messages?sessionId=x",
      ask: post(INITIALIZED, bearer),
      status: 404,
      code: -32000,
    },
    {
      name: "the token",
      path: "/sse",
      ask: { method: "HEAD", headers: bearer },
      status: 200,
    },
  ], { token: "sesame", allowedOrigins: [APP] });
});

describe("CORS", () => {
  /** Returns all CORS headers of an answer. */
  async function corsOf(init: RequestInit): Promise<ReadonlyMap<string, string>> {
    await using world = await serveMcp({}, { config: { allowedOrigins: [APP] } });
    const response = await fetch(`${world.server.url}/mcp`, init);
    await response.body?.cancel();
    return new Map([...response.headers].filter(([name]) => name.startsWith("access-control-")));
  }
  const listOf = (text: string | undefined) => (text ?? "").split(/, */).toSorted();

  it("a preflight tells what a client has to send", async () => {
    const cors = await corsOf({
      method: "OPTIONS",
      headers: { origin: APP, "access-control-request-method": "POST" },
    });

    equal(cors.get("access-control-allow-origin"), APP);
    deepEqual(listOf(cors.get("access-control-allow-methods")), [
      "DELETE",
      "GET",
      "OPTIONS",
      "POST",
    ]);
    deepEqual(listOf(cors.get("access-control-allow-headers")), [
      "accept",
      "authorization",
      "content-type",
      "last-event-id",
      "mcp-method",
      "mcp-name",
      "mcp-protocol-version",
      "mcp-session-id",
      "x-commonplace-cwd",
      "x-commonplace-task",
    ]);
    ok(!cors.has("access-control-allow-credentials"));
  });

  for (
    const [name, init] of [["answers", post(INITIALIZE)], ["errors", post("{")]] as const
  ) {
    it(`${name} can be read by an allowed page`, async () => {
      const cors = await corsOf({ ...init, headers: { ...JSON_TYPE, origin: APP } });

      equal(cors.get("access-control-allow-origin"), APP);
      deepEqual(listOf(cors.get("access-control-expose-headers")), [
        "mcp-protocol-version",
        "mcp-session-id",
        "www-authenticate",
      ]);
    });

    it(`${name} have no such header for a client that is no page`, async () => {
      deepEqual(await corsOf(init), new Map());
    });

    it(`${name} have none for a page that is not allowed`, async () => {
      const headers = { ...JSON_TYPE, origin: "https://evil.test" };

      deepEqual(await corsOf({ ...init, headers }), new Map());
    });
  }
});
