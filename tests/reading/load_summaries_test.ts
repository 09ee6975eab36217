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
import { estimatedTokens } from "@/lib/access/estimated_tokens.ts";
import type { LoadSummariesAnswer } from "@/lib/contracts_reading.ts";
import { BudgetExceeded, InvalidRequest } from "@/lib/errors.ts";
import { charsOf } from "@/tests/_support/any_text.ts";
import { load, readingWorld, SITE, summary } from "@/tests/_support/reading_world.ts";
import { listAll } from "@/tests/_support/temp_vault.ts";

const projectsOf = ({ summaries }: LoadSummariesAnswer) => summaries.map(({ project }) => project);

const bodyCharsOf = ({ summaries, shared }: LoadSummariesAnswer) =>
  [...summaries, ...shared].reduce((sum, { body }) => sum + charsOf(body), 0);

const SITE_LINES = ["repo_id: github.com/acme/site", "related: [docs]", "tags: [auth, web]"];

const FOUR = {
  "other/summary.md": summary("other", "other body", "tags: [auth]"),
  "back/summary.md": summary("back", "back body", "depends_on: [site]"),
  "docs/summary.md": summary("docs", "docs body"),
  "www/summary.md": summary("site", "site body", ...SITE_LINES),
};

describe("loadSummaries()", () => {
  it("loadSummaries() loads at most 3 summaries: the current project first, then in the route's order", async () => {
    await using world = await readingWorld(FOUR);

    const answer = await load(world);

    deepEqual(
      answer.summaries.map(({ project, path, reasons, edge_source, body }) => [
        project,
        path,
        reasons.join(),
        edge_source?.join(),
        body,
      ]),
      [
        ["site", "www/summary.md", "current:repo_id", undefined, "site body"],
        ["docs", "docs/summary.md", "direct:related", undefined, "docs body"],
        ["back", "back/summary.md", "reverse:depends_on", "back", "back body"],
      ],
    );
  });

  it("loadSummaries() reports files, budget, limits and how many candidates were not read", async () => {
    await using world = await readingWorld(FOUR);

    const { files, budget, truncated, notRead, note } = await load(world);

    deepEqual(files, ["www/summary.md", "docs/summary.md", "back/summary.md"]);
    equal(budget.used.files, 3);
    equal(budget.left.files, 2);
    ok(budget.used.chars > charsOf("site body" + "docs body" + "back body"));
    deepEqual(truncated, ["MEMORY_SUMMARY_MAX_FILES=3"]);
    deepEqual(notRead, { candidates: 1, unchecked: 0 });
    match(note, /no checked facts/);
  });

  it("loadSummaries() reports no limit where all candidates fit", async () => {
    await using world = await readingWorld(FOUR);
    world.remove("other");

    const { truncated, notRead, skipped } = await load(world);

    deepEqual(truncated, []);
    deepEqual(notRead, { candidates: 0, unchecked: 0 });
    deepEqual(skipped, []);
  });

  it("loadSummaries() counts the projects that nobody looked at among those that were not read", async () => {
    const many = Object.fromEntries(
      Array.from({ length: 65 }, (_, at) => [`p${at}/summary.md`, summary(`p${at}`, "x")]),
    );
    await using world = await readingWorld({ ...many, ...FOUR });

    const { notRead } = await load(world, { repo: SITE, projects: ["www"] });

    ok(notRead.unchecked >= 9);
  });

  it("loadSummaries() loads bodies of at most 4000 Unicode characters together", async () => {
    await using world = await readingWorld({
      ...FOUR,
      "www/summary.md": summary("site", "🎉".repeat(3_000), ...SITE_LINES),
      "docs/summary.md": summary("docs", "d".repeat(3_000)),
    });

    const answer = await load(world);

    equal(bodyCharsOf(answer), 4_000);
    deepEqual(answer.summaries.map(({ truncated }) => truncated), [undefined, true]);
    ok(answer.summaries.every(({ body }) => body.isWellFormed()));
    deepEqual(answer.truncated, ["MEMORY_SUMMARY_MAX_CHARS=4000"]);
    equal(answer.notRead.candidates, 2);
  });

  it("loadSummaries() stops at 2500 estimated tokens, names and reasons among them", async () => {
    await using world = await readingWorld({
      ...FOUR,
      "www/summary.md": summary("site", "缓".repeat(3_900), ...SITE_LINES),
    });

    const answer = await load(world);

    const [site] = answer.summaries;
    ok(site);
    const label = [site.project, site.path, ...site.reasons].join("");
    ok(estimatedTokens(site.body + label) <= 2_500);
    ok(estimatedTokens(site.body + label) > 2_499);
    deepEqual(projectsOf(answer), ["site"]);
    deepEqual(answer.truncated, ["MEMORY_SUMMARY_MAX_EST_TOKENS=2500"]);
  });

  it("loadSummaries() leaves less for bodies after a route of the same task", async () => {
    const budget = new Budget();
    budget.take("route", "缓".repeat(1_500));
    await using world = await readingWorld({
      "www/summary.md": summary("site", "缓".repeat(3_000), ...SITE_LINES),
    }, { budget });

    const { summaries } = await load(world);

    const chars = charsOf(summaries[0]?.body ?? "");
    ok(chars > 950 && chars < 1_000, `${chars}`);
  });

  it("loadSummaries() says which limit is reached if nothing is left, and what to do", async () => {
    const budget = new Budget();
    ["a", "b", "c"].forEach((path) => budget.openFile("summary", path));
    await using world = await readingWorld(FOUR, { budget });

    await rejects(load(world), (error: Error) => {
      ok(error instanceof BudgetExceeded);
      match(error.message, /MEMORY_SUMMARY_MAX_FILES=3.*person has to allow another task/);
      return true;
    });
  });

  it("loadSummaries() opens files again that the task has read before", async () => {
    await using world = await readingWorld(FOUR, { budget: new Budget() });
    await load(world);

    const again = await load(world);

    deepEqual(projectsOf(again), ["site", "docs", "back"]);
    equal(again.budget.used.files, 3);
  });

  it("loadSummaries() hands out no frontmatter, known or unknown", async () => {
    await using world = await readingWorld({
      "www/summary.md": summary("site", "\n\n# Site\n\nbody\n", ...SITE_LINES, "secret: SECRET"),
      "docs/summary.md": "---\nproject: [SECRET\nodd: SECRET\n---\ndocs body",
      "memo/summary.md": "---\nSECRET: 1\nnever closed",
    });

    const answer = await load(world, { repo: SITE, tags: ["auth"] });

    deepEqual(answer.summaries.map(({ body }) => body), ["# Site\n\nbody", "docs body"]);
    doesNotMatch(JSON.stringify(answer), /SECRET|github\.com/);
  });

  for (const head of ["---\nSECRET: 1\n", "+++\nSECRET = 1\n+++\n", '{\n"SECRET": 1\n}\n']) {
    it(`loadSummaries() hands out nothing where it is not clear where the body begins: ${JSON.stringify(head)}`, async () => {
      await using world = await readingWorld({ "site/summary.md": `${head}\nSECRET body\n` });

      const answer = await load(world);

      deepEqual(answer.summaries, []);
      match(answer.skipped[0]?.reason ?? "", /frontmatter/);
      doesNotMatch(JSON.stringify(answer), /SECRET/);
    });
  }

  it("loadSummaries() loads unmigrated and incompatible summaries only if current or named by a canonical current project", async () => {
    await using world = await readingWorld({
      ...FOUR,
      "docs/summary.md": "docs without metadata",
      "loose/summary.md": "SECRET loose",
      "odd/summary.md": "---\nproject: odd\ntags: auth\nrelated: [site]\n---\nSECRET odd",
    });

    const answer = await load(world);
    const named = await load(world, { repo: SITE, projects: ["docs", "loose", "odd"] });

    deepEqual(projectsOf(answer), ["site", "docs", "back"]);
    deepEqual(projectsOf(named), ["docs"]);
    deepEqual(named.skipped, [
      {
        project: "loose",
        reason: "unmigrated: read only if it is the current project, or that one names it",
      },
      {
        project: "odd",
        reason: "incompatible: read only if it is the current project, or that one names it",
      },
    ]);
    doesNotMatch(JSON.stringify([answer, named]), /SECRET/);
  });

  it("loadSummaries() loads the unmigrated summary of the current project, known by its folder", async () => {
    await using world = await readingWorld({
      "site/summary.md": "# Site\nbody",
      "docs/summary.md": "docs",
    });

    const answer = await load(world);

    deepEqual(projectsOf(answer), ["site"]);
    deepEqual(answer.skipped.map(({ project }) => project), ["docs"]);
    equal(answer.notRead.candidates, 1);
  });

  it("loadSummaries() lets an unmigrated current project name nobody", async () => {
    await using world = await readingWorld({
      "site/summary.md": "related: [docs]",
      "docs/summary.md": "SECRET",
    });

    deepEqual(projectsOf(await load(world, { repo: SITE, projects: ["docs"] })), []);
  });

  it("loadSummaries() never migrates or repairs a file", async () => {
    const files = {
      ...FOUR,
      "site/summary.md": "no metadata\r\n  \n",
      "odd/summary.md": "---\na: [\n",
    };
    await using world = await readingWorld(files);
    const before = listAll(world.root);

    await load(world);

    deepEqual(listAll(world.root), before);
    for (const [path, text] of Object.entries(files)) {
      equal(await Deno.readTextFile(world.pathOf(path)), text);
    }
  });

  it("loadSummaries() goes on with the next where one cannot be read", async () => {
    await using world = await readingWorld({
      ...FOUR,
      "docs/summary.md": new Uint8Array([0xff, 0xfe, 0, 0]),
    });

    const answer = await load(world);

    deepEqual(projectsOf(answer), ["site", "back"]);
    match(answer.skipped[0]?.reason ?? "", /not UTF-8/);
  });

  it("loadSummaries() follows no link, of a file or a folder", async () => {
    await using outside = await readingWorld({ "x/summary.md": summary("docs", "SECRET") });
    await using world = await readingWorld(FOUR);
    world.remove("docs");
    await Deno.symlink(outside.pathOf("x"), world.pathOf("docs"));
    world.remove("back/summary.md");
    await Deno.symlink(outside.pathOf("x/summary.md"), world.pathOf("back/summary.md"));

    const answer = await load(world);

    deepEqual(projectsOf(answer), ["site", "other"]);
    doesNotMatch(JSON.stringify(answer), /SECRET/);
  });

  it("loadSummaries() tells of projects that claim one repo_id, and takes neither for the current one", async () => {
    await using world = await readingWorld({
      "a/summary.md": summary("a", "SECRET", "repo_id: github.com/acme/site"),
      "b/summary.md": summary("b", "SECRET", "repo_id: github.com/acme/site"),
    });

    const answer = await load(world);

    deepEqual(answer.summaries, []);
    deepEqual(answer.conflicts, ["repo_id: a, b"]);
  });
});

describe("loadSummaries() with projects", () => {
  it("loadSummaries() reads only those named, by project, alias or folder, in the route's order", async () => {
    await using world = await readingWorld({
      ...FOUR,
      "zed/summary.md": summary("zed-app", "zed body"),
      "docs/summary.md": summary("docs", "docs body", "aliases: [handbook]"),
    });

    const answer = await load(world, {
      repo: SITE,
      projects: ["zed", " handbook ", "www", "docs"],
    });

    deepEqual(projectsOf(answer), ["site", "docs", "zed-app"]);
    deepEqual(answer.files, ["www/summary.md", "docs/summary.md", "zed/summary.md"]);
  });

  it("loadSummaries() refuses a name that no project has, and says which one is near", async () => {
    await using world = await readingWorld(FOUR);

    await rejects(load(world, { projects: ["dosc"] }), (error: Error) => {
      ok(error instanceof InvalidRequest);
      match(
        error.message,
        /^Cannot use projects "dosc": it names no project; did you mean docs\?$/,
      );
      return true;
    });
  });

  it("loadSummaries() refuses a name that several projects have", async () => {
    await using world = await readingWorld({
      "a/summary.md": summary("a", "x", "aliases: [both]"),
      "b/summary.md": summary("b", "x", "aliases: [both]"),
    });

    await rejects(
      load(world, { projects: ["both"] }),
      /is claimed by several projects; name a folder: "a", "b"/,
    );
  });

  for (const name of ["../x", "private", "_shared", "memories", ".obsidian", "a/b"]) {
    it(`loadSummaries() takes "${name}" for no project`, async () => {
      await using world = await readingWorld({
        [`${name.replace("../", "")}/summary.md`]: summary("hidden", "SECRET"),
      });

      await rejects(load(world, { projects: [name] }), InvalidRequest);
    });
  }
});
