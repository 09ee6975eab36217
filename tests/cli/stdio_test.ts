/** The command `stdio` under the clients of the SDKs: agents must not see that a shim is in between. */
import {
  deepStrictEqual as deepEqual,
  match,
  ok,
  rejects,
  strictEqual as equal,
} from "node:assert/strict";
import { pathToFileURL } from "node:url";
import { after, before, describe, it } from "@std/testing/bdd";
import type { Indexing } from "@/lib/contracts.ts";
import { instructionsFor } from "@/lib/mcp/instructions.ts";
import { TOOLS } from "@/lib/mcp/tools.ts";
import { decide, serveAsking, ZOO } from "../_support/ask_world.ts";
import { describeWithGit, gitWorld } from "../_support/git_repo.ts";
import { type McpWorld, MODERN_VERSION, serveMcp } from "../_support/mcp.ts";
import { untilSo } from "../_support/until.ts";
import { connectSdkShim, type Place, SHIM_CLIENTS, type ShimClient } from "./_stdio_world.ts";

const memory = (body: string) => `---\nid: m1\nname: Zebra\ndescription: Stripes\n---\n${body}\n`;
const FILES = { "memories/m1.md": memory("zebra") };
/** A search with this text never ends by itself. */
const ENDLESS = "endless";
const NO: boolean = false;

function placeOf({ services: { root, config } }: McpWorld): Place {
  return { vault: root, state: config.state, home: root };
}

interface Stage {
  readonly world: McpWorld;
  readonly place: Place;
  /** What the index says of itself, where that is to be something. */
  readonly told: { indexing: Indexing | undefined };
  /** Returns when the next endless search has begun, and then what tells of its end. */
  nextEndless(): Promise<{ readonly aborted: Promise<unknown> }>;
}

async function openStage(): Promise<Stage> {
  let next = Promise.withResolvers<{ readonly aborted: Promise<unknown> }>();
  const told: Stage["told"] = { indexing: undefined };
  const world = await serveMcp(FILES, {
    replace: ({ grep, index }) => ({
      grep: (request) => {
        if (request.query !== ENDLESS) return grep(request);
        const { promise, reject } = Promise.withResolvers<never>();
        request.signal?.addEventListener("abort", () => reject(request.signal?.reason));
        next.resolve({ aborted: promise.catch((reason) => reason) });
        next = Promise.withResolvers();
        return promise;
      },
      index: new Proxy(index, {
        get: (target, key) => {
          if (key === "indexing") return told.indexing;
          const value: unknown = Reflect.get(target, key, target);
          return typeof value === "function" ? value.bind(target) : value;
        },
      }),
    }),
  });
  return { world, place: placeOf(world), told, nextEndless: () => next.promise };
}

for (const kind of SHIM_CLIENTS) {
  describe(`stdio under ${kind.name}`, () => {
    let stage: Stage;
    let client: ShimClient;
    before(async () => {
      stage = await openStage();
      client = await kind.connect(stage.place);
    });
    after(async () => {
      await client.close();
      await stage.world[Symbol.asyncDispose]();
    });

    it("says what the server says of itself, and lists its tools", async () => {
      equal(client.instructions, instructionsFor("open"));
      deepEqual(await client.listTools(), TOOLS.map(({ listing: { name } }) => name));
    });

    it("reads, saves, and reads what was saved, in every script", async () => {
      const draft = {
        name: "斑马 🦓",
        description: "Stripes",
        body: "café\u2028\u0007",
        tags: ["a"],
      };

      const found = await client.call("recall", { query: "zebra" });
      const saved = await client.call("memory_save", draft);
      const opened = await client.call("memory_open", { id: saved.data.id });
      const resource = await client.read(`memory://${encodeURIComponent(saved.data.id)}`);

      match(found.text, /"m1"/);
      match(opened.text, /café(\u2028|\\u2028)/);
      match(resource, /斑马 🦓/);
    });

    it("hands on errors of tools, and those of the protocol with their codes", async () => {
      const { isError, text } = await client.call("memory_open", { id: "none" });
      ok(isError);
      match(text, /none/);
      await rejects(client.call("recal"), { code: -32602 });
      // No header can carry this as it is.
      await rejects(client.call("记忆"), { code: -32602 });
      await rejects(client.read("memory://none"), /none/);
    });

    it("answers many calls at once, each its own", async () => {
      const ids = Array.from({ length: 40 }, (_, at) => `nobody-${at}-`);

      const replies = await Promise.all(ids.map((id) => client.call("memory_open", { id })));

      const wrong = replies.filter(({ text }, at) => !text.includes(ids[at] ?? "nowhere"));
      deepEqual(wrong, []);
    });

    it("hands on how far a call is", async () => {
      const told: object[] = [];
      stage.told.indexing = { done: 3, total: 9 };

      const { isError } = await client.call("recall", { query: "zebra" }, {
        onprogress: (progress) => {
          told.push(progress);
          stage.told.indexing = undefined;
        },
      });

      equal(isError, NO);
      deepEqual(told, [{ progress: 3, total: 9, message: "Reading the vault: 3 of 9 files" }]);
    });

    it("cancels a call, which ends the work", async () => {
      const giveUp = new AbortController();
      const begun = stage.nextEndless();
      const call = client.call("memory_search", { query: ENDLESS }, { signal: giveUp.signal });
      const failed = rejects(call);
      const { aborted } = await begun;

      giveUp.abort();
      await failed;
      await aborted;

      match((await client.call("recall", { query: "zebra" })).text, /"m1"/);
    });

    it("hands on that a resource has changed", async () => {
      const heard = await client.watch("memory://m1");
      let count = 0;

      await untilSo("the change is heard", () => {
        // Until the stream is open, nobody hears.
        if (count++ % 200 === 0) stage.world.services.write("memories/m1.md", memory(`z${count}`));
        return heard.length > 0;
      });

      deepEqual([...new Set(heard)], ["memory://m1"]);
    });
  });
}

describe("stdio in mode ask", () => {
  for (const mode of ["legacy", { pin: MODERN_VERSION }] as const) {
    const era = mode === "legacy" ? "2025" : "2026";
    it(`has the person asked in the client's own dialogue, as of ${era}`, async () => {
      await using world = await serveAsking(ZOO);
      const asked: string[] = [];
      const { client } = await connectSdkShim(placeOf(world), {
        mode,
        client: { capabilities: { elicitation: { form: {} } } },
      });
      client.setRequestHandler("elicitation/create", ({ params }) => {
        asked.push(params.message);
        return { action: "accept", content: { decision: "allow" } };
      });

      const { structuredContent } = await client.callTool({
        name: "request_access",
        arguments: { why: "Mend the gate", grant: "read" },
      });
      const { status, task } = structuredContent as { status: string; task: string };
      const found = await client.callTool({
        name: "recall",
        arguments: { query: "zebra", task },
      });

      await client.close();
      equal(status, "granted");
      equal(asked.length, 1);
      match(asked[0] ?? "", /Mend the gate/);
      match(JSON.stringify(found), /m_zebra/);
    });
  }

  it("a client without a dialogue is led to the page, and goes on when that is answered", async () => {
    await using world = await serveAsking(ZOO);
    await using client = await SHIM_CLIENTS[2]?.connect(placeOf(world));

    const asked = await client?.call("request_access", { grant: "read" });
    await decide(world.request, asked?.data.pending.requestId, "allow");
    const found = await client?.call("recall", { query: "zebra", task: asked?.data.task });

    equal(asked?.data.status, "pending");
    match(found?.text ?? "", /m_zebra/);
  });
});

describeWithGit("stdio started in a repository", () => {
  for (const kind of SHIM_CLIENTS) {
    it(`tells the server where it works, under ${kind.name}`, async () => {
      await using git = await gitWorld();
      // Letters that HTTP cannot carry as they are.
      await git.init("código 项目");
      await git.git("código 项目", "remote", "add", "origin", "https://example.org/acme/zoo.git");
      await using world = await serveMcp({}, {
        seams: { git: { path: git.gitPath, env: git.env } },
      });
      await using client = await kind.connect(placeOf(world), {
        cwd: git.pathOf("código 项目"),
      });

      const saved = await client.call("remember", { text: "The gate squeaks", scope: "project" });

      equal(saved.isError, NO, saved.text);
      deepEqual([saved.data.scope, saved.data.tags], ["project", ["fact", "project/zoo"]]);
    });
  }
});

describeWithGit("stdio started in the home folder", () => {
  it("leaves it to the client to say where the work is", async () => {
    await using git = await gitWorld();
    await git.init("zoo");
    await using world = await serveMcp({}, {
      seams: { git: { path: git.gitPath, env: git.env } },
    });
    const place = { ...placeOf(world), home: git.pathOf("home") };
    const { client } = await connectSdkShim(place, {
      mode: "legacy",
      client: { capabilities: { roots: {} } },
    });
    client.setRequestHandler("roots/list", () => ({
      roots: [{ uri: pathToFileURL(git.pathOf("zoo")).href }],
    }));

    const saved = await client.callTool({
      name: "remember",
      arguments: { text: "The gate squeaks", scope: "project" },
    });

    await client.close();
    equal((saved.structuredContent as { scope: string }).scope, "project");
    match(JSON.stringify(saved.structuredContent), /project\/zoo/);
  });
});

describe("stdio with a token", () => {
  it("shows it to the server, and hands on in words that it is the wrong one", async () => {
    const token = "a-token-of-this-test";
    await using world = await serveMcp(FILES, { config: { token } });
    const place = placeOf(world);
    const connect = (more: readonly string[]) => SHIM_CLIENTS[1]?.connect(place, { more });

    await using client = await connect(["--token", token]);
    const tools = await client?.listTools();

    ok((tools?.length ?? 0) > 0);
    await rejects(async () => void await connect(["--token", "another-long-token"]), /token/i);
  });
});
