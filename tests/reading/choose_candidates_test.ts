import { deepStrictEqual as deepEqual, ok, strictEqual as equal } from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import fc from "fast-check";
import type { ProjectFolder } from "@/lib/projects/project_folders.ts";
import type { Candidate } from "@/lib/reading/candidate.ts";
import {
  chooseCandidates,
  type ChosenCandidates,
  mayLoadSummary,
} from "@/lib/reading/choose_candidates.ts";
import { canonical, incompatible, unmigrated } from "../_support/project_notes.ts";
import { anyFolders } from "../_support/any_folders.ts";

const SITE = { repoId: "github.com/acme/site", name: "site" };

const choose = (
  folders: readonly ProjectFolder[],
  { tags = [], identity = SITE }: {
    readonly tags?: readonly string[];
    readonly identity?: typeof SITE;
  } = {},
): ChosenCandidates => chooseCandidates({ folders, identity, tags });

const namesOf = ({ candidates }: ChosenCandidates) => candidates.map(({ project }) => project);

/** Returns the folder and the reason of the current project. */
const currentOf = ({ current, candidates }: ChosenCandidates) => {
  const found = candidates.filter(({ matchedBy }) => matchedBy !== undefined);
  return [current, ...found.map(({ folder, matchedBy }) => `${folder.name} ${matchedBy}`)];
};

function edgesOf({ candidates }: ChosenCandidates): Record<string, string[]> {
  const entries = candidates.map(({ project, edges }) =>
    [
      project,
      edges.map(({ direction, relation, source, alsoSource }) =>
        `${direction}:${relation} ${source}${alsoSource === undefined ? "" : `+${alsoSource}`}`
      ),
    ] as const
  );
  return Object.fromEntries(entries.filter(([, edges]) => edges.length > 0));
}

describe("chooseCandidates(): the current project", () => {
  it("is the one with exactly the same repo_id, before any name", () => {
    const found = choose([
      canonical("site"),
      canonical("x", { repoId: SITE.repoId }),
      canonical("y", { repoId: `${SITE.repoId}x` }),
    ]);

    deepEqual(currentOf(found), ["found", "x repo_id"]);
  });

  it("falls back to project, then aliases, then the folder's name, each compared exactly", () => {
    const project = canonical("a", { project: "site" });
    const alias = canonical("b", { aliases: ["site"] });
    const folder = canonical("site", { project: "other" });
    const unlike = canonical("SITE", { project: "Site", aliases: ["Site", "site-2"] });

    deepEqual(currentOf(choose([folder, alias, project])), ["found", "a project"]);
    deepEqual(currentOf(choose([folder, alias, unlike])), ["found", "b alias"]);
    deepEqual(currentOf(choose([folder, unlike])), ["found", "site folder"]);
    deepEqual(currentOf(choose([unlike])), ["none"]);
    for (const old of [unmigrated("site"), incompatible("site")]) {
      deepEqual(currentOf(choose([old, unlike])), ["found", "site folder"]);
    }
  });

  it("is not chosen where several canonical projects claim the repo_id: that is a conflict", () => {
    const { repoId } = SITE;
    const found = choose([
      canonical("b", { repoId }),
      canonical("a", { repoId, tags: ["web"] }),
      canonical("site"),
    ]);

    deepEqual(currentOf(found), ["conflict"]);
    deepEqual(found.conflicts, ["repo_id: a, b"]);
    deepEqual(found.candidates, []);
  });

  it("is not chosen where several fit at one step of the fallback, and no later step counts", () => {
    const twins = [canonical("x", { project: "site" }), canonical("y", { project: "site" })];
    const aliases = [
      canonical("x", { aliases: ["site"] }),
      canonical("y", { aliases: ["site", "site"] }),
    ];

    const byProject = choose([...twins, canonical("z", { aliases: ["site"] }), unmigrated("site")]);
    const byAlias = choose([...aliases, unmigrated("site")]);
    const byFolder = choose([unmigrated("re\u0301"), unmigrated("r\u00e9")], {
      identity: { ...SITE, name: "r\u00e9" },
    });

    deepEqual([currentOf(byProject), byProject.conflicts], [["conflict"], [
      "project: site (2 folders)",
    ]]);
    deepEqual([currentOf(byAlias), byAlias.conflicts], [["conflict"], ["alias site: x, y"]]);
    deepEqual([currentOf(byFolder), byFolder.conflicts], [["conflict"], [
      "folder r\u00e9: r\u00e9 (2 folders)",
    ]]);
  });

  it("is none outside of a repository, where tags and names remain", () => {
    const folders = [canonical("a", { tags: ["web"] }), canonical("site"), unmigrated("old")];

    const found = chooseCandidates({ folders, tags: ["#Web"] });

    deepEqual([found.current, namesOf(found)], ["none", ["a", "old"]]);
  });

  it("reports whatever repo_id or project name several claim, by names alone", () => {
    const found = choose([
      canonical("a", { repoId: "github.com/x/secret" }),
      canonical("b", { repoId: "github.com/x/secret" }),
      canonical("c1", { project: "c" }),
      canonical("c2", { project: "c" }),
      ...["1", "2", "3", "4", "5", "6", "7"].map((n) => canonical(n, { repoId: "github.com/y" })),
    ]);

    deepEqual(found.conflicts, [
      "project: c (2 folders)",
      "repo_id: 1, 2, 3, 4, 5 and 2 more",
      "repo_id: a, b",
    ]);
  });
});

describe("chooseCandidates(): ties", () => {
  it("are direct where the current project declares them, reverse where another does", () => {
    const found = choose([
      canonical("site", { related: ["a"], dependsOn: ["b"] }),
      canonical("a"),
      canonical("b"),
      canonical("c", { related: ["site"] }),
      canonical("d", { dependsOn: ["site"] }),
      canonical("e", { related: ["a"], dependsOn: ["b"] }),
    ]);

    deepEqual(edgesOf(found), {
      a: ["direct:related site"],
      b: ["direct:depends_on site"],
      c: ["reverse:related c"],
      d: ["reverse:depends_on d"],
    });
    deepEqual(namesOf(found), ["site", "a", "b", "c", "d"]);
  });

  it("of related are one for both directions, and keep every source", () => {
    const found = choose([
      canonical("site", { related: ["a", "a", "alias-a"] }),
      canonical("a", { aliases: ["alias-a"], related: ["site", "site"] }),
    ]);

    deepEqual(edgesOf(found), { a: ["direct:related site+a"] });
  });

  it("of depends_on stay directed", () => {
    const found = choose([
      canonical("site", { dependsOn: ["a"], related: ["b"] }),
      canonical("a", { dependsOn: ["site"] }),
      canonical("b", { dependsOn: ["site"] }),
    ]);

    deepEqual(edgesOf(found), {
      a: ["direct:depends_on site", "reverse:depends_on a"],
      b: ["direct:related site", "reverse:depends_on b"],
    });
  });

  it("are found by project, by an alias that is unique, and by the folder of the rest", () => {
    const found = choose([
      canonical("site", { aliases: ["www"], related: ["p", "al", "old", "odd", "f", "none", "f"] }),
      canonical("x", { project: "p" }),
      canonical("y", { project: "q", aliases: ["al", "p"] }),
      canonical("f", { project: "z" }),
      unmigrated("old"),
      incompatible("odd"),
      canonical("r", { related: ["www"] }),
    ]);

    deepEqual(Object.keys(edgesOf(found)).sort(), ["odd", "old", "p", "q", "r"]);
    deepEqual(found.unresolved, ["f", "none"]);
  });

  it("are none where several could be meant, and that is reported", () => {
    const found = choose([
      canonical("site", { aliases: ["www"], related: ["twin", "al"] }),
      canonical("t1", { project: "twin" }),
      canonical("t2", { project: "twin" }),
      canonical("a", { aliases: ["al", "www"] }),
      canonical("b", { aliases: ["al"] }),
      canonical("c", { related: ["www"] }),
    ]);

    deepEqual(edgesOf(found), {});
    deepEqual(found.unresolved, []);
    deepEqual(found.conflicts, ["name al: a, b", "name www: a, site", "project: twin (2 folders)"]);
  });

  it("point at a current project without metadata by its folder, and it declares none", () => {
    for (const old of [unmigrated("site"), incompatible("site")]) {
      const found = choose([old, canonical("a", { dependsOn: ["site"] }), canonical("b")]);

      deepEqual(edgesOf(found), { a: ["reverse:depends_on a"] });
      deepEqual(namesOf(found), ["site", "a"]);
    }
  });

  it("do not tie a project to itself", () => {
    deepEqual(edgesOf(choose([canonical("site", { related: ["site"], dependsOn: ["site"] })])), {});
  });
});

describe("chooseCandidates(): who is one, and in which order", () => {
  it("tags count as they overlap with those of the current project and those asked for", () => {
    const found = choose([
      canonical("site", { tags: ["Hash Table", "web"] }),
      canonical("a", { tags: ["#hash-table", "hash  table", "auth", "x"] }),
      canonical("b", { tags: ["auth"] }),
      canonical("c", { tags: ["x"] }),
    ], { tags: ["AUTH", "auth"] });

    deepEqual(found.candidates.map(({ project, tagOverlap }) => [project, tagOverlap]), [
      ["site", 0],
      ["a", 2],
      ["b", 1],
    ]);
  });

  it("leaves out canonical projects that nothing ties to the task", () => {
    deepEqual(namesOf(choose([canonical("a", { tags: ["x"] }), canonical("b")])), []);
  });

  it("takes an incompatible project only if it is current or a canonical current names it", () => {
    const named = { related: ["odd"] };

    deepEqual(namesOf(choose([incompatible("odd"), canonical("a", named)])), []);
    deepEqual(namesOf(choose([incompatible("odd"), canonical("site", named)])), ["site", "odd"]);
    deepEqual(namesOf(choose([incompatible("site")])), ["site"]);
  });

  it("puts current before direct, reverse, overlap, newer, and then goes by name", () => {
    const tags = ["a", "b"];
    const found = choose([
      canonical("site", { related: ["d1", "d2", "d3", "d4"], tags, updated: "2020-01-01" }),
      canonical("d4"),
      canonical("d3"),
      canonical("d2", { updated: "2026-01-01" }),
      canonical("d1", { tags: ["a"] }),
      canonical("r1", { related: ["site"], updated: "2026-03-01" }),
      canonical("r2", { related: ["site"], tags }),
      canonical("t1", { tags: ["a"], updated: "2026-03-01" }),
      canonical("t2", { tags }),
      canonical("t3", { tags: ["a"], updated: "2026-04-01" }),
      canonical("t4", { tags: ["a"] }),
      canonical("t5", { tags: ["a"], updated: "2026-03-01" }),
    ]);

    deepEqual(namesOf(found), [
      "site",
      ...["d1", "d2", "d3", "d4"],
      ...["r2", "r1"],
      ...["t2", "t3", "t1", "t5", "t4"],
    ]);
  });

  it("puts candidates without a date after dated ones of their level", () => {
    const found = choose([
      canonical("a", { tags: ["x"] }),
      canonical("z", { tags: ["x"], updated: "1999-01-01" }),
    ], { tags: ["x"] });

    deepEqual(namesOf(found), ["z", "a"]);
  });

  it("puts unmigrated projects that nothing ties after all canonical matches", () => {
    const found = choose([
      unmigrated("0"),
      canonical("site", { dependsOn: ["old"] }),
      canonical("z", { tags: ["x"] }),
      unmigrated("old"),
    ], { tags: ["x"] });

    deepEqual(namesOf(found), ["site", "old", "z", "0"]);
  });

  it("does not depend on the order in which folders are found, and no two are equal", () => {
    fc.assert(fc.property(anyFolders, fc.infiniteStream(fc.nat()), (folders, numbers) => {
      const shuffled = folders.map((folder) => ({ folder, key: numbers.next().value ?? 0 }))
        .sort((a, b) => a.key - b.key).map(({ folder }) => folder);

      const [one, other] = [choose(folders), choose(shuffled)];

      deepEqual(other, one);
      equal(new Set(one.candidates.map(({ folder }) => folder)).size, one.candidates.length);
    }));
  });
});

describe("mayLoadSummary()", () => {
  const find = (folders: readonly ProjectFolder[], name: string, tags: readonly string[] = []) =>
    choose(folders, { tags }).candidates.find(({ folder }) => folder.name === name);

  const isLoadable = (candidate: Candidate | undefined) => {
    ok(candidate);
    return mayLoadSummary(candidate);
  };

  it("allows an unmigrated or incompatible summary only if it is current, or direct of a canonical one", () => {
    for (const make of [unmigrated, incompatible]) {
      for (const meta of [{ related: ["odd"] }, { dependsOn: ["odd"] }]) {
        ok(isLoadable(find([make("odd"), canonical("site", meta)], "odd")));
      }
      ok(isLoadable(find([make("site")], "site")));
    }
    ok(!isLoadable(find([unmigrated("old"), canonical("site")], "old")));
    ok(!isLoadable(find([unmigrated("old"), canonical("a", { related: ["old"] })], "old")));
  });

  it("allows that of any canonical candidate, and none that is not there", () => {
    ok(isLoadable(find([canonical("a", { tags: ["x"] })], "a", ["x"])));
    ok(!isLoadable(find([{ ...unmigrated("site"), hasSummary: false }], "site")));
  });
});
