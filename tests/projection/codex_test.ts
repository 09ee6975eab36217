/** Codex' instructions, as people keep them, with our block in them. */
import { deepStrictEqual as deepEqual, match, ok, strictEqual as equal } from "node:assert/strict";
import { it } from "@std/testing/bdd";
import { MAX_BACKUPS } from "@/lib/outside_backups.ts";
import { BLOCK_END, BLOCK_START } from "@/lib/projection/managed_block.ts";
import { MAX_FILE_BYTES } from "@/lib/projection/plan_block.ts";
import { describeWithGit as describe } from "../_support/git_repo.ts";
import {
  inStore,
  memoryText,
  type ProjectionWorld,
  projectionWorld,
} from "../_support/projection_world.ts";
import { readTree } from "../_support/homes.ts";
import { listAll, textsBelow } from "../_support/temp_vault.ts";

const VAULT = {
  "memories/g.md": memoryText("m_global"),
  ...inStore({
    "p.md": memoryText("m_project"),
    "old.md": memoryText("m_old", { more: "status: deprecated\n" }),
    "twin1.md": memoryText("m_twin"),
    "twin2.md": memoryText("m_twin"),
    "silent.md": memoryText("m_silent", { description: "" }),
    "claude.md": "---\nname: Build\ndescription: How to\n---\n\nsecret body\n",
  }),
};

const GUIDE = "# Guide\n\nRun the tests.\n";

/** Runs for Codex, which has to go well. */
async function project(world: ProjectionWorld, ...more: string[]): Promise<string> {
  const { code, errors, output } = await world.run(["codex", ...more]);
  equal(errors, "");
  equal(code, 0);
  return output;
}

/** The lines of memories in a file. */
function pointersIn(text: string): string[] {
  return text.split(/\r?\n/).filter((line) => line.startsWith("- "));
}

const backupsOf = (world: ProjectionWorld) => {
  try {
    return Object.values(textsBelow(world.inHome(".commonplace/backups")));
  } catch {
    return [];
  }
};

describe("project codex", () => {
  it("project codex lists active memories that are alone with their id, and no body", async () => {
    await using world = await projectionWorld(VAULT);

    await project(world);

    const own = world.read(world.inRepo("AGENTS.md"));
    deepEqual(
      pointersIn(own).sort(),
      [
        "- m_project | m_project | About m_project",
        "- memories/projects/01JZ0000000000000000000001/claude.md | Build | How to",
      ].sort(),
    );
    ok(own.startsWith(BLOCK_START) && own.endsWith(`${BLOCK_END}\n`));
    ok(!own.includes("body"));
    deepEqual(pointersIn(world.read(world.inHome(".codex/AGENTS.md"))), [
      "- m_global | m_global | About m_global",
    ]);
  });

  it("project codex writes the global list alone outside of a project", async () => {
    await using world = await projectionWorld(VAULT);
    await Deno.mkdir(world.git.pathOf("plain"));

    equal((await world.run(["codex"], { cwd: "plain" })).code, 0);

    deepEqual(listAll(world.git.pathOf("plain")), []);
    ok(world.read(world.inHome(".codex/AGENTS.md")).includes("m_global"));
  });

  it("project codex writes into the worktree that is worked in, and where CODEX_HOME says", async () => {
    await using world = await projectionWorld(VAULT);
    await world.git.git("repo", "worktree", "add", "-q", "../tree");
    await Deno.mkdir(world.git.pathOf("tree/sub"));
    const env = { CODEX_HOME: world.git.pathOf("codex") };

    equal((await world.run(["codex"], { cwd: "tree/sub", env })).code, 0);

    ok(world.read(world.git.pathOf("tree/AGENTS.md")).includes("m_project"));
    ok(world.read(world.git.pathOf("codex/AGENTS.md")).includes("m_global"));
    deepEqual(listAll(world.repo).filter((name) => !name.startsWith(".git/")), []);
  });

  it("project codex --project means another folder than the one it runs in", async () => {
    await using world = await projectionWorld(VAULT);

    equal((await world.run(["codex", "--project", "repo"], { cwd: "" })).code, 0);

    ok(world.read(world.inRepo("AGENTS.md")).includes("m_project"));
  });

  it("project codex changes nothing where memories are the same", async () => {
    await using world = await projectionWorld(VAULT);
    world.write(world.repo, { "AGENTS.md": GUIDE });
    await project(world);
    const { mtime, ino } = await Deno.stat(world.inRepo("AGENTS.md"));
    const home = await world.tree();

    equal(await project(world), "Nothing had to be changed\n");

    const now = await Deno.stat(world.inRepo("AGENTS.md"));
    deepEqual([now.mtime, now.ino], [mtime, ino]);
    deepEqual(await world.tree(), home);
  });

  for (
    const [name, text] of [
      ["text", GUIDE],
      ["CRLF", GUIDE.replaceAll("\n", "\r\n")],
      ["no line end at the end", GUIDE.trimEnd()],
      ["a byte order mark", `\ufeff${GUIDE}`],
      ["nothing in it", ""],
      ["a fence of ours in code", `\`\`\`\n${BLOCK_START}\n${BLOCK_END}\n\`\`\`\n`],
    ] as const
  ) {
    it(`project codex --undo gives back a file with ${name}, byte for byte`, async () => {
      await using world = await projectionWorld(VAULT);
      world.write(world.repo, { "AGENTS.md": text });
      await Deno.chmod(world.inRepo("AGENTS.md"), 0o640);
      const [home, repo] = [await world.tree(), await readTree(world.repo)];

      await project(world);
      const first = world.read(world.inRepo("AGENTS.md"));
      world.write(world.vault, inStore({ "new.md": memoryText("m_new") }));
      await project(world);
      const second = world.read(world.inRepo("AGENTS.md"));
      await project(world, "--undo");

      ok(first.startsWith(text));
      ok(second !== first && second.includes("m_new"));
      deepEqual(await readTree(world.repo), repo);
      deepEqual(await world.tree(), home);
    });
  }

  it("project codex --undo removes files and folders that it made", async () => {
    await using world = await projectionWorld(VAULT);
    const [home, repo] = [await world.tree(), await readTree(world.repo)];

    await project(world);
    world.write(world.vault, inStore({ "new.md": memoryText("m_new") }));
    await project(world);
    deepEqual(backupsOf(world), []);
    await project(world, "--undo");

    deepEqual(await world.tree(), home);
    deepEqual(await readTree(world.repo), repo);
  });

  it("project codex --undo keeps what people have written around the block", async () => {
    await using world = await projectionWorld(VAULT);
    await project(world);
    const path = world.inRepo("AGENTS.md");
    await Deno.writeTextFile(path, `# Mine\n\n${world.read(path)}\nMore of mine.\n`);
    await project(world);

    const output = await project(world, "--undo");

    match(output, /was taken out of .*AGENTS\.md; all else is as it stood there/);
    equal(world.read(path), "# Mine\n\n\nMore of mine.\n");
  });

  it("project codex --undo is well where somebody has taken the block out, or the file", async () => {
    await using world = await projectionWorld(VAULT);
    world.write(world.repo, { "AGENTS.md": GUIDE });
    await project(world);
    await Deno.writeTextFile(world.inRepo("AGENTS.md"), "new\n");
    await Deno.remove(world.inHome(".codex/AGENTS.md"));

    match(await project(world, "--undo"), /holds no list of ours any more/);

    equal(world.read(world.inRepo("AGENTS.md")), "new\n");
    equal(await project(world, "--undo"), "Nothing had to be changed\n");
  });

  it("project codex renders a block anew that somebody has edited, and keeps a copy", async () => {
    await using world = await projectionWorld(VAULT);
    await project(world);
    const path = world.inRepo("AGENTS.md");
    const rendered = world.read(path);
    const edited = rendered.replace("- m_project", "- my own note\n- m_project");
    await Deno.writeTextFile(path, edited);

    await project(world);
    await project(world, "--undo");

    deepEqual(backupsOf(world), [edited]);
  });

  it("project codex --undo keeps the copy of what somebody has written into the block", async () => {
    await using world = await projectionWorld(VAULT);
    world.write(world.repo, { "AGENTS.md": GUIDE });
    await project(world);
    const path = world.inRepo("AGENTS.md");
    const edited = world.read(path).replace("- m_project", "- my own note\n- m_project");
    await Deno.writeTextFile(path, edited);

    await project(world);
    match(await project(world, "--undo"), /AGENTS\.md is as it was before/);

    equal(world.read(path), GUIDE);
    ok(backupsOf(world).includes(edited));
  });

  it("project codex --undo loses nothing of what was written into the block just before", async () => {
    for (const files of [{}, { "AGENTS.md": GUIDE }]) {
      await using world = await projectionWorld(VAULT);
      world.write(world.repo, files);
      await project(world);
      const path = world.inRepo("AGENTS.md");
      const edited = world.read(path).replace("- m_project", "- my own note\n- m_project");
      await Deno.writeTextFile(path, edited);

      match(await project(world, "--undo"), /what stood there is in /);

      ok(backupsOf(world).includes(edited));
    }
  });

  it("project codex keeps the last copies of a file, for its owner alone", async () => {
    await using world = await projectionWorld(VAULT);
    const path = world.inRepo("AGENTS.md");
    for (let at = 0; at < MAX_BACKUPS + 3; at++) {
      await Deno.writeTextFile(path, `# ${at}\n`);
      await project(world);
    }

    deepEqual(
      backupsOf(world).sort(),
      Array.from({ length: MAX_BACKUPS }, (_, at) => `# ${at + 3}\n`).sort(),
    );
    for (const name of listAll(world.inHome(".commonplace"))) {
      const { mode, isDirectory } = await Deno.stat(world.inHome(`.commonplace/${name}`));
      equal((mode ?? 0) & 0o777, isDirectory ? 0o700 : 0o600, name);
    }
  });

  it("project codex follows links that stay in the project, and a person's own", async () => {
    await using world = await projectionWorld(VAULT);
    world.write(world.repo, { "docs/agents.md": GUIDE });
    await Deno.symlink("docs/agents.md", world.inRepo("AGENTS.md"));
    world.write(world.git.pathOf("dotfiles"), { "agents.md": GUIDE });
    await Deno.mkdir(world.inHome(".codex"));
    await Deno.symlink(world.git.pathOf("dotfiles/agents.md"), world.inHome(".codex/AGENTS.md"));
    const before = [await world.tree(), await readTree(world.repo)];

    await project(world);

    equal(await Deno.readLink(world.inRepo("AGENTS.md")), "docs/agents.md");
    ok(world.read(world.inRepo("docs/agents.md")).includes("m_project"));
    ok(world.read(world.git.pathOf("dotfiles/agents.md")).includes("m_global"));
    await project(world, "--undo");
    deepEqual([await world.tree(), await readTree(world.repo)], before);
    equal(world.read(world.git.pathOf("dotfiles/agents.md")), GUIDE);
  });

  it("project codex says what keeps Codex from reading it", async () => {
    await using world = await projectionWorld(VAULT);
    world.write(world.repo, {
      "AGENTS.override.md": "x",
      "AGENTS.md": `${"text ".repeat(7_000)}\n`,
    });

    const output = await project(world);

    match(output, /Codex reads .*AGENTS\.override\.md, and not this file/);
    match(output, /Codex reads the first 32768 bytes/);
  });

  it("project codex --dry-run shows the block, and changes nothing", async () => {
    await using world = await projectionWorld(VAULT);
    world.write(world.repo, { "AGENTS.md": "a secret of theirs\n" });
    const before = [await world.tree(), await readTree(world.repo), await readTree(world.vault)];

    const output = await project(world, "--dry-run");

    match(output, /memories of the project: .*\/repo\/AGENTS\.md\n {3}put into the file/);
    ok(output.includes(BLOCK_START) && output.includes("m_project") && output.includes("m_global"));
    match(output, /make the folder .*\.codex\n/);
    ok(!output.includes("secret of theirs"));
    deepEqual(
      [await world.tree(), await readTree(world.repo), await readTree(world.vault)],
      before,
    );
  });
});

interface Refused {
  readonly name: string;
  readonly reason: RegExp;
  readonly prepare: (world: ProjectionWorld) => Promise<void> | void;
}

const block = `${BLOCK_START}\nx\n${BLOCK_END}\n`;

const REFUSED: readonly Refused[] = [
  {
    name: "two blocks",
    reason: /AGENTS\.md: it holds several blocks of ours/,
    prepare: (world) => world.write(world.repo, { "AGENTS.md": `${block}\n${block}` }),
  },
  {
    name: "half a block",
    reason: /AGENTS\.md: it holds half a block of ours/,
    prepare: (world) => world.write(world.repo, { "AGENTS.md": `${GUIDE}\n${BLOCK_START}\n` }),
  },
  {
    name: "an end before its beginning",
    reason: /half a block/,
    prepare: (world) => world.write(world.repo, { "AGENTS.md": `${BLOCK_END}\n${BLOCK_START}\n` }),
  },
  {
    name: "bytes that are no UTF-8",
    reason: /AGENTS\.md: it is no text in UTF-8/,
    prepare: (world) =>
      world.write(world.repo, { "AGENTS.md": new Uint8Array([0x61, 0xff, 0x0a]) }),
  },
  {
    name: "a file that is read-only",
    reason: /AGENTS\.md is read-only/,
    prepare: async (world) => {
      world.write(world.repo, { "AGENTS.md": GUIDE });
      await Deno.chmod(world.inRepo("AGENTS.md"), 0o444);
    },
  },
  {
    name: "a folder that is read-only",
    reason: /AGENTS\.md lies in .*repo, which is read-only/,
    prepare: (world) => Deno.chmod(world.repo, 0o555),
  },
  {
    name: "a link that leads out of the project",
    reason: /AGENTS\.md is a link that leads out of .*repo, to .*\.profile/,
    prepare: async (world) => {
      world.write(world.home, { ".profile": "export A=1\n" });
      await Deno.symlink(world.inHome(".profile"), world.inRepo("AGENTS.md"));
    },
  },
  {
    name: "a link that leads nowhere",
    reason: /AGENTS\.md is a link that leads nowhere/,
    prepare: (world) => Deno.symlink("gone.md", world.inRepo("AGENTS.md")),
  },
  {
    name: "a file that is too large",
    reason: /AGENTS\.md is over 1048576 bytes/,
    prepare: (world) => world.write(world.repo, { "AGENTS.md": "a".repeat(MAX_FILE_BYTES + 1) }),
  },
  {
    name: "a folder of that name",
    reason: /AGENTS\.md is no file/,
    prepare: (world) => world.write(world.repo, { "AGENTS.md/x": "" }),
  },
  {
    name: "code that nothing closes",
    reason: /AGENTS\.md: its end lies inside of code/,
    prepare: (world) => world.write(world.repo, { "AGENTS.md": "```\ncode\n" }),
  },
];

describe("project codex refuses", () => {
  for (const { name, reason, prepare } of REFUSED) {
    it(`project codex refuses ${name}, leaves the file, and does the rest`, async () => {
      await using world = await projectionWorld(VAULT);
      try {
        await prepare(world);
        const before = await readTree(world.repo);

        const { code, errors } = await world.run(["codex"]);

        match(errors, reason);
        equal(code, 1);
        deepEqual(await readTree(world.repo), before);
        ok(world.read(world.inHome(".codex/AGENTS.md")).includes("m_global"));
        const { code: again, errors: same } = await world.run(["codex", "--dry-run"]);
        match(same, reason);
        equal(again, 1);
      } finally {
        await Deno.chmod(world.repo, 0o755);
      }
    });
  }

  it("project codex --undo refuses half a block, and keeps it on record", async () => {
    await using world = await projectionWorld(VAULT);
    world.write(world.repo, { "AGENTS.md": GUIDE });
    await project(world);
    const path = world.inRepo("AGENTS.md");
    const whole = world.read(path);
    await Deno.writeTextFile(path, whole.replace(BLOCK_END, ""));

    const { code, errors } = await world.run(["codex", "--undo"]);
    match(errors, /half a block/);
    equal(code, 1);

    await Deno.writeTextFile(path, whole);
    await project(world, "--undo");
    equal(world.read(path), GUIDE);
    deepEqual(listAll(world.home).filter((name) => name.startsWith(".commonplace")), []);
  });
});
