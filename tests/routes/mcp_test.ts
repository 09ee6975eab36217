/** What goes over the wire, row by row: clients rely on it in ways that their SDKs do not show. */
import { describe } from "@std/testing/bdd";
import { MAX_BODY_BYTES } from "@/routes/limits.ts";
import { MODERN_VERSION, modernRequest } from "@/tests/_support/mcp.ts";
import {
  checkRows,
  INITIALIZE,
  initialize,
  INITIALIZED,
  LIST,
  modernWith,
  post,
  postInChunks,
  type Row,
  rpc,
  toolCall,
} from "@/tests/_support/mcp_rows.ts";

const ofVersion = (version: string): RequestInit => {
  const init = modernWith({ "mcp-protocol-version": version }, "tools/list");
  return {
    ...init,
    body: String(init.body).replace(`"${MODERN_VERSION}"`, `"${version}"`),
  };
};

/** Rows that hold with sessions and without. */
function rowsOf2025(mode: "sessions" | "stateless"): readonly Row[] {
  const inSession = mode === "sessions";
  const rows: Row[] = [];
  for (const version of ["2025-11-25", "2025-06-18", "2025-03-26"]) {
    const says = new RegExp(`"protocolVersion":"${version}".*"name":"commonplace"`);
    rows.push({
      name: `initialize ${version}`,
      ask: post(initialize(version), { accept: "application/json, text/event-stream" }),
      status: 200,
      says,
      headers: { "content-type": "text/event-stream" },
    });
  }
  // Who does not ask for events gets none.
  for (const accept of ["*/*", "application/json"]) {
    rows.push({
      name: `a call with Accept: ${accept}`,
      ask: post(toolCall("recall", { query: "zebra" }), { accept }),
      inSession,
      status: 200,
      says: /^\{"result":.*"total":1/,
      headers: { "content-type": "application/json" },
    });
  }
  for (
    const accept of ["*/*", "application/json", "text/event-stream", "text/html"]
  ) {
    rows.push({ name: `Accept: ${accept}`, ask: post(INITIALIZE, { accept }), status: 200 });
  }
  // Line ends of other kinds are no line ends of events, and JSON holds them as they are.
  rows.push({
    name: "a query with a line separator",
    ask: post(toolCall("list\u2028data: {}", {}), { accept: "*/*" }),
    inSession,
    status: 200,
    says: /^\{"jsonrpc":"2.0","id":1,"error":\{.*There is no tool/s,
    headers: { "content-type": "application/json" },
  });
  rows.push(
    {
      name: "a version that nobody knows",
      ask: post(initialize("1999-01-01")),
      status: 200,
      says: /"protocolVersion":"2025-11-25"/,
    },
    { name: "initialized", inSession, ask: post(INITIALIZED), status: 202, says: /^$/ },
    {
      name: "ping",
      inSession,
      ask: post(rpc("ping")),
      status: 200,
      says: /"result":\{\}/,
    },
    { name: "tools/list", inSession, ask: post(LIST), status: 200, says: /"name":"recall"/ },
    {
      name: "tools/call",
      inSession,
      ask: post(toolCall("recall", { query: "zebra" })),
      status: 200,
      says: /"total":1/,
    },
    {
      name: "an unknown method",
      inSession,
      ask: post(rpc("foo/bar")),
      status: 200,
      says: /"code":-32601/,
    },
    {
      name: "a bad MCP-Protocol-Version",
      inSession,
      ask: post(LIST, { "mcp-protocol-version": "1999-01-01" }),
      status: 400,
      code: -32000,
      says: /supported versions: 2025-11-25/,
    },
    {
      name: "plain text",
      ask: post(INITIALIZE, { "content-type": "text/plain" }),
      status: 415,
      code: -32000,
      says: /Content-Type: application\/json/,
    },
    {
      name: "no type",
      ask: { method: "POST", body: new Uint8Array([123, 125]) },
      status: 415,
      code: -32000,
    },
    {
      name: "bad JSON",
      ask: post("{"),
      status: 400,
      code: -32700,
      says: /malformed-json/,
    },
    { name: "an empty body", ask: post(""), status: 400, code: -32700 },
    {
      name: "no body at all",
      ask: { method: "POST" },
      status: 400,
      code: -32700,
    },
    {
      name: "bytes that are no text",
      ask: { ...post(""), body: new Uint8Array([255]) },
      status: 400,
      code: -32700,
    },
    { name: "no message", ask: post({}), status: 400, code: -32600 },
    { name: "null", ask: post("null"), status: 400, code: -32600 },
    {
      name: "too long by its length",
      ask: post(" ".repeat(MAX_BODY_BYTES + 1)),
      status: 413,
      code: -32000,
    },
    {
      name: "too long in chunks",
      ask: postInChunks(MAX_BODY_BYTES + 1),
      status: 413,
      code: -32000,
    },
  );
  return rows;
}

describe("POST /mcp of 2025", () => {
  const no = /no such session.*Send initialize/;
  checkRows([
    ...rowsOf2025("sessions"),
    {
      name: "no session",
      ask: post(LIST),
      status: 400,
      code: -32000,
      says: /no Mcp-Session-Id header: send initialize first/,
    },
    {
      name: "initialized, and no session",
      ask: post(INITIALIZED),
      status: 400,
      code: -32000,
    },
    {
      name: "a session that it never had",
      ask: post(LIST, { "mcp-session-id": "x" }),
      status: 404,
      code: -32001,
      says: no,
    },
    {
      name: "a session by the name of what every object has",
      ask: post(LIST, { "mcp-session-id": "__proto__" }),
      status: 404,
      code: -32001,
    },
    {
      name: "initialize, in a session",
      ask: post(INITIALIZE),
      inSession: true,
      status: 400,
      code: -32600,
    },
    {
      name: "initialize, with a session that has ended",
      ask: post(INITIALIZE, { "mcp-session-id": "x" }),
      status: 200,
    },
    {
      name: "initialize without what it needs",
      ask: post(rpc("initialize", {})),
      status: 400,
      code: -32600,
      says: /initialize needs an id, protocolVersion, capabilities and clientInfo/,
    },
    {
      name: "initialize as a notification",
      ask: post({ ...INITIALIZE, id: undefined }),
      status: 400,
      code: -32600,
    },
    {
      name: "Accept in capitals",
      ask: post(LIST, { accept: "Application/JSON, TEXT/Event-Stream" }),
      inSession: true,
      status: 200,
      headers: { "content-type": "text/event-stream" },
    },
    ...[
      rpc("resources/read"),
      rpc("resources/list", { cursor: 5 }),
      rpc("resources/subscribe", { uri: 7 }),
      rpc("completion/complete", { ref: 5 }),
      rpc("prompts/get", { name: "audit", arguments: { topic: 5 } }),
    ].map((body): Row => ({
      name: `wrong parameters of ${(body as { method: string }).method}`,
      ask: post(body, { accept: "*/*" }),
      inSession: true,
      status: 200,
      code: -32602,
      id: 1,
      says: /Invalid params for/,
    })),
    {
      name: "an answer to nothing",
      ask: post({ jsonrpc: "2.0", id: 77, result: {} }),
      inSession: true,
      status: 202,
    },
  ]);
});

describe("GET and DELETE /mcp of 2025", () => {
  const get = (headers: Record<string, string>): RequestInit => ({ headers });
  const del = (headers: Record<string, string>): RequestInit => ({ method: "DELETE", headers });
  const none = { "mcp-session-id": "x" };
  checkRows([
    { name: "no session", ask: get({}), status: 400, code: -32000 },
    { name: "an empty session", ask: get({ "mcp-session-id": "" }), status: 400, code: -32000 },
    { name: "no such session", ask: get(none), status: 404, code: -32001 },
    { name: "no session", ask: { method: "HEAD" }, status: 400 },
    { name: "no such session", ask: { method: "HEAD", headers: none }, status: 404 },
    {
      name: "a session",
      ask: { method: "HEAD" },
      inSession: true,
      status: 200,
      headers: { "content-type": "text/event-stream" },
    },
    {
      name: "Accept: application/json",
      ask: get({ accept: "application/json" }),
      inSession: true,
      status: 406,
      code: -32000,
    },
    {
      name: "a bad MCP-Protocol-Version",
      ask: get({ "mcp-protocol-version": "1999-01-01" }),
      inSession: true,
      status: 400,
      code: -32000,
    },
    {
      name: "a Last-Event-ID that is none",
      ask: get({ "last-event-id": "made-up" }),
      inSession: true,
      status: 400,
      code: -32000,
      says: /Invalid event ID format/,
    },
    { name: "no session", ask: del({}), status: 400, code: -32000 },
    { name: "no such session", ask: del(none), status: 404, code: -32001 },
    { name: "a session", ask: del({}), inSession: true, status: 200, says: /^$/ },
  ]);
});

describe("--mcp-legacy stateless", () => {
  checkRows([
    ...rowsOf2025("stateless"),
    {
      name: "a session, which is ignored",
      ask: post(LIST, { "mcp-session-id": "x" }),
      status: 200,
    },
    { name: "it", ask: { method: "GET" }, status: 405, code: -32000, headers: { allow: "POST" } },
    {
      name: "it",
      ask: { method: "DELETE" },
      status: 405,
      code: -32000,
      headers: { allow: "POST" },
    },
  ], { mcpLegacy: "stateless" });
});

describe("batches", () => {
  const rows = ["/mcp", "/messages?sessionId=x"].flatMap((path) =>
    [[], [INITIALIZE], [LIST, LIST], [INITIALIZED]].flatMap((batch): Row[] => {
      const says = /Batches are not taken here/;
      const name = JSON.stringify(batch).slice(0, 40);
      const modern = { "mcp-protocol-version": MODERN_VERSION, "mcp-method": "tools/list" };
      return [{}, { "mcp-protocol-version": "2025-03-26" }, modern].map((headers) => (
        {
          name,
          path,
          ask: post(batch, headers),
          status: 400,
          code: -32600,
          says,
        }
      ));
    })
  );
  checkRows(rows);
});

describe("POST /mcp of 2026", () => {
  const recall = ["tools/call", { name: "recall", arguments: { query: "zebra" } }] as const;
  checkRows([{
    name: "server/discover",
    ask: modernRequest("server/discover"),
    status: 200,
    says: /"supportedVersions":\["2026-07-28"\].*"instructions":"Commonplace/,
  }, {
    name: "tools/list",
    ask: modernRequest("tools/list"),
    status: 200,
    says: /"name":"recall"/,
  }, {
    name: "tools/call",
    ask: modernRequest(...recall),
    status: 200,
    says: /"structuredContent":\{"mode":"keyword".*"total":1/,
    headers: { "content-type": "application/json" },
  }, {
    name: "subscriptions/listen for tools, which never change, and ends",
    ask: modernRequest("subscriptions/listen", { notifications: { toolsListChanged: true } }),
    status: 200,
    says: /acknowledged[^]*"resultType":"complete"/,
  }, {
    name: "no Mcp-Method",
    ask: modernWith({ "mcp-method": undefined }, "tools/list"),
    status: 400,
    code: -32020,
    id: 1,
  }, {
    name: "another Mcp-Method",
    ask: modernWith({ "mcp-method": "ping" }, "tools/list"),
    status: 400,
    code: -32020,
    id: 1,
  }, {
    name: "another Mcp-Name",
    ask: modernWith({ "mcp-name": "memory_open" }, ...recall),
    status: 400,
    code: -32020,
    id: 1,
  }, {
    name: "no MCP-Protocol-Version",
    ask: modernWith({ "mcp-protocol-version": undefined }, "tools/list"),
    status: 400,
    code: -32020,
    id: 1,
  }, {
    name: "another MCP-Protocol-Version",
    ask: modernWith({ "mcp-protocol-version": "2025-11-25" }, "tools/list"),
    status: 400,
    code: -32020,
    id: 1,
  }, {
    name: "a version to come",
    ask: ofVersion("2099-01-01"),
    status: 400,
    code: -32022,
    id: 1,
    says: /"supported":\["2026-07-28"\]/,
  }, {
    name: "an unknown method",
    ask: modernRequest("foo/bar"),
    status: 404,
    code: -32601,
    id: 1,
  }, {
    name: "ping",
    ask: modernRequest("ping"),
    status: 404,
    code: -32601,
    id: 1,
  }, {
    name: "resources/list",
    ask: modernRequest("resources/list"),
    status: 200,
    says: /"resources":\[\{"uri":"store:\/\/global\/MEMORY.md"/,
  }, {
    name: "resources/read of what there is not",
    ask: modernRequest("resources/read", { uri: "memory://none" }),
    status: 200,
    code: -32602,
    id: 1,
  }, {
    name: "a filter of what to listen for that is too long",
    ask: modernRequest("subscriptions/listen", {
      notifications: { resourceSubscriptions: [`memory://${"x".repeat(600_000)}`] },
    }),
    status: 400,
    code: -32600,
  }, {
    name: "wrong parameters of prompts/get",
    ask: modernRequest("prompts/get", { name: "audit", arguments: { topic: 5 } }),
    status: 200,
    code: -32602,
    id: 1,
  }, {
    name: "resources/subscribe, which is of 2025",
    ask: modernRequest("resources/subscribe", { uri: "memory://none" }),
    status: 404,
    code: -32601,
    id: 1,
  }, {
    name: "an unknown tool",
    ask: modernRequest("tools/call", { name: "recal", arguments: {} }),
    status: 200,
    code: -32602,
    id: 1,
    says: /did you mean recall\?/,
  }, {
    name: "wrong arguments",
    ask: modernRequest("tools/call", { name: "recall" }),
    status: 200,
    says: /query must be given.*"isError":true/,
  }]);
});

describe("--mcp-legacy off", () => {
  checkRows([{
    name: "initialize",
    ask: post(INITIALIZE),
    status: 400,
    code: -32022,
    id: 1,
    says: /"supported":\["2026-07-28"\]/,
  }, {
    name: "tools/list of 2025",
    ask: post(LIST),
    status: 400,
    id: 1,
    code: -32022,
  }, {
    name: "tools/list of 2026",
    ask: modernRequest("tools/list"),
    status: 200,
    says: /"recall"/,
  }], { mcpLegacy: "off" });
});

describe("--toolsets journal", () => {
  const says = /Tool recall is switched off: start the server with core in --toolsets/;
  checkRows([{
    name: "tools/list",
    ask: modernRequest("tools/list"),
    status: 200,
    says: /"tools":\[\{"name":"begin_task"/,
  }, {
    name: "tools/call recall",
    ask: modernRequest("tools/call", { name: "recall", arguments: { query: "x" } }),
    status: 200,
    code: -32602,
    id: 1,
    says,
  }, {
    name: "tools/call recall of 2025",
    ask: post(toolCall("recall", { query: "x" })),
    inSession: true,
    status: 200,
    says,
  }], { toolsets: ["journal"] });
});
