/** Every tool, resource, prompt and completion in mode `ask`, over each transport. */
import {
  deepStrictEqual as deepEqual,
  match,
  ok,
  rejects,
  strictEqual as equal,
} from "node:assert/strict";
import { after, before, describe, it } from "@std/testing/bdd";
import { PROMPTS } from "@/lib/mcp/prompts.ts";
import { TOOLS } from "@/lib/mcp/tools.ts";
import {
  type AskWorld,
  decide,
  MEMORY_INPUT,
  OWNER_TOKEN,
  serveAsking,
  ZEBRA,
  ZOO,
} from "@/tests/_support/ask_world.ts";
import { untilSo } from "@/tests/_support/until.ts";
import { connectSdk, type SdkConnection } from "@/tests/_support/mcp.ts";

/** Arguments that would tell something; a new tool has to be added. */
const ARGS: Readonly<Record<string, Record<string, unknown>>> = {
  recall: { query: "zebra" },
  search_notes: { query: "zebra" },
  memory_search: { query: "zebra" },
  memory_open: { id: "m_zebra" },
  list_memory: {},
  memory_save: MEMORY_INPUT,
  remember: { text: "a fact", scope: "global" },
  set_handoff: { body: "b", repo: "https://example.org/a/zoo.git" },
  resume: { repo: "https://example.org/a/zoo.git" },
  request_access: {},
  memory_route: { repo: "https://example.org/a/zoo.git" },
  load_summaries: { projects: ["zoo"] },
  read_project: { project: "zoo" },
};
/** Of a prompt: whether its text would tell something. */
const TELLING: Readonly<Record<string, boolean>> = {
  start_task: true,
  hand_off: false,
  audit: true,
};
const URIS = ["memory://m_zebra", "memory://m_none", "profile://user", "store://global/MEMORY.md"];

for (const transport of ["modern", "legacy", "sse"] as const) {
  describe(`mode ask over ${transport}`, () => {
    let world: AskWorld;
    let connection: SdkConnection;
    const call = async (name: string, args: Record<string, unknown>) => {
      const result = await connection.client.callTool({ name, arguments: args });
      const [content] = result.content as { text: string }[];
      return { isError: result.isError === true, text: content?.text ?? "" };
    };
    /** Asks, and has the owner decide. */
    const ask = async (args: Record<string, unknown>, decision?: string) => {
      const { text } = await call("request_access", args);
      const answer = JSON.parse(text);
      if (decision) await decide(world.request, answer.pending.requestId, decision);
      return answer;
    };
    const untouched = async (work: () => Promise<void>) => {
      world.seal.touches.length = 0;
      world.seal.isClosed = true;
      try {
        await work();
      } finally {
        world.seal.isClosed = false;
      }
      deepEqual(world.seal.touches, []);
    };

    before(async () => {
      world = await serveAsking(ZOO);
      connection = await connectSdk(world.server.url, transport);
    });
    after(async () => {
      await connection[Symbol.asyncDispose]();
      await world[Symbol.asyncDispose]();
    });

    it("knows all tools and prompts, and no others", async () => {
      const { tools } = await connection.client.listTools();
      const { prompts } = await connection.client.listPrompts();

      deepEqual(tools.map(({ name }) => name).toSorted(), Object.keys(ARGS).toSorted());
      deepEqual(prompts.map(({ name }) => name).toSorted(), Object.keys(TELLING).toSorted());
      deepEqual(PROMPTS.length, Object.keys(TELLING).length);
      for (const { name, inputSchema } of tools) {
        ok("task" in (inputSchema.properties ?? {}), `${name} takes a task`);
      }
    });

    for (const { listing: { name }, grants } of TOOLS.filter(({ grants }) => grants.length > 0)) {
      for (const task of [undefined, "made-up", 7]) {
        it(`${name} tells nothing to a caller with task ${task}`, async () => {
          await untouched(async () => {
            const { isError, text } = await call(name, { ...ARGS[name], ...task ? { task } : {} });

            ok(isError);
            match(text, /\[grant-missing, request /);
            match(text, task === "made-up" ? /no such task/ : /request_access/);
            ok(!/zebra|zoo/i.test(text), text);
          });
        });
      }

      it(`${name} works with ${grants.join(" and ")} alone`, async () => {
        const wrong = grants.includes("write") ? "read" : "write";
        const other = await ask({ grant: wrong, why: `${name} wrong` }, "allow");
        const own = await ask({ grant: grants[0], why: name }, "allow");
        for (const grant of grants.slice(1)) {
          await ask({ grant, task: own.task, project: "zoo" }, "allow");
        }

        await untouched(async () => {
          match((await call(name, { ...ARGS[name], task: other.task })).text, /grant-missing/);
        });
        const { isError, text } = await call(name, {
          ...ARGS[name],
          ...ARGS[name]?.["repo"] ? { repo: undefined } : {},
          task: own.task,
        });
        ok(!/grant-missing/.test(text), text);
        equal(isError, ["set_handoff"].includes(name), text);
      });
    }

    it("lists no resource, completes nothing, and prompts tell how to ask", async () => {
      await using fresh = await connectSdk(world.server.url, transport);
      const { client } = fresh;
      await untouched(async () => {
        deepEqual((await client.listResources()).resources, []);
        equal((await client.listResourceTemplates()).resourceTemplates.length, 2);
        const { completion } = await client.complete({
          ref: { type: "ref/resource", uri: "memory://{id}" },
          argument: { name: "id", value: "" },
        });
        deepEqual(completion, { values: [], total: 0, hasMore: false });
        for (const [name, tells] of Object.entries(TELLING)) {
          const { messages: [first] } = await client.getPrompt({ name });
          const { text } = first?.content as { text: string };
          equal(/Call request_access/.test(text), tells, text);
          ok(!/zebra|1 memor/i.test(text), text);
        }
      });
    });

    it("reads no resource, and says the same of one that is not there", async () => {
      await using fresh = await connectSdk(world.server.url, transport);
      const errors: string[] = [];
      await untouched(async () => {
        for (const uri of URIS) {
          await rejects(fresh.client.readResource({ uri }), (error: Error) => {
            errors.push(error.message);
            return true;
          });
        }
      });

      equal(new Set(errors).size, 1);
      match(errors[0] ?? "", /MEMORY_READ_OPT_IN/);
    });

    it("asks the person through the client, and does as they say", async () => {
      const asked: string[] = [];
      const answers = ["allow", "refuse", "decline", "cancel"];
      await using own = await connectSdk(world.server.url, transport, {
        capabilities: { elicitation: { form: {} } },
      });
      own.client.setRequestHandler("elicitation/create", async ({ params }) => {
        asked.push(params.message);
        const answer = answers[asked.length - 1] ?? "cancel";
        // A person needs a moment.
        if (answer === "decline") await new Promise((resolve) => setTimeout(resolve, 1_050));
        if (answer === "decline" || answer === "cancel") return { action: answer };
        return { action: "accept", content: { decision: answer } };
      });
      const request = async (args: Record<string, unknown>) => {
        const result = await own.client.callTool({ name: "request_access", arguments: args });
        return result.structuredContent as Record<string, unknown>;
      };

      const read = await request({ why: "为了发票", grant: "read" });
      const deep = await request({ grant: "deep", project: "zoo", task: read["task"] });
      const write = await request({ grant: "write", task: read["task"] });
      const again = await request({ grant: "deep", project: "zoo", task: read["task"] });
      const found = await own.client.callTool({
        name: "recall",
        arguments: { query: "zebra", task: read["task"] },
      });

      deepEqual([read["status"], read["grants"]], ["granted", ["read"]]);
      equal(deep["status"], "refused");
      equal(write["status"], "refused");
      equal(again["status"], "refused");
      equal(asked.length, 3);
      match(asked[0] ?? "", /普通读取[^]*有效期[^]*为了发票[^]*预算[^]*读取内容[^]*检索范围/);
      match(asked[1] ?? "", /deep read of project "zoo"[^]*12 hours[^]*Budget[^]*Scope/);
      match(JSON.stringify(found.structuredContent), /m_zebra/);
    });

    it("takes no refusal from a client that declines faster than anybody reads", async () => {
      await using fresh = await serveAsking(ZOO);
      await using own = await connectSdk(fresh.server.url, transport, {
        capabilities: { elicitation: {} },
      });
      own.client.setRequestHandler("elicitation/create", () => ({ action: "decline" }));
      const result = await own.client.callTool({
        name: "request_access",
        arguments: { why: `declined over ${transport}` },
      });

      const { status, pending } = result.structuredContent as {
        status: string;
        pending: { url: string };
      };
      equal(status, "pending");
      match(pending.url, /\/access\//);
    });

    it("asks for the same but once, and then names the page", async () => {
      let count = 0;
      await using fresh = await serveAsking(ZOO);
      await using own = await connectSdk(fresh.server.url, transport, {
        capabilities: { elicitation: { form: {} } },
      });
      own.client.setRequestHandler("elicitation/create", () => {
        count++;
        return { action: "cancel" };
      });
      const args = { why: `over ${transport}, closed` };
      const request = async () =>
        (await own.client.callTool({ name: "request_access", arguments: args }))
          .structuredContent as Record<string, Record<string, string>>;

      const first = await request();
      const second = await request();

      equal(first["status"], "pending");
      equal(second["status"], "pending");
      equal(count, 1);
      deepEqual(first["task"], second["task"]);
      match(first["pending"]?.["url"] ?? "", /^http:\/\/127\.0\.0\.1:\d+\/access\//);
      const page = await fetch(first["pending"]?.["url"] ?? "");
      match(await page.text(), /ordinary read/);
    });
  });
}

describe("a task of another folder", () => {
  it("is refused, also where only the client's roots say where it works", async () => {
    await using world = await serveAsking(ZOO);
    const connectAt = async (folder: string) => {
      const connection = await connectSdk(world.server.url, "modern", {
        capabilities: { roots: {} },
      });
      connection.client.setRequestHandler("roots/list", () => ({
        roots: [{ uri: `file://${folder}` }],
      }));
      return connection;
    };
    await using own = await connectAt("/work/zoo");
    await using other = await connectAt("/work/ape");
    const asked = await own.client.callTool({ name: "request_access", arguments: {} });
    const { task, pending } = asked.structuredContent as {
      task: string;
      pending: { requestId: string; text: string };
    };
    await decide(world.request, pending.requestId, "allow");
    const recall = async ({ client }: SdkConnection) => {
      const params = { name: "recall", arguments: { query: "zebra", task } };
      return JSON.stringify(await client.callTool(params));
    };

    match(pending.text, /It works in \/work\/zoo/);
    match(await recall(own), /m_zebra/);
    match(await recall(other), /opened for another place/);
  });

  it("is refused where what an agent sends along says so", async () => {
    await using world = await serveAsking(ZOO);
    await using connection = await connectSdk(world.server.url, "modern");
    const call = async (name: string, folder: string, args: object) => {
      const metadata = { "x-codex-turn-metadata": { workspaces: { [folder]: {} } } };
      const params = { name, arguments: { ...args }, _meta: metadata };
      return await connection.client.callTool(params);
    };
    const asked = await call("request_access", "/work/zoo", {});
    const { task, pending } = asked.structuredContent as {
      task: string;
      pending: { requestId: string };
    };
    await decide(world.request, pending.requestId, "allow");

    const own = await call("recall", "/work/zoo/src", { query: "zebra", task });
    const other = await call("memory_route", "/work/ape", { task });

    match(JSON.stringify(own), /m_zebra/);
    match(JSON.stringify(other), /opened for another place/);
  });
});

describe("sessions in mode ask", () => {
  it("read resources by the newest task that may, until they end", async () => {
    await using world = await serveAsking(ZOO);
    const connection = await connectSdk(world.server.url, "legacy");
    const { client } = connection;
    const asked = await client.callTool({ name: "request_access", arguments: {} });
    const { task, pending } = asked.structuredContent as {
      task: string;
      pending: { requestId: string };
    };
    await decide(world.request, pending.requestId, "allow");

    const { resources } = await client.listResources();
    const read = await client.readResource({ uri: "memory://m_zebra" });
    await connection[Symbol.asyncDispose]();

    ok(resources.some(({ uri }) => uri === "memory://m_zebra"));
    match(JSON.stringify(read), /stripes/);
    const headers = { authorization: `Bearer ${OWNER_TOKEN}` };
    const gone = await world.request(`/api/access/tasks/${task}`, { headers });
    equal(gone.status, 404, await gone.text());
  });

  it("hear nothing of what their task may not see", async () => {
    await using world = await serveAsking(ZOO);
    await using connection = await connectSdk(world.server.url, "legacy");
    const { client } = connection;
    const asked = await client.callTool({ name: "request_access", arguments: {} });
    const { pending } = asked.structuredContent as { pending: { requestId: string } };
    await decide(world.request, pending.requestId, "allow");

    for (const path of ["zoo/memory.md", "none/memory.md", "_shared/a.md", "zoo/history/a.md"]) {
      const uri = `memory://${encodeURIComponent(path)}`;
      await rejects(client.subscribeResource({ uri }), { code: -32602 }, path);
    }
    await client.subscribeResource({ uri: "memory://zoo%2Fsummary.md" });
  });

  it("may subscribe, and hear of changes, only while a task of theirs may read", async () => {
    await using world = await serveAsking(ZOO);
    await using connection = await connectSdk(world.server.url, "sse");
    const { client } = connection;
    const heard: string[] = [];
    client.setNotificationHandler("notifications/resources/updated", ({ params }) => {
      heard.push(params.uri);
    });
    const uri = "memory://m_zebra";
    const change = async (text: string) => {
      world.services.write("memories/zebra.md", ZEBRA.replace("stripes", text));
      await world.services.index.refresh();
    };

    await rejects(client.subscribeResource({ uri }), { code: -32602 });
    const asked = await client.callTool({ name: "request_access", arguments: {} });
    const { task, pending } = asked.structuredContent as {
      task: string;
      pending: { requestId: string };
    };
    await decide(world.request, pending.requestId, "allow");
    await client.subscribeResource({ uri });
    await change("once");
    await untilSo("the change is heard", () => heard.length > 0);
    await world.request(`/api/access/tasks/${task}`, {
      method: "DELETE",
      headers: { authorization: `Bearer ${OWNER_TOKEN}` },
    });
    await change("twice");
    await new Promise((resolve) => setTimeout(resolve, 600));

    deepEqual(heard, [uri]);
  });
});
