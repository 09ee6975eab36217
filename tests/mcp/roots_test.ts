/** Where a client works, asked of itself: for tools that are called without cwd. */
import { deepStrictEqual as deepEqual, match, ok, strictEqual as equal } from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import { SdkError, SdkErrorCode } from "@modelcontextprotocol/server";
import { pathToFileURL } from "node:url";
import { ClientSession } from "@/lib/mcp/client_session.ts";
import { createApp } from "@/routes/app.ts";
import { describeWithGit, gitWorld } from "@/tests/_support/git_repo.ts";
import { connectSdk, serveMcp } from "@/tests/_support/mcp.ts";
import { toolCall } from "@/tests/_support/mcp_rows.ts";
import { EventReader, openRawSession } from "@/tests/_support/mcp_session.ts";
import { testServices } from "@/tests/_support/services.ts";
import { until } from "@/tests/_support/until.ts";

/** Two repositories, a server, and how often its client was asked for its roots. */
async function open(transport: "modern" | "legacy" | "sse", roots: (asked: number) => string[]) {
  const git = await gitWorld();
  for (const name of ["site", "shop"]) {
    await git.init(name);
    await git.git(name, "remote", "add", "origin", `https://example.org/team/${name}.git`);
  }
  const world = await serveMcp({}, { seams: { git: { path: git.gitPath, env: git.env } } });
  const connection = await connectSdk(world.server.url, transport, {
    capabilities: { roots: { listChanged: true } },
  });
  let asked = 0;
  connection.client.setRequestHandler("roots/list", () => {
    const uris = roots(asked++);
    return { roots: uris.map((uri) => ({ uri })) };
  });
  const projectOf = async (args: Readonly<Record<string, unknown>> = {}) => {
    const { structuredContent, content } = await connection.client.callTool({
      name: "remember",
      arguments: { text: `Fact ${crypto.randomUUID()}.`, ...args },
    });
    const [first] = content as { text?: string }[];
    const { path } = (structuredContent ?? {}) as { path?: string };
    if (path === undefined) return first?.text ?? "";
    const folder = path.slice(0, path.lastIndexOf("/"));
    const identity = await Deno.readTextFile(world.services.pathOf(`${folder}/project.md`));
    return /repo_id: (\S+)/.exec(identity)?.[1] ?? identity;
  };
  return {
    git,
    world,
    client: connection.client,
    asked: () => asked,
    projectOf,
    uriOf: (name: string) => pathToFileURL(git.pathOf(name)).href,
    [Symbol.asyncDispose]: async () => {
      await connection[Symbol.asyncDispose]();
      await world[Symbol.asyncDispose]();
      await git[Symbol.asyncDispose]();
    },
  };
}

describeWithGit("roots", () => {
  for (const transport of ["legacy", "sse"] as const) {
    it(`of a client over ${transport} say where it works, and are asked for once`, async () => {
      let uri = "";
      await using stage = await open(transport, () => ["file://elsewhere/x", uri]);
      uri = stage.uriOf("site");

      const first = await stage.projectOf();
      const others = await Promise.all([stage.projectOf(), stage.projectOf()]);

      deepEqual([first, ...others], Array(3).fill("example.org/team/site"));
      equal(stage.asked(), 1);
    });

    it(`over ${transport} come after what a call itself says`, async () => {
      let uri = "";
      await using stage = await open(transport, () => [uri]);
      uri = stage.uriOf("site");

      const byCwd = await stage.projectOf({ cwd: stage.git.pathOf("shop") });
      const byRepo = await stage.projectOf({ repo: "https://example.org/team/shop.git" });
      const asked = stage.asked();
      const byRoots = await stage.projectOf({ cwd: null });

      deepEqual([byCwd, byRepo, asked], ["example.org/team/shop", "example.org/team/shop", 0]);
      equal(byRoots, "example.org/team/site");
    });

    it(`over ${transport} are asked for again when they change`, async () => {
      const uris: string[] = [];
      await using stage = await open(transport, (asked) => [uris[asked] ?? ""]);
      uris.push(stage.uriOf("site"), stage.uriOf("shop"));

      const before = await stage.projectOf();
      await stage.client.sendRootsListChanged();
      const after = await stage.projectOf();

      deepEqual([before, after], ["example.org/team/site", "example.org/team/shop"]);
    });
  }

  it("of a client of 2026 say where it works, at each call that depends on it", async () => {
    let uri = "";
    await using stage = await open("modern", () => ["file://elsewhere/x", uri]);
    uri = stage.uriOf("site");
    const { client } = stage;

    const first = await stage.projectOf();
    const second = await stage.projectOf();
    const asked = stage.asked();
    for (
      const [name, args] of [
        ["recall", { query: "fact", scope: "all" }],
        ["recall", { query: "fact", cwd: stage.git.pathOf("shop") }],
        ["search_notes", { query: "fact" }],
        ["memory_open", { id: "x" }],
        ["list_memory", {}],
      ] as const
    ) await client.callTool({ name, arguments: args });
    const after = stage.asked();
    await client.callTool({ name: "recall", arguments: { query: "fact" } });
    await client.callTool({ name: "resume" });
    await client.callTool({ name: "list_memory", arguments: { scope: "project" } });
    await client.getPrompt({ name: "begin_task" });
    await client.readResource({ uri: "store://project/MEMORY.md" });

    deepEqual([first, second], Array(2).fill("example.org/team/site"));
    deepEqual([asked, after, stage.asked()], [2, 2, 7]);
  });

  it("of a client of 2026 that has none leave the call as it was", async () => {
    await using stage = await open("modern", () => []);

    match(await stage.projectOf(), /not known where you work/);
  });

  for (const transport of ["modern", "legacy"] as const) {
    it(`are not asked for over ${transport} where the call brings what Codex says`, async () => {
      await using stage = await open(transport, () => []);
      const workspaces = {
        [stage.git.pathOf("shop")]: { associated_remote_urls: {}, has_changes: false },
      };
      const call = (metadata: unknown) =>
        stage.client.callTool({
          name: "remember",
          arguments: { text: `Fact ${crypto.randomUUID()}.` },
          _meta: { "x-codex-turn-metadata": metadata },
        });

      const { structuredContent } = await call({ workspaces });
      const asked = stage.asked();
      const { path } = structuredContent as { path: string };
      const identity = await stage.projectOf({ cwd: stage.git.pathOf("shop") });
      for (const odd of [{}, { workspaces: [] }, { workspaces: { rel: {} } }, "x", null, 7]) {
        const { content } = await call(odd);
        match(JSON.stringify(content), /not known where you work/);
      }

      equal(asked, 0);
      equal(identity, "example.org/team/shop");
      match(path, /^memories\/projects\//);
    });
  }

  it("that are none leave the call as it was", async () => {
    await using stage = await open(
      "legacy",
      () => ["file://elsewhere/x", "file:///a%00b", "file:"],
    );

    match(await stage.projectOf(), /not known where you work/);
    match(await stage.projectOf(), /not known where you work/);
    equal(stage.asked(), 1);
  });

  it("are not waited for where the client cannot be asked before it has its answer", async () => {
    await using world = await serveMcp();
    const session = await openRawSession(world.server.url, { capabilities: { roots: {} } });
    const body = toolCall("remember", { text: "A fact." });

    const response = await session.post(body, { accept: "application/json" });

    equal(response.headers.get("content-type"), "application/json");
    match(await response.text(), /not known where you work/);
  });

  it("that are known count for calls that take JSON alone too", async () => {
    await using world = await serveMcp();
    const session = await openRawSession(world.server.url, { capabilities: { roots: {} } });
    const stream = new EventReader(await session.post(toolCall("resume", {})));
    const question = await until(async () => {
      const event = await stream.next();
      return event?.data?.["method"] === "roots/list" && event.data;
    });
    const roots = [{ uri: pathToFileURL(world.services.root).href }];
    await session.post({ jsonrpc: "2.0", id: question["id"], result: { roots } });
    await stream.rest();

    const body = { ...toolCall("remember", { text: "A fact." }), id: 2 };
    const response = await session.post(body, { accept: "application/json" });

    // It is no repository, but it is known.
    match(await response.text(), /the working directory is in no Git repository/);
  });

  it("are not asked for from another machine", async () => {
    const services = await testServices({}, { token: "sesame" });
    await using _services = services;
    const app = createApp(services);
    const headers = {
      host: "127.0.0.1",
      authorization: "Bearer sesame",
      "content-type": "application/json",
      "mcp-protocol-version": "2026-07-28",
      "mcp-method": "tools/call",
      "mcp-name": "remember",
    };
    const meta = {
      "io.modelcontextprotocol/protocolVersion": "2026-07-28",
      "io.modelcontextprotocol/clientCapabilities": { roots: {} },
      "io.modelcontextprotocol/clientInfo": { name: "far", version: "1" },
    };
    const params = { name: "remember", arguments: { text: "A fact." }, _meta: meta };
    const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params });
    const ask = async (hostname: string) => {
      const remoteAddr = { transport: "tcp", hostname, port: 50_000 } as const;
      const request = new Request("http://127.0.0.1/mcp", { method: "POST", headers, body });
      return await (await app.fetch(request, { remoteAddr })).text();
    };

    match(await ask("127.0.0.1"), /"resultType":"input_required"/);
    match(await ask("192.0.2.7"), /not known where you work/);
  });

  it("are asked for in the stream of the call, and are not waited for for ever", async () => {
    await using world = await serveMcp();
    const session = await openRawSession(world.server.url, { capabilities: { roots: {} } });
    const stream = new EventReader(await session.post(toolCall("remember", { text: "A fact." })));

    const events = await stream.rest();

    const messages = events.map(({ data }) => data).filter((data) => data !== undefined);
    deepEqual(messages.map((data) => data["method"] ?? data["id"]), [
      "roots/list",
      "notifications/cancelled",
      1,
    ]);
    match(JSON.stringify(messages.at(-1)), /not known where you work/);
  });
});

describe("ClientSession.findCwd()", () => {
  it("asks again where the call that asked first was cancelled", async () => {
    const session = new ClientSession();
    const attached = {
      server: { getClientCapabilities: () => ({ roots: {} }), setNotificationHandler: () => {} },
    };
    session.attach(attached as unknown as Parameters<ClientSession["attach"]>[0]);
    const first = new AbortController();
    const second = new AbortController();
    const asked: string[] = [];
    const roots = { roots: [{ uri: "file:///work" }] };
    const never = () => {
      asked.push("first");
      return new Promise((_, reject) =>
        first.signal.addEventListener("abort", () => reject(first.signal.reason))
      );
    };
    const soon = () => {
      asked.push("second");
      return Promise.resolve(roots);
    };
    type Context = Parameters<ClientSession["findCwd"]>[0];
    const find = (send: () => Promise<unknown>, { signal }: AbortController) =>
      session.findCwd({ send, signal } as unknown as Context);

    const cancelled = find(never, first);
    const other = find(soon, second);
    first.abort();

    deepEqual([await cancelled, await other], [undefined, "/work"]);
    deepEqual(asked, ["first", "second"]);
    ok(await find(never, second) === "/work");
  });

  it("asks no more than a few times where the client moves with each answer", async () => {
    const session = new ClientSession();
    let moved = () => {};
    const attached = {
      server: {
        getClientCapabilities: () => ({ roots: {} }),
        setNotificationHandler: (_method: string, handler: () => void) => moved = handler,
      },
    };
    session.attach(attached as unknown as Parameters<ClientSession["attach"]>[0]);
    let asked = 0;
    const send = () => {
      moved();
      return Promise.resolve({ roots: [{ uri: `file:///work${++asked}` }] });
    };
    const { signal } = new AbortController();
    type Context = Parameters<ClientSession["findCwd"]>[0];

    const cwd = await session.findCwd({ send, signal } as unknown as Context);

    deepEqual([cwd, asked], ["/work3", 3]);
  });

  it("asks again by a later call where there was no answer, but not for ever", async () => {
    const session = new ClientSession();
    const attached = {
      server: { getClientCapabilities: () => ({ roots: {} }), setNotificationHandler: () => {} },
    };
    session.attach(attached as unknown as Parameters<ClientSession["attach"]>[0]);
    let asked = 0;
    const timeUp = new SdkError(SdkErrorCode.RequestTimeout, "time is up");
    const answers = [timeUp, [{ uri: "file:///work" }]] as const;
    const send = () => {
      const answer = answers[Math.min(asked++, 1)];
      return answer instanceof Error ? Promise.reject(answer) : Promise.resolve({ roots: answer });
    };
    type Context = Parameters<ClientSession["findCwd"]>[0];
    const find = (how: () => Promise<unknown>) =>
      session.findCwd({ send: how, signal: new AbortController().signal } as unknown as Context);

    const first = await find(send);
    const second = await find(send);
    const silent = new ClientSession();
    silent.attach(attached as unknown as Parameters<ClientSession["attach"]>[0]);
    let inVain = 0;
    const never = () => {
      inVain++;
      return Promise.reject(timeUp);
    };
    const signal = new AbortController().signal;
    for (let call = 0; call < 6; call++) {
      await silent.findCwd({ send: never, signal } as unknown as Context);
    }

    deepEqual([first, second, session.cwd, asked], [undefined, "/work", "/work", 2]);
    equal(inVain, 3);
  });
});
