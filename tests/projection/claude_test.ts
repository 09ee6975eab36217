/** Claude Code's folder of memories, in every state in which it may be found. */
import { deepStrictEqual as deepEqual, match, strictEqual as equal } from "node:assert/strict";
import { it } from "@std/testing/bdd";
import { dirname, join } from "node:path";
import { describeWithGit as describe } from "../_support/git_repo.ts";
import {
  inStore,
  memoryText,
  type ProjectionWorld,
  projectionWorld,
  STORE_ID,
} from "../_support/projection_world.ts";
import { listAll, textsBelow } from "../_support/temp_vault.ts";

const NOTE = "---\nname: Build\ndescription: How to build\n---\n\nWith care.\n";
const LIST = "- [Build](build.md) — How to build\n\nMine.\n";
const store = (world: ProjectionWorld) => join(world.vault, "memories/projects", STORE_ID);

/** Runs for Claude Code, which has to go well. */
async function project(world: ProjectionWorld, ...more: string[]): Promise<string> {
  const { code, errors, output } = await world.run(["claude", ...more]);
  equal(errors, "");
  equal(code, 0);
  return output;
}

async function linkOf(path: string): Promise<string | undefined> {
  return (await Deno.lstat(path)).isSymlink ? await Deno.readLink(path) : undefined;
}

/** The folders that were put aside. */
function keptOf(world: ProjectionWorld): string[] {
  const folder = dirname(world.claudeMemory);
  return listAll(folder).filter((name) => /^memory\.before-[^/]*\/$/.test(name))
    .map((name) => join(folder, name.slice(0, -1)));
}

describe("project claude", () => {
  it("project claude makes a link where nothing is, and the store that is missing", async () => {
    await using world = await projectionWorld({ "a.md": "# A\n" });

    await project(world);

    equal(await linkOf(world.claudeMemory), world.store);
    match(world.read(join(world.store, "project.md")), /repo_id: example\.org\/team\/site/);
    deepEqual(keptOf(world), []);
  });

  it("project claude does nothing when the link is there", async () => {
    await using world = await projectionWorld(inStore({ "m.md": memoryText("m") }));
    await project(world);
    const [home, vault] = [await world.tree(), textsBelow(world.vault)];

    equal(await project(world), "Nothing had to be changed\n");

    deepEqual(await world.tree(), home);
    deepEqual(textsBelow(world.vault), vault);
  });

  it("project claude takes over a link that a person has made, and leaves it at that", async () => {
    await using world = await projectionWorld(inStore({}));
    await Deno.mkdir(dirname(world.claudeMemory), { recursive: true });
    await Deno.symlink(store(world), world.claudeMemory);

    equal(await project(world), "Nothing had to be changed\n");
    await project(world, "--undo");

    equal(await linkOf(world.claudeMemory), store(world));
  });

  it("project claude brings what is in the folder into the store first", async () => {
    await using world = await projectionWorld(inStore({
      "same.md": NOTE,
      "other.md": "of the vault\n",
      "Case.md": "of the vault\n",
      "MEMORY.md": "of the vault\n",
      "m.md": memoryText("m"),
    }));
    const vault = textsBelow(world.vault);
    world.write(world.claudeMemory, {
      "MEMORY.md": LIST,
      "build.md": NOTE,
      "same.md": NOTE,
      "other.md": "of Claude\r\n",
      "case.md": "of Claude\n",
      "project.md": "of Claude\n",
      "team/缓存.md": "of the team\n",
    });
    const native = textsBelow(world.claudeMemory);

    await project(world);

    const prefix = `memories/projects/${STORE_ID}/`;
    const added = Object.entries(textsBelow(world.vault))
      .filter(([path]) => !(path in vault))
      .map(([path, text]) => [path.slice(prefix.length), text]);
    deepEqual(Object.fromEntries(added), {
      "MEMORY (Claude Code).md": LIST,
      "build.md": NOTE,
      "other (Claude Code).md": "of Claude\r\n",
      "case (Claude Code).md": "of Claude\n",
      "project (Claude Code).md": "of Claude\n",
      "team/缓存.md": "of the team\n",
    });
    for (const [path, text] of Object.entries(vault)) {
      equal(world.read(join(world.vault, path)), text);
    }
    equal(await linkOf(world.claudeMemory), store(world));
    const [kept = ""] = keptOf(world);
    deepEqual(textsBelow(kept), native);
  });

  it("project claude keeps what already lies beside another, and does not copy it again", async () => {
    await using world = await projectionWorld(inStore({
      "a.md": "of the vault\n",
      "a (Claude Code).md": "earlier\n",
      "b.md": "of the vault\n",
      "b (Claude Code).md": "of Claude\n",
    }));
    world.write(world.claudeMemory, { "a.md": "of Claude\n", "b.md": "of Claude\n" });
    const before = Object.keys(textsBelow(world.vault)).length;

    await project(world);

    equal(world.read(join(store(world), "a (Claude Code 2).md")), "of Claude\n");
    equal(Object.keys(textsBelow(world.vault)).length, before + 1);
  });

  it("project claude takes an empty folder, and gives it back", async () => {
    await using world = await projectionWorld();
    await Deno.mkdir(world.claudeMemory, { recursive: true });
    const before = await world.tree();

    await project(world);
    equal(await linkOf(world.claudeMemory), world.store);
    await project(world, "--undo");

    deepEqual(await world.tree(), before);
  });

  it("project claude --undo puts the folder back, byte for byte, and all else with it", async () => {
    await using world = await projectionWorld();
    world.write(world.claudeMemory, {
      "MEMORY.md": LIST,
      "a.md": "\ufeffof Claude\r\n",
      ".consolidate-lock": "1",
    });
    await Deno.chmod(join(world.claudeMemory, "a.md"), 0o600);
    const before = await world.tree();

    await project(world);
    await Deno.writeTextFile(join(world.claudeMemory, "later.md"), NOTE);
    await project(world, "--undo");

    deepEqual(await world.tree(), before);
    equal(world.read(join(world.store, "later.md")), NOTE);
  });

  it("project claude --undo removes the folders that were made, and no others", async () => {
    await using world = await projectionWorld();
    await Deno.mkdir(world.inHome(".claude"));
    const before = await world.tree();

    await project(world);
    await project(world, "--undo");

    deepEqual(await world.tree(), before);
    equal(await project(world, "--undo"), "Nothing had to be changed\n");
  });

  it("project claude --undo leaves what somebody has put in the link's place", async () => {
    await using world = await projectionWorld();
    world.write(world.claudeMemory, { "a.md": "of Claude\n" });
    await project(world);
    await Deno.remove(world.claudeMemory);
    world.write(world.claudeMemory, { "b.md": "new\n" });

    const { code, errors } = await world.run(["claude", "--undo"]);

    equal(code, 1);
    match(
      errors,
      /is not the link that was made.*what was there before lies in .*before-commonplace/,
    );
    equal(world.read(join(world.claudeMemory, "b.md")), "new\n");
  });

  it("project claude goes on from a folder that was made anew, and keeps both", async () => {
    await using world = await projectionWorld();
    world.write(world.claudeMemory, { "a.md": "first\n" });
    const before = await world.tree();
    await project(world);
    await Deno.remove(world.claudeMemory);
    world.write(world.claudeMemory, { "a.md": "second\n" });

    await project(world);

    equal(world.read(join(world.store, "a.md")), "first\n");
    equal(world.read(join(world.store, "a (Claude Code).md")), "second\n");
    equal(keptOf(world).length, 2);
    const output = await project(world, "--undo");
    match(output, /was put aside from there, and was left so/);
    const [second = ""] = keptOf(world);
    equal(world.read(join(second, "a.md")), "second\n");
    await Deno.remove(second, { recursive: true });
    deepEqual(await world.tree(), before);
  });

  it("project claude stays with the main repository in its worktrees", async () => {
    await using world = await projectionWorld();
    await world.git.git("repo", "worktree", "add", "-q", "../tree");

    await world.run(["claude"], { cwd: "tree" });

    equal(await linkOf(world.claudeMemory), world.store);
  });

  it("project claude follows the environment to Claude Code's folder", async () => {
    await using world = await projectionWorld();
    const folder = world.git.pathOf("moved");
    const env = { CLAUDE_CONFIG_DIR: folder, CLAUDE_CODE_PROJECT_DIR_NAME: "site" };

    const { code } = await world.run(["claude"], { env });

    equal(code, 0);
    equal(await linkOf(join(folder, "projects/site/memory")), world.store);
  });

  it("project claude says that Claude Code's memory is off, and goes on", async () => {
    await using world = await projectionWorld();
    world.write(world.home, { ".claude/settings.json": '{"autoMemoryEnabled": false}' });

    match(await project(world), /memory is switched off \(autoMemoryEnabled in/);
    equal(await linkOf(world.claudeMemory), world.store);
  });
});

interface Refused {
  readonly name: string;
  readonly reason: RegExp;
  readonly prepare: (world: ProjectionWorld) => Promise<void> | void;
}

const REFUSED: readonly Refused[] = [
  {
    name: "a link that leads elsewhere",
    reason: /is a link to .*\/elsewhere, and not to the store/,
    prepare: async (world) => {
      world.write(world.git.pathOf("elsewhere"), { "a.md": "theirs\n" });
      await Deno.mkdir(dirname(world.claudeMemory), { recursive: true });
      await Deno.symlink(world.git.pathOf("elsewhere"), world.claudeMemory);
    },
  },
  {
    name: "a link that leads nowhere",
    reason: /is a link to .*\/gone, where nothing is/,
    prepare: async (world) => {
      await Deno.mkdir(dirname(world.claudeMemory), { recursive: true });
      await Deno.symlink("gone", world.claudeMemory);
    },
  },
  {
    name: "a link to the store of another project",
    reason: /not to the store of this project/,
    prepare: async (world) => {
      world.write(world.vault, { "memories/projects/other/a.md": "a\n" });
      await Deno.mkdir(dirname(world.claudeMemory), { recursive: true });
      await Deno.symlink(join(world.vault, "memories/projects/other"), world.claudeMemory);
    },
  },
  {
    name: "a file",
    reason: /is a file, where a folder is kept/,
    prepare: (world) => world.write(dirname(world.claudeMemory), { memory: "text" }),
  },
  {
    name: "a folder with other files",
    reason: /memory holds what is no note \(b\.json\), so it is not taken/,
    prepare: (world) => world.write(world.claudeMemory, { "a.md": "a\n", "b.json": "{}" }),
  },
  {
    name: "a folder with a link in it",
    reason: /holds a link \(b\.md\)/,
    prepare: async (world) => {
      world.write(world.claudeMemory, { "a.md": "a\n" });
      await Deno.symlink("/etc/passwd", join(world.claudeMemory, "b.md"));
    },
  },
  {
    name: "a file that is no text",
    reason: /no text in UTF-8 \(b\.md\)/,
    prepare: (world) =>
      world.write(world.claudeMemory, { "a.md": "a\n", "b.md": new Uint8Array([0xff, 1]) }),
  },
  {
    name: "a file that the vault never reads",
    reason: /its file private\/b\.md would lie where the vault is never read/,
    prepare: (world) => world.write(world.claudeMemory, { "a.md": "a\n", "private/b.md": "b\n" }),
  },
  {
    name: "a name that the vault cannot take",
    reason: /its file con\.md has a name that the vault cannot take/,
    prepare: (world) => world.write(world.claudeMemory, { "a.md": "a\n", "con.md": "b\n" }),
  },
  {
    name: "a folder that the store spells otherwise",
    reason: /lies in a folder that the store has as "Team"/,
    prepare(world) {
      world.write(store(world), { "Team/x.md": "x\n" });
      world.write(world.claudeMemory, { "a.md": "a\n", "team/y.md": "y\n" });
    },
  },
  {
    name: "a folder that is read-only around it",
    reason: /lies in .*, which is read-only/,
    prepare: async (world) => {
      await Deno.mkdir(dirname(world.claudeMemory), { recursive: true });
      await Deno.chmod(dirname(world.claudeMemory), 0o555);
    },
  },
  {
    name: "a memory that is kept elsewhere by its settings",
    reason: /autoMemoryDirectory in .*settings\.json says "~\/notes"/,
    prepare: (world) =>
      world.write(world.home, { ".claude/settings.json": '{"autoMemoryDirectory": "~/notes"}' }),
  },
  {
    name: "a folder that is the store by another way",
    reason: /memory lies in the vault$/m,
    prepare: async (world) => {
      const projects = world.inHome(".claude/projects");
      await Deno.mkdir(projects, { recursive: true });
      await Deno.mkdir(join(world.vault, "claude/memory"), { recursive: true });
      const slug = dirname(world.claudeMemory).slice(projects.length + 1);
      await Deno.symlink(join(world.vault, "claude"), join(projects, slug));
    },
  },
  {
    name: "a folder that holds the vault",
    reason: /memory holds the vault/,
    prepare: async (world) => {
      const projects = world.inHome(".claude/projects");
      await Deno.mkdir(projects, { recursive: true });
      await Deno.mkdir(world.git.pathOf("around/memory"), { recursive: true });
      await Deno.rename(world.vault, world.git.pathOf("around/memory/vault"));
      await Deno.symlink(world.git.pathOf("around/memory/vault"), world.vault);
      const slug = dirname(world.claudeMemory).slice(projects.length + 1);
      await Deno.symlink(world.git.pathOf("around"), join(projects, slug));
    },
  },
  {
    name: "a record that is broken",
    reason: /projections\.json is no record of what agents are shown/,
    prepare: (world) => world.write(world.home, { ".commonplace/projections.json": "{" }),
  },
];

describe("project claude refuses", () => {
  for (const { name, reason, prepare } of REFUSED) {
    it(`project claude refuses ${name}, and changes nothing`, async () => {
      await using world = await projectionWorld(inStore({ "m.md": memoryText("m") }));
      try {
        await prepare(world);
        const [home, vault] = [await world.tree(), listAll(world.vault)];

        const { code, errors } = await world.run(["claude"]);

        match(errors, reason);
        equal(code, 1);
        deepEqual(await world.tree(), home);
        deepEqual(listAll(world.vault), vault);
        match((await world.run(["claude", "--dry-run"])).errors, reason);
      } finally {
        await Deno.chmod(dirname(world.claudeMemory), 0o755).catch(() => {});
      }
    });
  }

  it("project claude refuses a folder that is in no repository", async () => {
    await using world = await projectionWorld();
    await Deno.mkdir(world.git.pathOf("plain"));
    const before = await world.tree();

    const { code, errors } = await world.run(["claude"], { cwd: "plain" });

    equal(code, 1);
    match(errors, /plain is in no Git repository/);
    deepEqual(await world.tree(), before);
  });
});
