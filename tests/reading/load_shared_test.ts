import {
  deepStrictEqual as deepEqual,
  doesNotMatch,
  rejects,
  strictEqual as equal,
} from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import { GrantMissing, NoteNotFound, PathEscapesVault } from "@/lib/errors.ts";
import { charsOf } from "@/tests/_support/any_text.ts";
import { load, readingWorld, SITE, summary } from "@/tests/_support/reading_world.ts";

describe("loadSummaries() with shared", () => {
  const files = {
    "www/summary.md": summary(
      "site",
      "site body",
      "repo_id: github.com/acme/site",
      "related: [docs]",
    ),
    "docs/summary.md": summary("docs", "docs body"),
    "_shared/style.md": "---\nx: SECRET\n---\nstyle body",
    "_shared/deep/er.md": "deeper body",
    "_shared/never.md": "SECRET",
  };

  it("loadSummaries() reads nothing of _shared that is not named", async () => {
    await using world = await readingWorld(files);

    const answer = await load(world, { repo: SITE });

    deepEqual(answer.shared, []);
    doesNotMatch(JSON.stringify(answer), /SECRET|_shared/);
  });

  it("loadSummaries() reads the shared files that are named, and counts them toward every limit", async () => {
    await using world = await readingWorld(files);

    const answer = await load(world, { repo: SITE, shared: ["style", "deep/er.md"] });

    deepEqual(answer.shared, [
      { path: "_shared/style.md", body: "style body" },
      { path: "_shared/deep/er.md", body: "deeper body" },
    ]);
    deepEqual(answer.summaries.map(({ project }) => project), ["site"]);
    equal(answer.budget.used.files, 3);
    deepEqual(answer.files, ["_shared/style.md", "_shared/deep/er.md", "www/summary.md"]);
    deepEqual(answer.truncated, ["MEMORY_SUMMARY_MAX_FILES=3"]);
    doesNotMatch(JSON.stringify(answer), /SECRET/);
  });

  it("loadSummaries() counts shared bodies toward the 4000 characters", async () => {
    await using world = await readingWorld({ ...files, "_shared/style.md": "s".repeat(9_000) });

    const answer = await load(world, { repo: SITE, shared: ["style"] });

    equal(charsOf(answer.shared[0]?.body ?? ""), 4_000);
    deepEqual(answer.summaries, []);
  });

  it("loadSummaries() reads only what is shared if no project is named", async () => {
    await using world = await readingWorld(files);

    const answer = await load(world, {
      repo: SITE,
      projects: [],
      shared: ["style", "_shared/style"],
    });

    deepEqual(answer.files, ["_shared/style.md"]);
  });

  it("loadSummaries() asks for consent to shared files before it looks at anything", async () => {
    await using world = await readingWorld(files, { refuses: "shared" });

    await rejects(load(world, { shared: ["style", "absent", "../x"] }), GrantMissing);

    deepEqual(world.asked, ["shared style,absent,../x"]);
  });

  const escapes: [string, typeof PathEscapesVault | typeof NoteNotFound][] = [
    ["../docs/summary", PathEscapesVault],
    ["..", NoteNotFound],
    ["/etc/passwd", PathEscapesVault],
    ["a/../../docs/summary", PathEscapesVault],
    ["_shared/../docs/summary", PathEscapesVault],
    ["%2e%2e/x", PathEscapesVault],
    ["absent", NoteNotFound],
    ["deep", NoteNotFound],
    [".hidden", NoteNotFound],
    ["private/x", NoteNotFound],
    ["link", NoteNotFound],
    ["linked/summary", NoteNotFound],
    ["plain.txt", NoteNotFound],
  ];
  for (const [topic, expected] of escapes) {
    it(`loadSummaries() reads no shared file for "${topic}"`, async () => {
      await using world = await readingWorld({
        ...files,
        "_shared/.hidden.md": "SECRET",
        "_shared/private/x.md": "SECRET",
        "_shared/plain.txt": "SECRET",
      });
      await Deno.symlink(world.pathOf("docs/summary.md"), world.pathOf("_shared/link.md"));
      await Deno.symlink(world.pathOf("docs"), world.pathOf("_shared/linked"));

      await rejects(load(world, { shared: [topic] }), expected);
    });
  }
});
