import { describe, it } from "@std/testing/bdd";
import {
  deepStrictEqual as deepEqual,
  doesNotReject,
  ok,
  rejects,
  strictEqual as equal,
} from "node:assert/strict";
import { getEventListeners } from "node:events";
import { Client, SSEClientTransport } from "@modelcontextprotocol/client";
import { Client as OldClient } from "@modelcontextprotocol/sdk/client/index.js";
import { SSEClientTransport as OldTransport } from "@modelcontextprotocol/sdk/client/sse.js";
import {
  fromJsonSchema,
  type JSONRPCMessage,
  McpServer,
  parseJSONRPCMessage,
} from "@modelcontextprotocol/server";
import {
  MAX_QUEUED_BYTES,
  SseTransport,
  type SseTransportOptions,
} from "@/lib/mcp/sse_transport.ts";
import { untilSo } from "@/tests/_support/until.ts";
import { registerWait, type Wait } from "@/tests/_support/wait_tool.ts";

const ENDPOINT_EVENT = "event: endpoint\ndata: /messages?sessionId=s1\n\n";
const PING: JSONRPCMessage = { jsonrpc: "2.0", id: 1, method: "ping" };

function notify(text: string): JSONRPCMessage {
  return { jsonrpc: "2.0", method: "notifications/message", params: { data: text } };
}

function eventOf(message: JSONRPCMessage): string {
  return `event: message\ndata: ${JSON.stringify(message)}\n\n`;
}

/** A started transport, and what it has told so far. */
async function openTransport(extra: Partial<SseTransportOptions> = {}) {
  const told: string[] = [];
  const leaving = new AbortController();
  const transport = new SseTransport({
    sessionId: "s1",
    endpoint: "/messages?sessionId=s1",
    signal: leaving.signal,
    onEnd: () => told.push("onEnd"),
    ...extra,
  });
  transport.onclose = () => told.push("onclose");
  transport.onmessage = (message, info) => {
    told.push(`${JSON.stringify(message)} of ${info?.authInfo?.clientId}`);
  };
  await transport.start();
  return { transport, told, leaving, response: transport.response() };
}

describe("SseTransport", () => {
  it("response() is an event stream that begins with the endpoint", async () => {
    const { transport, response } = await openTransport();
    await transport.close();

    equal(response.status, 200);
    equal(response.headers.get("content-type"), "text/event-stream");
    equal(response.headers.get("cache-control"), "no-cache, no-transform");
    equal(response.headers.get("x-accel-buffering"), "no");
    equal(await response.text(), ENDPOINT_EVENT);
  });

  it("send() writes an event a message, on one line whatever is in it", async () => {
    const { transport, response } = await openTransport();
    const messages = ["plain", "two\nlines\r\n\r\ndata: x", "中文 \u2028 \ud800"].map(notify);

    for (const message of messages) await transport.send(message);
    await transport.close();

    const text = await response.text();
    equal(text, ENDPOINT_EVENT + messages.map(eventOf).join(""));
    ok(!/[\r\u{d800}]/u.test(text));
  });

  it("send() tells of each message before it is written", async () => {
    const sent: JSONRPCMessage[] = [];
    const { transport } = await openTransport({ onSend: (message) => sent.push(message) });

    await transport.send(PING);
    await transport.close();
    await transport.send(PING);

    deepEqual(sent, [PING]);
  });

  it("send() rejects what is not JSON and stays open", async () => {
    const { transport, told } = await openTransport();
    const circle: Record<string, unknown> = {};
    circle["self"] = circle;

    await rejects(transport.send({ jsonrpc: "2.0", id: 1, result: circle }), TypeError);

    deepEqual(told, []);
  });

  it("keepAlive() writes a comment", async () => {
    const { transport, response } = await openTransport();

    transport.keepAlive();
    await transport.close();

    equal(await response.text(), `${ENDPOINT_EVENT}: keepalive\n\n`);
  });

  it("receive() hands over the message with what is known of it", async () => {
    const { transport, told } = await openTransport();

    transport.receive(PING, { authInfo: { token: "t", clientId: "c1", scopes: [] } });

    deepEqual(told, [`${JSON.stringify(PING)} of c1`]);
  });

  it("send() fills the queue to the last byte, and ends the stream beyond it", async () => {
    const message = notify("Größe 大小");
    const bytes = new TextEncoder().encode(ENDPOINT_EVENT + eventOf(message)).byteLength;
    const fitting = await openTransport({ maxQueuedBytes: bytes });
    const tooSmall = await openTransport({ maxQueuedBytes: bytes - 1 });

    await fitting.transport.send(message);
    await tooSmall.transport.send(message);

    deepEqual(fitting.told, []);
    deepEqual(tooSmall.told, ["onEnd", "onclose"]);
    await rejects(tooSmall.response.text(), { name: "QuotaExceededError" });
    await fitting.transport.close();
    equal(await fitting.response.text(), ENDPOINT_EVENT + eventOf(message));
  });

  it("keepAlive() ends the stream too when the queue is full", async () => {
    const { transport, told } = await openTransport({ maxQueuedBytes: ENDPOINT_EVENT.length });

    transport.keepAlive();

    deepEqual(told, ["onEnd", "onclose"]);
  });

  it("send() bounds the queue at MAX_QUEUED_BYTES unless told otherwise, and counts what is read", async () => {
    const { transport, told, response } = await openTransport();
    const half = notify("x".repeat(MAX_QUEUED_BYTES / 2));
    const reader = response.body?.getReader();
    await reader?.read();

    await transport.send(half);
    await reader?.read();
    await transport.send(half);
    deepEqual(told, []);
    await transport.send(half);

    deepEqual(told, ["onEnd", "onclose"]);
  });

  const ENDS: Readonly<
    Record<string, (open: Awaited<ReturnType<typeof openTransport>>) => unknown>
  > = {
    "the client cancels": ({ response }) => response.body?.cancel(),
    "the request aborts": ({ leaving }) => leaving.abort(),
    "the server closes": ({ transport }) => transport.close(),
    "the queue is full": ({ transport }) => transport.send(notify("x".repeat(MAX_QUEUED_BYTES))),
  };
  for (const [first, end] of Object.entries(ENDS)) {
    it(`onclose comes once when ${first}, whatever happens next`, async () => {
      for (const next of Object.values(ENDS)) {
        const open = await openTransport();

        await end(open);
        deepEqual(open.told, ["onEnd", "onclose"]);
        // A stream that has failed says so to whoever cancels it.
        await Promise.resolve(next(open)).catch(() => {});

        deepEqual(open.told, ["onEnd", "onclose"]);
        deepEqual(getEventListeners(open.leaving.signal, "abort"), []);
      }
    });

    it(`nothing is said, heard or thrown after ${first}`, async () => {
      const open = await openTransport();
      await end(open);

      await doesNotReject(async () => {
        await open.transport.send(PING);
        open.transport.keepAlive();
        open.transport.receive(PING);
        await open.transport.start();
        await open.transport.close();
      });

      deepEqual(open.told, ["onEnd", "onclose"]);
    });
  }

  it("onclose may call every method", async () => {
    const { transport, told, response } = await openTransport();
    transport.onclose = () => {
      told.push("onclose");
      void transport.close();
      void transport.send(PING);
      transport.keepAlive();
      transport.receive(PING);
    };

    await transport.close();

    deepEqual(told, ["onEnd", "onclose"]);
    equal(await response.text(), ENDPOINT_EVENT);
  });

  it("start() tells of an end that came before it, once", async () => {
    const told: string[] = [];
    const onEnd = () => told.push("onEnd");
    const options = { sessionId: "s1", endpoint: "/", onEnd };
    const left = new SseTransport({ ...options, signal: AbortSignal.abort() });
    const closed = new SseTransport(options);
    for (const transport of [left, closed]) transport.onclose = () => told.push("onclose");

    await closed.close();
    deepEqual(told, ["onEnd", "onEnd"]);
    for (const transport of [left, closed, left, closed]) await transport.start();

    deepEqual(told, ["onEnd", "onEnd", "onclose", "onclose"]);
  });
});

const SELF = { name: "test", version: "1" };

function buildServer(waits: Wait[]): McpServer {
  const server = new McpServer(SELF);
  const inputSchema = fromJsonSchema<{ text: string }>({
    type: "object",
    properties: { text: { type: "string" } },
    required: ["text"],
  });
  server.registerTool("echo", { inputSchema }, ({ text }) => ({
    content: [{ type: "text", text }],
  }));
  registerWait(server, waits);
  return server;
}

/** A server of MCP over SSE and nothing else, for one client. */
function serveOne() {
  const waits: Wait[] = [];
  const told: string[] = [];
  let transport: SseTransport | undefined;
  const httpServer = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen: () => {} },
    async (request) => {
      if (request.method === "POST") {
        transport?.receive(parseJSONRPCMessage(await request.json()));
        return new Response(null, { status: 202 });
      }
      transport = new SseTransport({
        sessionId: "s1",
        endpoint: "/messages?sessionId=s1",
        signal: request.signal,
      });
      const server = buildServer(waits);
      server.server.onclose = () => told.push("onclose");
      server.server.onerror = (error) => told.push(error.message);
      await server.connect(transport);
      return transport.response();
    },
  );
  return {
    url: new URL(`http://127.0.0.1:${httpServer.addr.port}/sse`),
    waits,
    told,
    [Symbol.asyncDispose]: async () => {
      await transport?.close();
      await httpServer.shutdown();
    },
  };
}

/** What both generations of the official client can do. */
interface AgentClient {
  listTools(): Promise<{ tools: { name: string }[] }>;
  callTool(name: string, args: Record<string, unknown>, signal?: AbortSignal): Promise<unknown>;
  close(): Promise<void>;
}

async function connectNew(url: URL): Promise<AgentClient> {
  const client = new Client(SELF);
  await client.connect(new SSEClientTransport(url));
  return {
    listTools: () => client.listTools(),
    callTool: (name, args, signal) =>
      client.callTool({ name, arguments: args }, signal && { signal }),
    close: () => client.close(),
  };
}

async function connectOld(url: URL): Promise<AgentClient> {
  const client = new OldClient(SELF);
  await client.connect(new OldTransport(url));
  return {
    listTools: () => client.listTools(),
    callTool: (name, args, signal) =>
      client.callTool({ name, arguments: args }, undefined, signal && { signal }),
    close: () => client.close(),
  };
}

for (const [name, connect] of [["2.x", connectNew], ["1.x", connectOld]] as const) {
  describe(`SseTransport with the official client ${name}`, () => {
    it("lists and calls tools, twenty at once", async () => {
      await using server = serveOne();
      const client = await connect(server.url);

      const { tools } = await client.listTools();
      const texts = Array.from({ length: 20 }, (_, i) => `文 ${i}\n`);
      const answers = await Promise.all(texts.map((text) => client.callTool("echo", { text })));
      await client.close();

      deepEqual(tools.map((tool) => tool.name), ["echo", "wait"]);
      deepEqual(answers, texts.map((text) => ({ content: [{ type: "text", text }] })));
    });

    it("a cancelled call aborts the tool's signal and no other", async () => {
      await using server = serveOne();
      const client = await connect(server.url);
      const enough = new AbortController();

      const call = client.callTool("wait", {}, enough.signal);
      await untilSo("the tool runs", () => server.waits.length === 1);
      const other = client.callTool("wait", {});
      await untilSo("the other runs", () => server.waits.length === 2);
      enough.abort(new Error("enough"));

      await rejects(call);
      await untilSo("the tool hears of it", () => server.waits[0]?.signal.aborted === true);
      ok(!server.waits[1]?.signal.aborted);
      server.waits[1]?.finish();
      deepEqual(await other, { content: [] });
      await client.close();
    });

    it("close() of the client aborts its calls, ends the server once and makes no noise", async () => {
      await using server = serveOne();
      const client = await connect(server.url);
      const call = rejects(client.callTool("wait", {}));
      await untilSo("the tool runs", () => server.waits.length === 1);

      await client.close();
      await call;
      await untilSo("the server is told", () => server.told.length > 0);
      ok(server.waits[0]?.signal.aborted);
      // An answer that nobody waits for any more.
      server.waits[0]?.finish();
      await server[Symbol.asyncDispose]();

      deepEqual(server.told, ["onclose"]);
    });
  });
}
