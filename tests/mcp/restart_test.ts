import {
  deepStrictEqual as deepEqual,
  match,
  ok,
  rejects,
  strictEqual as equal,
} from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import { McpServer } from "@modelcontextprotocol/server";
import { createServices } from "@/lib/services.ts";
import { startServer } from "@/routes/server.ts";
import {
  clientOver,
  CLIENTS,
  connectSdk,
  type McpClient,
  type McpWorld,
  serveMcp,
} from "@/tests/_support/mcp.ts";
import { serveEndpoint } from "@/tests/_support/endpoint_world.ts";
import { until } from "@/tests/_support/until.ts";

const files = { "memories/m1.md": "---\nid: m1\nname: Zebra\ndescription: Stripes\n---\nzebra\n" };

const NO: boolean = false;

/** Starts the server once more, where it was; its `stop()` closes all. */
function startAgain({ services, server }: McpWorld): ReturnType<typeof startServer> {
  return startServer(createServices({ ...services.config, port: server.port }, services));
}

/** Calls until the client has connected again; each try that fails is one too early. */
function callUntilAnswered(client: McpClient): Promise<unknown> {
  return until(async () => {
    const reply = await client.call("memory_open", { id: "m1" }).catch(() => undefined);
    return reply?.data?.id;
  });
}

describe("a server that is started anew", () => {
  it("serves the clients that it had: of 2026 at once, over SSE when they are back", async () => {
    await using world = await serveMcp(files);
    const kinds = CLIENTS.filter(({ transport }) => transport !== "legacy");
    const clients = await Promise.all(kinds.map((kind) => kind.connect(world.server.url)));
    const http = clients.filter((_, at) => kinds[at]?.transport !== "sse");
    const sse = clients.filter((_, at) => kinds[at]?.transport === "sse");

    await world.server.stop();
    const second = await startAgain(world);
    const replies = await Promise.all(
      http.map((client) => client.call("recall", { query: "zebra" })),
    );
    const opened = await Promise.all(sse.map(callUntilAnswered));

    await Promise.all(clients.map((client) => client.close()));
    await second.stop();
    deepEqual(replies.map(({ isError }) => isError), [false]);
    deepEqual(opened, ["m1", "m1"]);
  });

  for (const kind of CLIENTS.filter(({ transport }) => transport === "legacy")) {
    it(`tells ${kind.name} that its session is gone, and opens another`, async () => {
      await using world = await serveMcp(files);
      const { url } = world.server;
      const client = await kind.connect(url);

      await world.server.stop();
      const second = await startAgain(world);
      await rejects(client.call("recall", { query: "zebra" }), /no such session.*initialize/);
      await client.close().catch(() => {});
      const again = await kind.connect(url);
      const reply = await again.call("recall", { query: "zebra" });

      await again.close();
      await second.stop();
      equal(reply.isError, NO);
    });
  }

  it("without sessions it serves clients of 2025 at once", async () => {
    await using world = await serveMcp(files, { config: { mcpLegacy: "stateless" } });
    const kinds = CLIENTS.filter(({ transport }) => transport === "legacy");
    const clients = await Promise.all(kinds.map((kind) => kind.connect(world.server.url)));

    await world.server.stop();
    const second = await startAgain(world);
    const asked = clients.map((client) => client.call("recall", { query: "zebra" }));
    const replies = await Promise.all(asked);

    await Promise.all(clients.map((client) => client.close()));
    await second.stop();
    deepEqual(replies.map(({ isError }) => isError), [false, false]);
  });
});

describe("a server that stops", () => {
  for (const transport of ["modern", "legacy"] as const) {
    it(`ends event streams at once, and answers a call of a ${transport} client`, async () => {
      const begun = Promise.withResolvers<void>();
      const finished = Promise.withResolvers<void>();
      await using world = await serveMcp(files, {
        graceMs: 60_000,
        replace: ({ grep }) => ({
          grep: async (request) => {
            begun.resolve();
            await finished.promise;
            return await grep(request);
          },
        }),
      });
      const { url } = world.server;
      const sse = await fetch(`${url}/sse`);
      const client = await clientOver(transport).connect(url);
      const call = client.call("memory_search", { query: "zebra" });
      await begun.promise;

      const stopping = world.server.stop();
      const stream = await sse.text();
      finished.resolve();
      const { isError, data } = await call;
      await stopping;

      await client.close().catch(() => {});
      match(stream, /^event: endpoint\ndata: \/messages\?sessionId=[^\n]+\n\n$/);
      deepEqual([isError, data?.total], [false, 1]);
    });
  }

  it("cuts a call over SSE off, as its stream would hold the stop up", async () => {
    const begun = Promise.withResolvers<AbortSignal | undefined>();
    await using world = await serveMcp(files, {
      graceMs: 60_000,
      replace: () => ({
        grep: ({ signal }) => {
          begun.resolve(signal);
          return Promise.withResolvers<never>().promise;
        },
      }),
    });
    const client = await clientOver("sse").connect(world.server.url);
    const failed = rejects(client.call("memory_search", { query: "zebra" }));
    const signal = await begun.promise;

    await world.server.stop();
    await client.close();
    await failed;

    ok(signal?.aborted);
  });

  it("lets a call of 2026 finish that has told of its progress", async () => {
    const finished = Promise.withResolvers<void>();
    await using world = await serveEndpoint({
      options: {
        build: () => {
          const mcp = new McpServer({ name: "test", version: "1" });
          mcp.registerTool("slow", {}, async ({ mcpReq }) => {
            const progressToken = mcpReq._meta?.progressToken ?? 0;
            const params = { progressToken, progress: 1 };
            await mcpReq.notify({ method: "notifications/progress", params });
            await finished.promise;
            return { content: [{ type: "text", text: "done" }] };
          });
          return mcp;
        },
      },
    });
    await using connection = await connectSdk(world.url, "modern");
    const told = Promise.withResolvers<void>();
    const call = connection.client.callTool({ name: "slow" }, { onprogress: () => told.resolve() });
    await told.promise;

    const stopping = world.mcp.close(60_000);
    finished.resolve();
    const { content } = await call;
    await stopping;

    deepEqual(content, [{ type: "text", text: "done" }]);
  });
});
