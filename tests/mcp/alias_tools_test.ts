import { deepStrictEqual as deepEqual, match, ok, strictEqual as equal } from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import { AliasFetchResult, AliasSearchResult } from "@/lib/contracts_tools.ts";
import { ALIAS_TOOLS } from "@/lib/mcp/alias_tools.ts";
import { MAX_ANSWER_CHARS } from "@/lib/mcp/pack.ts";
import { explainMissingTool, selectTools, TOOLS } from "@/lib/mcp/tools.ts";
import { clientOver, serveMcp, type ToolReply } from "@/tests/_support/mcp.ts";

const LONG = Array.from({ length: 2_000 }, (_, line) => `${line} "记忆" zebra\n`).join("");
const FILES = {
  "memories/m1.md": "---\nid: m 1\nname: Stripes\ndescription: D\n---\nzebra\n",
  "work/long.md": LONG,
};

function dataOf({ isError, text, data }: ToolReply): Readonly<Record<string, unknown>> {
  ok(!isError && data !== undefined, text);
  deepEqual(JSON.parse(text), data);
  ok(text.length <= MAX_ANSWER_CHARS, `${text.length}`);
  return data;
}

describe("tools search and fetch", () => {
  it("are there only where somebody asks for them, after all others", async () => {
    await using off = await serveMcp(FILES);
    await using on = await serveMcp(FILES, { config: { mcpAliases: "on" } });
    await using without = await clientOver("modern").connect(off.server.url);
    await using withAliases = await clientOver("modern").connect(on.server.url);

    const names = async (client: typeof without) =>
      (await client.listTools()).map(({ name }) => name);
    const own = TOOLS.map(({ listing }) => listing.name);
    deepEqual(await names(without), own);
    deepEqual(await names(withAliases), [...own, "search", "fetch"]);
    deepEqual(
      selectTools({ toolsets: ["journal"], mcpAliases: "on", access: "open" })
        .filter(({ toolset }) => toolset !== "journal"),
      [],
    );
    match(explainMissingTool("fetch", TOOLS), /Tool fetch is switched off: .*--mcp-aliases on/);
  });

  for (const transport of ["modern", "legacy", "sse"] as const) {
    it(`find and read over ${transport}, in the shapes that their clients know`, async () => {
      await using world = await serveMcp(FILES, { config: { mcpAliases: "on" } });
      await using client = await clientOver(transport).connect(world.server.url);

      const found = dataOf(await client.call("search", { query: "stripes" }));
      const read = dataOf(await client.call("fetch", { id: "m 1" }));

      AliasSearchResult.strict().parse(found);
      AliasFetchResult.strict().parse(read);
      deepEqual(found["results"], [{ id: "m 1", title: "Stripes", url: "memory://m%201" }]);
      const { id, title, text, url, metadata } = read;
      deepEqual([id, title, url], ["m 1", "Stripes", "memory://m%201"]);
      equal(text, FILES["memories/m1.md"]);
      match(
        JSON.stringify(metadata),
        /"path":"memories\/m1\.md","kind":"memory","etag":"[0-9a-f]+"/,
      );
    });
  }

  it("fetch reads a long note page by page", async () => {
    await using world = await serveMcp(FILES, { config: { mcpAliases: "on" } });
    await using client = await clientOver("modern").connect(world.server.url);

    let text = "";
    let cursor: unknown;
    do {
      const args = cursor === undefined ? {} : { cursor };
      const page = dataOf(await client.call("fetch", { id: "work/long.md", ...args }));
      text += page["text"];
      cursor = page["nextCursor"];
    } while (cursor !== undefined);

    equal(text, LONG);
  });

  it("keep their bounds whatever the id", async () => {
    const id = "长".repeat(3_000);
    const body = "zebra ".repeat(5_000);
    await using world = await serveMcp({
      "memories/m.md": `---\nid: ${id}\nname: Long\ndescription: D\n---\n${body}`,
    }, { config: { mcpAliases: "on" } });
    await using client = await clientOver("modern").connect(world.server.url);

    const found = dataOf(await client.call("search", { query: "zebra" }));
    const read = dataOf(await client.call("fetch", { id }));

    equal((found["results"] as unknown[]).length, 1);
    ok(String(read["text"]).length > 1_000);
  });

  it("say what is wrong", async () => {
    await using world = await serveMcp(FILES, { config: { mcpAliases: "on" } });
    await using client = await clientOver("modern").connect(world.server.url);

    match((await client.call("search", {})).text, /query must be given/);
    match((await client.call("fetch", { id: "none" })).text, /no memory and no note "none"/);
    match((await client.call("fetch", { id: "m 1", cursor: "x" })).text, /cursor is none that/);
  });

  it("take little more of a client's room", () => {
    const tools = [...TOOLS, ...ALIAS_TOOLS].map(({ listing }) => listing);
    ok(new TextEncoder().encode(JSON.stringify({ tools })).length <= 31_000);
  });
});
