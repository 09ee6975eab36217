/** Clients that mean ill, or are broken: they hear what is wrong, and others notice nothing. */
import { deepStrictEqual as deepEqual, match, ok, strictEqual as equal } from "node:assert/strict";
import { after, before, describe, it } from "@std/testing/bdd";
import { MAX_ANSWER_CHARS } from "@/lib/mcp/pack.ts";
import { MAX_BODY_BYTES } from "@/routes/limits.ts";
import { type McpWorld, modernRequest, serveMcp } from "@/tests/_support/mcp.ts";
import { inSession, openSession, post, toolCall } from "@/tests/_support/mcp_rows.ts";
import { until } from "@/tests/_support/until.ts";

const LONG_NOTE = "A line of a long note.\n".repeat(1_000);

/** Does what others do meanwhile; fails if anything of it does. */
async function checkOthers({ server }: McpWorld): Promise<void> {
  const health = await fetch(`${server.url}/healthz`).then((response) => response.json());
  const call = modernRequest("tools/call", { name: "recall", arguments: { query: "zebra" } });
  const answer = await fetch(`${server.url}/mcp`, call).then((response) => response.json());
  equal(health.status, "ok");
  equal(answer.result.structuredContent.total, 1);
}

/** Calls a tool with arguments as JSON text, which may hold what no value can. */
async function callRaw({ server }: McpWorld, name: string, args: string): Promise<string> {
  const { headers } = modernRequest("tools/call", { name });
  const body = String(modernRequest("tools/call", { name, arguments: {} }).body)
    .replace('"arguments":{}', () => `"arguments":${args}`);
  const response = await fetch(`${server.url}/mcp`, {
    method: "POST",
    headers: headers ?? {},
    body,
  });
  return await response.text();
}

const TOO_MUCH = /holds too much: at most 1000 values, nested 32 deep/;

describe("hostile clients", () => {
  let world: McpWorld;
  before(async () => {
    world = await serveMcp({ "a.md": "zebra", "long.md": LONG_NOTE });
  });
  after(() => world[Symbol.asyncDispose]());

  const deep = (levels: number) => `${"[".repeat(levels)}${"]".repeat(levels)}`;
  const huge = JSON.stringify("記😀\u0001".repeat(300_000));
  const many = JSON.stringify(Array.from({ length: 200_000 }, (_, at) => `t${at}`));
  const few = JSON.stringify(Array.from({ length: 100 }, (_, at) => `t${at}`));
  const unknown = (count: number) =>
    JSON.stringify(Object.fromEntries(Array.from({ length: count }, (_, at) => [`x${at}`, at])));
  const cases: readonly [name: string, tool: string, args: string, says: RegExp][] = [
    ["a query of 100 000 levels", "recall", `{"query":${deep(100_000)}}`, TOO_MUCH],
    [
      "an unknown field of 100 000 levels",
      "recall",
      `{"query":"x","y":${deep(100_000)}}`,
      TOO_MUCH,
    ],
    ["tags of 100 000 levels", "search_notes", `{"query":"x","tags":${deep(100_000)}}`, TOO_MUCH],
    ["a query of some levels", "recall", `{"query":${deep(20)}}`, /query must be a text/],
    ["tags of some levels", "search_notes", `{"query":"x","tags":${deep(20)}}`, /tags must be/],
    [
      "objects of 100 000 levels",
      "memory_open",
      `{"id":${`{"a":`.repeat(100_000)}1${"}".repeat(100_000)}}`,
      TOO_MUCH,
    ],
    [
      "a huge query",
      "recall",
      `{"query":${huge}}`,
      /query must not be longer than 10000 characters/,
    ],
    [
      "a huge text",
      "memory_search",
      `{"query":${huge}}`,
      /query must not be longer than 10000 characters/,
    ],
    [
      "a huge id",
      "memory_open",
      `{"id":${huge}}`,
      /id must not be longer than 4096/,
    ],
    ["a huge cursor", "list_memory", `{"cursor":${huge}}`, /cursor must not be longer than/],
    [
      "a huge folder",
      "search_notes",
      `{"query":"x","folder":${huge}}`,
      /folder must not be longer/,
    ],
    [
      "a huge status",
      "search_notes",
      `{"query":"x","status":${huge}}`,
      /status must not be longer/,
    ],
    ["a huge mode", "recall", `{"query":"x","mode":${huge}}`, /mode must be one of/],
    ["a huge name of a field", "recall", `{"query":"x",${huge}:1}`, /is not known/],
    ["200 000 tags", "search_notes", `{"query":"x","tags":${many}}`, TOO_MUCH],
    ["many tags", "search_notes", `{"query":"x","tags":${few}}`, /tags must hold at most 16/],
    ["50 000 unknown fields", "recall", unknown(50_000), TOO_MUCH],
    ["many unknown fields", "recall", unknown(900), /x0 is not known.*and 896 more/],
    // It is dropped before anybody sees it.
    ["__proto__", "recall", '{"query":"zebra","__proto__":{"query":1}}', /"total":1/],
    ["a lone surrogate", "recall", '{"query":"\\ud800"}', /"total":0/],
    ["NUL in a text", "memory_search", '{"query":"a\\u0000b"}', /"isError":true/],
    [
      "a number beyond all",
      "recall",
      '{"query":"x","top_k":1e999}',
      /top_k must be a whole number/,
    ],
  ];
  for (const [name, tool, args, says] of cases) {
    it(`${tool} with ${name} is told what is wrong, while others go on`, async () => {
      const [text] = await Promise.all([callRaw(world, tool, args), checkOthers(world)]);

      match(text, says);
      ok(text.length <= 3 * MAX_ANSWER_CHARS, `${text.length} characters`);
      ok(!/internal/.test(text), text);
      deepEqual(world.services.logs.filter((line) => /"level":"error"/.test(line)), []);
    });
  }

  it("a tool with a huge name is told briefly that there is none", async () => {
    const name = "x".repeat(2_000_000);
    const sessionId = await openSession(world.server.url);
    const body = inSession(post(toolCall(name, {})), sessionId);
    const answered = fetch(`${world.server.url}/mcp`, body);
    const [response] = await Promise.all([answered, checkOthers(world)]);
    const text = await response.text();

    match(text, /There is no tool/);
    ok(text.length < 1_000);
  });

  it("5 MB from several at once are refused, while others go on", async () => {
    const body = " ".repeat(MAX_BODY_BYTES + 1);
    const asked = Array.from({ length: 4 }, async () => {
      const response = await fetch(`${world.server.url}/mcp`, post(body));
      await response.body?.cancel();
      return response.status;
    });

    const [statuses] = await Promise.all([Promise.all(asked), checkOthers(world)]);

    deepEqual(statuses, [413, 413, 413, 413]);
  });

  it("a client that never reads its stream loses it, while others go on", async () => {
    const { url, port } = world.server;
    using socket = await Deno.connect({ hostname: "127.0.0.1", port });
    await socket.write(new TextEncoder().encode("GET /sse HTTP/1.1\r\nHost: localhost\r\n\r\n"));
    const sessionId = await readSessionId(socket);
    const ask = async () => {
      const body = post(toolCall("memory_open", { id: "long.md" }));
      const response = await fetch(`${url}/messages?sessionId=${sessionId}`, body);
      await response.body?.cancel();
      return response.status;
    };

    const statuses = new Set<number>();
    for (let round = 0; !statuses.has(404); round++) {
      ok(round < 500, "its stream is never ended");
      for (const status of await Promise.all(Array.from({ length: 20 }, ask))) {
        statuses.add(status);
      }
      if (round % 10 === 0) await checkOthers(world);
    }

    deepEqual([...statuses].toSorted(), [202, 404]);
    await checkOthers(world);
    match(await fetch(`${url}/metrics`).then((response) => response.text()), /sse_streams 0\n/);
  });

  it("a client that leaves without a word takes its stream with it", async () => {
    const { url, port } = world.server;
    const socket = await Deno.connect({ hostname: "127.0.0.1", port });
    await socket.write(new TextEncoder().encode("GET /sse HTTP/1.1\r\nHost: localhost\r\n\r\n"));
    const sessionId = await readSessionId(socket);

    socket.close();
    const ping = post({ jsonrpc: "2.0", id: 1, method: "ping" });
    const status = await until(async () => {
      const response = await fetch(`${url}/messages?sessionId=${sessionId}`, ping);
      await response.body?.cancel();
      return response.status !== 202 && response.status;
    });

    equal(status, 404);
  });
});

/** Reads no more than the first event. */
async function readSessionId(socket: Deno.Conn): Promise<string> {
  const buffer = new Uint8Array(16 * 1024);
  const decoder = new TextDecoder();
  let text = "";
  for (;;) {
    const sessionId = /sessionId=([\w-]+)/.exec(text)?.[1];
    if (sessionId !== undefined && text.includes(`${sessionId}\n\n`)) {
      return sessionId;
    }
    const count = await socket.read(buffer);
    ok(count !== null, text);
    text += decoder.decode(buffer.subarray(0, count), { stream: true });
  }
}
