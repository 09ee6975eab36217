import { deepStrictEqual as deepEqual, rejects, strictEqual as equal } from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import type { JSONRPCMessage } from "@modelcontextprotocol/server";
import { EVENT_LIFE_MS, SessionEvents } from "@/lib/mcp/event_store.ts";

const GET = "_GET_stream";

function openStore({ maxEvents, maxChars }: { maxEvents?: number; maxChars?: number } = {}) {
  let nowMs = 0;
  const clock = { nowMs: () => nowMs, monotonicMs: () => nowMs };
  const events = new SessionEvents({
    clock,
    tag: "tag-a",
    ...(maxEvents === undefined ? {} : { maxEvents }),
    ...(maxChars === undefined ? {} : { maxChars }),
  });
  return { events, wait: (ms: number) => nowMs += ms };
}

function message(text: string): JSONRPCMessage {
  return { jsonrpc: "2.0", method: text };
}

/** What a client gets that asks for all after an event. */
async function replay(events: SessionEvents, lastEventId: string): Promise<[string, string][]> {
  const sent: [string, string][] = [];
  await events.replayEventsAfter(lastEventId, {
    send: (id, event) => {
      sent.push([id, "method" in event ? event.method : "?"]);
      return Promise.resolve();
    },
  });
  return sent;
}

describe("SessionEvents", () => {
  it("replays what followed an event in its own stream, with the ids that it had", async () => {
    const { events } = openStore();
    const first = await events.storeEvent(GET, message("a"));
    await events.storeEvent("call", message("other"));
    const second = await events.storeEvent(GET, message("b"));
    const third = await events.storeEvent(GET, message("c"));

    deepEqual(await replay(events, first), [[second, "b"], [third, "c"]]);
    deepEqual(await replay(events, second), [[third, "c"]]);
    deepEqual(await replay(events, third), []);
    equal(await events.getStreamIdForEventId(first), GET);
  });

  it("does not replay what marks the beginning of a stream", async () => {
    const { events } = openStore();
    const begin = await events.storeEvent("call", {} as JSONRPCMessage);
    const answer = await events.storeEvent("call", message("answer"));

    deepEqual(await replay(events, begin), [[answer, "answer"]]);
  });

  for (
    const id of [
      "",
      "x",
      "tag-b._GET_stream.1",
      "tag-a",
      "tag-a._GET_stream",
      "tag-a..1",
      "tag-a._GET_stream.x",
      "tag-a._GET_stream.1.5",
      "tag-a._GET_stream.-1",
      "tag-a._GET_stream.2",
      "tag-a._GET_stream.1e999",
    ]
  ) {
    it(`knows no event ${JSON.stringify(id)}`, async () => {
      const { events } = openStore();
      await events.storeEvent(GET, message("a"));

      equal(await events.getStreamIdForEventId(id), undefined);
      await rejects(replay(events, id), RangeError);
    });
  }

  it("keeps the last events by number and by length, and no single one that is too long", async () => {
    const few = openStore({ maxEvents: 3 }).events;
    const first = await few.storeEvent(GET, message("0"));
    for (const text of ["1", "2", "3", "4"]) await few.storeEvent(GET, message(text));

    const short = openStore({ maxChars: 150 }).events;
    const begin = await short.storeEvent(GET, message("0"));
    await short.storeEvent(GET, message("x".repeat(300)));
    for (const text of ["1", "2", "3", "4", "5"]) {
      await short.storeEvent(GET, message(text.repeat(20)));
    }

    equal(few.size, 3);
    // The stream of GET is known for as long as its session, so that a client can go on with it.
    deepEqual((await replay(few, first)).map(([, text]) => text), ["2", "3", "4"]);
    deepEqual((await replay(short, begin)).map(([, text]) => text[0]), ["3", "4", "5"]);
  });

  it("says of an answer that is too long that it cannot be sent again", async () => {
    const { events } = openStore({ maxChars: 300 });
    const begin = await events.storeEvent("call", {} as JSONRPCMessage);
    await events.storeEvent("call", { jsonrpc: "2.0", id: 7, result: { x: "x".repeat(400) } });
    const replayed: JSONRPCMessage[] = [];

    await events.replayEventsAfter(begin, {
      send: (_id, event) => {
        replayed.push(event);
        return Promise.resolve();
      },
    });

    const message = "The answer is too long to be sent once more: ask again";
    deepEqual(replayed, [{ jsonrpc: "2.0", id: 7, error: { code: -32000, message } }]);
  });

  it("mark() is an id after which comes what is stored from then on", async () => {
    const { events } = openStore();
    const atFirst = events.mark(GET);
    const first = await events.storeEvent(GET, message("a"));
    const later = events.mark(GET);
    const second = await events.storeEvent(GET, message("b"));

    deepEqual(await replay(events, atFirst), [[first, "a"], [second, "b"]]);
    deepEqual(await replay(events, later), [[second, "b"]]);
  });

  it("forgets old events, and still knows their streams", async () => {
    const { events, wait } = openStore();
    const call = await events.storeEvent("call", message("a"));
    const get = await events.storeEvent(GET, message("b"));

    wait(EVENT_LIFE_MS + 1);
    await events.storeEvent(GET, message("c"));
    await events.storeEvent("call", message("d"));
    events.forgetOld();

    equal(events.size, 2);
    deepEqual((await replay(events, call)).map(([, text]) => text), ["d"]);
    deepEqual((await replay(events, get)).map(([, text]) => text), ["c"]);
  });

  it("replays what comes while it replays", async () => {
    const { events } = openStore();
    const first = await events.storeEvent(GET, message("a"));
    await events.storeEvent(GET, message("b"));
    const sent: string[] = [];

    await events.replayEventsAfter(first, {
      send: async (_id, event) => {
        sent.push("method" in event ? event.method : "?");
        if (sent.length === 1) await events.storeEvent(GET, message("c"));
      },
    });

    deepEqual(sent, ["b", "c"]);
  });
});
