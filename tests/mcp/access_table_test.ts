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
  serveAsking,
  untouched,
  ZOO,
} from "@/tests/_support/ask_world.ts";
import { callTool, connectSdk, type SdkConnection } from "@/tests/_support/mcp.ts";

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
  begin_task: {},
  write_back: { trigger: "update memory", summary: "a task" },
  audit_memory: {},
  apply_audit: { audit: "none", decisions: "cancel" },
  request_access: {},
  memory_route: { repo: "https://example.org/a/zoo.git" },
  load_summaries: { projects: ["zoo"] },
  read_project: { project: "zoo" },
};
/** Of a prompt: whether its text would tell something. */
const TELLING: Readonly<Record<string, boolean>> = {
  begin_task: true,
  hand_off: false,
  audit: true,
};
const URIS = ["memory://m_zebra", "memory://m_none", "profile://user", "store://global/MEMORY.md"];

for (const transport of ["modern", "legacy", "sse"] as const) {
  describe(`mode ask over ${transport}`, () => {
    let world: AskWorld;
    let connection: SdkConnection;
    const call = (name: string, args: Record<string, unknown>) =>
      callTool(connection.client, name, args);
    /** Asks, and has the owner decide. */
    const ask = async (args: Record<string, unknown>, decision?: string) => {
      const { text } = await call("request_access", args);
      const answer = JSON.parse(text);
      if (decision) await decide(world.request, answer.pending.requestId, decision);
      return answer;
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
          await untouched(world, async () => {
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

        await untouched(world, async () => {
          match((await call(name, { ...ARGS[name], task: other.task })).text, /grant-missing/);
        });
        const { isError, text } = await call(name, {
          ...ARGS[name],
          ...ARGS[name]?.["repo"] ? { repo: undefined } : {},
          task: own.task,
        });
        ok(!/grant-missing/.test(text), text);
        equal(isError, ["set_handoff", "apply_audit"].includes(name), text);
      });
    }

    it("lists no resource, completes nothing, and prompts tell how to ask", async () => {
      await using fresh = await connectSdk(world.server.url, transport);
      const { client } = fresh;
      await untouched(world, async () => {
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
      await untouched(world, async () => {
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
