import { deepStrictEqual as deepEqual, match, strictEqual as equal } from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import { SearchAnswerShape } from "@/lib/contracts.ts";
import { testWorld, type World } from "@/tests/_support/world.ts";

async function pathsFor(world: World, query: string): Promise<string[]> {
  const response = await world.request(`/api/search?${query}`);
  equal(response.status, 200, query);
  return SearchAnswerShape.parse(await response.json()).results.map(({ path }) => path);
}

const FILES = {
  "deploy.md": "# Deploy\n\nRoll out with blue-green, then watch the graphs.\n",
  "缓存.md": "# 缓存三件事\n\n先想失效，再想一致性。\n",
  "memories/tip.md":
    "---\nid: mem_1\nname: Retry tip\ndescription: Retries need keys\ntags: [http]\n---\nUse blue keys.\n",
};

describe("GET /api/search", () => {
  it("GET /api/search answers with the best notes, in English and Chinese", async () => {
    await using world = await testWorld(FILES);

    deepEqual(await pathsFor(world, "q=graphs"), ["deploy.md"]);
    deepEqual(await pathsFor(world, `q=${encodeURIComponent("一致性")}`), ["缓存.md"]);
  });

  it("GET /api/search says how it answered", async () => {
    await using world = await testWorld(FILES);

    const answer = await (await world.request("/api/search?q=graphs")).json();

    equal(answer.query, "graphs");
    equal(answer.mode, "keyword");
    deepEqual([answer.fallback.from, answer.fallback.to], ["hybrid", "keyword"]);
    equal(answer.total, 1);
    equal(answer.indexing, undefined);
  });

  it("GET /api/search passes every filter on", async () => {
    await using world = await testWorld(FILES);

    deepEqual(new Set(await pathsFor(world, "q=blue")), new Set(["deploy.md", "memories/tip.md"]));
    deepEqual(await pathsFor(world, "q=blue&kind=memory"), ["memories/tip.md"]);
    deepEqual(await pathsFor(world, "q=blue&kind=note,journal"), ["deploy.md"]);
    deepEqual(await pathsFor(world, "q=blue&tags=http,other"), ["memories/tip.md"]);
    deepEqual(await pathsFor(world, "q=blue&folder=memories/"), ["memories/tip.md"]);
    deepEqual(await pathsFor(world, "q=blue&scope=global"), ["memories/tip.md"]);
    deepEqual(await pathsFor(world, "q=blue&status=done"), []);
    equal((await pathsFor(world, "q=blue&limit=1")).length, 1);
    deepEqual(await pathsFor(world, "q=blue-green,&mode=grep"), ["deploy.md"]);
  });

  it("GET /api/search bounds what it filters by", async () => {
    await using world = await testWorld(FILES);
    const refused = {
      tags: Array.from({ length: 17 }, (_, at) => `t${at}`).join(),
      kind: Array.from({ length: 17 }, () => "memory").join(),
      folder: "a".repeat(5_000),
      status: "x".repeat(201),
    };

    for (const [name, value] of Object.entries(refused)) {
      const response = await world.request(`/api/search?q=x&${name}=${value}`);

      equal(response.status, 400, name);
      match(
        (await response.json()).detail,
        new RegExp(`${name} must (hold at most|not be longer)`),
      );
    }
  });

  it("GET /api/search sees what was written, changed and removed just before", async () => {
    await using world = await testWorld(FILES);

    await world.write("new.md", "zebra");
    deepEqual(await pathsFor(world, "q=zebra"), ["new.md"]);
    await world.write("new.md", "giraffe");
    deepEqual(await pathsFor(world, "q=zebra"), []);
    await world.remove("deploy.md");
    deepEqual(await pathsFor(world, "q=graphs"), []);
  });

  const odd = [
    "the",
    "the of and",
    "的",
    "，。！",
    "...",
    '"',
    "(",
    "*",
    "\\",
    "a'b",
    "__proto__",
    "constructor",
    "hasOwnProperty",
    "😀",
    "%",
    "+",
    "<script>",
    "x ".repeat(2_000),
  ];
  for (const mode of ["hybrid", "grep"]) {
    it(`GET /api/search answers 200 to odd queries in mode ${mode}`, async () => {
      await using world = await testWorld(FILES);

      for (const query of odd) {
        const url = `/api/search?mode=${mode}&q=${encodeURIComponent(query)}`;
        const response = await world.request(url);

        equal(response.status, 200, JSON.stringify(query));
        SearchAnswerShape.parse(await response.json());
      }
    });
  }

  it("GET /api/search answers 400 where a literal text holds a line break or NUL", async () => {
    await using world = await testWorld(FILES);

    for (const query of ["a%0Ab", "%00"]) {
      equal((await world.request(`/api/search?mode=grep&q=${query}`)).status, 400);
      equal((await world.request(`/api/search?mode=keyword&q=${query}`)).status, 200);
    }
  });

  it("GET /api/search answers 400 to an empty status, and names the field", async () => {
    await using world = await testWorld(FILES);

    for (const status of ["", "%20", "+"]) {
      const response = await world.request(`/api/search?q=x&status=${status}`);

      equal(response.status, 400);
      const [{ field, message }] = (await response.json()).problems;
      deepEqual([field, message], ["status", "must not be empty"]);
    }
  });

  it("GET /api/search answers 400 to a folder outside the vault", async () => {
    await using world = await testWorld(FILES);

    const response = await world.request("/api/search?q=x&folder=../etc");

    equal(response.status, 400);
    match((await response.json()).code, /path-escapes-vault|invalid-request/);
  });
});
