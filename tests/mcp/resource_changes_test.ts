/** Clients of every era hear of what changes on disk, whoever changed it. */
import {
  deepStrictEqual as deepEqual,
  ok,
  rejects,
  strictEqual as equal,
} from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import type { Client } from "@modelcontextprotocol/client";
import type { Config } from "@/lib/config.ts";
import {
  type Attention,
  MAX_SUBSCRIBED_CHARS,
  MAX_SUBSCRIPTIONS,
} from "@/lib/mcp/client_session.ts";
import { ResourceChanges } from "@/lib/mcp/resource_changes.ts";
import { memoryUri } from "@/lib/mcp/resource_uris.ts";
import { type EndpointWorld, serveEndpoint } from "@/tests/_support/endpoint_world.ts";
import { connectSdk } from "@/tests/_support/mcp.ts";
import { openRawSession } from "@/tests/_support/mcp_session.ts";
import { until, untilSo } from "@/tests/_support/until.ts";

const FILES = {
  "memories/m1.md": memory("m1", "one"),
  "memories/m2.md": memory("m2", "two"),
  "memories/MEMORY.md": "",
  "work/plan.md": "# A plan\n",
  "profiles/user.md": "Likes tea.\n",
};

function memory(id: string, body: string, name = `Name of ${id}`): string {
  return `---\nid: ${id}\nname: ${name}\ndescription: D\n---\n${body}\n`;
}

/** What one client was told, in the order in which it came. */
interface Ear {
  readonly heard: string[];
  close(): PromiseLike<void>;
}

type Transport = "modern" | "legacy" | "sse";

/** Has a client listen for changes of the list and of some resources. */
async function listen(url: string, transport: Transport, uris: readonly string[]): Promise<Ear> {
  const connection = await connectSdk(url, transport);
  const { client } = connection;
  const heard: string[] = [];
  client.setNotificationHandler("notifications/resources/updated", ({ params }) => {
    heard.push(params.uri);
  });
  client.setNotificationHandler("notifications/resources/list_changed", () => {
    heard.push("list");
  });
  if (transport === "modern") {
    const filter = { resourcesListChanged: true, resourceSubscriptions: [...uris] };
    const subscription = await client.listen(filter);
    deepEqual(subscription.honoredFilter, filter);
  } else for (const uri of uris) await client.subscribeResource({ uri });
  return { heard, close: () => connection[Symbol.asyncDispose]() };
}

/** Begins to listen to a world in which changes are told at once. */
async function open(
  transport: Transport,
  uris: readonly string[],
  config: Partial<Config> = {},
): Promise<{ world: EndpointWorld; ear: Ear }> {
  const world = await serveEndpoint({
    files: FILES,
    config,
    options: { changes: { tellDelayMs: 20, lookEveryMs: 30 } },
  });
  const ear = await listen(world.url, transport, uris);
  await untilHeard(world, ear.heard);
  return { world, ear };
}

/** A client of 2025 opens its stream after it has been answered: calls until it hears, and no more. */
async function untilHeard({ mcp }: EndpointWorld, heard: string[]): Promise<void> {
  await until(async () => {
    await mcp.tell({ uris: new Set(), isListChanged: true });
    return heard.length > 0;
  });
  await settle();
  heard.length = 0;
}

/** So long that what was sent has come. */
function settle(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 100));
}

describe("changes on disk", () => {
  const uris = ["memory://m1", "memory://work%2Fplan.md", "profile://user"];
  for (const freshness of ["auto", "scan"] as const) {
    for (const transport of ["modern", "legacy", "sse"] as const) {
      it(`reach a client over ${transport} (freshness ${freshness}), nobody asking`, async () => {
        const { world, ear } = await open(transport, uris, { freshness });
        await using _world = world;
        const { heard } = ear;
        const hears = async (what: string[], change: () => void) => {
          heard.length = 0;
          change();
          await untilSo(`${what} is heard, not ${heard}`, () => heard.length >= what.length);
          await settle();
          deepEqual(
            heard.filter((uri) => uri !== "list").concat(heard.includes("list") ? ["list"] : []),
            what,
          );
        };
        const { services } = world;

        await hears(["memory://m1"], () => services.write("memories/m1.md", memory("m1", "1")));
        await hears(["memory://work%2Fplan.md"], () => services.write("work/plan.md", "# B\n"));
        await hears(["profile://user"], () => services.write("profiles/user.md", "Coffee.\n"));
        await hears(
          ["memory://m1", "list"],
          () => services.write("memories/m1.md", memory("m1", "1", "Other")),
        );
        await hears(["memory://m1", "list"], () => services.remove("memories/m1.md"));
        await hears(
          ["memory://m1", "list"],
          () => services.write("memories/moved.md", memory("m1", "back")),
        );
        await hears(["list"], () => services.write("memories/m3.md", memory("m3", "new")));

        await ear.close();
      });
    }
  }

  it("of the manifest are told, as it follows its memories", async () => {
    const uri = "store://global/MEMORY.md";
    const { world, ear } = await open("legacy", [uri]);
    await using _world = world;

    world.services.write("memories/m3.md", memory("m3", "new"));

    await untilSo("the manifest is told of", () => ear.heard.includes(uri));
    await ear.close();
  });

  it("that come together are told together", async () => {
    const { world, ear } = await open("legacy", ["memory://m1"]);
    await using _world = world;

    for (let number = 0; number < 50; number++) {
      world.services.write(`memories/x${number}.md`, memory(`x${number}`, "x"));
      world.services.write("memories/m1.md", memory("m1", `${number}`));
    }
    await world.services.index.refresh();
    await untilSo("it is heard", () => ear.heard.length >= 2);
    await settle();

    deepEqual(ear.heard.toSorted(), ["list", "memory://m1"]);
    await ear.close();
  });

  it("are not told when a file is touched and stays the same", async () => {
    const { world, ear } = await open("legacy", ["memory://m1"]);
    await using _world = world;

    world.services.write("memories/m1.md", FILES["memories/m1.md"]);
    await world.services.index.refresh();
    world.services.write("memories/m2.md", memory("m2", "other"));
    await world.services.index.refresh();
    await settle();

    deepEqual(ear.heard, []);
    await ear.close();
  });

  it("are not told to who has unsubscribed, nor to who listens to something else", async () => {
    await using world = await serveEndpoint({
      files: FILES,
      options: { changes: { tellDelayMs: 0 } },
    });
    await using connection = await connectSdk(world.url, "legacy");
    const { client } = connection;
    const heard: string[] = [];
    client.setNotificationHandler("notifications/resources/updated", ({ params }) => {
      heard.push(params.uri);
    });
    client.setNotificationHandler("notifications/resources/list_changed", () => {
      heard.push("list");
    });
    for (const uri of ["memory://m1", "memory://m2"]) await client.subscribeResource({ uri });
    await client.unsubscribeResource({ uri: "memory://m1" });
    await untilHeard(world, heard);

    for (const id of ["m1", "m2"]) {
      world.services.write(`memories/${id}.md`, memory(id, "other"));
    }
    await world.services.index.refresh();
    await untilSo("one is heard", () => heard.length > 0);
    await settle();

    deepEqual(heard, ["memory://m2"]);
  });

  it("are told by the name that the client used", async () => {
    const uri = "memory://work/plan.md";
    const { world, ear } = await open("legacy", [uri]);
    await using _world = world;

    world.services.write("work/plan.md", "# C\n");
    await world.services.index.refresh();

    await untilSo("it is heard", () => ear.heard.includes(uri));
    await ear.close();
  });
});

describe("subscriptions", () => {
  async function subscribe(client: Client, uri: string): Promise<unknown> {
    return await client.subscribeResource({ uri });
  }

  it("are refused for what this server does not have", async () => {
    await using world = await serveEndpoint({ files: FILES });
    await using connection = await connectSdk(world.url, "legacy");

    for (const uri of ["test://x", "profile://nobody", "store://project/MEMORY.md"]) {
      await rejects(subscribe(connection.client, uri), { code: -32602 });
    }
    // It may come to be.
    await subscribe(connection.client, "memory://not-yet");
  });

  it("are bounded in number, and the same one counts once", async () => {
    await using world = await serveEndpoint();
    const session = await openRawSession(world.url);
    const subscribeRaw = async (uri: string, id: number) => {
      const message = { jsonrpc: "2.0", id, method: "resources/subscribe", params: { uri } };
      return await (await session.post(message, { accept: "application/json" })).json();
    };

    for (let number = 0; number < MAX_SUBSCRIPTIONS; number++) {
      const { result } = await subscribeRaw(memoryUri(`m${number}`), number + 1);
      ok(result !== undefined);
    }
    const again = await subscribeRaw(memoryUri("m0"), 2_001);
    const tooMany = await subscribeRaw(memoryUri("x"), 2_002);

    ok(again.result !== undefined);
    equal(tooMany.error.code, -32602);
  });

  it("are bounded in length too", async () => {
    await using world = await serveEndpoint();
    await using connection = await connectSdk(world.url, "legacy");
    const { client } = connection;
    const uriOf = (number: number) => memoryUri(`${number}${"x".repeat(10_000)}`);

    const most = Math.floor(MAX_SUBSCRIBED_CHARS / (2 * uriOf(10).length));
    for (let number = 0; number < most; number++) await subscribe(client, uriOf(number));

    await rejects(subscribe(client, uriOf(99)), { code: -32602 });
    await client.unsubscribeResource({ uri: uriOf(0) });
    await subscribe(client, uriOf(99));
  });
});

describe("what a first load brings in", () => {
  it("is told to who listens already, as one change of the list", async () => {
    let isReading = true;
    await using world = await serveEndpoint({
      files: FILES,
      isReady: false,
      replace: ({ index }) => ({
        index: new Proxy(index, {
          get: (target, key) => {
            if (key === "indexing") return isReading ? { done: 1, total: 2 } : undefined;
            const value: unknown = Reflect.get(target, key, target);
            return typeof value === "function" ? value.bind(target) : value;
          },
        }),
      }),
      options: { changes: { tellDelayMs: 0, lookEveryMs: 10 } },
    });
    await using connection = await connectSdk(world.url, "modern");
    const heard: string[] = [];
    connection.client.setNotificationHandler("notifications/resources/list_changed", () => {
      heard.push("list");
    });
    await connection.client.listen({ resourcesListChanged: true });

    await world.services.ready();
    await settle();
    const before = heard.length;
    isReading = false;
    await untilSo("it is heard", () => heard.length > 0);
    await settle();

    deepEqual([before, heard], [0, ["list"]]);
  });
});

describe("ResourceChanges", () => {
  /** An index that counts how often somebody looks, and is slow at that. */
  function openChanges() {
    let looks = 0;
    let audience: Attention = "here";
    const changes = new ResourceChanges({
      vault: undefined as never,
      index: {
        freshness: { mode: "scan" },
        indexing: undefined,
        onChanged: () => () => {},
        refresh: async () => {
          looks++;
          await new Promise((resolve) => setTimeout(resolve, 10));
          return { verified: true, ageMs: 0 };
        },
      },
      clock: { nowMs: () => 0, monotonicMs: () => 0 },
      audience: () => audience,
      tell: () => {},
      lookEveryMs: 10,
    });
    return { changes, looks: () => looks, setAudience: (next: Attention) => audience = next };
  }

  it("looks in one row, however often somebody begins to listen", async () => {
    const { changes, looks } = openChanges();

    for (let round = 0; round < 50; round++) {
      changes.watch();
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    changes.close();

    // One look takes as long as four of the rounds, and 50 rows would make hundreds.
    ok(looks() > 0 && looks() < 40, `${looks()}`);
  });

  it("looks no more once nobody is there, and again when somebody is", async () => {
    const { changes, looks, setAudience } = openChanges();
    changes.watch();
    await untilSo("it has looked", () => looks() > 0);

    setAudience("away");
    await settle();
    const before = looks();
    await settle();
    const after = looks();
    setAudience("here");
    changes.watch();
    await untilSo("it looks again", () => looks() > after);
    changes.close();
    await settle();
    const atEnd = looks();
    await settle();

    equal(after, before);
    equal(looks(), atEnd);
  });
});
