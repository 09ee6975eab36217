import {
  deepStrictEqual as deepEqual,
  match,
  notStrictEqual as notEqual,
  ok,
  strictEqual as equal,
} from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import { NOW_MS, writingWorld } from "../_support/writing.ts";

const BUCKET = "memories/2026/05/week2";

const draft = (extra: object = {}) => ({
  name: "Cache ordering",
  description: "高频变化层不能放在前面",
  body: "# Cache\n\nzebra text",
  tags: [" March/Context ", "cache", "Cache"],
  ...extra,
});

const memory = (id: string, ...more: string[]) =>
  ["---", `id: ${id}`, `name: N ${id}`, "description: D", "tags: [a]", ...more, "---", "body", ""]
    .join("\n");

describe("POST /api/memories", () => {
  it("writes a file that a person likes to read, in the bucket of its week", async () => {
    await using world = await writingWorld();

    const { status, headers, body } = await world.ask("POST", "/api/memories", draft(), {
      "user-agent": "claude-code/2.1 (linux)",
    });

    equal(status, 201);
    match(body.id, /^mem_[0-9a-hjkmnp-tv-z]{26}_cache_ordering$/);
    equal(headers.get("location"), `/api/memories/${body.id}`);
    equal(headers.get("etag"), `"${body.etag}"`);
    const now = new Date(NOW_MS).toISOString();
    equal(
      world.text(`${BUCKET}/2026-05-14-cache-ordering.md`),
      `---\nid: ${body.id}\nname: Cache ordering\ndescription: 高频变化层不能放在前面\n` +
        `tags:\n  - march/context\n  - cache\nstatus: active\ncreated_at: ${now}\n` +
        `updated_at: ${now}\nmetadata:\n  actor: claude-code/2.1\n---\n\n# Cache\n\nzebra text\n`,
    );
    deepEqual(body, {
      id: body.id,
      path: `${BUCKET}/2026-05-14-cache-ordering.md`,
      etag: body.etag,
      created: true,
      scope: "global",
      name: "Cache ordering",
      description: "高频变化层不能放在前面",
      tags: ["march/context", "cache"],
      status: "active",
      updatedAt: now,
      similar: [],
    });
    const opened = await world.ask("GET", `/api/memories/${body.id}`);
    equal(opened.body.etag, body.etag);
    equal(opened.body.body.trim(), "# Cache\n\nzebra text");
  });

  it("shows who wrote it and in which session in every hit", async () => {
    await using world = await writingWorld();

    await world.ask("POST", "/api/memories", draft({ origin_session_id: "s-17" }), {
      "user-agent": "codex/0.9",
    });

    const { body } = await world.ask("GET", "/api/search?q=zebra");
    deepEqual(
      body.results.map(({ actor, originSessionId }: Record<string, unknown>) => ({
        actor,
        originSessionId,
      })),
      [{ actor: "codex/0.9", originSessionId: "s-17" }],
    );
  });

  it("gives a second one of the same name and day a file and an id of its own", async () => {
    await using world = await writingWorld();

    const saves = await Promise.all(
      Array.from(
        { length: 12 },
        (_, i) => world.ask("POST", "/api/memories", draft({ body: `text ${i}` })),
      ),
    );

    deepEqual(saves.map(({ status }) => status), saves.map(() => 201));
    equal(new Set(saves.map(({ body }) => body.id)).size, 12);
    const paths = saves.map(({ body }) => body.path);
    equal(new Set(paths).size, 12);
    ok(paths.includes(`${BUCKET}/2026-05-14-cache-ordering-12.md`));
    for (const [i, path] of paths.entries()) ok(world.text(path).endsWith(`\ntext ${i}\n`));
  });

  it("names what a new memory lacks, and writes nothing", async () => {
    await using world = await writingWorld();
    const cases: [object, string[]][] = [
      [{}, ["name", "description", "body", "tags"]],
      [draft({ tags: undefined }), ["tags"]],
      [draft({ tags: [] }), ["tags"]],
      [draft({ tags: [" "] }), ["tags"]],
      [draft({ tags: ["a,b"] }), ["tags"]],
      [draft({ name: " \n " }), ["name"]],
      [draft({ name: "x\ud800y" }), ["name"]],
      [draft({ body: "---\nid: mine\n---\ntext" }), ["body"]],
      [draft({ body: "\n\n---\nid: mine\n---\ntext" }), ["body"]],
      [draft({ body: "a\0b" }), ["body"]],
      [draft({ scope: "all" }), ["scope"]],
      [draft({ id: "mem_1" }), ["id"]],
    ];

    for (const [input, fields] of cases) {
      const { status, body } = await world.ask("POST", "/api/memories", input);

      equal(status, 400, JSON.stringify(input));
      deepEqual(body.problems.map(({ field }: { field: string }) => field), fields);
    }
    deepEqual(world.list("."), []);
  });

  it("takes a body that begins with a rule, and text that looks like YAML", async () => {
    await using world = await writingWorld();

    for (const text of ["---\n\n# Rule first\n\n---\n\nid: x", "--- not a fence", "id: x"]) {
      const { status, body } = await world.ask("POST", "/api/memories", draft({ body: text }));

      equal(status, 201, text);
      const opened = await world.ask("GET", `/api/memories/${body.id}`);
      equal(opened.body.body.trim(), text);
    }
  });

  it("refuses what looks like a secret, says where, and never repeats it", async () => {
    await using world = await writingWorld();
    const token = `ghp_${"aB3dE6gH9k".repeat(3)}xY2zQ7`;

    const refused = await world.ask(
      "POST",
      "/api/memories",
      draft({ body: `line one\nthe token is ${token}` }),
    );
    const allowed = await world.ask(
      "POST",
      "/api/memories",
      draft({ body: `line one\nthe token is ${token}`, allow_secret: true }),
    );

    equal(refused.status, 422);
    equal(refused.body.code, "secret-found");
    match(refused.body.detail, /body line 2, column 14 looks like a GitHub token/);
    ok(!JSON.stringify(refused.body).includes(token.slice(0, 12)));
    equal(allowed.status, 201);
    ok(!world.logs.some((line) => line.includes(token)));
  });

  it("lists up to three that come nearest, of its store and the global one, and not itself", async () => {
    await using world = await writingWorld({
      "memories/a.md": memory("m1").replace("N m1", "Cache ordering in prefixes"),
      "memories/b.md": memory("m2").replace("N m2", "Bread"),
      "memories/c.md": memory("m3", "status: deprecated").replace("N m3", "Cache ordering"),
      "memories/projects/01ARZ3NDEKTSV4RRFFQ69G5FAV/d.md": memory("m4").replace("N m4", "Cache"),
      "note.md": "# Cache ordering\n",
    });

    const { body } = await world.ask("POST", "/api/memories", draft());

    deepEqual(body.similar.map(({ id }: { id: string }) => id), ["m1"]);
    ok(body.similar.every(({ score }: { score: number }) => score > 0 && score <= 1));
    deepEqual(Object.keys(body.similar[0]), ["id", "name", "score"]);
  });

  it("deprecates what it supersedes, and both name each other", async () => {
    await using world = await writingWorld({
      "memories/old.md": "---\nid: old1\nname: Old\ndescription: D # why\ntags: [a]\n---\nzebra\n",
    });

    const { status, body } = await world.ask(
      "POST",
      "/api/memories",
      draft({ supersedes: "old1" }),
    );

    equal(status, 201);
    equal(body.superseded, "old1");
    equal(
      world.text("memories/old.md"),
      "---\nid: old1\nname: Old\ndescription: D # why\ntags: [a]\nstatus: deprecated\n" +
        `superseded_by: ${body.id}\nupdated_at: ${new Date(NOW_MS).toISOString()}\n---\nzebra\n`,
    );
    match(world.text(body.path), /^supersedes: old1$/m);
    deepEqual(await world.idsOf("q=zebra"), [body.id]);
    deepEqual(await world.idsOf("q=zebra&status=any"), [body.id, "old1"].sort());
    deepEqual(await world.idsOf("q=zebra&status=deprecated"), ["old1"]);
  });

  it("supersedes a memory once, whoever else tries, and gives one without id an id", async () => {
    await using world = await writingWorld({
      "memories/old.md": memory("old1"),
      "memories/claude.md": "---\nname: Fact\ndescription: D\n---\nbody\n",
    });

    const answers = await Promise.all(
      Array.from(
        { length: 20 },
        (_, i) =>
          world.ask("POST", "/api/memories", draft({ name: `New ${i}`, supersedes: "old1" })),
      ),
    );
    const won = answers.filter(({ status }) => status === 201);
    const nameless = await world.ask(
      "POST",
      "/api/memories",
      draft({ supersedes: "memories/claude.md" }),
    );

    equal(won.length, 1);
    ok(
      answers.filter((it) => it.status !== 201).every(({ body }) =>
        /has superseded it already/.test(body.detail)
      ),
    );
    match(world.text("memories/old.md"), new RegExp(`^superseded_by: ${won[0]?.body.id}$`, "m"));
    const id = nameless.body.superseded;
    match(id, /^mem_[0-9a-z]{26}_fact$/);
    match(world.text("memories/claude.md"), new RegExp(`^id: ${id}$`, "m"));
    match(world.text(nameless.body.path), new RegExp(`^supersedes: ${id}$`, "m"));
  });

  it("makes nothing if what it supersedes goes or changes at the last moment", async () => {
    // Ids name the request, the temporary files of both, and what is kept of the old one.
    const moments = [2, 3, 4].flatMap((at) =>
      (["moved", "deleted", "edited"] as const).map((change) => ({ at, change }))
    );
    for (const { at, change } of moments) {
      const count = { ids: 0 };
      const late: { act?: () => void } = {};
      const newId = () => {
        if (++count.ids === at) late.act?.();
        return crypto.randomUUID();
      };
      await using world = await writingWorld({ "memories/old.md": memory("old1") }, {}, { newId });
      await world.index.refresh();
      count.ids = 0;
      late.act = () => {
        if (change === "edited") world.write("memories/old.md", memory("old1", "zz: mine"));
        else if (change === "deleted") world.remove("memories/old.md");
        else {Deno.renameSync(
            world.pathOf("memories/old.md"),
            world.pathOf("memories/new place.md"),
          );}
      };

      const { status, body } = await world.ask(
        "POST",
        "/api/memories",
        draft({ supersedes: "old1" }),
      );

      const what = `${change} at ${at}`;
      if (change === "deleted") {
        equal(status, 404, what);
        deepEqual(world.list(BUCKET), [], what);
      } else {
        equal(status, 201, what);
        equal(world.list(BUCKET).length, 1, what);
        deepEqual(await world.idsOf("q=zebra"), [body.id]);
      }
    }
  });

  it("makes nothing if what it supersedes is not there or cannot be changed", async () => {
    await using world = await writingWorld({
      "memories/flow.md": "---\n{id: flow1, name: N}\n---\nbody\n",
      "memories/a.md": memory("twice"),
      "memories/b.md": memory("twice"),
    });
    const cases: [string, number, string][] = [
      ["gone", 404, "note-not-found"],
      ["flow1", 422, "frontmatter-not-editable"],
      ["twice", 409, "id-conflict"],
    ];

    for (const [supersedes, status, code] of cases) {
      const answer = await world.ask("POST", "/api/memories", draft({ supersedes }));

      deepEqual([answer.status, answer.body.code], [status, code]);
    }
    deepEqual(world.list("memories"), ["a.md", "b.md", "flow.md"]);
  });

  it("puts memories where the configuration has the store", async () => {
    await using world = await writingWorld({}, { memoriesFolder: "." });

    const { body } = await world.ask("POST", "/api/memories", draft());

    equal(body.path, "2026/05/week2/2026-05-14-cache-ordering.md");
    deepEqual(await world.idsOf("q=zebra&scope=global"), [body.id]);
  });
});

describe("PATCH /api/memories/{id}", () => {
  const NOTE =
    "\ufeff---\r\n# mine\r\nid: m1\r\nname: 'Old name'   # why\r\ntags:\r\n- a # first\r\n" +
    'zz: {k: [1, 2]}\r\ndescription: "D"\r\n---\r\n\r\nbody\r\nmore\r\n';

  it("changes the lines of what is passed and of updated_at, and nothing else", async () => {
    await using world = await writingWorld({ "memories/a.md": NOTE });
    const before = await world.ask("GET", "/api/memories/m1");

    const { status, body } = await world.ask("PATCH", "/api/memories/m1", { name: "New name" }, {
      "if-match": `"${before.body.etag}"`,
    });

    equal(status, 200);
    notEqual(body.etag, before.body.etag);
    deepEqual([body.name, body.description, body.tags], ["New name", "D", ["a"]]);
    equal(
      new TextDecoder("utf-8", { ignoreBOM: true }).decode(
        await Deno.readFile(world.pathOf("memories/a.md")),
      ),
      NOTE.replace("'Old name'", "'New name'").replace(
        "\r\n---\r\n\r\n",
        `\r\nupdated_at: ${new Date(NOW_MS).toISOString()}\r\n---\r\n\r\n`,
      ),
    );
  });

  it("replaces the body in the file's own line ends", async () => {
    await using world = await writingWorld({ "memories/a.md": NOTE });

    await world.ask("PATCH", "/api/memories/m1", { body: "one\ntwo" }, { "if-match": "*" });

    ok(world.text("memories/a.md").endsWith("\r\n---\r\n\r\none\r\ntwo\r\n"));
  });

  it("writes nothing if nothing is different, not even when the body comes back as read", async () => {
    await using world = await writingWorld({ "memories/a.md": NOTE });
    const { body: { etag, body } } = await world.ask("GET", "/api/memories/m1");
    const { mtime, ino } = await Deno.stat(world.pathOf("memories/a.md"));

    const edits = [{}, { body }, { body: body.trim() }, { name: "Old name", tags: ["A"] }];
    for (const edit of edits) {
      const answer = await world.ask("PATCH", "/api/memories/m1", edit, {
        "if-match": `"${etag}"`,
      });

      deepEqual([answer.status, answer.body.etag], [200, etag], JSON.stringify(edit));
    }
    const after = await Deno.stat(world.pathOf("memories/a.md"));
    deepEqual([after.mtime, after.ino], [mtime, ino]);
  });

  it("refuses a state that is gone, and none named, and changes nothing", async () => {
    await using world = await writingWorld({ "memories/a.md": memory("m1") });
    const before = world.text("memories/a.md");
    const cases: [HeadersInit, number, string][] = [
      [{}, 428, "precondition-required"],
      [{ "if-match": `"${"0".repeat(64)}"` }, 412, "edit-conflict"],
      [{ "if-match": "0".repeat(64) }, 412, "edit-conflict"],
      [{ "if-match": "nonsense" }, 400, "invalid-request"],
      [{ "if-match": '*, "x' }, 400, "invalid-request"],
    ];

    for (const [headers, status, code] of cases) {
      const answer = await world.ask("PATCH", "/api/memories/m1", { tags: ["b"] }, headers);

      deepEqual([answer.status, answer.body.code], [status, code]);
    }
    const { body } = await world.ask("GET", "/api/memories/m1");
    const weak = { "if-match": `W/"${body.etag}"` };
    equal((await world.ask("PATCH", "/api/memories/m1", { tags: ["b"] }, weak)).status, 400);
    equal(world.text("memories/a.md"), before);
    const bare = { "if-match": body.etag };
    equal((await world.ask("PATCH", "/api/memories/m1", { tags: ["b"] }, bare)).status, 200);
  });

  it("lets one of many win who change the same state", async () => {
    await using world = await writingWorld({ "memories/a.md": memory("m1") });
    const { body: { etag } } = await world.ask("GET", "/api/memories/m1");

    const answers = await Promise.all(
      Array.from(
        { length: 20 },
        (_, i) =>
          world.ask("PATCH", "/api/memories/m1", { tags: [`t${i}`] }, { "if-match": `"${etag}"` }),
      ),
    );

    equal(answers.filter(({ status }) => status === 200).length, 1);
    equal(answers.filter(({ status }) => status === 412).length, 19);
  });

  it("follows the file wherever a person moves it", async () => {
    await using world = await writingWorld({ "memories/a.md": memory("m1"), "x/y.md": "" });
    await Deno.rename(world.pathOf("memories/a.md"), world.pathOf("x/renamed.md"));

    const { body } = await world.ask("PATCH", "/api/memories/m1", { tags: ["b"] }, {
      "if-match": "*",
    });

    deepEqual([body.path, body.scope], ["x/renamed.md", "none"]);
    match(world.text("x/renamed.md"), /^tags: \[b\]$/m);
  });

  it("gives a memory that an agent wrote without id one", async () => {
    await using world = await writingWorld({
      "memories/claude.md": "---\nname: Fact\ndescription: D\nmetadata:\n  type: user\n---\nbody\n",
    });

    const { status, body } = await world.ask(
      "PATCH",
      "/api/memories/memories%2Fclaude.md",
      { tags: ["b"] },
      { "if-match": "*" },
    );

    equal(status, 200);
    match(body.id, /^mem_[0-9a-z]{26}_fact$/);
    match(world.text("memories/claude.md"), new RegExp(`^id: ${body.id}$`, "m"));
    match(world.text("memories/claude.md"), /^ {2}type: user$/m);
    equal((await world.ask("GET", `/api/memories/${body.id}`)).body.path, "memories/claude.md");
  });

  it("refuses what is no memory, a copy, and an id that two files claim until that is mended", async () => {
    await using world = await writingWorld({
      "note.md": "# A note\n",
      "memories/a.md": memory("m1"),
      "memories/a (conflicted copy 2026-01-01).md": memory("m1"),
      "memories/b.md": memory("m2"),
      "memories/c.md": memory("m2"),
    });
    const patch = (id: string) =>
      world.ask("PATCH", `/api/memories/${encodeURIComponent(id)}`, { tags: ["b"] }, {
        "if-match": "*",
      });

    equal((await patch("note.md")).status, 400);
    equal((await patch("nobody")).status, 404);
    equal((await patch("memories/a (conflicted copy 2026-01-01).md")).status, 400);
    equal((await patch("m1")).status, 200);
    const conflict = await patch("m2");
    deepEqual([conflict.status, conflict.body.code], [409, "id-conflict"]);
    match(
      conflict.body.detail,
      /"memories\/b\.md" and "memories\/c\.md".*another id, or delete it/,
    );
    world.remove("memories/c.md");
    equal((await patch("m2")).status, 200);
    match(world.text("memories/a (conflicted copy 2026-01-01).md"), /^tags: \[a\]$/m);
    world.remove("memories/a.md");
    const orphan = await patch("m1");
    deepEqual([orphan.status, /a copy of a sync tool/.test(orphan.body.detail)], [400, true]);
  });

  it("deprecates and brings back", async () => {
    await using world = await writingWorld({ "memories/a.md": memory("m1") });
    const patch = (status: string) =>
      world.ask("PATCH", "/api/memories/m1", { status }, { "if-match": "*" });

    await patch("deprecated");
    deepEqual(await world.idsOf("q=body"), []);
    await patch("active");
    deepEqual(await world.idsOf("q=body"), ["m1"]);
  });
});

describe("memories as they were read", () => {
  const bodies = [
    "---\nlike: frontmatter\n---\ntext\n",
    "\n---\nlike: frontmatter\n---\ntext\n",
    "nul \0 inside\n",
    "text with two blanks at its end  \n",
    "\u3000indented by an ideographic space\u3000\n\n\n",
    "no line end",
    "",
    "\n\n\n",
    "mixed\r\nends\nhere\r",
    "    code\n\n    more\n",
  ];
  for (const body of bodies) {
    it(`a body comes back byte for byte: ${JSON.stringify(body)}`, async () => {
      const text = `---\nid: m1\nname: N\ndescription: D\n---\n${body}`;
      await using world = await writingWorld({ "memories/a.md": text });
      const opened = await world.ask("GET", "/api/memories/m1");

      const { status } = await world.ask(
        "PATCH",
        "/api/memories/m1",
        { body: opened.body.body },
        { "if-match": "*" },
      );

      equal(status, 200);
      equal(world.text("memories/a.md"), text);
    });
  }

  it("names, descriptions and tags come back as a person wrote them", async () => {
    const heads = [
      "name: |\n  Two\n  lines\ndescription: >\n  folded\n  text\ntags: Foo Bar, baz\n",
      "title: T\ndescription: D\ntag: a\n",
      "name: 'a'\ndescription: \"D\"\ntags: [A, b,  B]\n",
    ];
    for (const head of heads) {
      const text = `---\nid: m1\n${head}---\nbody\n`;
      await using world = await writingWorld({ "memories/a.md": text });
      const { body: { name, description, tags } } = await world.ask("GET", "/api/memories/m1");

      const { status } = await world.ask(
        "PATCH",
        "/api/memories/m1",
        { name, description, tags },
        { "if-match": "*" },
      );

      equal(status, 200, head);
      equal(world.text("memories/a.md"), text);
    }
  });

  it("a hard break added at the end of a body is a change", async () => {
    await using world = await writingWorld({ "memories/a.md": memory("m1") });

    await world.ask("PATCH", "/api/memories/m1", { body: "body  " }, { "if-match": "*" });

    ok(world.text("memories/a.md").endsWith("\nbody  \n"));
  });
});

describe("many saves at once", () => {
  it("all succeed that name no state", async () => {
    await using world = await writingWorld({ "memories/a.md": memory("m1") });

    const answers = await Promise.all(
      Array.from(
        { length: 40 },
        (_, i) => world.ask("PATCH", "/api/memories/m1", { tags: [`t${i}`] }, { "if-match": "*" }),
      ),
    );
    const made = await Promise.all(
      Array.from({ length: 40 }, () => world.ask("POST", "/api/memories", draft())),
    );

    deepEqual(answers.map(({ status }) => status), answers.map(() => 200));
    deepEqual(made.map(({ status }) => status), made.map(() => 201));
    equal(new Set(made.map(({ body }) => body.path)).size, 40);
  });
});

describe("saves and searches", () => {
  it("the next search in every mode sees a save, in a vault too large to be looked through", async () => {
    const files = Object.fromEntries(
      Array.from({ length: 10_050 }, (_, i) => [`n/${i}.md`, `note ${i}`]),
    );
    await using world = await writingWorld(files);
    const { body: { id } } = await world.ask("POST", "/api/memories", draft({ body: "start" }));

    for (let round = 0; round < 5; round++) {
      const word = `quokka${"abcde"[round]}`;
      await world.ask("PATCH", `/api/memories/${id}`, { body: word }, { "if-match": "*" });

      deepEqual(await world.idsOf(`q=${word}&mode=keyword`), [id]);
      deepEqual(await world.idsOf(`q=${word}&mode=grep`), [id]);
    }
  });
});
