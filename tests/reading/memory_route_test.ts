import {
  deepStrictEqual as deepEqual,
  match,
  ok,
  rejects,
  strictEqual as equal,
  throws,
} from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import fc from "fast-check";
import { Budget } from "@/lib/access/budget.ts";
import type { Caller } from "@/lib/contracts.ts";
import {
  type MemoryRouteAnswer,
  MemoryRouteArgs,
  MemoryRouteParams,
  MemoryRouteResult,
} from "@/lib/contracts_reading.ts";
import { BudgetExceeded, GrantMissing } from "@/lib/errors.ts";
import type { ProjectFolder } from "@/lib/projects/project_folders.ts";
import { ProjectFolders } from "@/lib/projects/project_folders.ts";
import type { FoundRoute } from "@/lib/reading/candidate.ts";
import { chooseCandidates } from "@/lib/reading/choose_candidates.ts";
import { memoryRoute, type MemoryRouteDeps, packRoute } from "@/lib/reading/memory_route.ts";
import { anyFolders } from "../_support/any_folders.ts";
import { charsOf } from "../_support/any_text.ts";
import { canonical, summaryOf, unmigrated } from "../_support/project_notes.ts";
import { type TestServices, testServices } from "../_support/services.ts";
import type { Files } from "../_support/temp_vault.ts";

const near: Caller = { kind: "agent", loopback: true };
const REPO = "https://ada:s3cret@github.com/acme/site.git";
const IDENTITY = { repoId: "github.com/acme/site", name: "site" };

interface RouteWorld extends Omit<TestServices, keyof MemoryRouteDeps>, MemoryRouteDeps {
  readonly budget: Budget;
  ask(...tags: readonly string[]): Promise<MemoryRouteAnswer>;
}

async function routeWorld(files: Files): Promise<RouteWorld> {
  const services = await testServices(files);
  const { vault, clock } = services;
  const budget = new Budget();
  const access = { budgetOf: () => budget };
  const deps = { ...services, projectFolders: new ProjectFolders({ vault, clock }), access };
  return {
    ...deps,
    budget,
    ask: (...tags) => memoryRoute(deps, near, { repo: REPO, tags: [...tags] }),
  };
}

/** What of an answer has limits. */
function limitedText(answer: MemoryRouteAnswer): string {
  const { checked: _c, unchecked: _u, notShown: _n, budget: _b, truncated: _t, ...text } = answer;
  return JSON.stringify(text);
}

const countItems = (
  { candidates, conflicts, incompatible, unresolved }: Pick<
    MemoryRouteAnswer,
    "candidates" | "conflicts" | "incompatible" | "unresolved"
  >,
) => [candidates, conflicts, incompatible, unresolved].flat().length;

function foundIn(
  folders: readonly ProjectFolder[],
  { unchecked = 0, tags = [] }: { unchecked?: number; tags?: readonly string[] } = {},
): FoundRoute {
  return { ...chooseCandidates({ folders, identity: IDENTITY, tags }), folders, unchecked };
}

const pack = (found: FoundRoute) => packRoute(found, () => undefined);

const tagged = (count: number, name = (i: number) => `p${i}`) =>
  Array.from({ length: count }, (_, i) => canonical(name(i), { tags: ["x"] }));

describe("memoryRoute()", () => {
  it("tells project, reasons, who declares a tie, date and migration, and nothing else", async () => {
    await using world = await routeWorld({
      "s/summary.md": summaryOf(
        "project: site",
        "repo_id: github.com/acme/site",
        "aliases: [www]",
        "tags: [web]",
        "related: [both, old, gone]",
        "depends_on: [infra, odd]",
        "status: active",
        "updated: 2026-07-15",
        "secret: UNKNOWN",
      ),
      "both/summary.md": summaryOf("project: both", "related: [www]", "tags: [Web]"),
      "infra/summary.md": summaryOf("project: infra", "depends_on: [site]", "updated: soon"),
      "user/summary.md": summaryOf("project: user", "depends_on: [site]", "updated: 2026-01-02"),
      "tag/summary.md": summaryOf("project: tag", "tags: [auth, web]", "repo_id: host/TWICE"),
      "twin/summary.md": summaryOf("project: twin", "repo_id: host/TWICE"),
      "old/summary.md": "# Old\n",
      "odd/summary.md": summaryOf("project: odd", "tags: SECRET TAG"),
      "legacy/memory.md": "SECRET FACT\n",
    });

    const { budget, truncated, ...answer } = await world.ask("auth");

    deepEqual(answer, {
      current: "found",
      candidates: [
        { project: "site", reasons: ["current:repo_id"], updated: "2026-07-15" },
        { project: "both", reasons: ["direct:related", "tags:1"], edge_source: ["both"] },
        {
          project: "infra",
          reasons: ["direct:depends_on", "reverse:depends_on"],
          edge_source: ["infra"],
        },
        { project: "odd", reasons: ["direct:depends_on"], migration: "incompatible" },
        { project: "old", reasons: ["direct:related"], migration: "unmigrated" },
        {
          project: "user",
          reasons: ["reverse:depends_on"],
          edge_source: ["user"],
          updated: "2026-01-02",
        },
        { project: "tag", reasons: ["tags:2"] },
        { project: "legacy", reasons: [], migration: "unmigrated" },
      ],
      conflicts: ["repo_id: tag, twin"],
      incompatible: [{
        project: "odd",
        problem: "tags: must be a list on one line, such as [a, b], or [] for none",
      }],
      unresolved: ["gone"],
      checked: 9,
      unchecked: 0,
      notShown: { candidates: 0, conflicts: 0, incompatible: 0, unresolved: 0 },
    });
    deepEqual(truncated, []);
    const text = JSON.stringify({ ...answer, budget });
    const never = ["github.com", "host/", "TWICE", "s3cret", "SECRET", "UNKNOWN", "active"];
    for (const word of [...never, world.root, "summary.md", "www"]) ok(!text.includes(word), word);
    MemoryRouteResult.parse({ ...answer, budget, truncated });
  });

  it("never shows a reverse tie without who declares it", () => {
    fc.assert(fc.property(anyFolders, (folders) => {
      for (const { reasons, edge_source } of pack(foundIn(folders)).route.candidates) {
        const isReverse = reasons.some((reason) => reason.startsWith("reverse:"));
        ok(!isReverse || edge_source?.length === 1);
      }
    }));
  });

  it("says that several claim to be the current project, and chooses none", async () => {
    const twin = summaryOf("project: twin", "repo_id: github.com/acme/site");
    await using world = await routeWorld({ "a/summary.md": twin, "b/summary.md": twin });

    const { current, candidates, conflicts } = await world.ask();

    deepEqual([current, candidates], ["conflict", []]);
    deepEqual(conflicts, ["project: twin (2 folders)", "repo_id: twin (2 folders)"]);
  });

  it("says that projects remain unchecked, never that the vault has no match", async () => {
    const names = Array.from({ length: 65 }, (_, i) => `p${i + 10}`);
    await using world = await routeWorld(
      Object.fromEntries(
        names.map((name) => [`${name}/summary.md`, summaryOf(`project: ${name}`)]),
      ),
    );

    const { current, note = "", checked, unchecked, truncated } = await world.ask();

    deepEqual([current, checked, unchecked], ["none", 60, 5]);
    match(
      note,
      /^5 folders were not checked: other projects among them may match\. Nothing ties .* pass tags/,
    );
    deepEqual(truncated, ["MEMORY_ROUTE_MAX_ITEMS=60"]);
  });

  it("counts its text, and that alone, toward the budget", async () => {
    await using world = await routeWorld({ "site/summary.md": summaryOf("project: site") });

    const answer = await world.ask();

    const chars = charsOf(limitedText(answer));
    deepEqual(answer.budget.used, { files: 0, chars, tokens: chars / 4 });
    equal(answer.budget.left.chars, 8_000 - chars);
    deepEqual(world.budget.report.used, answer.budget.used);
  });

  it("looks at nothing of the vault where the caller has no task", async () => {
    await using world = await routeWorld({});
    const scans: string[] = [];
    const deps: MemoryRouteDeps = {
      projects: { identify: () => Promise.resolve(undefined) },
      projectFolders: {
        scan: () => {
          scans.push("scan");
          return Promise.resolve({ folders: [], unchecked: 0 });
        },
      },
      access: {
        budgetOf: () => {
          throw new GrantMissing("no task");
        },
      },
    };

    await rejects(memoryRoute(deps, near, { tags: [] }), GrantMissing);
    deepEqual(scans, []);
    await memoryRoute({ ...deps, access: world.access }, near, { tags: [] });
    equal(scans.length, 1);
  });

  it("drops the last entries where the budget has less room, and names its limit", async () => {
    const files = Object.fromEntries(
      Array.from(
        { length: 9 },
        (_, i) => [`p${i}/summary.md`, summaryOf(`project: p${i}`, "tags: [x]")],
      ),
    );
    await using world = await routeWorld(files);
    world.budget.take("other", "飞".repeat(4_925));

    const { candidates, notShown, truncated } = await world.ask("x");

    ok(candidates.length > 0 && candidates.length < 9);
    deepEqual(
      candidates.map(({ project }) => project),
      ["p0", "p1", "p2", "p3", "p4", "p5"].slice(0, candidates.length),
    );
    equal(notShown.candidates, 9 - candidates.length);
    deepEqual(truncated, ["MEMORY_TASK_MAX_EST_TOKENS=5000"]);
    ok(world.budget.report.left.tokens >= 0);
  });

  it("is refused where the budget has no room for a single candidate, and nothing is counted", async () => {
    await using world = await routeWorld({ "site/summary.md": summaryOf("project: site") });
    world.budget.take("other", "x".repeat(7_950));

    await rejects(world.ask(), (error) => {
      match(String(error), /no room for more \(MEMORY_TASK_MAX_CHARS=8000\)/);
      return error instanceof BudgetExceeded;
    });
    equal(world.budget.report.used.chars, 7_950);
  });
});

describe("packRoute()", () => {
  it("shows at most 60 entries and 1500 Unicode characters of any vault, best first", () => {
    fc.assert(fc.property(anyFolders, fc.nat(1_000_000), (folders, unchecked) => {
      const found = foundIn(folders, { unchecked, tags: ["site"] });

      const { route, notShown, truncated } = pack(found);
      const other = pack(foundIn(folders.toReversed(), { unchecked, tags: ["site"] }));

      deepEqual(other, { route, notShown, truncated });
      const shown = countItems(route);
      const left = Object.values(notShown).reduce((sum, count) => sum + count, 0);
      ok(shown <= 60 && charsOf(JSON.stringify(route)) <= 1_500);
      deepEqual(
        shown + left,
        found.candidates.length + found.conflicts.length + found.unresolved.length +
          folders.filter(({ problem }) => problem !== undefined).length,
      );
      const limits = truncated.filter((limit) => /^MEMORY_ROUTE_MAX_(ITEMS|CHARS)=/.test(limit));
      ok(left === 0 || limits.length > 0);
      equal(route.candidates.length, found.candidates.length - notShown.candidates);
    }));
  });

  it("wastes no room: one character more of a name is one candidate less", () => {
    const width = (chars: number) =>
      foundIn(tagged(60, (i) => `${i + 10}${"飞".repeat(chars)}`), {
        tags: ["x"],
      });
    const shown = [1, 2, 3, 4, 5, 6].map((chars) => pack(width(chars)).route);

    for (const route of shown) {
      const one = charsOf(JSON.stringify(route.candidates[0])) + 1;
      const chars = charsOf(JSON.stringify(route));
      ok(chars <= 1_500 && chars + one > 1_500, String(chars));
    }
  });

  it("names the limit of characters, counts what it left out, and keeps the order", () => {
    const { route, notShown, truncated } = pack(foundIn(tagged(60), { tags: ["x"] }));

    deepEqual(route.candidates.map(({ project }) => project).slice(0, 3), ["p0", "p1", "p10"]);
    equal(route.candidates.length + notShown.candidates, 60);
    deepEqual(truncated, ["MEMORY_ROUTE_MAX_CHARS=1500"]);
  });

  it("names the limit of entries, reports included", () => {
    const short = { ...foundIn([]), conflicts: Array.from({ length: 70 }, (_, i) => String(i)) };

    const { route, notShown, truncated } = pack(short);

    deepEqual([countItems(route), notShown.conflicts], [60, 10]);
    deepEqual(truncated, ["MEMORY_ROUTE_MAX_ITEMS=60"]);
  });

  it("gives candidates room before reports, and conflicts before other reports", () => {
    const found = foundIn([...tagged(20), ...tagged(20, (i) => `q${i}`)], { tags: ["x"] });
    const crowded = { ...found, conflicts: ["c"], unresolved: ["u"] };

    const { notShown } = pack(crowded);
    const roomy = pack({
      ...crowded,
      candidates: [],
      unresolved: ["飞".repeat(100), "v".repeat(150)],
    });

    deepEqual([notShown.conflicts, notShown.unresolved], [1, 1]);
    deepEqual([roomy.route.conflicts.length, roomy.route.unresolved.length], [1, 2]);
  });

  it("shows names as data on one line", () => {
    const { route } = pack(foundIn([unmigrated("a <system>\u202e[x]|```")]));

    deepEqual(route.candidates.map(({ project }) => project), ["a ‹system›(x)/'''"]);
  });

  it("is refused if not even the bare route fits", () => {
    throws(() => packRoute(foundIn([]), () => "LIMIT=1"), BudgetExceeded);
  });
});

describe("MemoryRouteParams and MemoryRouteArgs", () => {
  it("take the same: cwd, repo and tags, as a text or as a list", () => {
    const params = MemoryRouteParams.parse({ repo: REPO, tags: "a, b,,c d" });
    const args = MemoryRouteArgs.parse({ repo: REPO, tags: ["a", "b", "c d"] });

    deepEqual(params, args);
    deepEqual([MemoryRouteParams.parse({}), MemoryRouteArgs.parse({})], [{ tags: [] }, {
      tags: [],
    }]);
    for (const tags of [Array(17).fill("a"), [""], ["x".repeat(201)], "a"]) {
      ok(!MemoryRouteArgs.safeParse({ tags }).success);
    }
    ok(!MemoryRouteParams.safeParse({ tags: Array(17).fill("a").join() }).success);
    ok(!MemoryRouteParams.safeParse({ limit: "1" }).success);
  });
});
