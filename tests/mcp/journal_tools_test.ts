/** The journal over MCP: in mode `open`, in mode `ask`, and where the person wants no memory. */
import { deepStrictEqual as deepEqual, match, ok, strictEqual as equal } from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import {
  decide,
  json,
  MEMORY_INPUT,
  serveAsking,
  untouched,
  ZEBRA,
} from "@/tests/_support/ask_world.ts";
import { callTool, connectSdk, serveMcp } from "@/tests/_support/mcp.ts";

const FILES = {
  "profile.md": "# Preferences\n\n## Writing style\n- Short sentences\n",
  "rules.md": "# Rules\n\n## Rule list\n- [R001] Back up first\n",
  "profiles/user.md": "Likes tea.\n",
  "projects/zoo.md":
    "# Zoo\n\n## Current status\nFences are up\n\n## Pitfalls\n- 2026-01-01: gate\n",
  "memories/zebra.md": ZEBRA,
};
const TRANSPORTS = ["modern", "legacy", "sse"] as const;

for (const transport of TRANSPORTS) {
  describe(`the journal over ${transport}`, () => {
    it("begins a task, writes back, audits and acts on it", async () => {
      await using world = await serveMcp(FILES);
      await using connection = await connectSdk(world.server.url, transport);
      const { client } = connection;

      const begun = await callTool(client, "begin_task", { projects: ["Zoo"] });
      const id = /\^(p\w+)/.exec(begun.data.text)?.[1];
      const written = await callTool(client, "write_back", {
        trigger: "update memory",
        project: "zoo",
        decisions: ["Gates open inwards, as wind slams them"],
        used: [id, "R001"],
        summary: "Fences done",
      });
      const report = await callTool(client, "audit_memory", {});
      const done = await callTool(client, "apply_audit", {
        audit: report.data.audit,
        decisions: "cancel",
      });

      match(begun.data.text, /^\[rules\]\n## Rule list\n- \[R001\] Back up first\n\n\[profile\]/);
      match(begun.data.text, /\[project: zoo\]\nFences are up\n\n\[user_profile\]\nLikes tea\.$/);
      match(written.data.message, /^Memory updated: projects\/zoo\.md \(1 decision\)/);
      deepEqual(written.data.written, [
        "profile.md",
        "rules.md",
        "projects/zoo.md",
        "session-log.md",
      ]);
      match(report.data.text, /^📋 Memory audit /);
      equal(done.data.status, "cancelled");
    });

    it("does nothing in a task without memory, and says so", async () => {
      await using world = await serveMcp(FILES);
      await using connection = await connectSdk(world.server.url, transport);
      const { client } = connection;
      const { data: { task, status } } = await callTool(client, "begin_task", { memory: "off" });
      equal(status, "off");

      const calls: readonly [name: string, args: Record<string, unknown>][] = [
        ["recall", { query: "zebra" }],
        ["memory_open", { id: "m_zebra" }],
        ["memory_save", MEMORY_INPUT],
        ["write_back", { trigger: "记住", summary: "x" }],
        ["request_access", { grant: "read" }],
        ["audit_memory", {}],
      ];
      for (const [name, args] of calls) {
        const { isError, data } = await callTool(client, name, { ...args, task });
        ok(!isError);
        deepEqual(Object.keys(data), ["memory", "note"]);
        equal(data.memory, "off");
      }
      const other = await callTool(client, "recall", { query: "zebra", task: "another" });
      // A session is its task; clients of 2026 have none.
      equal("memory" in other.data, transport !== "modern");
      if (transport !== "modern") {
        deepEqual((await client.listResources()).resources, []);
        match(
          JSON.stringify(await client.readResource({ uri: "profile://user" })),
          /without memory/,
        );
        match(JSON.stringify(await client.getPrompt({ name: "audit" })), /without memory/);
      }

      await callTool(client, "begin_task", {});
      const again = await callTool(client, "recall", { query: "zebra" });
      match(again.text, /m_zebra/);
    });

    it("asks before anything is read, and reads within the budget then", async () => {
      await using world = await serveAsking({
        ...FILES,
        "profiles/agent.md": "斑马".repeat(9_000),
      });
      await using connection = await connectSdk(world.server.url, transport);
      const { client } = connection;
      const wish = { projects: ["zoo"], why: "Mend the gate" };
      const asked = await untouched(world, () => callTool(client, "begin_task", wish));
      deepEqual(Object.keys(asked.data).sort(), ["access", "next", "pending", "status", "task"]);
      match(asked.data.pending.text, /Mend the gate/);
      const { task, pending } = asked.data;
      ok((await callTool(client, "recall", { query: "zebra", task })).isError);

      await decide(world.request, pending.requestId, "allow");
      const { data } = await callTool(client, "begin_task", { projects: ["zoo"], task });

      equal(data.status, "ready");
      equal(data.task, task);
      match(data.text, /^\[rules\]/);
      match(data.text, /\[project: zoo\]\nFences are up/);
      ok(data.budget.used.chars <= 8_000 && data.budget.used.tokens <= 5_000);
      // What every task begins with leaves the five files for the task.
      equal(data.budget.used.files, 0);
      // One long file leaves room for what follows, and for the task itself.
      deepEqual(data.truncated, ["profiles/agent.md: longer than this answer has room for"]);
      match(
        data.text,
        /memory_open\(id="profiles\/agent\.md"\) has it all\)\n\n\[user_profile\]\nLikes tea\.$/,
      );
      ok(data.budget.left.chars >= 4_000);
    });

    it("goes on without memory where the person refuses", async () => {
      await using world = await serveAsking(FILES);
      await using connection = await connectSdk(world.server.url, transport);
      const { client } = connection;
      const { data: { pending } } = await callTool(client, "begin_task", {});
      await decide(world.request, pending.requestId, "refuse");

      const { data } = await untouched(world, () => callTool(client, "begin_task", {}));

      equal(data.status, "refused");
      match(data.next, /without memory\. Do not ask again/);
    });
  });
}

describe("begin_task where the client can ask the person", () => {
  for (const transport of ["modern", "legacy"] as const) {
    it(`answers at once with what they allowed, over ${transport}`, async () => {
      await using world = await serveAsking(FILES);
      await using connection = await connectSdk(world.server.url, transport, {
        capabilities: { elicitation: {} },
      });
      const { client } = connection;
      const questions: string[] = [];
      client.setRequestHandler("elicitation/create", ({ params }) => {
        questions.push(params.message);
        return { action: "accept", content: { decision: "allow" } };
      });

      const { data } = await callTool(client, "begin_task", { why: "Mend the gate" });

      equal(data.status, "ready", JSON.stringify(data));
      match(data.text, /Short sentences/);
      equal(questions.length, 1);
      match(questions[0] ?? "", /Mend the gate/);
    });
  }
});

describe("a task without memory over HTTP", () => {
  it("does nothing, whether the header or the field names it, and gives no hints", async () => {
    await using world = await serveAsking(FILES, { config: { access: "open" } });
    const begun = await (await world.request("/api/journal/begin", json("POST", { memory: "off" })))
      .json();
    const headers = { "x-commonplace-task": begun.task };
    const ask = async (path: string, init?: RequestInit) =>
      await (await world.request(path, init)).json();
    const hint = { trigger: "user", text: "stripes of zebras", session: "s" };

    for (
      const answer of [
        await ask("/api/search?q=zebra", { headers }),
        await ask("/api/memories/m_zebra", { headers }),
        await ask("/api/remember", json("POST", { text: "a fact", task: begun.task })),
        await ask("/api/audits", json("POST", {}, headers)),
      ]
    ) {
      equal(answer.memory, "off", JSON.stringify(answer));
    }
    const hints = await ask("/api/recall/hints", json("POST", hint, headers));
    deepEqual([hints.text, hints.hints], ["", []]);
    const others = await ask("/api/recall/hints", json("POST", hint));
    equal(others.hints.length, 1);
    equal((await ask("/api/search?q=zebra")).results.length, 1);
  });
});
