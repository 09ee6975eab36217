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
import type { ReadProjectAnswer } from "@/lib/contracts_reading.ts";
import { AppError, BudgetExceeded, GrantMissing, NoteNotFound } from "@/lib/errors.ts";
import { charsOf } from "@/tests/_support/any_text.ts";
import { read, readingWorld, SITE, summary } from "@/tests/_support/reading_world.ts";

const HEAD =
  "| key | fact | status | verified_at | source | expires |\n|---|---|---|---|---|---|\n";

const MEMORY = `---
SECRET: SECRET
---
# Facts

${HEAD}| old | tabs | deprecated | 2026-07-10 | chat | |
| guess | slow | assumption | | talk | |
| worn | 5431 | verified | 2026-07-01 | .env | 2026-07-14 |
| port | 5432 | verified | 2026-06-01 | .env | 2026-07-15 |
| port | 5433 | verified | 2026-05-01 | mail | |

More to say.
`;

const FILES = {
  "www/summary.md": summary("site", "SECRET", "repo_id: github.com/acme/site", "aliases: [home]"),
  "www/memory.md": MEMORY,
  "www/history/2026-01.md": "---\na: SECRET\n---\njanuary",
  "www/history/2026-02.md": "february",
  "www/history/2025/12-start.md": "december",
  "www/history/notes.txt": "SECRET",
  "docs/summary.md": summary("docs", "SECRET"),
  "docs/memory.md": "docs memory",
};

const charsOfFacts = ({ facts = [] }: ReadProjectAnswer) =>
  facts.reduce((sum, fact) =>
    sum + Object.values(fact).reduce<number>(
      (chars, value) => chars + (typeof value === "string" ? charsOf(value) : 0),
      0,
    ), 0);

describe("readProject()", () => {
  it("readProject() hands out facts in the order of what they are worth, then the rest of the text", async () => {
    await using world = await readingWorld(FILES);

    const { project, facts, factsLeftOut, text } = await read(world, { project: "site" });

    equal(project, "site");
    deepEqual(facts?.map(({ key, fact, countsAs }) => [key, fact, countsAs]), [
      ["port", "5432", "verified"],
      ["port", "5433", "verified"],
      ["worn", "5431", "assumption"],
      ["guess", "slow", "assumption"],
      ["old", "tabs", "deprecated"],
    ]);
    ok(facts[1]?.overruled);
    deepEqual(facts[2], {
      key: "worn",
      fact: "5431",
      status: "verified",
      verified_at: "2026-07-01",
      source: ".env",
      expires: "2026-07-14",
      countsAs: "assumption",
      because: "expired",
    });
    equal(factsLeftOut, 0);
    equal(text, "# Facts\n\n\nMore to say.");
  });

  it("readProject() judges expiry by the day of the clock", async () => {
    await using world = await readingWorld(FILES, { now: "2026-07-16T00:00:00" });

    const { facts } = await read(world, { project: "site" });

    deepEqual(facts?.[0]?.fact, "5433");
  });

  it("readProject() says that a current observation goes before every fact, and asks to write nothing back", async () => {
    await using world = await readingWorld(FILES);

    const { precedence } = await read(world, { project: "site" });

    match(precedence, /^What you observe in the task at hand goes before every fact/);
    match(precedence, /write nothing back unasked/);
  });

  it("readProject() reports files, budget, limits and candidates that were not read", async () => {
    await using world = await readingWorld(FILES);

    const { files, budget, truncated, notRead, note } = await read(world, {
      project: "site",
      repo: SITE,
    });

    deepEqual(files, ["www/memory.md"]);
    equal(budget.used.files, 1);
    deepEqual(truncated, []);
    deepEqual(notRead, { candidates: 0, unchecked: 0 });
    match(note, /no checked facts/);
  });

  it("readProject() hands out no frontmatter, no summary and no history unasked", async () => {
    await using world = await readingWorld(FILES);

    doesNotMatch(
      JSON.stringify(await read(world, { project: "site" })),
      /SECRET|january|february|december|github/,
    );
  });

  for (const project of ["site", "home", "www", " www "]) {
    it(`readProject() finds a project as "${project}", and notes its folder`, async () => {
      await using world = await readingWorld(FILES);

      await read(world, { project });

      deepEqual(world.asked, [`deep ${project}`, "look", `folder ${project}: www`]);
    });
  }

  it("readProject() needs a consent of its own before anything is touched", async () => {
    await using world = await readingWorld(FILES, { refuses: "deep" });

    await rejects(read(world, { project: "absent" }), GrantMissing);
    await rejects(read(world, { project: "site", history: ["../x"] }), GrantMissing);

    deepEqual(world.asked, ["deep absent", "deep site with history"]);
  });

  it("readProject() refuses a name that no project has, and says which one is near", async () => {
    await using world = await readingWorld(FILES);

    await rejects(
      read(world, { project: "siet" }),
      /Cannot use project "siet": it names no project; did you mean site\?/,
    );
  });

  it("readProject() says clearly that there is no memory.md", async () => {
    await using world = await readingWorld(FILES);
    world.remove("www/memory.md");

    await rejects(read(world, { project: "site" }), (error: Error) => {
      ok(error instanceof NoteNotFound);
      match(error.message, /^There is no "www\/memory\.md"/);
      return true;
    });
  });

  it("readProject() follows no link to a memory.md", async () => {
    await using world = await readingWorld(FILES);
    world.remove("www/memory.md");
    await Deno.symlink(world.pathOf("docs/memory.md"), world.pathOf("www/memory.md"));

    await rejects(read(world, { project: "site" }), NoteNotFound);
  });

  it("readProject() hands out nothing where it is not clear where the body begins", async () => {
    await using world = await readingWorld({ ...FILES, "www/memory.md": "---\na: 1\n" });

    await rejects(
      read(world, { project: "site" }),
      (error: Error) => error instanceof AppError && error.code === "unsupported-media-type",
    );
  });
});

describe("readProject() within its budget", () => {
  const rows = (count: number, fact: string) =>
    HEAD +
    Array.from({ length: count }, (_, at) => `| k${at} | ${fact} | verified | | s | |\n`).join("");

  it("readProject() hands out at most 3000 Unicode characters, facts first and their text counted", async () => {
    await using world = await readingWorld({
      ...FILES,
      "www/memory.md": `${"🎉".repeat(2_000)}\n\n${rows(20, "缓".repeat(60))}`,
    });

    const answer = await read(world, { project: "site" });

    equal(answer.facts?.length, 20);
    equal(charsOfFacts(answer) + charsOf(answer.text ?? ""), 3_000);
    ok(answer.textTruncated);
    ok(answer.text?.isWellFormed());
    deepEqual(answer.truncated, ["MEMORY_DEEP_MAX_MEMORY_CHARS=3000"]);
  });

  it("readProject() counts the facts that it leaves out, and stops there", async () => {
    await using world = await readingWorld({
      ...FILES,
      "www/memory.md": `${rows(200, "x".repeat(100))}\nthe rest`,
    });

    const answer = await read(world, { project: "site" });

    const shown = answer.facts?.length ?? 0;
    ok(shown > 20 && shown < 30);
    equal(answer.factsLeftOut, 200 - shown);
    equal(answer.text, "");
    ok(answer.textTruncated);
    ok(charsOfFacts(answer) <= 3_000);
  });

  it("readProject() cuts a fact that is longer than all there is, and says so", async () => {
    await using world = await readingWorld({
      ...FILES,
      "www/memory.md": rows(2, "🎉".repeat(9_000)),
    });

    const answer = await read(world, { project: "site" });

    deepEqual(answer.facts?.map(({ truncated }) => truncated), [true]);
    equal(charsOfFacts(answer), 3_000);
    equal(answer.factsLeftOut, 1);
  });

  it("readProject() expands the memory.md of at most 1 project in a task, and names the limit", async () => {
    await using world = await readingWorld(FILES, { budget: new Budget() });
    await read(world, { project: "docs" });

    await rejects(read(world, { project: "site" }), (error: Error) => {
      ok(error instanceof BudgetExceeded);
      match(error.message, /MEMORY_DEEP_MAX_MEMORY_FILES=1.*another task/);
      return true;
    });
    equal((await read(world, { project: "docs" })).text, "docs memory");
  });

  it("readProject() hands out nothing once 8000 characters or 5000 tokens of the task are spent", async () => {
    for (const text of ["a".repeat(8_000), "缓".repeat(5_000)]) {
      const budget = new Budget();
      budget.take("other", text);
      await using world = await readingWorld(FILES, { budget });

      await rejects(read(world, { project: "site" }), BudgetExceeded);
      await rejects(read(world, { project: "site", history: [] }), BudgetExceeded);
      await rejects(read(world, { project: "site", history: ["2026-01"] }), BudgetExceeded);
    }
  });

  it("readProject() still reads deep when summaries have spent what is theirs", async () => {
    const budget = new Budget();
    budget.take("summary", "缓".repeat(2_500));
    await using world = await readingWorld(FILES, { budget });

    ok((await read(world, { project: "site" })).facts?.length);
  });
});
