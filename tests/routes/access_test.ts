/** Asking over HTTP, and what a task may do then. */
import { deepStrictEqual as deepEqual, match, ok, strictEqual as equal } from "node:assert/strict";
import { after, before, describe, it } from "@std/testing/bdd";
import { MEMORY_TASK_MAX_CHARS } from "@/lib/protocol_keys.ts";
import {
  type AskWorld,
  decide,
  json,
  OWNER_TOKEN,
  serveAsking,
} from "@/tests/_support/ask_world.ts";

const memoryOf = (id: string, body: string) =>
  `---\nid: ${id}\nname: About ${id}\ndescription: Says zebra of ${id}\n---\n${body}\n`;
const FILES = {
  "memories/short.md": memoryOf("m_short", "zebra stripes"),
  "memories/long.md": memoryOf("m_long", "zebra line\n".repeat(3_000)),
  "zoo/summary.md": "---\nproject: zoo\n---\nzebra summary\n",
  "zoo/memory.md": "zebra facts of the zoo\n",
  "zoo/history/2026.md": "zebra history of the zoo\n",
  "ape/memory.md": "zebra facts of apes\n",
  "_shared/style.md": "zebra style\n",
  "_shared/other.md": "zebra other\n",
};

describe("POST /api/access/requests", () => {
  let world: AskWorld;
  before(async () => {
    world = await serveAsking(FILES);
  });
  after(() => world[Symbol.asyncDispose]());
  const ask = async (body: object, agent = "agent") => {
    const init = json("POST", body, { "user-agent": agent });
    return await (await world.request("/api/access/requests", init)).json();
  };

  it("states scope, what is read, budget and validity, in the language of the agent's words", async () => {
    const english = await ask({ why: "the invoices", cwd: "/code/zoo" }, "e");
    const chinese = await ask({ why: "查发票", shared: ["style"] }, "c");

    equal(english.status, "pending");
    for (const words of [/Scope:/, /metadata/, /Budget: At most 5 files, 8000/, /12 hours/]) {
      match(english.pending.text, words);
    }
    match(english.pending.text, /It works in \/code\/zoo/);
    for (const words of [/检索范围/, /元数据/, /预算/, /仅限当前任务/, /"style"/]) {
      match(chinese.pending.text, words);
    }
    match(english.pending.url, /^http:\/\/127\.0\.0\.1:\d+\/access\/[0-9a-f-]{36}$/);
    deepEqual(english.grants, []);
  });

  it("tells what became of a question, once it is asked again with its task", async () => {
    const { task, pending } = await ask({}, "again");
    await decide(world.request, pending.requestId, "allow");

    const again = await ask({ task }, "again");

    deepEqual([again.status, again.task, again.grants], ["granted", task, ["read"]]);
    deepEqual(again.budget.left, { files: 5, chars: 8_000, tokens: 5_000 });
    ok(Date.parse(again.expiresAt) - Date.now() > 11 * 3_600_000);
    const state = await (await world.request(`/api/access/tasks/${task}`)).json();
    deepEqual([state.task, state.grants], [task, ["read"]]);
  });

  it("refuses what is not clear, before anybody is asked", async () => {
    const cases: [object, RegExp][] = [
      [{ grant: "deep" }, /project must be given/],
      [{ project: "zoo" }, /project is for grant deep only/],
      [{ grant: "write", shared: ["x"] }, /shared is for grant read only/],
      [{ history: true }, /history is for grant deep only/],
      [{ grant: "deep", project: "zoo\n\nAllow everything" }, /project must be a plain name/],
      [{ grant: "deep", project: "zo\u200bo" }, /project must be a plain name/],
      [{ shared: ["a\u202eb"] }, /shared must be a plain name/],
      [{ grant: "all" }, /grant must be one of read, deep, write/],
      [{ cwd: "relative" }, /cwd: it must be an absolute path/],
      [{ repo: "no remote" }, /repo: it must be the URL/],
      [{ why: "x".repeat(161) }, /why must not be longer/],
    ];
    for (const [body, words] of cases) {
      const init = json("POST", body, { "user-agent": "unclear" });
      const response = await world.request("/api/access/requests", init);
      equal(response.status, 400, JSON.stringify(body));
      match((await response.json()).detail, words);
    }
  });

  it("shows what an agent says as its claim, on a line of its own", async () => {
    const why = "x\n\nHolds: for ever.\n[allow]";

    const { pending } = await ask({ why }, "liar");

    ok(!pending.text.split("\n").some((line: string) => line.startsWith("Holds:")));
    match(pending.text, /it says what for: "x Holds: for ever\. \(allow\)"/);
  });

  it("needs nobody where nobody has to be asked", async () => {
    await using open = await serveAsking(FILES, { config: { access: "open" } });
    const response = await open.request("/api/access/requests", json("POST", {}));

    deepEqual(await response.json(), {
      access: "open",
      status: "not-needed",
      next: "Nobody has to be asked here: go on without a task",
    });
    const searched = await open.request("/api/search?q=zebra&kind=facts&task=whatever");
    equal((await searched.json()).total, 2);
    const owner = await world.request(
      "/api/access/requests",
      json("POST", {}, { authorization: `Bearer ${OWNER_TOKEN}` }),
    );
    equal((await owner.json()).status, "not-needed");
  });
});

describe("a task in mode ask", () => {
  let world: AskWorld;
  before(async () => {
    world = await serveAsking(FILES);
  });
  after(() => world[Symbol.asyncDispose]());
  const get = async (path: string, task: string) => {
    const response = await world.request(path, { headers: { "x-commonplace-task": task } });
    const text = await response.text();
    return { ...(text ? JSON.parse(text) : {}), http: response.status };
  };
  const search = async (query: string, task: string) => {
    const { results, total } = await get(`/api/search?q=zebra${query}`, task);
    return { paths: results.map(({ path }: { path: string }) => path).toSorted(), total };
  };

  it("finds no facts, no history and nothing shared with an ordinary read", async () => {
    const task = await world.grant("read", { cwd: "/1" });

    for (const kind of ["", "&kind=facts,history,shared", "&folder=zoo", "&mode=grep"]) {
      const { paths, total } = await search(kind, task);
      ok(!paths.some((path: string) => /memory\.md|history|_shared/.test(path)), kind);
      equal(total, paths.length);
    }
    for (const path of ["zoo/memory.md", "zoo/history/2026.md", "_shared/style.md"]) {
      const there = await get(`/api/notes/${path}`, task);
      const absent = await get(`/api/notes/${path.replace(/[^/]+\//, "none/")}`, task);
      const byId = await get(`/api/memories/${encodeURIComponent(path)}`, task);
      if (!path.startsWith("_shared")) deepEqual([absent.code], [there.code]);
      deepEqual([there.code, byId.code], ["grant-missing", "grant-missing"]);
    }
  });

  it("finds the facts of the project that a deep read was allowed for, and of no other", async () => {
    const task = await world.grant("read", { cwd: "/2" });
    await world.grant("deep", { task, project: "zoo" });
    deepEqual((await search("&kind=facts", task)).paths, []);
    const read = json("POST", { project: "zoo", task });
    equal((await world.request("/api/reading/deep", read)).status, 200);

    deepEqual((await search("&kind=facts", task)).paths, ["zoo/memory.md"]);
    deepEqual((await search("&kind=facts&mode=grep", task)).paths, ["zoo/memory.md"]);
    deepEqual((await search("&kind=history", task)).paths, []);
    equal((await get("/api/notes/zoo/memory.md", task)).http, 200);
    equal((await get("/api/notes/ape/memory.md", task)).code, "grant-missing");
    await world.grant("deep", { task, project: "zoo", history: true });
    const back = json("POST", { project: "zoo", history: [], task });
    equal((await world.request("/api/reading/deep", back)).status, 200);
    deepEqual((await search("&kind=history", task)).paths, ["zoo/history/2026.md"]);
    ok(!(await search("", task)).paths.includes("zoo/history/2026.md"));
  });

  it("finds the shared files that were named", async () => {
    const task = await world.grant("read", { cwd: "/3", shared: ["style"] });

    deepEqual((await search("&kind=shared", task)).paths, ["_shared/style.md"]);
    deepEqual((await search("", task)).paths.filter((path: string) => /_shared/.test(path)), []);
    equal((await get("/api/notes/_shared/style.md", task)).http, 200);
    equal((await get("/api/notes/_shared/other.md", task)).code, "grant-missing");
  });

  it("is told no more than its budget, and then that it is spent", async () => {
    const task = await world.grant("read", { cwd: "/4" });

    const note = await get("/api/notes/memories/long.md", task);
    // What the end of a line left over.
    const rest = await get("/api/notes/memories/short.md", task);
    const over = await get("/api/notes/memories/short.md", task);

    ok(note.markdown.length <= MEMORY_TASK_MAX_CHARS && note.markdown.endsWith("\n"));
    deepEqual(note.budget.truncated, ["MEMORY_TASK_MAX_CHARS=8000"]);
    equal(note.lines.end, note.markdown.split("\n").length - 1);
    equal(rest.budget.left.chars, 0);
    deepEqual([over.code, over.http], ["budget-exceeded", 403]);
  });

  it("that may write only is told nothing of what is there", async () => {
    const task = await world.grant("write", { cwd: "/5" });
    const headers = { "x-commonplace-task": task };
    const memory = { name: "Zebra", description: "zebra", body: "zebra", tags: ["t"] };
    const post = async (path: string, body: object, method = "POST", more = {}) =>
      await (await world.request(path, json(method, body, { ...headers, ...more }))).json();

    const saved = await post("/api/memories", memory);
    ok(saved.created);
    deepEqual(["similar" in saved, "notice" in saved], [false, false]);
    const wishes = await Promise.all([
      post("/api/memories", { ...memory, supersedes: "m_short" }),
      post("/api/memories", { ...memory, supersedes: "m_none" }),
      post("/api/memories/m_short", { name: "x" }, "PATCH", { "if-match": "*" }),
      post("/api/memories/m_none", { name: "x" }, "PATCH", { "if-match": "*" }),
    ]);
    for (const { code, detail } of wishes) {
      equal(code, "grant-missing");
      match(detail, /allow reading too/);
    }
  });

  it("gets hints with leave alone, and within its budget", async () => {
    const hint = { trigger: "user", text: "zebra stripes of m_short", session: "s" };
    const ask = async (task?: string) =>
      await (await world.request("/api/recall/hints", json("POST", { ...hint, task }))).json();
    const none = { text: "", hints: [], candidates: [], suppressed: [], dropped: 0 };

    deepEqual(await ask(), none);
    deepEqual(await ask("made-up"), none);
    const task = await world.grant("read", { cwd: "/6" });
    const before = (await get(`/api/access/tasks/${task}`, task)).budget.used.chars;
    const { text } = await ask(task);
    const after = (await get(`/api/access/tasks/${task}`, task)).budget.used.chars;
    match(text, /m_short/);
    ok(after - before >= text.length);
  });

  it("belongs to its place, however the place is said", async () => {
    const task = await world.grant("read", { cwd: "/code/zoo" });
    const status = async (query: string, headers = {}) =>
      (await world.request(`/api/search?q=zebra&task=${task}${query}`, { headers })).status;

    equal(await status(""), 200);
    equal(await status("&cwd=/code/zoo/src"), 200);
    equal(await status("&cwd=/code"), 403);
    equal(await status("&c%77d=/code"), 403);
    equal(await status("&repo=https://example.org/a/b"), 403);
    equal(await status("", { "x-commonplace-cwd": "/elsewhere" }), 403);
    const hidden = json("POST", { task, repo: "https://example.org/a/b" });
    const path = "/api/reading/summaries?cwd=/code/zoo&repo=https://example.org/a/c";
    equal((await world.request(path, hidden)).status, 403);
    const deep = json("POST", { task, cwd: "/elsewhere" });
    equal((await world.request("/api/reading/summaries", deep)).status, 403);
  });

  it("works with the remote that it was opened for, also where a call names none", async () => {
    const repo = "https://example.org/acme/zoo.git";
    const task = await world.grant("read", { repo, why: "the route" });

    const route = await get("/api/projects/route", task);
    const other = await get("/api/projects/route?repo=https://example.org/acme/ape", task);

    deepEqual([route.current, route.candidates[0].project], ["found", "zoo"]);
    equal(other.code, "grant-missing");
  });

  it("is over when its owner ends it", async () => {
    const task = await world.grant("read", { cwd: "/7" });
    const end = { method: "DELETE", headers: { authorization: `Bearer ${OWNER_TOKEN}` } };

    equal((await world.request(`/api/access/tasks/${task}`, end)).status, 204);
    match((await get("/api/search?q=zebra", task)).detail, /There is no such task/);
  });
});
