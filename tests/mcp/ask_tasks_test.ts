/** Tasks of MCP clients in mode `ask`: where they may be used, and how they end. */
import {
  deepStrictEqual as deepEqual,
  match,
  ok,
  rejects,
  strictEqual as equal,
} from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import type { CallToolResult } from "@modelcontextprotocol/client";
import {
  type AskWorld,
  decide,
  json,
  OWNER_TOKEN,
  serveAsking,
  ZEBRA,
  ZOO,
} from "@/tests/_support/ask_world.ts";
import { describeWithGit, gitWorld } from "@/tests/_support/git_repo.ts";
import { connectSdk, type SdkConnection } from "@/tests/_support/mcp.ts";
import { untilSo } from "@/tests/_support/until.ts";

const REQUEST = { name: "request_access", arguments: {} };

/** Has the owner allow what a call of `request_access` asks for. */
async function allowed(
  world: AskWorld,
  asking: Promise<CallToolResult>,
): Promise<{ readonly task: string; readonly pending: { readonly text: string } }> {
  const { structuredContent } = await asking;
  const { task, pending } = structuredContent as {
    task: string;
    pending: { requestId: string; text: string };
  };
  await decide(world.request, pending.requestId, "allow");
  return { task, pending };
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
    await using own = await connectAt("/code/zoo");
    await using other = await connectAt("/code/ape");
    const { task, pending } = await allowed(world, own.client.callTool(REQUEST));
    const recall = async ({ client }: SdkConnection) => {
      const params = { name: "recall", arguments: { query: "zebra", task } };
      return JSON.stringify(await client.callTool(params));
    };

    match(pending.text, /It works in \/code\/zoo/);
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
    const { task } = await allowed(world, call("request_access", "/code/zoo", {}));

    const own = await call("recall", "/code/zoo/src", { query: "zebra", task });
    const other = await call("memory_route", "/code/ape", { task });

    match(JSON.stringify(own), /m_zebra/);
    match(JSON.stringify(other), /opened for another place/);
  });
});

describe("sessions in mode ask", () => {
  it("read resources by the newest task that may, until they end", async () => {
    await using world = await serveAsking(ZOO);
    const connection = await connectSdk(world.server.url, "legacy");
    const { client } = connection;
    const { task } = await allowed(world, client.callTool(REQUEST));

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
    await allowed(world, client.callTool(REQUEST));

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
    const { task } = await allowed(world, client.callTool(REQUEST));
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

describeWithGit("a task of a repository within another", () => {
  it("is refused to prompts of that, and no wider where the client was opened above", async () => {
    await using git = await gitWorld();
    for (const name of ["outer", "outer/inner"]) {
      await git.init(name);
      await git.git(name, "remote", "add", "origin", `https://example.org/x/${name}.git`);
    }
    const seams = { git: { path: git.gitPath, env: git.env } };
    await using world = await serveAsking(ZOO, { seams });
    const [outer, inner] = [git.pathOf("outer"), git.pathOf("outer/inner")];
    const owner = { authorization: `Bearer ${OWNER_TOKEN}` };
    for (const cwd of [outer, inner]) {
      const body = cwd === outer ? "state of the outer" : "state of the inner";
      await (await world.request("/api/handoff", json("PUT", { cwd, body }, owner))).text();
    }
    await using connection = await connectSdk(world.server.url, "modern", {
      capabilities: { roots: {} },
    });
    const { client } = connection;
    client.setRequestHandler("roots/list", () => ({ roots: [{ uri: `file://${outer}` }] }));
    const { task } = await allowed(
      world,
      client.callTool({ ...REQUEST, arguments: { cwd: inner } }),
    );
    const getPrompt = async (more: object) =>
      JSON.stringify(
        await client.getPrompt({
          name: "begin_task",
          arguments: { ...more },
          _meta: { "commonplace/task": task },
        }),
      );

    const resumed = await client.callTool({ name: "resume", arguments: { task } });

    match(JSON.stringify(resumed), /state of the inner/);
    match(await getPrompt({}), /state of the inner/);
    await rejects(getPrompt({ cwd: outer }), { message: /opened for another place/ });
  });
});

describe("the question of a session", () => {
  it("comes on the stream of the call, where no other is open", async () => {
    await using world = await serveAsking(ZOO);
    const headers = {
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
    };
    const post = async (message: object, session?: string) =>
      await world.request("/mcp", {
        method: "POST",
        headers: session === undefined ? headers : { ...headers, "mcp-session-id": session },
        body: JSON.stringify({ jsonrpc: "2.0", ...message }),
      });
    const opened = await post({
      id: 1,
      method: "initialize",
      params: {
        protocolVersion: "2025-06-18",
        capabilities: { elicitation: {} },
        clientInfo: { name: "raw", version: "1" },
      },
    });
    await opened.body?.cancel();
    const session = opened.headers.get("mcp-session-id") ?? "";
    await (await post({ method: "notifications/initialized" }, session)).body?.cancel();

    const call = await post({ id: 2, method: "tools/call", params: REQUEST }, session);

    const reader = (call.body ?? new ReadableStream()).pipeThrough(new TextDecoderStream())
      .getReader();
    let told = "";
    while (!told.includes("elicitation/create")) {
      const { value, done } = await reader.read();
      ok(!done, `The stream ended with: ${told}`);
      told += value;
    }
    const { id } = JSON.parse(/^data: (\{.*"elicitation\/create".*)$/m.exec(told)?.[1] ?? "{}");
    const answer = { action: "accept", content: { decision: "allow" } };
    await (await post({ id, result: answer }, session)).body?.cancel();
    while (!told.includes('"id":2')) told += (await reader.read()).value ?? '"id":2 (ended)';
    match(told, /"id":2,.*|"result":.*"id":2/);
    await reader.cancel();
  });
});
