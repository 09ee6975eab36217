import { deepStrictEqual as deepEqual, strictEqual as equal } from "node:assert/strict";
import { it } from "@std/testing/bdd";
import { Git } from "@/lib/projects/git.ts";
import { describeWithGit as describe, type GitWorld, gitWorld } from "../_support/git_repo.ts";

const gitOf = ({ gitPath: path, env }: GitWorld) => new Git({ path, env });

describe("Git", () => {
  it("findFolders() gives the top of the working tree, and what stands for the repository", async () => {
    await using world = await gitWorld();
    await world.init("repo");
    await world.git("repo", "worktree", "add", "-q", "../tree");
    await Deno.mkdir(world.pathOf("repo/a/b"), { recursive: true });
    await Deno.mkdir(world.pathOf("tree/c"));
    const git = gitOf(world);
    const [repo, tree] = [world.pathOf("repo"), world.pathOf("tree")];

    deepEqual(await git.findFolders(world.pathOf("repo/a/b")), { workTree: repo, root: repo });
    deepEqual(await git.findFolders(world.pathOf("tree/c")), { workTree: tree, root: repo });
  });

  it("findFolders() gives a submodule's own folder", async () => {
    await using world = await gitWorld();
    await world.init("inner");
    await world.init("outer");
    await world.git("outer", "submodule", "add", "-q", world.pathOf("inner"), "sub");
    const sub = world.pathOf("outer/sub");

    deepEqual(await gitOf(world).findFolders(sub), { workTree: sub, root: sub });
  });

  it("findFolders() gives real paths", async () => {
    await using world = await gitWorld();
    await world.init("repo");
    await Deno.symlink(world.pathOf("repo"), world.pathOf("linked"));

    const found = await gitOf(world).findFolders(world.pathOf("linked"));

    equal(found?.workTree, world.pathOf("repo"));
    equal(found.root, world.pathOf("repo"));
  });

  it("findFolders() takes no folder for a working tree that does not know of it", async () => {
    await using world = await gitWorld();
    await world.init("made-up");
    await world.init("mine");
    const git = gitOf(world);

    for (const claimed of [world.root, world.pathOf("mine")]) {
      await world.git("made-up", "config", "core.worktree", claimed);
      await Deno.mkdir(world.pathOf("mine/sub"), { recursive: true });

      equal(await git.findFolders(world.pathOf("made-up")), undefined, claimed);
    }
  });

  it("findFolders() finds none outside of a working tree", async () => {
    await using world = await gitWorld();
    await world.init("repo");
    await world.git("bare", "init", "-q", "--bare");
    const git = gitOf(world);

    for (const folder of ["", "none", "bare", "repo/.git"]) {
      equal(await git.findFolders(world.pathOf(folder)), undefined, folder);
    }
  });
});
