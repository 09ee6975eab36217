/** Many clients at once over real sockets: none gets what is another's, and none stays for ever. */
import { deepStrictEqual as deepEqual, strictEqual as equal } from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import { SESSION_IDLE_MS } from "@/lib/mcp/sessions.ts";
import { type EndpointWorld, serveEndpoint } from "@/tests/_support/endpoint_world.ts";
import { type ClientKind, CLIENTS, type McpClient, serveMcp } from "@/tests/_support/mcp.ts";
import { toolCall } from "@/tests/_support/mcp_rows.ts";
import { openRawSession, type RawSession } from "@/tests/_support/mcp_session.ts";
import { untilSo } from "@/tests/_support/until.ts";

const CLIENT_COUNT = 40;
const SESSION_COUNT = 150;
const LISTENER_COUNT = 5;

/** A memory of each client's own; its word, which is all letters, stands in no other. */
const idOf = (client: number) => `m${client}`;
const wordOf = (client: number) =>
  `zebra${String(client).replaceAll(/\d/g, (digit) => "abcdefghij".charAt(Number(digit)))}`;

const files = Object.fromEntries(
  Array.from({ length: CLIENT_COUNT }, (_, client) => [
    `memories/${idOf(client)}.md`,
    `---\nid: ${idOf(client)}\nname: ${wordOf(client)}\ndescription: Of one client\n---\nText\n`,
  ]),
);

/** Makes five calls at once, and returns what of their answers differs from client to client. */
async function callFive(client: McpClient, number: number): Promise<unknown[]> {
  const next = (number + 1) % CLIENT_COUNT;
  const [own, other, found, listed, missing] = await Promise.all([
    client.call("memory_open", { id: idOf(number) }),
    client.call("memory_open", { id: idOf(next) }),
    client.call("recall", { query: wordOf(number), mode: "keyword" }),
    client.call("list_memory"),
    client.call("memory_open", { id: `none-${number}` }),
  ]);
  return [
    own.data?.id,
    other.data?.id,
    idsIn(found.data?.results)[0],
    idsIn(listed.data?.memories).length,
    missing.isError && missing.text.includes(`none-${number}`),
  ];
}

function idsIn(items: unknown): unknown[] {
  return Array.isArray(items) ? items.map(({ id }) => id) : [];
}

async function connectMany(kind: ClientKind, url: string): Promise<McpClient[]> {
  return await Promise.all(Array.from({ length: CLIENT_COUNT }, () => kind.connect(url)));
}

describe("many clients at once", () => {
  for (const kind of CLIENTS) {
    it(`${CLIENT_COUNT} of ${kind.name} get the answers that they asked for`, async () => {
      await using world = await serveMcp(files);
      const clients = await connectMany(kind, world.server.url);

      const answers = await Promise.all(clients.map(callFive));

      await Promise.all(clients.map((client) => client.close()));
      deepEqual(
        answers,
        clients.map((_, number) => [
          idOf(number),
          idOf((number + 1) % CLIENT_COUNT),
          idOf(number),
          CLIENT_COUNT,
          true,
        ]),
      );
    });
  }

  it("of every kind get the answers that they asked for", async () => {
    await using world = await serveMcp(files);
    const opening = Array.from(
      { length: CLIENT_COUNT },
      (_, number) => CLIENTS[number % CLIENTS.length]?.connect(world.server.url),
    );
    const clients = (await Promise.all(opening)).filter((client) => client !== undefined);

    const answers = await Promise.all(clients.map(callFive));

    await Promise.all(clients.map((client) => client.close()));
    deepEqual(answers.map(([own]) => own), clients.map((_, number) => idOf(number)));
  });
});

/** Opens sessions that are each used once, and then left without a word. */
async function openMany({ url }: EndpointWorld): Promise<RawSession[]> {
  return await Promise.all(
    Array.from({ length: SESSION_COUNT }, async (_, number) => {
      const session = await openRawSession(url);
      const call = toolCall("memory_open", { id: idOf(number % CLIENT_COUNT) });
      await (await session.post(call)).text();
      return session;
    }),
  );
}

describe("many sessions that are left alone", () => {
  it("are all gone when nobody has used them for a while", async () => {
    await using world = await serveEndpoint({ files, options: { sessions: { sweepEveryMs: 5 } } });
    await openMany(world);
    const opened = world.mcp.sessionCount;

    world.wait(SESSION_IDLE_MS + 1);

    equal(opened, SESSION_COUNT);
    await untilSo("all sessions are swept", () => world.mcp.sessionCount === 0);
  });

  it("stay where their client listens, until it leaves", async () => {
    await using world = await serveEndpoint({ files });
    const sessions = await openMany(world);
    const listeners = sessions.slice(0, LISTENER_COUNT);
    const streams = await Promise.all(listeners.map((session) => session.listen()));

    world.wait(SESSION_IDLE_MS + 1);
    world.mcp.sweep();
    const left = world.mcp.sessionCount;
    world.wait(SESSION_IDLE_MS + 1);
    world.mcp.sweep();
    const leftLater = world.mcp.sessionCount;
    await Promise.all(streams.map((stream) => stream.close()));

    deepEqual([left, leftLater], [LISTENER_COUNT, LISTENER_COUNT]);
    await untilSo("the last sessions are swept", () => {
      // Each was used until the server saw its client leave.
      world.wait(SESSION_IDLE_MS + 1);
      world.mcp.sweep();
      return world.mcp.sessionCount === 0;
    });
  });
});
