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
    const id of ["", "x", "tag-b-1-1", "tag-a", "tag-a-1", "tag-a-9-1", "tag-a-1-x", "tag-a-1-1.5"]
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

    const short = openStore({ maxChars: 200 }).events;
    const begin = await short.storeEvent(GET, message("0"));
    await short.storeEvent(GET, message("x".repeat(300)));
    for (const text of ["1", "2", "3", "4", "5"]) {
      await short.storeEvent(GET, message(text.repeat(30)));
    }

    equal(few.size, 3);
    // The stream of GET is known for as long as its session, so that a client can go on with it.
    deepEqual((await replay(few, first)).map(([, text]) => text), ["2", "3", "4"]);
    deepEqual((await replay(short, begin)).map(([, text]) => text[0]), ["3", "4", "5"]);
  });

  it("forgets old events, and the streams of calls with them", async () => {
    const { events, wait } = openStore();
    const call = await events.storeEvent("call", message("a"));
    const get = await events.storeEvent(GET, message("b"));

    wait(EVENT_LIFE_MS + 1);
    await events.storeEvent(GET, message("c"));
    events.forgetOld();

    equal(events.size, 1);
    equal(await events.getStreamIdForEventId(call), undefined);
    deepEqual((await replay(events, get)).map(([, text]) => text), ["c"]);
  });

  it("keeps nothing of a call whose one event was too long", async () => {
    const { events } = openStore({ maxChars: 10 });

    const id = await events.storeEvent("call", message("x".repeat(100)));

    equal(events.size, 0);
    equal(await events.getStreamIdForEventId(id), undefined);
  });
});
