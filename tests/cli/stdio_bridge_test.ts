/** Which message goes where, and what happens to it when a server fails at the worst moment. */
import { deepStrictEqual as deepEqual, match, ok, strictEqual as equal } from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import { until, untilSo } from "../_support/until.ts";
import { broken, events, fakeWorld, type Got, refused } from "./_fake_server.ts";
import { modernParams } from "./_stdio_world.ts";

const NEVER = new Promise<void>(() => {});

/** A stream that goes on until the other end has had enough. */
function endless(messages: readonly object[], { signal }: Got): Response {
  return events(messages, { ends: false, signal });
}

/** Reacts to the first of these messages alone. */
function once(what: string, react: (got: Got) => Response): (got: Got) => Response | undefined {
  let isOver = false;
  return (got) => {
    if (isOver || got.what !== what) return undefined;
    isOver = true;
    return react(got);
  };
}

function raise(error: Error): never {
  throw error;
}

describe("a request over the bridge", () => {
  it("of 2026 says in headers what it is, in letters that HTTP has", async () => {
    const world = fakeWorld(() => undefined);

    await world.ask(1, "tools/call", modernParams({ name: "记忆" }));
    await world.ask(2, "resources/read", modernParams({ uri: "memory://a" }));
    await world.ask(3, "tools/list", modernParams());

    deepEqual(
      world.got.map(({ headers }) => [
        headers.get("mcp-protocol-version"),
        headers.get("mcp-method"),
        headers.get("mcp-name"),
        headers.get("x-own"),
        headers.get("accept"),
        headers.get("mcp-session-id"),
      ]),
      [
        ["tools/call", "=?base64?6K6w5b+G?="],
        ["resources/read", "memory://a"],
        ["tools/list", null],
      ].map((
        [method, name],
      ) => ["2026-07-28", method, name, "yes", "application/json, text/event-stream", null]),
    );
  });

  it("of 2025 names the session and the revision that were agreed", async () => {
    const world = fakeWorld(() => undefined);
    await world.initialize();

    await world.ask(1, "tools/list");

    const [first, ...rest] = world.got;
    deepEqual([first?.what, first?.headers.get("mcp-session-id")], ["initialize", null]);
    for (const { headers } of rest) {
      equal(headers.get("mcp-session-id"), "session-first");
      equal(headers.get("mcp-protocol-version"), "2025-06-18");
      equal(headers.get("mcp-method"), null);
    }
  });

  it("of 2025 waits for the session, and for what was notified before", async () => {
    const answered = Promise.withResolvers<void>();
    const world = fakeWorld(({ what }) => {
      if (what !== "notifications/initialized") return undefined;
      return answered.promise.then(() => new Response(null, { status: 202 }));
    });

    world.say({ jsonrpc: "2.0", id: 0, method: "initialize", params: {} });
    world.say({ jsonrpc: "2.0", method: "notifications/initialized" });
    world.say({ jsonrpc: "2.0", id: 1, method: "tools/list" });
    await untilSo("it is notified", () => world.methods.includes("notifications/initialized"));
    await new Promise((resolve) => setTimeout(resolve, 50));
    ok(!world.methods.includes("tools/list"));
    answered.resolve();

    equal((await world.answerTo(1)).result.from, "first");
  });

  it("of 2025 waits for the stream on which the server may ask, with each server", async () => {
    const opened = new Map(
      ["first", "second"].map((name) => [name, Promise.withResolvers<void>()]),
    );
    const world = fakeWorld((got) =>
      got.http === "GET" ? opened.get(got.server)?.promise.then(() => endless([], got)) : undefined
    );
    await world.initialize();
    for (const [name, { resolve }] of opened) {
      world.restartAs(name);
      world.say({ jsonrpc: "2.0", id: name, method: "tools/call" });
      await untilSo(
        "it opens the stream",
        () => world.got.some(({ server, http }) => http === "GET" && server === name),
      );
      await new Promise((resolve) => setTimeout(resolve, 50));
      ok(!world.got.some(({ server, what }) => server === name && what === "tools/call"));
      resolve();
      equal((await world.answerTo(name)).result.from, name);
    }
    await world.bridge.close(0, NEVER);
  });

  it("is answered by what comes on its stream, and what comes before is handed on", async () => {
    const progress = { jsonrpc: "2.0", method: "notifications/progress", params: { progress: 1 } };
    const world = fakeWorld(({ body }) =>
      events([progress, { jsonrpc: "2.0", id: body.id, result: { big: 1 } }])
    );

    await world.ask(1, "tools/call", modernParams());

    deepEqual(world.told, [progress, { jsonrpc: "2.0", id: 1, result: { big: 1 } }]);
  });

  for (const reason of ["broke before the answer", "ended in the midst of it"]) {
    const react = () => reason.startsWith("broke") ? raise(broken()) : events([]);

    it(`that may have been carried out is not repeated, as the connection ${reason}`, async () => {
      const world = fakeWorld(react);

      const { error } = await world.ask(1, "tools/call", modernParams());

      match(error.message, /may or may not have been carried out/);
      deepEqual(world.methods, ["tools/call"]);
    });

    it(`that does no harm is repeated once, as the connection ${reason}`, async () => {
      const world = fakeWorld(once("tools/list", react));
      const hopeless = fakeWorld(react);

      const { result } = await world.ask(1, "tools/list", modernParams());
      const { error } = await hopeless.ask(1, "prompts/get", modernParams());

      equal(result.from, "first");
      match(error.message, /went away twice/);
      deepEqual(hopeless.methods, ["prompts/get", "prompts/get"]);
    });
  }

  it("that nobody took is repeated, whatever it is", async () => {
    const world = fakeWorld(once("tools/call", () => raise(refused())));

    const { result } = await world.ask(1, "tools/call", modernParams());

    equal(result.from, "first");
    deepEqual(world.methods, ["tools/call", "tools/call"]);
  });

  it("that a server refuses because it stops is repeated a little later", async () => {
    const error = { code: -32000, message: "The server is about to stop" };
    const stopping = () => new Response(JSON.stringify({ error }), { status: 503 });
    const world = fakeWorld(once("tools/call", stopping));
    const hopeless = fakeWorld(stopping);

    const { result } = await world.ask(1, "tools/call", modernParams());
    const refusal = await hopeless.ask(1, "tools/call", modernParams());

    equal(result.from, "first");
    deepEqual(refusal.error, error);
  });

  it("that is refused is answered with the error and its own id", async () => {
    const error = { code: -32602, message: "No such tool", data: { a: 1 } };
    const json = fakeWorld(() =>
      Response.json({ jsonrpc: "2.0", id: null, error }, { status: 400 })
    );
    const problem = fakeWorld(() => Response.json({ detail: "Too much" }, { status: 429 }));
    const page = fakeWorld(() => new Response("<html>", { status: 502 }));

    deepEqual(await json.ask("a", "x", modernParams()), { jsonrpc: "2.0", id: "a", error });
    match((await problem.ask(1, "x", modernParams())).error.message, /refused: Too much/);
    match((await page.ask(1, "x", modernParams())).error.message, /502/);
  });

  it("goes out though the client does not read the answers before", async () => {
    const world = fakeWorld(() => undefined, { write: () => NEVER });

    for (let id = 0; id < 20; id++) {
      world.say({ jsonrpc: "2.0", id, method: "tools/list", params: modernParams() });
    }

    await untilSo("all went out", () => world.got.length === 20);
  });
});

describe("a session over the bridge", () => {
  it("is opened again as the client did, unseen, when the server has forgotten it", async () => {
    const world = fakeWorld(once("tools/call", () => Response.json({}, { status: 404 })));
    await world.initialize();
    await world.ask("s1", "resources/subscribe", { uri: "memory://a" });
    await world.ask("s2", "resources/subscribe", { uri: "memory://b" });
    await world.ask("s3", "resources/unsubscribe", { uri: "memory://a" });
    await world.ask("l", "logging/setLevel", { level: "debug" });
    const earlier = world.got.length;

    const { result } = await world.ask(1, "tools/call");

    equal(result.from, "first");
    const later = world.got.slice(earlier).filter(({ http }) => http === "POST");
    deepEqual(later.map(({ what, body }) => [what, body.params?.uri]), [
      ["tools/call", undefined],
      ["initialize", undefined],
      ["notifications/initialized", undefined],
      ["resources/subscribe", "memory://b"],
      ["logging/setLevel", undefined],
      ["tools/call", undefined],
    ]);
    equal(later[1]?.body.params.note, "own");
    deepEqual(world.told.map(({ id }) => id), ["init", "s1", "s2", "s3", "l", 1]);
  });

  it("is opened once for all calls that find another server", async () => {
    const world = fakeWorld(() => undefined);
    await world.initialize();
    world.restartAs("second");

    const answers = await Promise.all([1, 2, 3, 4].map((id) => world.ask(id, "tools/call")));

    deepEqual(answers.map(({ result }) => result.from), ["second", "second", "second", "second"]);
    const opened = world.got.filter(({ what }) => what === "initialize");
    deepEqual(opened.map(({ server }) => server), ["first", "second"]);
  });

  it("says what is wrong where another server does not open it", async () => {
    const world = fakeWorld(({ server, what }) =>
      server === "second" && what === "initialize"
        ? Response.json({ error: { code: -32000, message: "Too many" } }, { status: 503 })
        : undefined
    );
    await world.initialize();
    world.restartAs("second");

    const { error } = await world.ask(1, "tools/call");

    match(error.message, /started anew.*Too many/);
  });

  it("goes on with its stream after the last event, and from the start with another server", async () => {
    const told = { jsonrpc: "2.0", method: "notifications/resources/list_changed" };
    const world = fakeWorld(({ http }) => http === "GET" ? events([told, told]) : undefined);
    await world.initialize();
    const streams = () => world.got.filter(({ http }) => http === "GET");

    await untilSo("it came back", () => streams().length === 2);
    world.restartAs("second");
    await untilSo("it came to the second", () => streams().length === 3);
    await world.bridge.close(0, NEVER);

    deepEqual(
      streams().map(({ server, headers }) => [server, headers.get("last-event-id")]),
      [["first", null], ["first", "e1"], ["second", null]],
    );
    ok(world.told.filter(({ method }) => method === told.method).length >= 4);
  });

  it("listens to the server that it uses, though an earlier one has not hung up", async () => {
    const world = fakeWorld(() => undefined);
    await world.initialize();
    const streams = () =>
      world.got.filter(({ http }) => http === "GET").map(({ server }) => server);
    await untilSo("it listens", () => streams().length === 1);

    world.restartAs("second");
    await world.ask(1, "tools/call");

    await untilSo("it listens again", () => streams().length === 2);
    deepEqual(streams(), ["first", "second"]);
    await world.bridge.close(0, NEVER);
  });

  it("takes no answer for a server that has not asked, and renames its questions", async () => {
    const question = { jsonrpc: "2.0", id: 0, method: "elicitation/create", params: {} };
    const world = fakeWorld((got) =>
      got.what === "tools/call" ? endless([question], got) : undefined
    );
    await world.initialize();
    const asked = () => world.told.filter(({ method }) => method === question.method);
    world.say({ jsonrpc: "2.0", id: "a", method: "tools/call" });
    await untilSo("it asks", () => asked().length === 1);

    world.restartAs("second");
    world.say({ jsonrpc: "2.0", id: "b", method: "tools/call" });
    await untilSo("the second asks", () => asked().length === 2);
    const [first, second] = asked().map(({ id }) => id);
    world.say({ jsonrpc: "2.0", id: first, result: { action: "accept" } });
    world.say({ jsonrpc: "2.0", id: second, result: { action: "decline" } });
    world.say({ jsonrpc: "2.0", id: "nobody", result: {} });
    await untilSo("it is answered", () => world.methods.includes("answer"));
    await new Promise((resolve) => setTimeout(resolve, 50));

    equal(first, 0);
    ok(second !== 0);
    deepEqual(
      world.got.filter(({ what }) => what === "answer").map(({ server, body }) => [server, body]),
      [["second", { jsonrpc: "2.0", id: 0, result: { action: "decline" } }]],
    );
    const withdrawn = world.told.filter(({ method }) => method === "notifications/cancelled");
    deepEqual(withdrawn.map(({ params }) => params.requestId), [0]);
    await world.bridge.close(0, NEVER);
  });

  it("ends with the client", async () => {
    const world = fakeWorld(() => undefined);
    await world.initialize();

    await world.bridge.close(1_000, NEVER);

    const last = world.got.at(-1);
    deepEqual([last?.http, last?.headers.get("mcp-session-id")], ["DELETE", "session-first"]);
  });
});

describe("a request that is cancelled", () => {
  const cancelled = (requestId: number) => (
    { jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId } }
  );
  const hanging = (got: Got) => got.what === "tools/call" ? endless([], got) : undefined;
  const slow = ({ what, signal }: Got) => {
    if (what !== "tools/call") return undefined;
    const { promise, reject } = Promise.withResolvers<Response>();
    signal?.addEventListener("abort", () => reject(signal.reason));
    return promise;
  };

  it("of 2026 loses its connection, and the server is told nothing else", async () => {
    const world = fakeWorld(slow);
    world.say({ jsonrpc: "2.0", id: 1, method: "tools/call", params: modernParams() });
    await untilSo("it is there", () => world.got.length === 1);

    world.say(cancelled(1));
    await untilSo("it is ended", () => world.got[0]?.signal?.aborted === true);
    await world.ask(2, "tools/list", modernParams());

    deepEqual(world.methods, ["tools/call", "tools/list"]);
    deepEqual(world.told.map(({ id }) => id), [2]);
  });

  it("of 2025 is told to the server after the request, which then is over", async () => {
    const world = fakeWorld(hanging);
    await world.initialize();
    world.say({ jsonrpc: "2.0", id: 1, method: "tools/call" });
    world.say(cancelled(1));

    await untilSo("it is told", () => world.methods.includes("notifications/cancelled"));
    await world.bridge.close(2_000, NEVER);

    const methods = world.methods.filter((method) => method !== "GET");
    deepEqual(methods.slice(2), ["tools/call", "notifications/cancelled", "DELETE"]);
    deepEqual(world.told.map(({ id }) => id), ["init"]);
  });
});

describe("what a client of 2026 listens for", () => {
  const METHOD = "subscriptions/listen";
  const acknowledged = (notifications: object) => (
    {
      jsonrpc: "2.0",
      method: "notifications/subscriptions/acknowledged",
      params: { notifications },
    }
  );
  const answer = { jsonrpc: "2.0", id: 1, result: { resultType: "complete" } };

  it("goes on after the server said goodbye, and is acknowledged once", async () => {
    const heard = acknowledged({ toolsListChanged: true });
    const world = fakeWorld(() => events([heard, answer]));
    world.say({ jsonrpc: "2.0", id: 1, method: METHOD, params: modernParams() });

    await untilSo("it came back", () => world.got.length >= 3);
    await world.bridge.close(0, NEVER);

    deepEqual(world.told, [heard]);
  });

  it("is over where there is nothing to hear, or the server refuses", async () => {
    const nothing = acknowledged({});
    const empty = fakeWorld(() => events([nothing, answer]));
    const error = { code: -32602, message: "Bad filter" };
    const wrong = fakeWorld(() => Response.json({ jsonrpc: "2.0", id: 1, error }, { status: 400 }));

    equal((await empty.ask(1, METHOD, modernParams())).result.resultType, "complete");
    deepEqual((await wrong.ask(1, METHOD, modernParams())).error, error);
    await new Promise((resolve) => setTimeout(resolve, 600));

    deepEqual([empty.got.length, wrong.got.length], [1, 1]);
    deepEqual(empty.told, [nothing, answer]);
  });

  it("ends when the client cancels it", async () => {
    const world = fakeWorld(() => events([acknowledged({ toolsListChanged: true })]));
    world.say({ jsonrpc: "2.0", id: 1, method: METHOD, params: modernParams() });
    await until(() => Promise.resolve(world.got.length > 0));

    world.say({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 1 } });
    await new Promise((resolve) => setTimeout(resolve, 100));
    const count = world.got.length;
    await new Promise((resolve) => setTimeout(resolve, 600));

    equal(world.got.length, count);
    deepEqual(world.told.length, 1);
  });
});
