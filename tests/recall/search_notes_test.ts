import {
  deepStrictEqual as deepEqual,
  match,
  ok,
  rejects,
  strictEqual as equal,
} from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import { type Caller, SEARCH_MODES, SearchAnswerShape, SearchParams } from "@/lib/contracts.ts";
import { InvalidRequest, PathEscapesVault } from "@/lib/errors.ts";
import { KEYWORD_HINT_AT, shownScore } from "@/lib/index/score.ts";
import { searchNotes } from "@/lib/recall/search_notes.ts";
import { findRipgrep } from "@/lib/vault/ripgrep_path.ts";
import { impatientClock } from "../_support/impatient_clock.ts";
import { randomSource } from "../_support/random.ts";
import { testServices } from "../_support/services.ts";

const caller: Caller = { kind: "agent", loopback: true };

const VAULT = {
  "notes/deploy.md": "# Deploy\n\nBlue-green zebra.\n\n## Roll back\n\nSwitch the zebra back.\n",
  "notes/deep/more.md": "---\ntags: [Ops, 部署]\n---\nzebra in the deep\n",
  "memories/2026/01/week1/m.md":
    "---\nid: mem_1\nname: Cache order\ndescription: stable first\ntags: [cache]\nstatus: active\n" +
    "updated_at: 2026-01-05T10:00:00.000Z\nmetadata:\n  actor: claude\n---\nzebra\n",
  "memories/old.md":
    "---\nid: mem_2\nname: Old\ndescription: D\ntags: [x]\nstatus: deprecated\n---\nzebra\n",
};

async function openWorld(files: Record<string, string> = VAULT) {
  const ripgrepPath = await findRipgrep(Deno.env.get("PATH"));
  const world = await testServices(files, {}, { ripgrepPath });
  await world.ready();
  const search = (params: Record<string, string>, offset?: number) => {
    const input = SearchParams.parse(params);
    return searchNotes(world, caller, offset === undefined ? input : { ...input, offset });
  };
  return { ...world, search, [Symbol.asyncDispose]: world[Symbol.asyncDispose] };
}

describe("searchNotes()", () => {
  it("searchNotes() gives each hit its id, signals, heading, lines and snippet", async () => {
    await using world = await openWorld();

    const answer = await world.search({ q: "cache order", mode: "keyword" });

    SearchAnswerShape.parse(answer);
    const [hit] = answer.results;
    equal(hit?.id, "mem_1");
    equal(hit?.path, "memories/2026/01/week1/m.md");
    equal(hit?.kind, "memory");
    equal(hit?.actor, "claude");
    equal(hit?.updatedAt, "2026-01-05T10:00:00.000Z");
    ok(hit && hit.signals.keyword !== null);
    equal(hit.score, shownScore(hit.signals.keyword, KEYWORD_HINT_AT));
    deepEqual({ ...hit?.signals, keyword: 0 }, {
      keyword: 0,
      metadata: null,
      body: null,
      dense: null,
    });
    equal(hit?.snippet, "zebra");
  });

  it("searchNotes() shows the heading and the lines of the passage", async () => {
    await using world = await openWorld();

    const answer = await world.search({ q: "switch back zebra", mode: "keyword" });

    equal(answer.results[0]?.heading, "Deploy > Roll back");
    equal(answer.results[0]?.lines.start, 5);
    match(answer.results[0]?.snippet ?? "", /Switch the zebra back/);
  });

  it("searchNotes() answers vector and hybrid by keyword, and says so", async () => {
    await using world = await openWorld();

    for (const mode of ["vector", "hybrid"]) {
      const answer = await world.search({ q: "zebra", mode });

      equal(answer.mode, "keyword");
      equal(answer.fallback?.from, mode);
      equal(answer.fallback?.to, "keyword");
      equal(answer.total, 3);
    }
    equal((await world.search({ q: "zebra", mode: "keyword" })).fallback, undefined);
  });

  it("searchNotes() finds by grep what stands in the files, most matches first", async () => {
    await using world = await openWorld();

    const answer = await world.search({ q: "zebra", mode: "grep" });

    equal(answer.mode, "grep");
    equal(answer.total, 3);
    equal(answer.results[0]?.path, "notes/deploy.md");
    deepEqual(answer.results[0]?.lines, { start: 3, end: 3 });
    equal(answer.results[0]?.score, 1);
    equal((await world.search({ q: "ZEBRA", mode: "grep" })).total, 0);
  });

  const filters: readonly (readonly [Record<string, string>, readonly string[]])[] = [
    [{ tags: "ops" }, ["notes/deep/more.md"]],
    [{ tags: "#部署" }, ["notes/deep/more.md"]],
    [{ kind: "memory" }, ["memories/2026/01/week1/m.md"]],
    [{ scope: "global" }, ["memories/2026/01/week1/m.md"]],
    [{ folder: "notes" }, ["notes/deep/more.md", "notes/deploy.md"]],
    [{ folder: "/notes/deep/" }, ["notes/deep/more.md"]],
    [{ folder: "note" }, []],
    [{ status: "Deprecated" }, ["memories/old.md"]],
    [{ kind: "memory,note", tags: "cache,ops" }, [
      "memories/2026/01/week1/m.md",
      "notes/deep/more.md",
    ]],
  ];
  for (const [filter, paths] of filters) {
    for (const mode of ["keyword", "grep"]) {
      it(`searchNotes() by ${mode} with ${JSON.stringify(filter)} finds ${paths.length}`, async () => {
        await using world = await openWorld();

        const answer = await world.search({ q: "zebra", mode, ...filter });

        deepEqual(answer.results.map((hit) => hit.path).sort(), paths);
        equal(answer.total, paths.length);
      });
    }
  }

  for (const mode of SEARCH_MODES) {
    it(`searchNotes() by ${mode} gives in pages what it gives at once`, async () => {
      const random = randomSource(2);
      const files = Array.from({ length: 40 }, (_, i) => {
        return [`${random(3)}/${i}.md`, `${"zebra\n".repeat(random(4))}other words\n`];
      });
      await using world = await openWorld(Object.fromEntries(files));
      const whole = await world.search({ q: "zebra", mode, limit: "100" });

      for (const limit of [1, 7, 40]) {
        const paged = [];
        for (let offset = 0; offset < whole.total; offset += limit) {
          const page = await world.search({ q: "zebra", mode, limit: `${limit}` }, offset);
          equal(page.total, whole.total);
          paged.push(...page.results);
        }

        deepEqual(paged, whole.results);
      }
      equal(whole.results.length, whole.total);
      ok(whole.total > 20);
    });
  }

  it("searchNotes() refuses to grep over line ends, naming the field", async () => {
    await using world = await openWorld();

    await rejects(world.search({ q: "a\nb", mode: "grep" }), (error) => {
      ok(error instanceof InvalidRequest);
      deepEqual(error.problems.map(({ field }) => field), ["q"]);
      match(error.message, /must not hold a line break/);
      return true;
    });
    equal((await world.search({ q: "zebra\nblue", mode: "keyword" })).total, 3);
  });

  it("searchNotes() by grep ends when the caller has left", async () => {
    await using world = await openWorld();
    const gone: Caller = { ...caller, signal: AbortSignal.abort("gone") };

    const search = searchNotes(world, gone, SearchParams.parse({ q: "zebra", mode: "grep" }));

    await rejects(search, (reason) => reason === "gone");
  });

  it("searchNotes() refuses a folder outside the vault", async () => {
    await using world = await openWorld();

    await rejects(world.search({ q: "zebra", folder: "../x" }), PathEscapesVault);
  });

  it("searchNotes() waits a moment for a small vault, so that its first answer is whole", async () => {
    const files = Array.from({ length: 60 }, (_, i) => [`${i}.md`, "zebra"]);
    await using world = await testServices(Object.fromEntries(files));
    world.start();

    const { total, indexing, freshness } = await searchNotes(
      world,
      caller,
      SearchParams.parse({ q: "zebra" }),
    );

    deepEqual([total, indexing, freshness], [60, undefined, undefined]);
  });

  it("searchNotes() answers while the vault is still being read, and says so", async () => {
    const files = Object.fromEntries(
      Array.from({ length: 400 }, (_, i) => [`${i}.md`, `zebra ${"words ".repeat(400)}`]),
    );
    await using world = await testServices(files, {}, { clock: impatientClock() });
    world.start();

    const early = await searchNotes(world, caller, SearchParams.parse({ q: "zebra" }));
    await world.ready();
    const late = await searchNotes(world, caller, SearchParams.parse({ q: "zebra" }));

    ok(early.indexing);
    ok(early.freshness);
    ok(early.total < late.total);
    equal(late.indexing, undefined);
    equal(late.freshness, undefined);
    equal(late.total, 400);
  });

  it("searchNotes() indexes nothing but memories when told so", async () => {
    await using world = await testServices(VAULT, { index: "memories" });
    await world.ready();

    const answer = await searchNotes(world, caller, SearchParams.parse({ q: "zebra" }));

    deepEqual(answer.results.map((hit) => hit.kind), ["memory"]);
    equal(world.index.counts.notes, 2);
  });
});
