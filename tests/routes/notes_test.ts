import {
  deepStrictEqual as deepEqual,
  match,
  notStrictEqual as notEqual,
  ok,
  strictEqual as equal,
} from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import { NoteAnswerShape } from "@/lib/contracts.ts";
import { testWorld } from "@/tests/_support/world.ts";

const FILES = {
  "a.md": "---\ntags: [x]\n---\n# Title\n\none\ntwo\n",
  "folder/sub folder/b.md": "b\n",
  "中文/笔记.md": "记\n",
  "100%.md": "percent\n",
  "q?#.md": "marks\n",
  "plus+.md": "plus\n",
  "line\u2028separator.md": "odd\n",
  "private/secret.md": "hidden\n",
  "picture.png": "no note",
};

describe("GET /api/notes/{path}", () => {
  it("GET /api/notes/{path} answers with the note", async () => {
    await using world = await testWorld(FILES);

    const response = await world.request("/api/notes/a.md");

    equal(response.status, 200);
    equal(response.headers.get("content-type"), "application/json");
    equal(response.headers.get("cache-control"), "no-cache");
    const note = NoteAnswerShape.parse(await response.json());
    equal(note.markdown, FILES["a.md"]);
    equal(response.headers.get("etag"), `"${note.etag}"`);
  });

  const found: readonly [url: string, path: string][] = [
    ["folder/sub%20folder/b.md", "folder/sub folder/b.md"],
    ["folder%2Fsub%20folder%2Fb.md", "folder/sub folder/b.md"],
    ["%66older/sub%20folder/%62.md", "folder/sub folder/b.md"],
    ["%E4%B8%AD%E6%96%87/%E7%AC%94%E8%AE%B0.md", "中文/笔记.md"],
    ["中文/笔记.md", "中文/笔记.md"],
    ["100%25.md", "100%.md"],
    ["q%3F%23.md", "q?#.md"],
    ["plus+.md", "plus+.md"],
    ["line%E2%80%A8separator.md", "line\u2028separator.md"],
  ];
  for (const [url, path] of found) {
    it(`GET /api/notes/${url} opens the note`, async () => {
      await using world = await testWorld(FILES);

      const response = await world.request(`/api/notes/${url}`);

      equal(response.status, 200);
      equal((await response.json()).path, path);
    });
  }

  const refused: readonly [url: string, status: number][] = [
    ["missing.md", 404],
    ["picture.png", 404],
    ["folder", 404],
    ["private/secret.md", 404],
    ["private%2Fsecret.md", 404],
    ["Private/secret.md", 404],
    ["..%2Fa.md", 400],
    ["a%2F..%2F..%2Fx.md", 400],
    ["%2e%2e%2fa.md", 400],
    ["%252e%252e%252fa.md", 400],
    ["%2Fetc%2Fpasswd.md", 400],
    ["folder//b.md", 400],
    ["folder%2F%2Fb.md", 400],
    ["a.md/", 400],
    ["folder%5Cb.md", 400],
    ["a.md%00", 400],
    ["a%0Ab.md", 400],
    ["C:%5Ca.md", 400],
    ["con.md", 400],
    ["%zz.md", 400],
    ["%FF.md", 400],
    [`${"x".repeat(300)}.md`, 400],
  ];
  for (const [url, status] of refused) {
    it(`GET /api/notes/${url.slice(0, 40)} answers ${status}`, async () => {
      await using world = await testWorld(FILES);

      const response = await world.request(`http://localhost/api/notes/${url}`);

      equal(response.status, status);
      equal(response.headers.get("content-type"), "application/problem+json");
      ok(!(await response.text()).includes(world.root));
    });
  }

  it("GET /api/notes/{path} names the part of a path that cannot be decoded", async () => {
    await using world = await testWorld(FILES);

    const { detail, problems } = await (await world.request("/api/notes/folder/%zz.md")).json();

    equal(detail, "Cannot use the request: path must be valid percent-encoded UTF-8");
    deepEqual(problems, [
      { field: "path", value: "%zz.md", message: "must be valid percent-encoded UTF-8" },
    ]);
  });

  it("GET /api/notes/{path} follows no link", async () => {
    await using world = await testWorld(FILES);
    await using other = await testWorld({ "outside.md": "outside\n" });
    await Deno.symlink(`${other.root}/outside.md`, `${world.root}/link.md`);
    await Deno.symlink(other.root, `${world.root}/linked`);

    for (const path of ["link.md", "linked/outside.md"]) {
      const response = await world.request(`/api/notes/${path}`);

      equal(response.status, 400);
      equal((await response.json()).code, "path-escapes-vault");
    }
  });

  it("GET /api/notes/{path} answers with the lines that are asked for", async () => {
    await using world = await testWorld(FILES);

    const note = await (await world.request("/api/notes/a.md?lines=6-99")).json();

    deepEqual(note.lines, { start: 6, end: 7, total: 7 });
    match(note.markdown, /^one\ntwo\n?$/);
  });

  const lines: readonly [value: string, status: number][] = [
    ["1", 200],
    ["1-1", 200],
    ["99-100", 416],
    ["3-2", 400],
    ["0-2", 400],
    ["-1", 400],
    ["a-b", 400],
    ["", 400],
    ["1-", 400],
    ["99999999999-99999999999", 400],
  ];
  for (const [value, status] of lines) {
    it(`GET /api/notes/{path}?lines=${value} answers ${status}`, async () => {
      await using world = await testWorld(FILES);

      const response = await world.request(`/api/notes/a.md?lines=${value}`);

      equal(response.status, status);
    });
  }

  it("GET /api/notes/{path} answers 304 while the file is the same", async () => {
    await using world = await testWorld(FILES);
    const etag = (await world.request("/api/notes/a.md")).headers.get("etag") ?? "";
    const ask = (header: string, query = "") =>
      world.request(`/api/notes/a.md${query}`, { headers: { "if-none-match": header } });

    for (const header of [etag, `W/${etag}`, `"other", ${etag}`, "*", ` * `]) {
      const response = await ask(header);

      equal(response.status, 304, header);
      equal(response.headers.get("etag"), etag);
      equal(response.headers.get("cache-control"), "no-cache");
      equal(await response.text(), "");
    }
    equal((await ask(etag, "?lines=1-2")).status, 304);
    equal((await ask('"other"')).status, 200);
    equal((await ask(etag.replaceAll('"', ""))).status, 200);
  });

  it("GET /api/notes/{path} answers 200 with another ETag once the file has changed", async () => {
    await using world = await testWorld(FILES);
    const etag = (await world.request("/api/notes/a.md")).headers.get("etag") ?? "";
    await world.write("a.md", "changed\n");

    const response = await world.request("/api/notes/a.md", {
      headers: { "if-none-match": etag },
    });

    equal(response.status, 200);
    notEqual(response.headers.get("etag"), etag);
    equal((await response.json()).markdown, "changed\n");
  });

  it("GET /api/notes/{path} gives lines the ETag of the whole file", async () => {
    await using world = await testWorld(FILES);

    const whole = await world.request("/api/notes/a.md");
    const part = await world.request("/api/notes/a.md?lines=1-2");

    equal(part.headers.get("etag"), whole.headers.get("etag"));
  });
});
