import {
  deepStrictEqual as deepEqual,
  match,
  ok,
  rejects,
  strictEqual as equal,
} from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import { type InvocationsAnswer, InvocationsAnswerShape } from "@/lib/contracts_tools.ts";
import { clientOver, CLIENTS, type McpWorld, serveMcp } from "@/tests/_support/mcp.ts";
import { post, toolCall } from "@/tests/_support/mcp_rows.ts";

async function readInvocations({ server }: McpWorld, query = ""): Promise<InvocationsAnswer> {
  const response = await fetch(`${server.url}/api/invocations${query}`);
  equal(response.status, 200);
  match(response.headers.get("content-type") ?? "", /^application\/json/);
  return InvocationsAnswerShape.strict().parse(await response.json());
}

/** Nothing is kept between two requests, so that no client has said its name before. */
const STATELESS = { config: { mcpLegacy: "stateless" } } as const;

describe("GET /api/invocations", () => {
  it("is empty at first", async () => {
    await using world = await serveMcp();

    deepEqual(await readInvocations(world), { total: 0, invocations: [] });
  });

  for (const kind of CLIENTS) {
    it(`tells of a call of ${kind.name}`, async () => {
      await using world = await serveMcp({ "a.md": "zebra" });
      await using client = await kind.connect(world.server.url);

      await client.call("recall", { query: "zebra" });
      const { total, invocations: [invocation] } = await readInvocations(world);

      ok(invocation);
      const { tool, transport, outcome, requestId, startedAt, ms } = invocation;
      deepEqual([total, tool, transport, outcome], [1, "recall", kind.transport, "ok"]);
      equal(invocation.client, "test-client/1.2.3");
      match(requestId, /^[\w-]{36}$/);
      ok(!Number.isNaN(Date.parse(startedAt)));
      ok(ms >= 0);
    });
  }

  it("takes the request id that a client brings, so that the error, the log and it agree", async () => {
    await using world = await serveMcp({}, STATELESS);
    const init = post(toolCall("recall", {}), { "x-request-id": "req-7" });

    const text = await fetch(`${world.server.url}/mcp`, init).then((response) => response.text());

    match(text, /\[invalid-request, request req-7\]/);
    const { invocations: [invocation] } = await readInvocations(world);
    deepEqual([invocation?.requestId, invocation?.outcome], ["req-7", "invalid-request"]);
    ok(world.services.logs.some((line) => /"event":"request".*"requestId":"req-7"/.test(line)));
  });

  const names: readonly [userAgent: string, name: string][] = [
    ["codex-cli/0.171.0 (Linux; x86_64)", "codex-cli/0.171.0"],
    ['<b>"x"\tand', "-b-x-and"],
    [`${"x".repeat(500)}/1`, "x".repeat(80)],
    ["", "unknown"],
  ];
  for (const [userAgent, name] of names) {
    it(`calls a client by its User-Agent, in safe letters: ${name.slice(0, 20)}`, async () => {
      await using world = await serveMcp({ "a.md": "zebra" }, STATELESS);
      const init = post(toolCall("recall", { query: "zebra" }), { "user-agent": userAgent });

      await fetch(`${world.server.url}/mcp`, init).then((response) => response.text());

      equal((await readInvocations(world)).invocations[0]?.client, name);
    });
  }

  it("tells how calls ended, newest first, and no more than was asked for", async () => {
    const begun = Promise.withResolvers<void>();
    await using world = await serveMcp({ "a.md": "zebra" }, {
      replace: ({ grep }) => ({
        grep: async (request) => {
          if (request.query === "broken") {
            throw new TypeError("a secret of the program");
          }
          if (request.query !== "endless") return await grep(request);
          const { promise, reject } = Promise.withResolvers<never>();
          request.signal?.addEventListener("abort", () => reject(request.signal?.reason));
          begun.resolve();
          return await promise;
        },
      }),
    });
    await using client = await clientOver("modern").connect(world.server.url);
    const giveUp = new AbortController();

    await client.call("memory_search", { query: "zebra" });
    await client.call("memory_open", { id: "none.md" });
    await client.call("recall", {});
    const broken = await client.call("memory_search", { query: "broken" });
    const failed = rejects(client.call("memory_search", { query: "endless" }, giveUp.signal));
    await begun.promise;
    giveUp.abort();
    await failed;
    // The next call is answered after the one that was given up has ended.
    await client.call("list_memory");

    const { total, invocations } = await readInvocations(world);
    deepEqual(invocations.map(({ tool, outcome }) => [tool, outcome]), [
      ["list_memory", "ok"],
      ["memory_search", "cancelled"],
      ["memory_search", "internal"],
      ["recall", "invalid-request"],
      ["memory_open", "note-not-found"],
      ["memory_search", "ok"],
    ]);
    equal(total, 6);
    const last = await readInvocations(world, "?limit=2");
    deepEqual(last, { total, invocations: invocations.slice(0, 2) });
    ok(broken.isError);
    match(broken.text, /Something went wrong inside the server.*\[internal, request /);
    ok(!/secret/.test(broken.text + world.services.logs.join()));
    deepEqual(
      world.services.logs.filter((line) => /"level":"error"/.test(line))
        .map((line) => JSON.parse(line).event),
      ["tool-failed"],
    );
  });

  for (const limit of ["0", "1001", "x", "", "1.5"]) {
    it(`refuses the limit ${JSON.stringify(limit)}`, async () => {
      await using world = await serveMcp();

      const response = await fetch(`${world.server.url}/api/invocations?limit=${limit}`);

      const { code, problems } = await response.json();
      deepEqual([response.status, code, problems[0].field], [400, "invalid-request", "limit"]);
    });
  }

  it("says nothing without the token", async () => {
    await using world = await serveMcp({}, { config: { token: "sesame" } });

    const response = await fetch(`${world.server.url}/api/invocations`);

    await response.body?.cancel();
    equal(response.status, 401);
  });

  it("holds no word of questions, answers, ids or paths, and neither does the log", async () => {
    const secret = "xyzzy";
    await using world = await serveMcp({
      [`${secret}.md`]:
        `---\nid: id-${secret}\nname: ${secret}\ndescription: ${secret}\n---\n${secret}`,
    });
    const asked: readonly [tool: string, args: object][] = [
      ["recall", { query: secret }],
      ["recall", { query: secret, [secret]: 1, scope: secret }],
      ["search_notes", { query: secret, tags: [secret], folder: secret, status: secret }],
      ["search_notes", { query: "x", folder: `../${secret}` }],
      ["memory_search", { query: secret }],
      ["memory_search", { query: `(${secret}`, regex: true }],
      ["memory_open", { id: `id-${secret}` }],
      ["memory_open", { id: `no-${secret}` }],
      ["memory_open", { id: `id-${secret}`, cursor: secret }],
      ["list_memory", { cursor: secret }],
    ];

    for (const kind of CLIENTS) {
      await using client = await kind.connect(world.server.url);
      for (const [tool, args] of asked) await client.call(tool, args);
      await client.call(secret).catch(() => {});
      const body = post(`{"jsonrpc":"2.0","id":1,"method":"${secret}","params":{"x":"${secret}"`);
      await (await fetch(`${world.server.url}/mcp`, body)).body?.cancel();
      await (await fetch(`${world.server.url}/messages?sessionId=${secret}`, body)).body?.cancel();
    }

    const answer = await readInvocations(world, "?limit=1000");
    equal(answer.total, CLIENTS.length * asked.length);
    ok(!JSON.stringify(answer).includes(secret));
    deepEqual(world.services.logs.filter((line) => line.includes(secret)), []);
  });
});
