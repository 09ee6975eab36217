import {
  deepStrictEqual as deepEqual,
  doesNotMatch,
  match,
  ok,
  rejects,
  strictEqual as equal,
} from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import { Budget } from "@/lib/access/budget.ts";
import { InvalidRequest, NoteNotFound, PathEscapesVault } from "@/lib/errors.ts";
import { read, readingWorld, summary } from "@/tests/_support/reading_world.ts";

const FILES = {
  "www/summary.md": summary("site", "SECRET"),
  "www/memory.md": "SECRET",
  "www/history/2026-01.md": "---\na: SECRET\n---\njanuary",
  "www/history/2026-02.md": "february",
  "www/history/2025/12-start.md": "december",
  "www/history/notes.txt": "SECRET",
  "docs/summary.md": summary("docs", "SECRET"),
  "docs/memory.md": "docs memory",
};

describe("readProject() with history", () => {
  it("readProject() reads files of history in place of memory.md, by name with or without .md, deeper ones too", async () => {
    await using world = await readingWorld(FILES);

    const answer = await read(world, { project: "site", history: ["2026-01", "2025/12-start.md"] });

    deepEqual(answer.history, [
      { path: "www/history/2026-01.md", body: "january" },
      { path: "www/history/2025/12-start.md", body: "december" },
    ]);
    deepEqual(answer.files, ["www/history/2026-01.md", "www/history/2025/12-start.md"]);
    equal(answer.facts, undefined);
    equal(answer.text, undefined);
    deepEqual(world.asked[0], "deep site with history");
    doesNotMatch(JSON.stringify(answer), /SECRET/);
  });

  it("readProject() refuses more than 2 names of history", async () => {
    await using world = await readingWorld(FILES);

    await rejects(read(world, { project: "site", history: ["a", "b", "c"] }), (error: Error) => {
      ok(error instanceof InvalidRequest);
      match(error.message, /at most 2 names/);
      return true;
    });
    deepEqual(world.asked, []);
  });

  it("readProject() reads at most 2 files of history in a task", async () => {
    await using world = await readingWorld(FILES, { budget: new Budget() });
    await read(world, { project: "site", history: ["2026-01"] });

    const second = await read(world, { project: "site", history: ["2026-02", "2025/12-start"] });

    deepEqual(second.files, ["www/history/2026-02.md"]);
    deepEqual(second.truncated, ["MEMORY_HISTORY_MAX_FILES=2"]);
    await rejects(
      read(world, { project: "site", history: ["2025/12-start"] }),
      /no room for more \(MEMORY_HISTORY_MAX_FILES=2\)/,
    );
  });

  it("readProject() lists the names of history, newest first, and opens none", async () => {
    await using world = await readingWorld(FILES);

    const answer = await read(world, { project: "site", history: [] });

    deepEqual(answer.historyNames, ["2026-02.md", "2026-01.md", "2025/12-start.md"]);
    equal(answer.historyNamesLeftOut, 0);
    deepEqual(answer.files, []);
    equal(answer.budget.used.files, 0);
    ok(answer.budget.used.chars > 30);
    doesNotMatch(JSON.stringify(answer), /SECRET|january/);
  });

  it("readProject() lists at most 20 names of history, and counts the others", async () => {
    const many = Object.fromEntries(
      Array.from({ length: 1_100 }, (_, at) => [`docs/history/${at + 1_000}.md`, ""]),
    );
    await using world = await readingWorld({ ...FILES, ...many });

    const { historyNames, historyNamesLeftOut } = await read(world, {
      project: "docs",
      history: [],
    });

    equal(historyNames?.length, 20);
    equal(historyNames[0], "2099.md");
    equal(historyNames[19], "2080.md");
    equal(historyNamesLeftOut, 1_080);
  });

  it("readProject() lists no names where there is no history", async () => {
    await using world = await readingWorld(FILES);

    deepEqual((await read(world, { project: "docs", history: [] })).historyNames, []);
  });

  it("readProject() names the file of history that may be meant", async () => {
    await using world = await readingWorld(FILES);

    await rejects(
      read(world, { project: "site", history: ["2026-01", "2026-20"] }),
      /There is no file "2026-20\.md" in "www\/history"; did you mean 2026-02\.md\?/,
    );
  });

  const escapes: [string, typeof PathEscapesVault | typeof NoteNotFound][] = [
    ["../memory", PathEscapesVault],
    ["../../docs/memory.md", PathEscapesVault],
    ["/etc/passwd", PathEscapesVault],
    ["2025/../../memory", PathEscapesVault],
    ["2025", NoteNotFound],
    ["notes.txt", NoteNotFound],
    [".hidden", NoteNotFound],
    ["private/x", NoteNotFound],
    ["link", NoteNotFound],
    ["linked/memory", NoteNotFound],
  ];
  for (const [name, expected] of escapes) {
    it(`readProject() reads no file of history for "${name}"`, async () => {
      await using world = await readingWorld({
        ...FILES,
        "www/history/.hidden.md": "SECRET",
        "www/history/private/x.md": "SECRET",
      });
      await Deno.symlink(world.pathOf("docs/memory.md"), world.pathOf("www/history/link.md"));
      await Deno.symlink(world.pathOf("docs"), world.pathOf("www/history/linked"));

      await rejects(read(world, { project: "site", history: [name] }), expected);
      const { historyNames } = await read(world, { project: "site", history: [] });
      equal(historyNames?.length, 3);
    });
  }

  it("readProject() follows no link in place of history", async () => {
    await using world = await readingWorld(FILES);
    await Deno.symlink(world.pathOf("www/history"), world.pathOf("docs/history"));

    deepEqual((await read(world, { project: "docs", history: [] })).historyNames, []);
    await rejects(read(world, { project: "docs", history: ["2026-01"] }), NoteNotFound);
  });
});
