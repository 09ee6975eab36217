import { deepStrictEqual as deepEqual, ok, strictEqual as equal } from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import {
  HintsAnswerShape,
  RecallLogAnswerShape,
  RecallStatsAnswerShape,
} from "@/lib/contracts_recall.ts";
import { claudeEvent } from "@/tests/_support/hook_events.ts";
import { writingWorld } from "@/tests/_support/writing.ts";
import { testWorld, type World } from "@/tests/_support/world.ts";

const FILES = {
  "memories/busy.md": `---
id: busy
description: "SQLITE_BUSY: database is locked"
tags: [sqlite]
---
Begin immediate.
`,
};
const ASKED = { trigger: "user", session: "s", text: "database is locked" };

function post(world: World, path: string, body: object): Promise<Response> {
  return world.request(path, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });
}

describe("POST /api/recall/hints", () => {
  it("POST /api/recall/hints answers with hints", async () => {
    await using world = await testWorld(FILES);

    const response = await post(world, "/api/recall/hints", ASKED);

    equal(response.status, 200);
    equal(response.headers.get("content-type"), "application/json");
    const answer = HintsAnswerShape.parse(await response.json());
    deepEqual(answer.hints.map(({ id }) => id), ["busy"]);
    ok(answer.text.startsWith("[recall]\n- busy | score="));
  });

  it("POST /api/recall/hints takes every field", async () => {
    await using world = await testWorld(FILES);

    const response = await post(world, "/api/recall/hints", {
      ...ASKED,
      trigger: "assistant",
      run: "r1",
      final: true,
      recall: "on",
      cwd: "/tmp",
    });

    equal(response.status, 200);
    const answer = await response.json();
    deepEqual([answer.text, answer.hints, answer.candidates.length], ["", [], 1]);
  });

  const refused: readonly [body: object, field: string][] = [
    [{}, "trigger"],
    [{ ...ASKED, trigger: "agent" }, "trigger"],
    [{ ...ASKED, text: undefined }, "text"],
    [{ ...ASKED, text: 7 }, "text"],
    [{ ...ASKED, session: undefined }, "session"],
    [{ ...ASKED, session: " " }, "session"],
    [{ ...ASKED, session: "s".repeat(201) }, "session"],
    [{ ...ASKED, run: "" }, "run"],
    [{ ...ASKED, final: "yes" }, "final"],
    [{ ...ASKED, recall: "no" }, "recall"],
    [{ ...ASKED, cwd: "here" }, "cwd"],
    [{ ...ASKED, repo: "x" }, "repo"],
    [{ ...ASKED, sesion: "s" }, "sesion"],
  ];
  for (const [body, field] of refused) {
    it(`POST /api/recall/hints answers 400 for ${JSON.stringify(body).slice(0, 80)}`, async () => {
      await using world = await testWorld(FILES);

      const response = await post(world, "/api/recall/hints", body);

      equal(response.status, 400);
      const problem = await response.json();
      ok(problem.problems.some((each: { field: string }) => each.field === field));
    });
  }

  it("POST /api/recall/hints takes a message of two megabytes", async () => {
    await using world = await testWorld(FILES);
    const text = `${"nothing to see here, go on. ".repeat(80_000)}\nError: database is locked now`;

    const response = await post(world, "/api/recall/hints", {
      ...ASKED,
      trigger: "assistant",
      text,
    });

    equal(response.status, 200);
  });
});

describe("GET /api/recall/log", () => {
  it("GET /api/recall/log tells what was hinted, opened and changed", async () => {
    await using world = await writingWorld(FILES);
    await post(world, "/api/recall/hints", ASKED);
    const read = async () =>
      RecallLogAnswerShape.parse(await (await world.request("/api/recall/log")).json()).hints[0];

    const hinted = await read();
    const { headers } = await world.ask("GET", "/api/memories/busy");
    const opened = await read();
    await world.ask("PATCH", "/api/memories/busy", { body: "More." }, {
      "if-match": headers.get("etag") ?? "",
    });
    await world.index.refresh();
    const updated = await read();

    deepEqual([hinted?.id, hinted?.openedAt, hinted?.updatedAt], ["busy", null, null]);
    ok(opened?.openedAt && opened.updatedAt === null);
    ok(updated?.updatedAt);
  });

  it("GET /api/recall/log counts an opening by path, and a change by an editor", async () => {
    await using world = await testWorld(FILES);
    await post(world, "/api/recall/hints", ASKED);

    await world.request("/api/notes/memories/busy.md");
    world.write("memories/busy.md", "---\nid: busy\ndescription: another one\n---\n");
    await world.index.refresh();

    const { hints } = world.recallLog.list({ limit: 1 });
    ok(hints[0]?.openedAt && hints[0].updatedAt);
  });

  it("GET /api/recall/log counts an opening by a tool, also of one that the client has", async () => {
    await using world = await testWorld(FILES);
    const isOpened = () => world.recallLog.list({ limit: 1 }).hints[0]?.openedAt !== null;
    const etag = (await world.request("/api/memories/busy")).headers.get("etag") ?? "";
    await post(world, "/api/recall/hints", ASKED);
    ok(!isOpened());

    const response = await world.request("/api/memories/busy", {
      headers: { "if-none-match": etag },
    });

    deepEqual([response.status, isOpened()], [304, true]);
  });

  it("GET /api/recall/log does not take for a change what is none", async () => {
    await using world = await testWorld(FILES);
    await post(world, "/api/recall/hints", ASKED);
    const isUpdated = () => world.recallLog.list({ limit: 1 }).hints[0]?.updatedAt !== null;
    const text = FILES["memories/busy.md"];

    await post(world, "/api/reindex", {});
    world.write("memories/moved.md", text);
    world.remove("memories/busy.md");
    await world.index.refresh();
    world.write("other.md", `${text}another file with the id\n`);
    await world.index.refresh();
    const before = isUpdated();
    world.remove("other.md");
    world.write("memories/moved.md", `${text}more\n`);
    await world.index.refresh();

    deepEqual([before, isUpdated()], [false, true]);
  });

  it("GET /api/recall/log does not take a save for an opening", async () => {
    await using world = await writingWorld(FILES);
    const { headers } = await world.ask("GET", "/api/memories/busy");
    await post(world, "/api/recall/hints", ASKED);

    await world.ask("PATCH", "/api/memories/busy", { body: "More." }, {
      "if-match": headers.get("etag") ?? "",
    });
    await world.index.refresh();

    const [hint] = world.recallLog.list({ limit: 1 }).hints;
    equal(hint?.openedAt, null);
    ok(hint?.updatedAt);
  });

  for (const query of ["limit=0", "limit=10001", "session=", "x=1"]) {
    it(`GET /api/recall/log answers 400 for ${query}`, async () => {
      await using world = await testWorld();

      equal((await world.request(`/api/recall/log?${query}`)).status, 400);
    });
  }
});

describe("GET /api/recall/stats", () => {
  it("GET /api/recall/stats sums up", async () => {
    await using world = await testWorld(FILES);
    await post(world, "/api/recall/hints", ASKED);
    await post(world, "/api/recall/hints", { ...ASKED, session: "t" });
    await world.request("/api/memories/busy");

    const response = await world.request("/api/recall/stats?limit=1");

    equal(response.status, 200);
    const stats = RecallStatsAnswerShape.parse(await response.json());
    deepEqual([stats.hinted, stats.opened, stats.neverOpened], [2, 1, 1]);
    deepEqual(stats.memories, { hinted: 1, opened: 1, neverOpened: 0 });
    deepEqual(stats.mostHinted.map(({ id }) => id), ["busy"]);
  });

  it("GET /api/recall/stats holds no text of messages and notes", async () => {
    await using world = await testWorld(FILES);
    await post(world, "/api/recall/hints", ASKED);

    for (const path of ["log", "stats"]) {
      const text = await (await world.request(`/api/recall/${path}`)).text();
      ok(!/locked|sqlite/i.test(text), text);
    }
    ok(!world.logs.some((line) => /locked|sqlite/i.test(line)));
  });
});

describe("POST /api/hooks", () => {
  it("POST /api/hooks answers with what the hook has to print, then with nothing", async () => {
    await using world = await testWorld(FILES);
    const event = claudeEvent("UserPromptSubmit", { prompt: "database is locked" });

    const first = await post(world, "/api/hooks", event);
    const second = await post(world, "/api/hooks", event);

    equal(first.status, 200);
    equal(first.headers.get("content-type"), "application/json");
    const { hookSpecificOutput, ...rest } = await first.json();
    deepEqual([hookSpecificOutput.hookEventName, rest], ["UserPromptSubmit", {}]);
    ok(hookSpecificOutput.additionalContext.startsWith("[recall]\n- busy | "));
    deepEqual([second.status, await second.text()], [204, ""]);
  });

  it("POST /api/hooks gives no hints with recall=off", async () => {
    await using world = await testWorld(FILES);
    const event = claudeEvent("UserPromptSubmit", { prompt: "database is locked" });

    equal((await post(world, "/api/hooks?recall=off", event)).status, 204);
    equal((await post(world, "/api/hooks?recall=on", event)).status, 200);
    equal((await post(world, "/api/hooks?recall=no", event)).status, 400);
  });

  it("POST /api/hooks takes events with fields of later versions", async () => {
    await using world = await testWorld(FILES);
    const event = claudeEvent("UserPromptSubmit", {
      prompt: "database is locked",
      later: { a: 1 },
    });

    equal((await post(world, "/api/hooks", event)).status, 200);
  });

  it("POST /api/hooks answers 400 for what is no event", async () => {
    await using world = await testWorld(FILES);

    for (const event of [{ hook_event_name: 7 }, claudeEvent("Stop", { session_id: null })]) {
      equal((await post(world, "/api/hooks", event)).status, 400, JSON.stringify(event));
    }
  });
});
