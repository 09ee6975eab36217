/** Streams over real sockets: in-process requests neither cancel a stream nor fill a socket. */
import { describe, it } from "@std/testing/bdd";
import {
  deepStrictEqual as deepEqual,
  ok,
  rejects,
  strictEqual as equal,
} from "node:assert/strict";
import { getEventListeners } from "node:events";
import { Client, SSEClientTransport } from "@modelcontextprotocol/client";
import { type JSONRPCMessage, McpServer, parseJSONRPCMessage } from "@modelcontextprotocol/server";
import { randomId } from "@/lib/seams.ts";
import { SseStreams, type SseStreamsOptions } from "@/lib/mcp/sse_streams.ts";
import { SseTransport } from "@/lib/mcp/sse_transport.ts";
import { untilSo } from "@/tests/_support/until.ts";
import { registerWait, type Wait } from "@/tests/_support/wait_tool.ts";

const DEADLINE_MS = 10_000;
const SELF = { name: "test", version: "1" };
const HELLO = { content: [{ type: "text", text: "hello" }] };

function buildServer(waits: Wait[]): McpServer {
  const server = new McpServer(SELF);
  server.registerTool("greet", {}, () => ({ content: [{ type: "text", text: "hello" }] }));
  registerWait(server, waits);
  return server;
}

type TestOptions = Partial<SseStreamsOptions>;

/** A server of MCP over SSE and nothing else. */
function serve(options: TestOptions = {}) {
  const waits: Wait[] = [];
  const ended: string[] = [];
  const failures: string[] = [];
  const streams = new SseStreams({
    newId: randomId,
    connect: async (transport) => {
      const server = buildServer(waits);
      server.server.onclose = () => ended.push(transport.sessionId);
      await server.connect(transport);
    },
    ...options,
  });
  const { port, httpServer } = listen(streams, failures);
  const url = new URL(`http://127.0.0.1:${port}/sse`);
  return {
    url,
    port,
    streams,
    waits,
    ended,
    failures,
    httpServer,
    [Symbol.asyncDispose]: async () => {
      for (const { finish } of waits) finish();
      await streams.close();
      await httpServer.shutdown();
    },
  };
}

function listen(streams: SseStreams, failures: string[]) {
  const httpServer = Deno.serve({
    hostname: "127.0.0.1",
    port: 0,
    onListen: () => {},
    onError: (error) => {
      failures.push(error instanceof Error ? error.name : "?");
      return new Response(null, { status: 500 });
    },
  }, async (request) => {
    const { pathname, searchParams } = new URL(request.url);
    if (pathname === "/sse") {
      const opening = await streams.open(request, (id) => `/messages?sessionId=${id}`);
      return opening.response ?? new Response(opening.refused, { status: 503 });
    }
    const message = parseJSONRPCMessage(await request.json());
    const outcome = streams.receive(searchParams.get("sessionId") ?? "", message, { request });
    return new Response(outcome, { status: { accepted: 202, unknown: 404, busy: 503 }[outcome] });
  });
  return { httpServer, port: httpServer.addr.port };
}

async function connectClient({ url }: { readonly url: URL }): Promise<Client> {
  const client = new Client(SELF);
  await client.connect(new SSEClientTransport(url));
  return client;
}

/**
 * A client that says and reads only what a test wants, over a socket of its own. It leaves after a
 * while in any case, so that a test which fails does not hang.
 */
async function openRaw({ port }: { readonly port: number }) {
  const connection = await Deno.connect({ hostname: "127.0.0.1", port });
  await connection.write(new TextEncoder().encode("GET /sse HTTP/1.1\r\nHost: localhost\r\n\r\n"));
  const buffer = new Uint8Array(1024 * 1024);
  let text = "";
  let isOpen = true;
  const close = () => {
    if (!isOpen) return;
    isOpen = false;
    clearTimeout(guard);
    connection.close();
  };
  const guard = setTimeout(close, DEADLINE_MS);
  return {
    close,
    /** Reads until a text has come, and returns all that has come so far. */
    async readUntil(end: string): Promise<string> {
      while (!text.includes(end)) {
        const count = await connection.read(buffer);
        if (count === null) throw new Error(`The stream ended before ${end}`);
        text += new TextDecoder().decode(buffer.subarray(0, count));
      }
      return text;
    },
    /** Reads to the end and returns how much that was. */
    async countRest(): Promise<number> {
      for (let bytes = 0;;) {
        const count = await connection.read(buffer);
        if (count === null) return bytes;
        bytes += count;
      }
    },
  };
}

/** Opens streams without a socket; the stream of each is there to be read. */
function openInProcess(options: TestOptions = {}) {
  const transports: SseTransport[] = [];
  const streams = new SseStreams({
    newId: randomId,
    connect: (transport) => {
      transports.push(transport);
      return transport.start();
    },
    ...options,
  });
  const open = (signal?: AbortSignal) =>
    streams.open(
      new Request("http://localhost/sse", signal === undefined ? {} : { signal }),
      (id) => `/m/${id}`,
    );
  return { streams, open, transports };
}

/** Notes the intervals that run, and how many were told not to hold the process. */
function watchTimers() {
  const { setInterval, clearInterval } = globalThis;
  const { unrefTimer } = Deno;
  const running = new Set<unknown>();
  const watch = {
    running,
    unrefs: 0,
    [Symbol.dispose]: () => {
      Object.assign(globalThis, { setInterval, clearInterval });
      Deno.unrefTimer = unrefTimer;
    },
  };
  Object.assign(globalThis, {
    setInterval(...args: Parameters<typeof setInterval>) {
      const timer = setInterval(...args);
      running.add(timer);
      return timer;
    },
    clearInterval(timer: Parameters<typeof clearInterval>[0]) {
      running.delete(timer);
      clearInterval(timer);
    },
  });
  Deno.unrefTimer = (timer) => {
    watch.unrefs++;
    unrefTimer(timer);
  };
  return watch;
}

const request = (id: string | number): JSONRPCMessage => ({ jsonrpc: "2.0", id, method: "ping" });
const result = (id: string | number): JSONRPCMessage => ({ jsonrpc: "2.0", id, result: {} });
const failure = (id: string | number): JSONRPCMessage => ({
  jsonrpc: "2.0",
  id,
  error: { code: -32601, message: "no" },
});
const cancelled = (requestId: unknown, reason: unknown = "enough"): JSONRPCMessage => ({
  jsonrpc: "2.0",
  method: "notifications/cancelled",
  params: { requestId, reason },
});

interface Step {
  readonly by: "server" | "client";
  readonly message: JSONRPCMessage;
}

const sends = (message: JSONRPCMessage): Step => ({ by: "server", message });
const says = (message: JSONRPCMessage): Step => ({ by: "client", message });

describe("SseStreams over sockets", () => {
  it("a client that does not read is given up, and the others go on", async () => {
    const transports: SseTransport[] = [];
    await using server = serve({
      maxQueuedBytes: 256 * 1024,
      connect: async (transport) => {
        transports.push(transport);
        await buildServer([]).connect(transport);
      },
    });
    const stalled = await openRaw(server);
    await untilSo("the first stream is open", () => transports.length === 1);
    const client = await connectClient(server);
    const message = {
      jsonrpc: "2.0",
      method: "x",
      params: { text: "x".repeat(64 * 1024) },
    } as const;

    // Sockets hold several megabytes before anything waits in the queue.
    let sentBytes = 0;
    while (server.streams.size === 2 && sentBytes < 256 * 1024 * 1024) {
      await transports[0]?.send(message);
      sentBytes += message.params.text.length;
      await new Promise((resolve) => setTimeout(resolve, 0));
    }

    equal(server.streams.size, 1);
    equal(server.streams.find(transports[0]?.sessionId ?? ""), undefined);
    deepEqual(await client.callTool({ name: "greet" }), HELLO);
    // What waited was dropped: the socket's own share comes, then the end.
    const receivedBytes = await stalled.countRest();
    ok(receivedBytes < sentBytes, `${receivedBytes} of ${sentBytes}`);
    await untilSo("the server reports it", () => server.failures.length > 0);
    deepEqual(server.failures, ["QuotaExceededError"]);
    stalled.close();
    await client.close();
  });

  it("all streams get a comment when nothing else is said", async () => {
    await using server = serve({ keepAliveMs: 20 });
    const clients = [await openRaw(server), await openRaw(server)];

    const texts = await Promise.all(clients.map((client) => client.readUntil(": keepalive\n\n")));

    for (const text of texts) ok(text.indexOf("event: endpoint\n") < text.indexOf(": keepalive"));
    for (const client of clients) client.close();
    await untilSo("the streams are gone", () => server.streams.size === 0);
  });

  it("open() refuses a stream too many and takes one again when another has left", async () => {
    await using server = serve({ maxStreams: 2 });
    const [first, second] = [await openRaw(server), await openRaw(server)];
    await untilSo("both are open", () => server.streams.size === 2);

    const refused = await fetch(server.url);
    equal(refused.status, 503);
    equal(await refused.text(), "full");
    first.close();
    await untilSo("the first is gone", () => server.streams.size === 1);
    const third = await openRaw(server);

    ok((await third.readUntil("event: endpoint")).startsWith("HTTP/1.1 200 "));
    second.close();
    third.close();
  });

  it("close() ends open streams, so that the server can stop", async () => {
    await using server = serve();
    const clients = await Promise.all([openRaw(server), openRaw(server), openRaw(server)]);
    await Promise.all(clients.map((client) => client.readUntil("event: endpoint")));

    await Promise.all([server.streams.close(), server.streams.close()]);
    equal(server.streams.size, 0);
    await server.httpServer.shutdown();

    equal(server.ended.length, 3);
    for (const client of clients) {
      ok(await client.countRest() <= "0\r\n\r\n".length);
      client.close();
    }
  });

  it("a client that leaves while its server is being connected leaves nothing", async () => {
    const connecting = Promise.withResolvers<void>();
    const connected = Promise.withResolvers<void>();
    let told = 0;
    await using server = serve({
      connect: async (transport) => {
        connecting.resolve();
        await connected.promise;
        transport.onclose = () => told++;
        await transport.start();
      },
    });
    const client = await openRaw(server);
    await connecting.promise;

    equal(server.streams.size, 1);
    client.close();
    try {
      await untilSo("the stream is gone", () => server.streams.size === 0);
      equal(told, 0);
    } finally {
      connected.resolve();
    }

    await untilSo("the server is told", () => told === 1);
  });

  it("two hundred streams that are opened and left leave nothing, and report nothing", async () => {
    await using server = serve();
    // Not fetch, which keeps a stream open when nobody holds its response any more.
    const clients = await Promise.all(Array.from({ length: 200 }, () => openRaw(server)));
    await Promise.all(clients.map((client) => client.readUntil("event: endpoint")));

    equal(server.streams.size, 200);
    for (const client of clients) client.close();

    await untilSo("all are gone", () => server.streams.size === 0);
    equal(new Set(server.ended).size, 200);
    equal(server.ended.length, 200);
    deepEqual(server.failures, []);
  });

  it("a client with too many calls under way may call again once one is answered or cancelled", async () => {
    await using server = serve({ maxPending: 2 });
    const client = await connectClient(server);
    const enough = new AbortController();
    const first = client.callTool({ name: "wait" });
    const second = rejects(client.callTool({ name: "wait" }, { signal: enough.signal }));
    await untilSo("both tools run", () => server.waits.length === 2);
    const callAgain = () => client.callTool({ name: "greet" });

    await rejects(callAgain(), /503/);
    enough.abort(new Error("enough"));
    await second;
    await untilSo("the tool hears of it", () => server.waits[1]?.signal.aborted === true);
    const afterCancel = await callAgain();
    server.waits[0]?.finish();
    await first;
    const afterAnswer = await Promise.all([callAgain(), callAgain()]);

    deepEqual([afterCancel, ...afterAnswer], [HELLO, HELLO, HELLO]);
    await client.close();
  });
});

describe("SseStreams", () => {
  it("open() connects a server, and tells the endpoint", async () => {
    const { streams, open, transports } = openInProcess({ newId: () => "s1" });

    const { response } = await open();
    await streams.close();

    equal(await response?.text(), "event: endpoint\ndata: /m/s1\n\n");
    equal(transports[0]?.sessionId, "s1");
  });

  it("SseStreams tells of a stream that is given up as nobody reads it, and of no other", async () => {
    let told = 0;
    const onGiveUp = () => told++;
    const { streams, open, transports } = openInProcess({ maxQueuedBytes: 1_000, onGiveUp });
    await open();
    await open();

    for (let sent = 0; sent < 20; sent++) {
      await transports[0]?.send({ jsonrpc: "2.0", method: "notifications/x", params: {} });
    }
    await streams.close();

    equal(told, 1);
  });

  it("open() leaves nothing when the server cannot be connected", async () => {
    const leaving = new AbortController();
    const { streams, open } = openInProcess({
      connect: () => Promise.reject(new Error("no server")),
    });

    await rejects(open(leaving.signal), /no server/);

    equal(streams.size, 0);
    deepEqual(getEventListeners(leaving.signal, "abort"), []);
  });

  it("open() says gone when the client left before or meanwhile", async () => {
    const leaving = new AbortController();
    let connects = 0;
    const { streams, open } = openInProcess({
      connect: (transport) => {
        connects++;
        leaving.abort();
        return transport.start();
      },
    });

    const meanwhile = await open(leaving.signal);
    const before = await open(AbortSignal.abort());

    deepEqual([meanwhile, before], [{ refused: "gone" }, { refused: "gone" }]);
    equal(connects, 1);
    equal(streams.size, 0);
  });

  it("open() says closed after close(), and when that comes meanwhile", async () => {
    let connects = 0;
    const { streams, open } = openInProcess({
      connect: async (transport) => {
        connects++;
        await streams.close();
        await transport.start();
      },
    });

    const meanwhile = await open();
    const after = await open();

    deepEqual([meanwhile, after], [{ refused: "closed" }, { refused: "closed" }]);
    equal(connects, 1);
    equal(streams.size, 0);
  });

  it("open() counts streams whose server is still being connected", async () => {
    const connected = Promise.withResolvers<void>();
    const { streams, open } = openInProcess({ maxStreams: 1, connect: () => connected.promise });

    const first = open();
    const second = await open();
    connected.resolve();

    deepEqual(second, { refused: "full" });
    ok((await first).response);
    await streams.close();
  });

  it("open() starts one timer, which holds no process and ends with the last stream", async () => {
    using timers = watchTimers();
    const { streams, open, transports } = openInProcess();
    const steps = [
      open,
      open,
      () => transports[0]?.close(),
      () => transports[1]?.close(),
      open,
      () => streams.close(),
    ];
    const running: number[] = [timers.running.size];

    for (const step of steps) {
      await step();
      running.push(timers.running.size);
    }

    deepEqual(running, [0, 1, 1, 1, 0, 1, 0]);
    equal(timers.unrefs, 2);
  });

  it("find() knows a session while its stream is open", async () => {
    const { streams, open, transports } = openInProcess({ newId: () => "__proto__" });

    equal(streams.find("__proto__"), undefined);
    await open();
    equal(streams.find("__proto__"), transports[0]);
    await transports[0]?.close();

    equal(streams.find("__proto__"), undefined);
    equal(streams.receive("__proto__", request(1)), "unknown");
  });

  it("receive() hands messages to the server of their session", async () => {
    const ids = ["s1", "s2"];
    const { streams, open, transports } = openInProcess({ newId: () => ids.shift() ?? "" });
    await open();
    await open();
    const heard: string[] = [];
    for (const transport of transports) {
      transport.onmessage = (message) => heard.push(`${transport.sessionId} ${"id" in message}`);
    }

    equal(streams.receive("s2", request(1)), "accepted");
    equal(streams.receive("s1", cancelled(1)), "accepted");
    equal(streams.receive("s3", request(1)), "unknown");

    deepEqual(heard, ["s2 true", "s1 false"]);
    await streams.close();
  });

  // Both places of a session are taken by calls of two ids; then comes what may free some.
  const RELEASES: readonly [string, ids: (string | number)[], steps: Step[], freed: number][] = [
    ["nothing", [1, 2], [], 0],
    ["a result", [1, 2], [sends(result(1))], 1],
    ["an error", [1, 2], [sends(failure(2))], 1],
    ["results of 0 and an empty id", [0, ""], [sends(result(0)), sends(result(""))], 2],
    ["a result of the id as a number", ["1", 2], [sends(result(1))], 0],
    ["a result twice", [1, 2], [sends(result(1)), sends(result(1))], 1],
    ["one result of an id used twice", [7, 7], [sends(result(7))], 1],
    ["both results of an id used twice", [7, 7], [sends(result(7)), sends(result(7))], 2],
    ["a request of the server", [1, 2], [sends(request(1))], 0],
    ["a cancellation", ["a", 2], [says(cancelled("a"))], 1],
    ["a cancellation twice", [1, 2], [says(cancelled(1)), says(cancelled(1))], 1],
    ["two of an id used twice", [7, 7], [says(cancelled(7)), says(cancelled(7))], 1],
    ["one and a result of an id used twice", [7, 7], [says(cancelled(7)), sends(result(7))], 2],
    ["one after a result of an id used twice", [7, 7], [sends(result(7)), says(cancelled(7))], 1],
    ["a cancellation and a late result", [1, 2], [says(cancelled(1)), sends(result(1))], 1],
    ["cancellations of unknown calls", [1, 2], [says(cancelled(3)), says(cancelled("1"))], 0],
    ["a cancellation with a malformed reason", [1, 2], [says(cancelled(1, 5))], 0],
    ["a cancellation of no call", [1, 2], [says(cancelled(undefined))], 0],
    ["a response of the client", [1, 2], [says(result(1)), says(failure(1))], 0],
  ];
  for (const [name, ids, steps, freed] of RELEASES) {
    it(`receive() has ${freed} places more after ${name}`, async () => {
      const { streams, open, transports } = openInProcess({ maxPending: 2, newId: () => "s1" });
      await open();
      const ask = (id: string | number) => streams.receive("s1", request(id));
      deepEqual([...ids, 99].map(ask), ["accepted", "accepted", "busy"]);

      for (const { by, message } of steps) {
        if (by === "server") await transports[0]?.send(message);
        else equal(streams.receive("s1", message), "accepted");
      }

      const outcomes = [101, 102, 103].map(ask);
      equal(outcomes.filter((outcome) => outcome === "accepted").length, freed);
      await streams.close();
    });
  }

  it("receive() counts each session for itself", async () => {
    const ids = ["s1", "s2"];
    const { streams, open } = openInProcess({ maxPending: 1, newId: () => ids.shift() ?? "" });
    await open();
    await open();

    const outcomes = ["s1", "s2", "s1"].map((id) => streams.receive(id, request(1)));

    deepEqual(outcomes, ["accepted", "accepted", "busy"]);
    await streams.close();
  });
});
