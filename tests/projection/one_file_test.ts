/** A list of memories in a file that the person names. */
import { deepStrictEqual as deepEqual, match, ok, strictEqual as equal } from "node:assert/strict";
import { it } from "@std/testing/bdd";
import { join } from "node:path";
import { describeWithGit as describe } from "../_support/git_repo.ts";
import { inStore, memoryText, projectionWorld } from "../_support/projection_world.ts";
import { listAll, textsBelow } from "../_support/temp_vault.ts";

const VAULT = {
  "memories/g.md": memoryText("m_global"),
  ...inStore({ "p.md": memoryText("m_project") }),
};

/** The ids of the memories that a file lists. */
function idsIn(text: string): string[] {
  return text.split("\n").flatMap((line) => /^- (\S+) \| /.exec(line)?.[1] ?? []);
}

describe("project --file", () => {
  it("project --file shows memories of project and person, the newest first", async () => {
    await using world = await projectionWorld({
      "memories/g.md": memoryText("m_global", { updatedAt: "2026-02-01T00:00:00Z" }),
      ...inStore({
        "a.md": memoryText("m_new", { updatedAt: "2026-03-01T00:00:00Z" }),
        "b.md": memoryText("m_old", { updatedAt: "2026-01-01T00:00:00Z" }),
      }),
    });
    world.write(world.repo, { ".cursor/rules/memory.mdc": "---\nalwaysApply: true\n---\n" });

    equal((await world.run(["--file", ".cursor/rules/memory.mdc"])).code, 0);

    const text = world.read(world.inRepo(".cursor/rules/memory.mdc"));
    deepEqual(idsIn(text), ["m_new", "m_global", "m_old"]);
    ok(text.startsWith("---\nalwaysApply: true\n---\n\n<!--"));
    deepEqual(listAll(world.home).filter((name) => name.includes("codex")), []);
    equal((await world.run(["--file", ".cursor/rules/memory.mdc", "--undo"])).code, 0);
    equal(world.read(world.inRepo(".cursor/rules/memory.mdc")), "---\nalwaysApply: true\n---\n");
  });

  it("project --file shows global memories alone outside of a project", async () => {
    await using world = await projectionWorld(VAULT);
    await Deno.mkdir(world.git.pathOf("plain"));

    equal((await world.run(["--file", "new/GEMINI.md"], { cwd: "plain" })).code, 0);

    const text = world.read(world.git.pathOf("plain/new/GEMINI.md"));
    ok(text.includes("m_global") && !text.includes("m_project"));
  });

  it("project --file is a name in the project that --project says", async () => {
    await using world = await projectionWorld(VAULT);

    const { code } = await world.run(["--file", "GEMINI.md", "--project", "repo"], { cwd: "" });

    equal(code, 0);
    ok(world.read(world.inRepo("GEMINI.md")).includes("m_project"));
  });

  it("project --file refuses links that lead out, whatever the way there is called", async () => {
    await using world = await projectionWorld(VAULT);
    world.write(world.home, { ".profile": "export A=1\n", "x/keep": "" });
    await Deno.symlink(world.inHome(".profile"), world.inRepo("A.md"));
    await Deno.symlink(world.inHome("x"), world.inRepo("docs"));
    await Deno.symlink(world.repo, world.git.pathOf("other-way"));
    const before = await world.tree();

    for (
      const file of [
        "A.md",
        "docs/new.md",
        world.inRepo("A.md"),
        world.git.pathOf("other-way/A.md"),
        world.git.pathOf("other-way/docs/new.md"),
        "../other-way/docs/new.md",
      ]
    ) {
      const { code, errors } = await world.run(["--file", file]);
      match(errors, /is a link that leads out of/, file);
      equal(code, 1);
    }
    const plain = world.git.pathOf("plain");
    await Deno.mkdir(plain);
    await Deno.symlink(world.inHome(".profile"), join(plain, "A.md"));
    equal((await world.run(["--file", "A.md"], { cwd: "plain" })).code, 1);

    deepEqual(await world.tree(), before);
  });

  it("project --file takes a file of the person's own, wherever its link leads", async () => {
    await using world = await projectionWorld(VAULT);
    world.write(world.git.pathOf("dotfiles"), { "GEMINI.md": "mine\n" });
    await Deno.mkdir(world.inHome(".gemini"));
    await Deno.symlink(world.git.pathOf("dotfiles/GEMINI.md"), world.inHome(".gemini/GEMINI.md"));

    equal((await world.run(["--file", world.inHome(".gemini/GEMINI.md")])).code, 0);

    ok(world.read(world.git.pathOf("dotfiles/GEMINI.md")).includes("m_global"));
  });

  it("project --file writes nothing into the vault", async () => {
    await using world = await projectionWorld(VAULT);
    await Deno.symlink(world.vault, world.git.pathOf("other-way"));
    const before = textsBelow(world.vault);

    for (const file of [join(world.vault, "A.md"), world.git.pathOf("other-way/new/A.md")]) {
      const { code, errors } = await world.run(["--file", file]);
      match(errors, /lies in the vault itself/);
      equal(code, 1);
    }

    deepEqual(textsBelow(world.vault), before);
  });

  it("project --file leaves a file to the agent that has a list there", async () => {
    await using world = await projectionWorld(VAULT);
    equal((await world.run(["codex"])).code, 0);
    await Deno.symlink("AGENTS.md", world.inRepo("CLAUDE.md"));

    for (const file of ["AGENTS.md", "CLAUDE.md"]) {
      const { code, errors } = await world.run(["--file", file]);
      match(errors, /holds a list of memories for codex already/);
      equal(code, 1);
    }
  });
});
