import {
  deepStrictEqual as deepEqual,
  match,
  ok,
  rejects,
  strictEqual as equal,
} from "node:assert/strict";
import { join } from "node:path";
import { it } from "@std/testing/bdd";
import { claudeSlug } from "@/lib/projection/claude_place.ts";
import { describeWithGit, gitWorld } from "../_support/git_repo.ts";
import type { Home } from "../_support/homes.ts";
import { type InstallWorld, installWorld } from "./_install_world.ts";

const HOME: Home = {
  name: "used",
  entries: { ".claude.json": "{}\n", ".codex/AGENTS.md": "Be brief.\r\n" },
};

interface ProjectWorld extends AsyncDisposable {
  readonly world: InstallWorld;
  /** Real path of a repository. */
  readonly repo: string;
  /** Claude Code's memory of it, relative to the home. */
  readonly memory: string;
}

async function projectWorld(): Promise<ProjectWorld> {
  const git = await gitWorld();
  await git.init("repo");
  await git.init("other");
  const repo = await Deno.realPath(git.pathOf("repo"));
  const world = await installWorld(HOME, Deno.env.get("PATH"), git.env);
  const memory = `.claude/projects/${claudeSlug(repo)}/memory`;
  await Deno.mkdir(join(world.home, memory), { recursive: true });
  await world.write(`${memory}/lesson.md`, "---\nname: l\ndescription: d\n---\nLesson.\n");
  return {
    world,
    repo,
    memory,
    [Symbol.asyncDispose]: async () => {
      await world[Symbol.asyncDispose]();
      await git[Symbol.asyncDispose]();
    },
  };
}

describeWithGit("install --project", () => {
  it("makes Claude Code's memory of the project its store, and uninstall takes that back", async () => {
    await using project = await projectWorld();
    const { memory, repo, world } = project;
    const before = await world.tree();

    const installed = await world.run(["install", "claude", "--project", repo]);

    equal(installed.code, 0, installed.errors);
    const place = join(world.home, memory);
    ok((await Deno.lstat(place)).isSymlink);
    match(await Deno.realPath(place), /\/vault\/memories\/projects\/[0-9A-Z]{26}$/);
    match(await world.read(`${memory}/lesson.md`), /Lesson\./);
    match(
      (await world.run(["status"])).output,
      /project memories are linked to .*memory \(claude\)/,
    );
    equal((await world.run(["uninstall", "claude"])).code, 0);
    deepEqual(await world.tree(), before);
  });

  it("takes back one project alone, and leaves the agent connected", async () => {
    await using project = await projectWorld();
    const { memory, repo, world } = project;
    const other = join(repo, "../other");
    for (const each of [repo, other]) await world.run(["install", "claude", "--project", each]);

    const { code } = await world.run(["uninstall", "claude", "--project", other]);

    equal(code, 0);
    const { output } = await world.run(["status", "--json"]);
    const { agents, shown } = JSON.parse(output);
    ok(agents[0].isConnected);
    deepEqual(shown.map(({ target }: { target: string }) => target), [join(world.home, memory)]);
    match(
      (await world.run(["uninstall", "claude", "--project", other])).output,
      /nothing was changed/,
    );
  });

  it("lists memories for Codex in the person's file and the project's, and takes both back", async () => {
    await using project = await projectWorld();
    const { repo, world } = project;
    const before = await world.tree();

    await world.run(["install", "codex", "--project", repo]);

    match(await Deno.readTextFile(join(repo, "AGENTS.md")), /<!-- commonplace:memory:start -->\n/);
    match(
      await world.read(".codex/AGENTS.md"),
      /^Be brief\.\r\n\r\n<!-- commonplace:memory:start -->\r\n/,
    );
    equal((await world.run(["uninstall", "codex"])).code, 0);
    deepEqual(await world.tree(), before);
    await rejects(Deno.lstat(join(repo, "AGENTS.md")), Deno.errors.NotFound);
  });

  it("changes nothing at all where the list cannot be shown", async () => {
    await using project = await projectWorld();
    const { repo, world } = project;
    await world.write(".codex/AGENTS.md", "<!-- commonplace:memory:start -->\nhalf\n");
    const before = await world.tree();

    const { code, errors } = await world.run(["install", "codex", "--project", repo]);

    equal(code, 1);
    match(errors, /AGENTS\.md[^]*Nothing was changed\./);
    deepEqual(await world.tree(), before);
  });

  it("refuses a folder that is in no repository", async () => {
    await using project = await projectWorld();
    const { world } = project;
    const before = await world.tree();

    const { code, errors } = await world.run(["install", "claude", "--project", world.vault]);

    equal(code, 1);
    match(errors, /is in no Git repository/);
    deepEqual(await world.tree(), before);
  });

  it("shows nothing without the person's leave in mode ask, and says how to give it", async () => {
    await using project = await projectWorld();
    const { memory, repo, world } = project;
    const args = ["install", "claude", "--project", repo, "--access", "ask"];

    const before = await world.tree();
    const refused = [await world.run(args), await world.run([...args, "--dry-run"])];
    const after = await world.tree();
    const allowed = await world.run(args, { answers: ["y"], isTerminal: true });

    for (const { code, errors, output } of refused) {
      equal(code, 1);
      match(errors, /--owner-token/);
      equal(output, "");
    }
    deepEqual(after, before);
    equal(allowed.code, 0, allowed.errors);
    match(allowed.output, /Claude Code would read, change and add to/);
    ok((await Deno.lstat(join(world.home, memory))).isSymlink);
  });

  it("--dry-run shows what would be linked and listed, and changes nothing", async () => {
    await using project = await projectWorld();
    const { memory, repo, world } = project;
    const before = await world.tree();

    const { output } = await world.run(["install", "claude", "--project", repo, "--dry-run"]);

    match(output, /copy .*lesson\.md into the store/);
    match(output, /Nothing was changed\.\n$/);
    ok(!(await Deno.lstat(join(world.home, memory))).isSymlink);
    deepEqual(await world.tree(), before);
  });
});
