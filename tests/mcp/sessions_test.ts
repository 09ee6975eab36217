/** Sessions of 2025 over real sockets: what holds them, what ends them, what can be asked for again. */
import { deepStrictEqual as deepEqual, match, ok, strictEqual as equal } from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import { McpServer } from "@modelcontextprotocol/server";
import { SESSION_IDLE_MS, SPARED_IDLE_MS } from "@/lib/mcp/sessions.ts";
import { MAX_PENDING_CALLS } from "@/lib/mcp/sse_streams.ts";
import { type EndpointWorld, serveEndpoint } from "@/tests/_support/endpoint_world.ts";
import { INITIALIZE, LIST, post, rpc, toolCall } from "@/tests/_support/mcp_rows.ts";
import { EventReader, openRawSession, type RawSession } from "@/tests/_support/mcp_session.ts";
import { until, untilSo } from "@/tests/_support/until.ts";
import { registerWait, type Wait } from "@/tests/_support/wait_tool.ts";

/** Serves the tool `wait` alone. */
async function serveWaits(
  options: Parameters<typeof serveEndpoint>[0] = {},
): Promise<{ world: EndpointWorld; waits: Wait[] }> {
  const waits: Wait[] = [];
  const world = await serveEndpoint({
    ...options,
    options: {
      build: ({ session }) => {
        const mcp = new McpServer({ name: "test", version: "1" });
        registerWait(mcp, waits);
        session?.attach(mcp);
        return mcp;
      },
      ...options.options,
    },
  });
  return { world, waits };
}

const wait = (id: number) => ({ ...toolCall("wait", {}), id });

async function statusOf(asked: Promise<Response>): Promise<number> {
  const response = await asked;
  await response.body?.cancel();
  return response.status;
}

/** What a session is good for after it has ended. */
async function isGone(session: RawSession): Promise<boolean> {
  return await statusOf(session.post(LIST)) === 404;
}

describe("a session", () => {
  it("is opened by initialize, used by its id, and ended by DELETE", async () => {
    await using world = await serveEndpoint({ files: { "a.md": "zebra" } });
    const session = await openRawSession(world.url);

    const listed = await (await session.post(LIST)).text();
    const count = world.mcp.sessionCount;
    const ended = await statusOf(session.end());

    match(listed, /"name":"recall"/);
    match(session.id, /^[\x21-\x7e]+$/);
    deepEqual([count, ended, world.mcp.sessionCount], [1, 200, 0]);
    ok(await isGone(session));
    equal(await statusOf(session.end()), 404);
    equal((await session.listen()).status, 404);
  });

  it("ends its stream when it is ended", async () => {
    await using world = await serveEndpoint();
    const session = await openRawSession(world.url);
    const stream = await session.listen();

    await statusOf(session.end());

    deepEqual(await stream.rest(), []);
  });

  it("has one stream at a time, and another when that has ended", async () => {
    await using world = await serveEndpoint();
    const session = await openRawSession(world.url);

    const first = await session.listen();
    const second = await session.listen();
    await first.close();
    await second.close();

    deepEqual([first.status, second.status], [200, 409]);
    const third = await session.listenAgain();
    await third.close();
    equal(third.status, 200);
  });

  it("takes a GET that accepts anything", async () => {
    await using world = await serveEndpoint();

    for (const accept of ["*/*", "text/*", "text/event-stream"]) {
      const session = await openRawSession(world.url);
      const headers = { ...session.headers, accept };
      const response = await fetch(`${world.url}/mcp`, { headers });
      await response.body?.cancel();
      equal(response.status, 200);
      match(response.headers.get("content-type") ?? "", /^text\/event-stream/);
    }
  });

  it("does not end a call whose client leaves, and keeps its answer", async () => {
    const { world, waits } = await serveWaits();
    await using _world = world;
    const session = await openRawSession(world.url);
    const stream = new EventReader(await session.post(wait(7)));
    const begin = await stream.next();
    await untilSo("the call has begun", () => waits.length === 1);

    await stream.close();
    await new Promise((resolve) => setTimeout(resolve, 50));
    const wasAborted = waits[0]?.signal.aborted;
    waits[0]?.finish();
    const again = await session.listenAgain(begin?.id);
    const events = await again.rest();

    deepEqual([wasAborted, again.status], [false, 200]);
    deepEqual(events.map(({ data }) => data?.["id"]), [7]);
  });

  it("goes on with the stream of a call that is still under way", async () => {
    const { world, waits } = await serveWaits();
    await using _world = world;
    const session = await openRawSession(world.url);
    const stream = new EventReader(await session.post(wait(7)));
    const begin = await stream.next();
    await stream.close();
    await untilSo("the call has begun", () => waits.length === 1);

    const again = await session.listenAgain(begin?.id);
    waits[0]?.finish();

    deepEqual((await again.rest()).map(({ data }) => data?.["id"]), [7]);
  });

  it("does not tell one session what was meant for another", async () => {
    await using world = await serveEndpoint({ options: { changes: { tellDelayMs: 0 } } });
    const [a, b] = [await openRawSession(world.url), await openRawSession(world.url)];
    const streamA = await a.listen();
    const streamB = await b.listen();

    world.services.write("memories/m1.md", memory("m1"));
    await world.services.index.refresh();
    const [heardA, heardB] = [await streamA.next(), await streamB.next()];
    await Promise.all([streamA.close(), streamB.close()]);

    ok(heardA?.id !== undefined && heardB?.id !== undefined);
    ok(heardA.id !== heardB.id);
    for (const [session, id] of [[a, heardB.id], [b, heardA.id]] as const) {
      equal((await session.listen(id)).status, 400);
    }
  });

  it("tells by Last-Event-ID what was missed, once, and then goes on", async () => {
    await using world = await serveEndpoint({ options: { changes: { tellDelayMs: 0 } } });
    const session = await openRawSession(world.url);
    const change = async (id: string) => {
      world.services.write(`memories/${id}.md`, memory(id));
      await world.services.index.refresh();
      await new Promise((resolve) => setTimeout(resolve, 50));
    };
    const stream = await session.listen();
    await change("m1");
    const first = await stream.next();
    await stream.close();

    await change("m2");
    const again = await session.listenAgain(first?.id);
    const missed = await again.next();
    await change("m3");
    const later = await again.next();
    await again.close();

    const methods = [first, missed, later].map((event) => event?.data?.["method"]);
    deepEqual(new Set(methods), new Set(["notifications/resources/list_changed"]));
    equal(new Set([first?.id, missed?.id, later?.id]).size, 3);
  });

  it("tells what was missed also where nothing had been told before the stream broke", async () => {
    await using world = await serveEndpoint();
    const session = await openRawSession(world.url);
    const stream = await session.listen();
    await stream.close();
    await new Promise((resolve) => setTimeout(resolve, 100));

    await world.mcp.tell({ uris: new Set(), isListChanged: true });
    const again = await session.listenAgain();
    const missed = await again.next();
    await world.mcp.tell({ uris: new Set(), isListChanged: true });
    const next = await again.next();
    await again.close();

    const method = "notifications/resources/list_changed";
    deepEqual([missed?.data?.["method"], next?.data?.["method"]], [method, method]);
    ok(missed?.id !== next?.id);
  });

  it("ends the stream of a call that is cancelled", async () => {
    const { world, waits } = await serveWaits();
    await using _world = world;
    const session = await openRawSession(world.url);
    const stream = new EventReader(await session.post(wait(7)));
    await untilSo("the call has begun", () => waits.length === 1);

    const params = { requestId: 7, reason: "test" };
    const status = await statusOf(
      session.post({ jsonrpc: "2.0", method: "notifications/cancelled", params }),
    );
    const events = await stream.rest();

    equal(status, 202);
    ok(waits[0]?.signal.aborted);
    deepEqual(events.at(-1)?.data?.["error"], { code: -32800, message: "The call was cancelled" });
    // One that has ended, and one that never was, are cancelled in peace.
    for (const requestId of [7, 99]) {
      const again = { jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId } };
      equal(await statusOf(session.post(again)), 202);
    }
  });

  it("refuses a call too many until others have ended, wherever their clients are", async () => {
    const { world, waits } = await serveWaits();
    await using _world = world;
    const session = await openRawSession(world.url);
    for (let id = 1; id <= MAX_PENDING_CALLS; id++) {
      await (await session.post(wait(id))).body?.cancel();
    }

    const refused = await session.post(wait(1_000));
    const text = await refused.text();
    const answer = { jsonrpc: "2.0", id: 1, result: {} };
    const others = await statusOf(session.post(answer));
    waits[0]?.finish();
    await until(async () => await statusOf(session.post(wait(1_001))) === 200);

    deepEqual([refused.status, refused.headers.get("retry-after")], [429, "1"]);
    match(text, /"code":-32000,"message":"Too many requests of this session/);
    equal(others, 202);
  });

  it("refuses a call with the id of another that is under way", async () => {
    const { world, waits } = await serveWaits();
    await using _world = world;
    const session = await openRawSession(world.url);
    const call = await session.post(wait(7));
    await untilSo("the call has begun", () => waits.length === 1);

    const again = await session.post(wait(7));
    const text = await again.text();
    waits[0]?.finish();
    const events = await new EventReader(call).rest();
    const later = await session.post(wait(7));
    await untilSo("it may be used again", () => waits.length === 2);
    waits[1]?.finish();

    equal(again.status, 400);
    match(text, /"code":-32600,"message":"Another request of this session has the same id/);
    equal(events.at(-1)?.data?.["id"], 7);
    equal((await new EventReader(later).rest()).at(-1)?.data?.["id"], 7);
  });

  it("does not count a cancellation that the transport refuses", async () => {
    const { world, waits } = await serveWaits();
    await using _world = world;
    const session = await openRawSession(world.url);
    const cancel = (requestId: number) => {
      const params = { requestId };
      const message = { jsonrpc: "2.0", method: "notifications/cancelled", params };
      return session.post(message, { "mcp-protocol-version": "1999-01-01" });
    };

    for (let id = 1; id <= MAX_PENDING_CALLS; id++) {
      await (await session.post(wait(id))).body?.cancel();
      equal(await statusOf(cancel(id)), 400);
    }

    equal(await statusOf(session.post(wait(1_000))), 429);
    ok(waits.every(({ signal }) => !signal.aborted));
  });

  it("tells a client that takes JSON alone that it ended before the answer", async () => {
    const { world, waits } = await serveWaits();
    await using _world = world;
    const session = await openRawSession(world.url);
    const call = session.post(wait(7), { accept: "application/json" });
    await untilSo("the call has begun", () => waits.length === 1);

    await statusOf(session.end());
    const response = await call;

    equal(response.status, 503);
    match(await response.text(), /"message":"The stream ended before this call had its answer"/);
  });

  it("goes on with a slow call after many others, whose answers are forgotten", async () => {
    const { world, waits } = await serveWaits();
    await using _world = world;
    const session = await openRawSession(world.url);
    const stream = new EventReader(await session.post(wait(7)));
    const begin = await stream.next();
    await stream.close();
    await untilSo("the call has begun", () => waits.length === 1);

    for (let id = 100; id < 700; id++) {
      await (await session.post({ ...rpc("ping"), id })).text();
    }
    const again = await session.listenAgain(begin?.id);
    waits[0]?.finish();

    deepEqual((await again.rest()).map(({ data }) => data?.["id"]), [7]);
  });

  it("has its old stream ended by the client that comes back with Last-Event-ID", async () => {
    await using world = await serveEndpoint({ options: { changes: { tellDelayMs: 0 } } });
    const session = await openRawSession(world.url);
    const old = await session.listen();
    await world.mcp.tell({ uris: new Set(), isListChanged: true });
    const event = await old.next();

    const again = await session.listen(event?.id);
    await world.mcp.tell({ uris: new Set(), isListChanged: true });
    const [end, next] = [await old.next(), await again.next()];
    await again.close();

    deepEqual([again.status, end, next?.data?.["method"]], [
      200,
      undefined,
      "notifications/resources/list_changed",
    ]);
  });

  it("is not kept from calls by those that were cancelled", async () => {
    const { world, waits } = await serveWaits();
    await using _world = world;
    const session = await openRawSession(world.url);

    for (let id = 1; id <= MAX_PENDING_CALLS + 1; id++) {
      const call = await session.post(wait(id));
      equal(call.status, 200);
      const params = { requestId: id };
      await statusOf(session.post({ jsonrpc: "2.0", method: "notifications/cancelled", params }));
      await call.body?.cancel();
    }

    ok(waits.every(({ signal }) => signal.aborted));
  });

  it("is not kept from calls by those that the transport refuses", async () => {
    const { world } = await serveWaits();
    await using _world = world;
    const session = await openRawSession(world.url);
    const bad = { "mcp-protocol-version": "1999-01-01" };

    for (let id = 1; id <= MAX_PENDING_CALLS + 1; id++) {
      equal(await statusOf(session.post({ ...rpc("ping"), id }, bad)), 400);
    }

    equal(await statusOf(session.post(rpc("ping"))), 200);
  });
});

function memory(id: string): string {
  return `---\nid: ${id}\nname: N ${id}\ndescription: D\n---\nzebra\n`;
}

describe("sessions belong to a token", () => {
  const [ours, theirs] = ["Bearer ours", "Bearer theirs"];

  it("another token does not find them, and neither does none", async () => {
    await using world = await serveEndpoint();
    const session = await openRawSession(world.url, { headers: { authorization: ours } });
    const stream = await session.listen();

    const { authorization: _ours, ...without } = session.headers;
    for (const headers of [{ ...without, authorization: theirs }, without]) {
      equal(await statusOf(fetch(`${world.url}/mcp`, post(LIST, headers))), 404);
      equal(await statusOf(fetch(`${world.url}/mcp`, { headers })), 404);
      equal(await statusOf(fetch(`${world.url}/mcp`, { method: "DELETE", headers })), 404);
    }
    equal(await statusOf(session.post(LIST)), 200);
    equal(world.mcp.sessionCount, 1);
    await stream.close();
    // Whether there is a session of that name is nobody else's business.
    const headers = { ...without, authorization: theirs };
    const opened = await fetch(`${world.url}/mcp`, post(INITIALIZE, headers));
    await opened.text();
    equal(opened.status, 200);
    ok(opened.headers.get("mcp-session-id") !== session.id);
  });

  it("the same holds for streams of 2024", async () => {
    await using world = await serveEndpoint();
    const stream = await fetch(`${world.url}/sse`, { headers: { authorization: ours } });
    const reader = stream.body?.pipeThrough(new TextDecoderStream()).getReader();
    const { value = "" } = await reader?.read() ?? {};
    const endpoint = `${world.url}${/data: (\S+)/.exec(value)?.[1]}`;

    const statuses = [];
    for (const authorization of [theirs, ours]) {
      statuses.push(await statusOf(fetch(endpoint, post(LIST, { authorization }))));
    }
    statuses.push(await statusOf(fetch(endpoint, post(LIST))));
    await reader?.cancel();

    deepEqual(statuses, [404, 202, 404]);
  });
});

describe("sessions out of use", () => {
  it("are swept, but not while a stream is open or a call under way", async () => {
    const { world, waits } = await serveWaits();
    await using _world = world;
    const [idle, listening, calling] = [
      await openRawSession(world.url),
      await openRawSession(world.url),
      await openRawSession(world.url),
    ];
    const stream = await listening.listen();
    const call = await calling.post(wait(7));
    await untilSo("the call has begun", () => waits.length === 1);

    world.wait(SESSION_IDLE_MS + 1);
    world.mcp.sweep();
    const [left, isIdleGone] = [world.mcp.sessionCount, await isGone(idle)];
    await stream.close();
    waits[0]?.finish();
    await call.text();
    // Who has just left is no less in use than who has just asked.
    await new Promise((resolve) => setTimeout(resolve, 100));
    world.mcp.sweep();
    const still = world.mcp.sessionCount;
    world.wait(SESSION_IDLE_MS + 1);
    world.mcp.sweep();

    deepEqual([left, isIdleGone, still, world.mcp.sessionCount], [2, true, 2, 0]);
  });

  it("stay as long as they are used", async () => {
    await using world = await serveEndpoint();
    const session = await openRawSession(world.url);

    for (let round = 0; round < 3; round++) {
      world.wait(SESSION_IDLE_MS - 60_000);
      world.mcp.sweep();
      equal(await statusOf(session.post(rpc("ping"))), 200);
    }
  });

  it("are swept by themselves", async () => {
    await using world = await serveEndpoint({
      options: { sessions: { idleMs: 20, sweepEveryMs: 10 } },
    });
    for (let count = 0; count < 3; count++) await openRawSession(world.url);

    await untilSo("all are gone", () => world.mcp.sessionCount === 0);
  });

  it("give way to a new one when there are too many, the oldest first", async () => {
    await using world = await serveEndpoint({ options: { sessions: { maxSessions: 2 } } });
    const first = await openRawSession(world.url);
    world.wait(1_000);
    const second = await openRawSession(world.url);

    const refused = await fetch(`${world.url}/mcp`, post(INITIALIZE));
    const text = await refused.text();
    world.wait(SPARED_IDLE_MS);
    const third = await openRawSession(world.url);

    deepEqual([refused.status, refused.headers.get("retry-after")], [503, "60"]);
    match(text, /Too many MCP sessions are open/);
    deepEqual(
      [await isGone(first), await isGone(second), await isGone(third)],
      [true, false, false],
    );
  });
});

describe("what sessions can ask for again", () => {
  it("is bounded in all: those out of use longest lose theirs, and go on", async () => {
    await using world = await serveEndpoint({
      files: { "a.md": "zebra ".repeat(1_000) },
      options: { sessions: { maxEventChars: 30_000 } },
    });
    const open = async (id: number) => {
      const session = await openRawSession(world.url);
      const call = { ...toolCall("memory_open", { id: "a.md" }), id };
      const [begin, answer] = await new EventReader(await session.post(call)).rest();
      ok(begin?.id !== undefined && answer?.data?.["id"] === id);
      world.wait(1_000);
      return { session, begin: begin.id };
    };
    const opened = [await open(1), await open(2), await open(3)];

    const replayed = [];
    for (const { session, begin } of opened) {
      const events = await (await session.listen(begin)).rest();
      replayed.push(events.map(({ data }) => data?.["id"]));
      equal(await statusOf(session.post(rpc("ping"))), 200);
    }

    deepEqual(replayed, [[], [], [3]]);
  });
});

describe("a client that does not read its stream", () => {
  it("loses it, and not its session", async () => {
    await using world = await serveEndpoint({ options: { changes: { tellDelayMs: 0 } } });
    const session = await openRawSession(world.url);
    using socket = await Deno.connect({ hostname: "127.0.0.1", port: world.port });
    const head = Object.entries(session.headers).map(([name, value]) => `${name}: ${value}\r\n`);
    const request = `GET /mcp HTTP/1.1\r\nHost: localhost\r\n${head.join("")}\r\n`;
    await socket.write(new TextEncoder().encode(request));
    const uri = `memory://${"x".repeat(16_000)}`;
    const subscribed = await statusOf(session.post(rpc("resources/subscribe", { uri })));
    const isGivenUp = () => world.services.logs.some((line) => line.includes("stream-given-up"));

    // As if the note changed all the time.
    for (let round = 0; round < 2_000 && !isGivenUp(); round++) {
      await world.mcp.tell({ uris: new Set([uri]), isListChanged: true });
      await new Promise((resolve) => setTimeout(resolve, 0));
    }

    equal(subscribed, 200);
    ok(isGivenUp());
    equal(await statusOf(session.post(rpc("ping"))), 200);
  });
});
