import {
  deepStrictEqual as deepEqual,
  match,
  notStrictEqual as notEqual,
  ok,
  strictEqual as equal,
} from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import { MemoriesAnswerShape, MemoryAnswerShape } from "@/lib/contracts_memories.ts";
import { testWorld } from "@/tests/_support/world.ts";

const memory = (id: string, more = "") => `---\nid: ${id}\ndescription: D\n${more}---\nbody\n`;

const FILES = {
  "memories/a.md": memory("m1", "updated_at: 2026-01-02\ntags: [x]\n"),
  "memories/b.md": memory("m2", "updated_at: 2026-01-01\n"),
  "c.md": memory("m3", "updated_at: 2026-01-03\nstatus: deprecated\n"),
  "odd/1.md": memory("a/b c"),
  "odd/2.md": memory("'100%'"),
  "odd/3.md": memory("记忆"),
  "odd/4.md": memory("'x?y#z'"),
  "odd/5.md": memory("a+b"),
  "odd/6.md": memory("/m"),
  "folder/sub folder/note.md": "# Plain\n",
  "private/secret.md": memory("m9"),
};

describe("GET /api/memories", () => {
  it("GET /api/memories answers with the list", async () => {
    await using world = await testWorld(FILES);

    const response = await world.request("/api/memories?scope=global");

    equal(response.status, 200);
    equal(response.headers.get("content-type"), "application/json");
    const answer = MemoriesAnswerShape.parse(await response.json());
    deepEqual(answer.memories.map(({ id }) => id), ["m1", "m2"]);
    equal(answer.total, 2);
  });

  it("GET /api/memories filters, and goes on with a cursor", async () => {
    await using world = await testWorld(FILES);
    const ask = async (query: string) =>
      await (await world.request(`/api/memories?${query}`)).json();

    const first = await ask("scope=global&limit=1");
    const second = await ask(`scope=global&limit=1&cursor=${first.nextCursor}`);
    const tagged = await ask("tag=%23X");
    const old = await ask("status=deprecated");

    deepEqual([first.memories[0].id, second.memories[0].id], ["m1", "m2"]);
    equal(second.nextCursor, undefined);
    deepEqual([tagged.total, tagged.memories[0].id], [1, "m1"]);
    deepEqual([old.total, old.memories[0].id], [1, "m3"]);
  });

  const refused: readonly [query: string, field: string][] = [
    ["scope=x", "scope"],
    ["limit=0", "limit"],
    ["limit=101", "limit"],
    ["limit=1.5", "limit"],
    ["tag=", "tag"],
    ["status=%20", "status"],
    ["cursor=x", "cursor"],
    ["cursor=", "cursor"],
    ["tags=x", "tags"],
    ["tag=a&tag=b", "tag"],
  ];
  for (const [query, field] of refused) {
    it(`GET /api/memories?${query} answers 400`, async () => {
      await using world = await testWorld(FILES);

      const response = await world.request(`/api/memories?${query}`);

      equal(response.status, 400);
      equal(response.headers.get("content-type"), "application/problem+json");
      deepEqual((await response.json()).problems.map((one: { field: string }) => one.field), [
        field,
      ]);
    });
  }

  it("GET /api/memories refuses other methods", async () => {
    await using world = await testWorld(FILES);

    for (const path of ["/api/memories", "/api/memories/m1"]) {
      const response = await world.request(path, { method: "DELETE" });

      equal(response.status, 405);
      match(response.headers.get("allow") ?? "", /^GET, HEAD/);
    }
    equal((await world.request("/api/memories/")).status, 404);
  });
});

describe("GET /api/memories/{id}", () => {
  it("GET /api/memories/{id} answers with the memory", async () => {
    await using world = await testWorld(FILES);

    const response = await world.request("/api/memories/m1");

    equal(response.status, 200);
    equal(response.headers.get("content-type"), "application/json");
    equal(response.headers.get("cache-control"), "no-cache");
    const memory = MemoryAnswerShape.parse(await response.json());
    deepEqual([memory.id, memory.path], ["m1", "memories/a.md"]);
    equal(memory.markdown, FILES["memories/a.md"]);
    equal(response.headers.get("etag"), `"${memory.etag}"`);
  });

  it("GET /api/memories/{id} opens every hit of a search", async () => {
    await using world = await testWorld(FILES);

    const { results } = await (await world.request("/api/search?q=body+plain&limit=100")).json();

    ok(results.length > 5);
    for (const { id, path } of results) {
      const response = await world.request(`/api/memories/${encodeURIComponent(id)}`);

      equal((await response.json()).path, path, id);
    }
  });

  const found: readonly [url: string, path: string][] = [
    ["a/b%20c", "odd/1.md"],
    ["a%2Fb%20c", "odd/1.md"],
    ["%61%2fb c", "odd/1.md"],
    ["100%25", "odd/2.md"],
    ["%E8%AE%B0%E5%BF%86", "odd/3.md"],
    ["记忆", "odd/3.md"],
    ["x%3Fy%23z", "odd/4.md"],
    ["a+b", "odd/5.md"],
    ["%2Fm", "odd/6.md"],
    ["memories/a.md", "memories/a.md"],
    ["folder/sub%20folder/note.md", "folder/sub folder/note.md"],
    ["folder%2Fsub%20folder%2Fnote.md", "folder/sub folder/note.md"],
  ];
  for (const [url, path] of found) {
    it(`GET /api/memories/${url} opens ${path}`, async () => {
      await using world = await testWorld(FILES);

      const response = await world.request(`/api/memories/${url}`);

      equal(response.status, 200);
      equal((await response.json()).path, path);
    });
  }

  const refused: readonly [url: string, status: number, code: string][] = [
    ["m7", 404, "note-not-found"],
    ["m9", 404, "note-not-found"],
    ["private/secret.md", 404, "note-not-found"],
    ["folder", 404, "note-not-found"],
    ["..%2Fa.md", 400, "path-escapes-vault"],
    ["%2Fetc%2Fpasswd", 404, "note-not-found"],
    ["a%00.md", 400, "path-escapes-vault"],
    ["a%0Ab", 404, "note-not-found"],
    ["a%0Ab.md", 400, "path-escapes-vault"],
    ["folder//note.md", 400, "path-escapes-vault"],
    ["%zz", 400, "invalid-request"],
    ["%FF", 400, "invalid-request"],
    ["m1?lines=1", 400, "invalid-request"],
    ["m1?x", 400, "invalid-request"],
  ];
  for (const [url, status, code] of refused) {
    it(`GET /api/memories/${url} answers ${status}`, async () => {
      await using world = await testWorld(FILES);

      const response = await world.request(`/api/memories/${url}`);

      equal(response.status, status);
      equal(response.headers.get("content-type"), "application/problem+json");
      const text = await response.text();
      equal(JSON.parse(text).code, code);
      ok(!text.includes(world.root));
    });
  }

  it("GET /api/memories/{id} names an id that cannot be decoded", async () => {
    await using world = await testWorld(FILES);

    const { problems } = await (await world.request("/api/memories/a/%zz")).json();

    deepEqual(problems, [
      { field: "id", value: "%zz", message: "must be valid percent-encoded UTF-8" },
    ]);
  });

  it("GET /api/memories/{id} answers 304 while the file is the same, wherever it lies", async () => {
    await using world = await testWorld(FILES);
    const etag = (await world.request("/api/memories/m1")).headers.get("etag") ?? "";
    const ask = (header: string) =>
      world.request("/api/memories/m1", { headers: { "if-none-match": header } });

    await Deno.rename(world.pathOf("memories/a.md"), world.pathOf("moved.md"));

    for (const header of [etag, `W/${etag}`, `"other", ${etag}`, "*", " * "]) {
      const response = await ask(header);

      equal(response.status, 304, header);
      equal(response.headers.get("etag"), etag);
      equal(response.headers.get("cache-control"), "no-cache");
      equal(await response.text(), "");
    }
    equal((await ask('"other"')).status, 200);
    equal((await ask(etag.replaceAll('"', ""))).status, 200);
  });

  it("GET /api/memories/{id} answers 200 with another ETag once the file has changed", async () => {
    await using world = await testWorld(FILES);
    const etag = (await world.request("/api/memories/m1")).headers.get("etag") ?? "";
    world.write("memories/a.md", memory("m1", "status: done\n"));

    const response = await world.request("/api/memories/m1", {
      headers: { "if-none-match": etag },
    });

    equal(response.status, 200);
    notEqual(response.headers.get("etag"), etag);
    equal((await response.json()).status, "done");
  });

  it("GET /api/memories/{id} has the ETag of the note at its path", async () => {
    await using world = await testWorld(FILES);

    const byId = await world.request("/api/memories/m1");
    const byPath = await world.request("/api/notes/memories/a.md");

    equal(byId.headers.get("etag"), byPath.headers.get("etag"));
  });

  it("GET /api/memories/{id} sends keys that objects have already as they are", async () => {
    await using world = await testWorld({ "a.md": memory("m1", "__proto__: {x: y}\n") });

    const text = await (await world.request("/api/memories/m1")).text();

    ok(text.includes('"__proto__":{"x":"y"}'));
  });

  it("HEAD /api/memories/{id} answers with headers alone", async () => {
    await using world = await testWorld(FILES);
    const { headers } = await world.request("/api/memories/m1");

    const response = await world.request("/api/memories/m1", { method: "HEAD" });

    equal(response.status, 200);
    equal(response.headers.get("etag"), headers.get("etag"));
    equal(await response.text(), "");
  });

  it("GET /api/memories/{id} logs no id", async () => {
    await using world = await testWorld(FILES);

    await world.request("/api/memories/secret-name");

    const log = world.logs.join("\n");
    ok(log.includes('"route":"/api/memories/{id}"'));
    ok(!log.includes("secret-name"));
  });
});
