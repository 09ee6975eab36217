import { deepStrictEqual as deepEqual, rejects, strictEqual as equal } from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import type { Caller } from "@/lib/contracts.ts";
import { InvalidRequest } from "@/lib/errors.ts";
import { ProjectFolders } from "@/lib/projects/project_folders.ts";
import { findRoute, type FindRouteDeps } from "@/lib/reading/find_route.ts";
import { systemClock } from "@/lib/seams.ts";
import { describeWithGit, gitWorld } from "../_support/git_repo.ts";
import { summaryOf } from "../_support/project_notes.ts";
import { type TestServices, testServices } from "../_support/services.ts";
import { type Files, listAll } from "../_support/temp_vault.ts";

const near: Caller = { kind: "agent", loopback: true };
const far: Caller = { kind: "agent", loopback: false };
const REPO = "https://ada:s3cret@GitHub.com/acme/site.git?token=x";

async function routeWorld(
  files: Files,
  seams: Parameters<typeof testServices>[2] = {},
): Promise<TestServices & FindRouteDeps> {
  const services = await testServices(files, {}, seams);
  const { vault, clock } = services;
  return { ...services, projectFolders: new ProjectFolders({ vault, clock }) };
}

const many = Object.fromEntries(
  Array.from({ length: 70 }, (_, i) => [`a${i + 10}/summary.md`, summaryOf(`project: a${i + 10}`)]),
);

describe("findRoute()", () => {
  it("matches the identity of a remote with repo_id, whatever way the remote is spelt", async () => {
    await using world = await routeWorld({
      "x/summary.md": summaryOf("project: x", "repo_id: github.com/acme/site"),
      "site/summary.md": summaryOf("project: site"),
    });

    for (const repo of [REPO, "git@github.com:acme/site.git", "ssh://git@github.com/acme/site"]) {
      const { current, candidates: [first] } = await findRoute(world, near, { repo, tags: [] });

      deepEqual([current, first?.project, first?.matchedBy], ["found", "x", "repo_id"]);
    }
  });

  it("checks the folder called as the repository first, and those also named", async () => {
    await using world = await routeWorld({
      ...many,
      "site/summary.md": summaryOf("project: site", "related: [zed]"),
      "zed/summary.md": summaryOf("project: zed"),
    });
    const ask = async (alsoNamed?: readonly string[]) => {
      const input = { repo: REPO, tags: [], ...(alsoNamed ? { alsoNamed } : {}) };
      const { folders, unchecked, candidates, unresolved } = await findRoute(world, near, input);
      return [
        folders.length,
        folders[0]?.name,
        unchecked,
        candidates.map(({ project }) => project),
        unresolved,
      ];
    };

    deepEqual(await ask(), [60, "site", 12, ["site"], ["zed"]]);
    deepEqual(await ask(["zed", "../x"]), [60, "site", 12, ["site", "zed"], []]);
  });

  it("counts what was not checked, so that nobody takes it for the whole vault", async () => {
    await using world = await routeWorld({
      ...many,
      "zed/summary.md": summaryOf("project: zed", "repo_id: github.com/acme/site"),
    });

    const { current, unchecked } = await findRoute(world, near, { repo: REPO, tags: [] });

    deepEqual([current, unchecked], ["none", 11]);
  });

  it("uses no field of an incompatible summary", async () => {
    await using world = await routeWorld({
      "odd/summary.md": summaryOf(
        "project: site",
        "repo_id: github.com/acme/site",
        "tags: [x]",
        "related: [other]",
        "aliases: site",
      ),
      "other/summary.md": summaryOf("project: other", "repo_id: github.com/acme/other"),
    });

    const { current, candidates } = await findRoute(world, near, { repo: REPO, tags: ["x"] });
    const reverse = await findRoute(world, near, {
      repo: "https://github.com/acme/other",
      tags: [],
    });

    deepEqual([current, candidates], ["none", []]);
    deepEqual(reverse.candidates.map(({ project }) => project), ["other"]);
  });

  it("derives no relation from links in bodies, _index.md or neighbouring folders", async () => {
    await using world = await routeWorld({
      "_index.md": "site: [[b]]\n",
      "site/summary.md": summaryOf("project: site") + "[[b]] related: [b]\n",
      "site/b/summary.md": summaryOf("project: c"),
      "site-b/summary.md": summaryOf("project: b") + "[[site]]\n",
    });

    const { candidates } = await findRoute(world, near, { repo: REPO, tags: [] });

    deepEqual(candidates.map(({ project }) => project), ["site"]);
  });

  it("changes nothing in the vault: no old project is migrated", async () => {
    await using world = await routeWorld({
      "site/summary.md": "# Site\n",
      "odd/summary.md": summaryOf("project: [x]"),
      "old/memory.md": "# Facts\n",
    });
    const before = listAll(world.root).map((path) => [path, textOf(world.pathOf(path))]);

    await findRoute(world, near, { repo: REPO, tags: [] });

    deepEqual(listAll(world.root).map((path) => [path, textOf(world.pathOf(path))]), before);
  });

  it("has no current project where nothing says where the agent works", async () => {
    await using world = await routeWorld({
      "site/summary.md": summaryOf("project: site", "tags: [web]"),
    });

    const { current, candidates } = await findRoute(world, near, { tags: ["web"] });

    deepEqual([current, candidates.map(({ project }) => project)], ["none", ["site"]]);
  });

  it("touches no vault before it knows who asks from where", async () => {
    const scans: string[] = [];
    await using world = await routeWorld({});
    const projectFolders: FindRouteDeps["projectFolders"] = {
      scan: () => {
        scans.push("scan");
        return Promise.resolve({ folders: [], unchecked: 0 });
      },
    };
    const deps = { projects: world.projects, projectFolders };

    await rejects(findRoute(deps, near, { repo: "file:///x", tags: [] }), InvalidRequest);
    await rejects(findRoute(deps, near, { cwd: "relative", tags: [] }), InvalidRequest);
    await rejects(findRoute(deps, far, { cwd: "/", tags: [] }), InvalidRequest);
    deepEqual(scans, []);
    await findRoute(deps, near, { tags: [] });
    equal(scans.length, 1);
  });
});

describeWithGit("findRoute() in a repository", () => {
  it("knows it by its origin, else by its name and the hash of its root", async () => {
    await using repos = await gitWorld();
    await repos.init("work/site");
    const cwd = repos.pathOf("work/site");
    const git = { path: repos.gitPath, env: repos.env };
    await using world = await routeWorld({}, { git, clock: systemClock });
    const local = await world.projects.identify(near, { cwd });
    world.write("x/summary.md", summaryOf("project: x", `repo_id: ${local?.repoId}`));
    world.write("y/summary.md", summaryOf("project: y", "repo_id: github.com/acme/site"));
    const ask = async (where: { readonly cwd?: string }, caller = near) => {
      const { candidates: [first] } = await findRoute(world, caller, { ...where, tags: [] });
      return first && [first.project, first.matchedBy];
    };

    const before = await ask({ cwd });
    await repos.git("work/site", "remote", "add", "origin", REPO);

    deepEqual([local?.name, /^local:site:[0-9a-f]{12}$/.test(local?.repoId ?? "")], ["site", true]);
    deepEqual(before, ["x", "repo_id"]);
    deepEqual(await ask({ cwd }), ["y", "repo_id"]);
    deepEqual(await ask({}, { ...near, cwd }), ["y", "repo_id"]);
    deepEqual(await ask({ cwd: repos.root }), undefined);
    deepEqual(await world.projects.identify(near, { cwd }), {
      repoId: "github.com/acme/site",
      name: "site",
    });
  });
});

function textOf(path: string): string {
  return path.endsWith("/") ? "" : Deno.readTextFileSync(path);
}
