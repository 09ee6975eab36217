/** The transport of 2024 over the wire: `GET /sse` and `POST /messages`. */
import { deepStrictEqual as deepEqual, match, ok, strictEqual as equal } from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import { McpEndpoint } from "@/lib/mcp/mcp_endpoint.ts";
import { MAX_PENDING_CALLS, MAX_SSE_STREAMS } from "@/lib/mcp/sse_streams.ts";
import { createApp } from "@/routes/app.ts";
import { MAX_BODY_BYTES } from "@/routes/limits.ts";
import { modernRequest, serveMcp } from "@/tests/_support/mcp.ts";
import {
  checkRows,
  INITIALIZE,
  INITIALIZED,
  LIST,
  post,
  postInChunks,
  toolCall,
} from "@/tests/_support/mcp_rows.ts";
import { testServices } from "@/tests/_support/services.ts";
import { until } from "@/tests/_support/until.ts";
import { NEAR } from "@/tests/_support/world.ts";

describe("POST /messages", () => {
  const path = "/messages?sessionId=x";
  checkRows([
    {
      name: "without sessionId",
      path: "/messages",
      ask: post(INITIALIZED),
      status: 400,
      code: -32600,
      says: /sessionId must be given/,
    },
    {
      name: "with an empty one",
      path: "/messages?sessionId=",
      ask: post(INITIALIZED),
      status: 400,
      code: -32600,
    },
    {
      name: "for no session",
      path,
      ask: post(INITIALIZED),
      status: 404,
      code: -32000,
      says: /GET \/sse/,
    },
    {
      name: "in plain text",
      path,
      ask: post("{}", { "content-type": "text/plain" }),
      status: 415,
      code: -32000,
    },
    { name: "with bad JSON", path, ask: post("{"), status: 400, code: -32700 },
    { name: "with no message", path, ask: post({}), status: 400, code: -32600 },
    {
      name: "too long",
      path,
      ask: post(" ".repeat(MAX_BODY_BYTES + 1)),
      status: 413,
      code: -32000,
    },
    {
      name: "too long in chunks",
      path,
      ask: postInChunks(MAX_BODY_BYTES + 1),
      status: 413,
      code: -32000,
    },
  ]);
});

/** Opens an event stream and reads its first event. */
async function openSse(url: string) {
  const response = await fetch(`${url}/sse`);
  ok(response.body);
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  const { value = "" } = await reader.read();
  const endpoint = /^event: endpoint\ndata: (\/messages\?sessionId=[\w-]+)\n\n$/
    .exec(value)?.[1];
  ok(endpoint, value);
  return { response, reader, endpoint: `${url}${endpoint}` };
}

async function countStreams(url: string): Promise<number> {
  const metrics = await fetch(`${url}/metrics`).then((response) => response.text());
  return Number(/^commonplace_sse_streams (\d+)$/m.exec(metrics)?.[1]);
}

describe("GET /sse", () => {
  it("opens a stream that no proxy keeps back, and tells where to post", async () => {
    await using world = await serveMcp();
    const { url } = world.server;

    const { response, reader, endpoint } = await openSse(url);
    const posted = await fetch(endpoint, post(LIST));
    const { value = "" } = await reader.read();
    await reader.cancel();

    equal(response.status, 200);
    equal(response.headers.get("content-type"), "text/event-stream");
    equal(response.headers.get("cache-control"), "no-cache, no-transform");
    equal(response.headers.get("x-accel-buffering"), "no");
    deepEqual([posted.status, await posted.text()], [202, "Accepted"]);
    match(value, /^event: message\ndata: \{.*"name":"recall"/);
  });

  it("is counted while it is open, and HEAD opens none", async () => {
    await using world = await serveMcp();
    const { url } = world.server;

    const head = await fetch(`${url}/sse`, { method: "HEAD" });
    const counts = [await countStreams(url)];
    const { reader } = await openSse(url);
    counts.push(await countStreams(url));
    await reader.cancel();
    // The server hears of it when the socket closes.
    await until(async () => await countStreams(url) === 0);

    deepEqual([head.status, head.headers.get("content-type")], [200, "text/event-stream"]);
    deepEqual(counts, [0, 1]);
  });

  it("refuses a request too many of one session until others are answered", async () => {
    await using world = await serveMcp({}, {
      replace: () => ({ grep: () => Promise.withResolvers<never>().promise }),
    });
    const { reader, endpoint } = await openSse(world.server.url);
    const ask = async (id: number) => {
      const endless = { ...toolCall("memory_search", { query: "x" }), id };
      const response = await fetch(endpoint, post(endless));
      return [response.status, response.headers.get("retry-after"), await response.text()] as const;
    };

    const statuses = await Promise.all(
      Array.from({ length: MAX_PENDING_CALLS }, async (_, id) => (await ask(id))[0]),
    );
    const [status, retryAfter, text] = await ask(MAX_PENDING_CALLS);
    await reader.cancel();

    ok(statuses.every((each) => each === 202));
    deepEqual([status, retryAfter], [429, "1"]);
    match(
      text,
      /^\{"jsonrpc":"2.0","id":null,"error":\{"code":-32000,"message":"Too many requests/,
    );
  });
});

describe("McpEndpoint behind the app", () => {
  /** No sockets: there would be more than a machine likes to open in a test. */
  async function openApp() {
    const services = await testServices();
    const mcp = new McpEndpoint(services);
    const app = createApp(services, mcp);
    return {
      mcp,
      request: async (path: string, init?: RequestInit) => {
        const asked = new Request(`http://127.0.0.1${path}`, init);
        asked.headers.set("host", "127.0.0.1");
        return await app.fetch(asked, { remoteAddr: NEAR });
      },
      [Symbol.asyncDispose]: async () => {
        await mcp.close(0);
        await services[Symbol.asyncDispose]();
      },
    };
  }

  async function checkUnavailable(response: Response, seconds: string): Promise<void> {
    const text = await response.text();
    deepEqual([response.status, response.headers.get("retry-after")], [503, seconds]);
    equal(response.headers.get("content-type"), "application/json");
    match(text, /^\{"jsonrpc":"2.0","id":null,"error":\{"code":-32000,.*"code":"unavailable"/);
  }

  it("GET /sse: 503 when too many streams are open, and others are served all the same", async () => {
    await using app = await openApp();
    for (let count = 0; count < MAX_SSE_STREAMS; count++) {
      equal((await app.request("/sse")).status, 200);
    }

    await checkUnavailable(await app.request("/sse"), "5");
    equal((await app.request("/mcp", modernRequest("tools/list"))).status, 200);
  });

  it("POST /mcp, GET /sse: 503 while the server stops; POST /messages: 404", async () => {
    await using app = await openApp();
    await app.mcp.close(0);

    for (const init of [modernRequest("tools/list"), post(INITIALIZE)]) {
      await checkUnavailable(await app.request("/mcp", init), "1");
    }
    await checkUnavailable(await app.request("/sse"), "1");
    equal((await app.request("/messages?sessionId=x", post(INITIALIZED))).status, 404);
  });
});

describe("--mcp-sse off", () => {
  const says = /switched off: use POST \/mcp, or start the server with --mcp-sse on/;
  checkRows([{ name: "a client of 2024", path: "/sse", ask: {}, status: 404, code: -32000, says }, {
    name: "a client of 2024",
    path: "/sse",
    ask: { method: "HEAD" },
    status: 404,
  }, {
    name: "a client of 2024",
    path: "/messages?sessionId=x",
    ask: post(INITIALIZED),
    status: 404,
    code: -32000,
    says,
  }, { name: "others", ask: post(INITIALIZE), status: 200 }], { mcpSse: "off" });
});
