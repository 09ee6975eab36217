/** Resources, templates and their completion, for clients of every era. */
import {
  deepStrictEqual as deepEqual,
  match,
  ok,
  rejects,
  strictEqual as equal,
} from "node:assert/strict";
import { after, before, describe, it } from "@std/testing/bdd";
import { MAX_COMPLETIONS } from "@/lib/mcp/completions.ts";
import {
  changeKey,
  manifestUri,
  MAX_URI_CHARS,
  memoryUri,
  parseResourceUri,
} from "@/lib/mcp/resource_uris.ts";
import { RESOURCES_A_PAGE } from "@/lib/mcp/resources.ts";
import { connectSdk, describeOverEach, type McpWorld, serveMcp } from "@/tests/_support/mcp.ts";

const ULID = "01ARZ3NDEKTSV4RRFFQ69G5FAV";
const STORE = `memories/projects/${ULID}`;
/** More than one page of the list. */
const MANY = Array.from({ length: RESOURCES_A_PAGE + 5 }, (_, number) => `n${number}`);

function memory(id: string, name = `Name of ${id}`): string {
  return `---\nid: ${id}\nname: ${name}\ndescription: About ${id}\n---\nbody of ${id}\r\n`;
}

const FILES = {
  ...Object.fromEntries(MANY.map((id) => [`memories/${id}.md`, memory(id)])),
  "memories/odd.md": memory("a b/ä?#%41"),
  "memories/gone.md": `---\nid: gone\nname: Gone\ndescription: D\nstatus: deprecated\n---\n`,
  "memories/MEMORY.md": "- [N](n.md) — d\n",
  [`${STORE}/project.md`]: `---\nproject: site\nrepo_id: example.org/team/site\n---\n`,
  [`${STORE}/MEMORY.md`]: "- [P](p.md) — d\n",
  [`${STORE}/p.md`]: memory("p1", "快取 cache order"),
  "profiles/user.md": "---\ntitle: x\n---\n\nLikes tea.\n",
  "work/plan.md": "# A plan\n",
  "private/secret.md": "secret",
};

describe("names of resources", () => {
  const names: readonly [uri: string, name: ReturnType<typeof parseResourceUri>][] = [
    ["memory://m1", { kind: "memory", id: "m1" }],
    ["memory://work%2Fa.md", { kind: "memory", id: "work/a.md" }],
    ["memory://work/a.md", { kind: "memory", id: "work/a.md" }],
    ["memory://100%", { kind: "memory", id: "100%" }],
    ["memory://%00", { kind: "memory", id: "\0" }],
    ["memory://", undefined],
    ["memory:m1", undefined],
    ["MEMORY://m1", undefined],
    ["profile://agent", { kind: "profile", who: "agent" }],
    ["profile://nobody", undefined],
    ["profile://__proto__", undefined],
    ["store://global/MEMORY.md", { kind: "manifest", scope: "global" }],
    [`store://${"0".repeat(26)}/MEMORY.md`, { kind: "manifest", scope: "global" }],
    [`store://${ULID.toLowerCase()}/MEMORY.md`, { kind: "manifest", scope: ULID }],
    ["store://project/MEMORY.md", { kind: "manifest", scope: "project" }],
    ["store://global/secret.md", undefined],
    ["store://../MEMORY.md", undefined],
    ["store://global/../MEMORY.md", undefined],
    ["file:///etc/passwd", undefined],
    ["", undefined],
    [`memory://${"x".repeat(MAX_URI_CHARS)}`, undefined],
  ];
  for (const [uri, name] of names) {
    it(`parseResourceUri() reads ${JSON.stringify(uri.slice(0, 60))}`, () => {
      deepEqual(parseResourceUri(uri), name);
    });
  }

  it("memoryUri() can be read back, whatever the id", () => {
    for (const id of ["m1", "a b/ä?#%41", "记忆", "%", "%zz", "a/../b.md", "😀", "\n"]) {
      deepEqual(parseResourceUri(memoryUri(id)), { kind: "memory", id });
    }
    equal(memoryUri("\ud800"), memoryUri("\ufffd"));
  });

  it("changeKey() is the same however a client spells it", () => {
    equal(changeKey("memory://work/a.md"), changeKey("memory://work%2fa.md"));
    equal(changeKey(`store://${ULID.toLowerCase()}/MEMORY.md`), manifestUri(ULID));
    equal(changeKey(`store://${"0".repeat(26)}/MEMORY.md`), manifestUri("0".repeat(26)));
    // Which project that is depends on where somebody works.
    equal(changeKey("store://project/MEMORY.md"), undefined);
    equal(changeKey("test://x"), undefined);
  });
});

describe("resources", () => {
  let world: McpWorld;
  before(async () => {
    world = await serveMcp(FILES);
  });
  after(() => world[Symbol.asyncDispose]());

  describeOverEach(() => world, (connection) => {
    const read = async (uri: string) => {
      const { contents } = await connection.client.readResource({ uri });
      return contents;
    };

    it("are declared with what can be told of them", () => {
      deepEqual(connection.client.getServerCapabilities()?.resources, {
        subscribe: true,
        listChanged: true,
      });
    });

    it("are listed: what there is beside memories first, then all memories in pages", async () => {
      const listed: { uri: string; name: string; title?: string | undefined }[] = [];
      let pages = 0;
      let cursor: string | undefined;
      do {
        // By the method itself: the client's own words for it turn the pages by themselves.
        const params = cursor === undefined ? {} : { cursor };
        const page = await connection.client.request({ method: "resources/list", params });
        listed.push(...page.resources);
        cursor = page.nextCursor;
        pages++;
      } while (cursor !== undefined);

      const uris = listed.map(({ uri }) => uri);
      deepEqual(uris.slice(0, 3), [
        "profile://user",
        "store://global/MEMORY.md",
        `store://${ULID}/MEMORY.md`,
      ]);
      const ids = [...MANY, "a b/ä?#%41", "p1"];
      deepEqual(uris.slice(3).toSorted(), ids.map(memoryUri).toSorted());
      ok(pages >= 2);
      const { resources: [first] } = await connection.client.listResources();
      deepEqual(first, {
        uri: "profile://user",
        name: "user-profile",
        title: "Who the person is",
        description: "Read at the start of every task",
        mimeType: "text/markdown",
      });
      match(JSON.stringify(listed[2]), /Memories of project site/);
    });

    it("can be read, each as it is on disk", async () => {
      const read = async (uri: string) => {
        const { contents: [content] } = await connection.client.readResource({ uri });
        ok(content && "text" in content);
        deepEqual([content.uri, content.mimeType], [uri, "text/markdown"]);
        return content.text;
      };

      equal(await read("memory://n7"), memory("n7"));
      equal(await read(memoryUri("a b/ä?#%41")), memory("a b/ä?#%41"));
      equal(await read("memory://gone"), FILES["memories/gone.md"]);
      equal(await read("memory://work%2Fplan.md"), "# A plan\n");
      equal(await read("profile://user"), "Likes tea.");
      // The server brings them up to date a moment later.
      match(await read("store://global/MEMORY.md"), /^- \[N.*\]\(n/m);
      match(await read(`store://${ULID}/MEMORY.md`), /^- \[.*\]\(p\.md\)/);
    });

    for (
      const uri of [
        "memory://none",
        "memory://private%2Fsecret.md",
        "memory://..%2F..%2Fetc%2Fpasswd",
        "memory://%2Fetc%2Fpasswd",
        "profile://agent",
        "store://01ARZ3NDEKTSV4RRFFQ69G5FAW/MEMORY.md",
        "test://x",
      ]
    ) {
      it(`there is no ${uri}`, async () => {
        await rejects(read(uri), (error: { code?: unknown; data?: unknown }) => {
          equal(error.code, -32602);
          deepEqual(error.data, { uri });
          return true;
        });
      });
    }

    it("say that it is not known where somebody works", async () => {
      await rejects(read("store://project/MEMORY.md"), {
        code: -32602,
        message: /it is not known where you work/,
      });
    });

    it("say what is wrong with a cursor", async () => {
      await rejects(connection.client.listResources({ cursor: "made-up" }), {
        code: -32602,
        message: /cursor is none that this server gave/,
      });
    });

    it("have templates, whose variables can be completed", async () => {
      const { client } = connection;
      const { resourceTemplates } = await client.listResourceTemplates();
      const complete = async (uri: string, name: string, value: string) => {
        const ref = { type: "ref/resource", uri } as const;
        return (await client.complete({ ref, argument: { name, value } })).completion;
      };
      const uris = resourceTemplates.map(({ uriTemplate }) => uriTemplate);
      const [byId = "", byScope = ""] = uris;

      deepEqual(uris, ["memory://{id}", "store://{scope}/MEMORY.md"]);
      deepEqual((await complete(byId, "id", "n10")).values.slice(0, 3), ["n10", "n100", "n101"]);
      deepEqual((await complete(byId, "id", "快取")).values, ["p1"]);
      deepEqual((await complete(byId, "id", "zzz")).values, []);
      const all = await complete(byId, "id", "");
      deepEqual(
        [all.values.length, all.total, all.hasMore],
        [MAX_COMPLETIONS, MANY.length + 2, true],
      );
      deepEqual((await complete(byScope, "scope", "")).values, ["global", "project", ULID]);
      deepEqual((await complete(byScope, "scope", "01a")).values, [ULID]);
      await rejects(complete("memory://{x}", "x", ""), { code: -32602 });
      const ref = { type: "ref/prompt", name: "none" } as const;
      const argument = { name: "task", value: "" };
      await rejects(client.complete({ ref, argument }), { code: -32602 });
      const known = { ...ref, name: "begin_task" };
      deepEqual((await client.complete({ ref: known, argument })).completion.values, []);
    });
  });
});

describe("resources without sessions", () => {
  it("list and show the manifest of a store that nobody has written one for", async () => {
    await using world = await serveMcp({ "memories/m1.md": memory("m1") });
    await using connection = await connectSdk(world.server.url, "modern");
    const { client } = connection;

    const { resources } = await client.listResources();
    const { contents: [content] } = await client.readResource({ uri: "store://global/MEMORY.md" });

    ok(resources.some(({ uri }) => uri === "store://global/MEMORY.md"));
    deepEqual(content, {
      uri: "store://global/MEMORY.md",
      mimeType: "text/markdown",
      text: "- [Name of m1](m1.md) — About m1\n",
    });
    // To read is to write nothing.
    equal(
      await Deno.stat(world.services.pathOf("memories/MEMORY.md")).catch(() => undefined),
      undefined,
    );
  });

  it("that are larger than a stream of 2024 takes are an error there, and read elsewhere", async () => {
    const text = "x".repeat(5_000_000);
    await using world = await serveMcp({ "large.md": text });
    await using old = await connectSdk(world.server.url, "sse");
    await using now = await connectSdk(world.server.url, "legacy");
    const uri = "memory://large.md";

    await rejects(old.client.readResource({ uri }), /larger than this stream takes/);
    const { contents: [content] } = await now.client.readResource({ uri });
    const { prompts } = await old.client.listPrompts();

    ok(content && "text" in content && content.text === text);
    ok(prompts.length > 0);
  });

  it("are there, and nobody is promised to be told of changes", async () => {
    await using world = await serveMcp(FILES, { config: { mcpLegacy: "stateless" } });
    await using connection = await connectSdk(world.server.url, "legacy");

    const { contents } = await connection.client.readResource({ uri: "profile://user" });

    deepEqual(connection.client.getServerCapabilities()?.resources, {});
    equal(contents.length, 1);
  });
});
