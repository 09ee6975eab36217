/** Whatever goes wrong while Claude Code's folder becomes a link, no note is lost. */
import {
  deepStrictEqual as deepEqual,
  match,
  ok,
  rejects,
  strictEqual as equal,
} from "node:assert/strict";
import { it } from "@std/testing/bdd";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { AppError, EditConflict } from "@/lib/errors.ts";
import { describeWithGit as describe } from "../_support/git_repo.ts";
import { type ProjectionWorld, projectionWorld } from "../_support/projection_world.ts";
import { textsBelow } from "../_support/temp_vault.ts";
import { type AtStep, type ClaudeRun, runClaude } from "./_claude_steps.ts";

const CHILD = fileURLToPath(new URL("./_claude_steps.ts", import.meta.url));
const CONFIG = fileURLToPath(new URL("../config.json", import.meta.url));

const NOTES = {
  "MEMORY.md": "- [A](a.md) — one\n",
  "a.md": "---\nname: A\ndescription: one\n---\n\nof Claude\n",
  "team/b.md": "---\nname: B\ndescription: two\n---\n\nof the team\n",
};

async function claudeWorld(): Promise<ProjectionWorld> {
  const world = await projectionWorld();
  world.write(world.claudeMemory, NOTES);
  return world;
}

function runOf(world: ProjectionWorld): ClaudeRun {
  return {
    vault: world.vault,
    state: world.state,
    repo: world.repo,
    machine: { home: world.home, env: world.env() },
    git: { path: world.git.gitPath, env: world.git.env },
  };
}

/** Runs it as a process that dies at a step; tells whether it got so far. */
async function runAndDie(world: ProjectionWorld, at: number): Promise<boolean> {
  const { machine: { home, env }, ...run } = runOf(world);
  const input = JSON.stringify({ ...run, home, env: Object.fromEntries(env) });
  const { signal, success, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", "--no-check", "--quiet", "--config", CONFIG, CHILD, input, String(at)],
    stdout: "null",
    stderr: "piped",
  }).output();
  const isDead = signal === "SIGKILL";
  ok(isDead || success, new TextDecoder().decode(stderr));
  return isDead;
}

const STEPS_IN_ALL = 13;

/** Does something at a step, the first time. */
function once(name: string, when: "before" | "after", work: () => void): AtStep {
  let isDone = false;
  return (...step) => {
    if (isDone || step[0] !== name || step[1] !== when) return;
    isDone = true;
    work();
  };
}

/** Every text that lies anywhere: in the folder, put aside, or in the store. */
function textsOf(world: ProjectionWorld): Set<string> {
  const folders = [world.inHome(".claude/projects"), join(world.vault, "memories")];
  return new Set(
    folders.flatMap((folder) => {
      try {
        return Object.values(textsBelow(folder));
      } catch {
        // Not made yet.
        return [];
      }
    }),
  );
}

describe("a crash while Claude Code's folder becomes a link", () => {
  it("loses nothing at any step, and the next run finishes it", async () => {
    let at = 0;
    for (; at < 100; at++) {
      await using world = await claudeWorld();
      const before = await world.tree();

      const isDead = await runAndDie(world, at);

      const texts = textsOf(world);
      for (const text of Object.values(NOTES)) ok(texts.has(text), `step ${at}`);
      const { code, errors } = await world.run(["claude"]);
      equal(errors, "", `step ${at}`);
      equal(code, 0);
      equal(await Deno.readLink(world.claudeMemory), world.store, `step ${at}`);
      const stored = textsBelow(world.store);
      for (const [path, text] of Object.entries(NOTES)) equal(stored[path], text, `step ${at}`);
      // Nothing twice.
      deepEqual(Object.keys(stored).sort(), [...Object.keys(NOTES), "project.md"].sort());
      equal((await world.run(["claude", "--undo"])).code, 0);
      deepEqual(await world.tree(), before, `step ${at}`);
      if (!isDead) break;
    }
    // The plan; then three files, a folder, a rename and a link, each before and after.
    equal(at, STEPS_IN_ALL);
  });

  it("can be undone at any step too", async () => {
    for (let at = 0; at < STEPS_IN_ALL; at++) {
      await using world = await claudeWorld();
      const before = await world.tree();
      await runAndDie(world, at);

      const { code, errors } = await world.run(["claude", "--undo"]);

      equal(errors, "", `step ${at}`);
      equal(code, 0);
      deepEqual(await world.tree(), before, `step ${at}`);
    }
  });
});

describe("a failure while Claude Code's folder becomes a link", () => {
  const STEPS = ["write", "makeFolder", "rename", "link"];
  for (const failing of STEPS) {
    for (const when of ["before", "after"] as const) {
      it(`puts all back that is not in the store: ${when} ${failing}`, async () => {
        await using world = await claudeWorld();
        const before = await world.tree();
        const fail = once(failing, when, () => {
          throw new AppError("not-writable", "no more");
        });

        await rejects(runClaude(runOf(world), fail), /no more/);

        // Behind the link all is done.
        if (failing === "link" && when === "after") {
          equal(await Deno.readLink(world.claudeMemory), world.store);
        } else deepEqual(await world.tree(), before);
        equal((await world.run(["claude"])).code, 0);
        deepEqual(textsBelow(world.claudeMemory), textsBelow(world.store));
        equal((await world.run(["claude", "--undo"])).code, 0);
        deepEqual(await world.tree(), before);
      });
    }
  }

  it("says why a system makes no link, and leaves the folder where it was", async () => {
    await using world = await claudeWorld();
    const before = await world.tree();
    const block = once("link", "before", () => Deno.writeTextFileSync(world.claudeMemory, "x"));

    await rejects(runClaude(runOf(world), block), /could not be made a link: something is there/);

    equal(world.read(world.claudeMemory), "x");
    await Deno.remove(world.claudeMemory);
    equal((await world.run(["claude", "--undo"])).code, 0);
    deepEqual(await world.tree(), before);
  });
});

describe("somebody else at work while Claude Code's folder becomes a link", () => {
  it("has what it changes brought into the store beside what was there", async () => {
    await using world = await claudeWorld();
    const edit = once("write", "before", () => {
      Deno.writeTextFileSync(join(world.claudeMemory, "a.md"), "newer\n");
    });

    const lines = await runClaude(runOf(world), edit);

    match(lines.join("\n"), /a\.md is in the store now as a \(Claude Code\)\.md/);
    const stored = textsBelow(world.store);
    equal(stored["a.md"], NOTES["a.md"]);
    equal(stored["a (Claude Code).md"], "newer\n");
  });

  it("has what comes at the last moment brought into the store too", async () => {
    await using world = await claudeWorld();
    const add = once("rename", "before", () => {
      Deno.writeTextFileSync(join(world.claudeMemory, "late.md"), "late\n");
    });

    await runClaude(runOf(world), add);

    equal(textsBelow(world.store)["late.md"], "late\n");
  });

  it("has a folder left alone that is no folder of notes any more", async () => {
    await using world = await claudeWorld();
    const add = once("rename", "before", () => {
      Deno.writeTextFileSync(join(world.claudeMemory, "late.json"), "{}");
    });

    await rejects(runClaude(runOf(world), add), /holds what is no note \(late\.json\)/);

    equal(world.read(join(world.claudeMemory, "late.json")), "{}");
    ok((await Deno.lstat(world.claudeMemory)).isDirectory);
  });

  it("is refused where the folder has changed since the plan", async () => {
    await using world = await claudeWorld();
    const add = once("plan", "after", () => {
      Deno.writeTextFileSync(join(world.claudeMemory, "new.md"), "new\n");
    });

    await rejects(runClaude(runOf(world), add), EditConflict);

    deepEqual(textsBelow(world.claudeMemory), { ...NOTES, "new.md": "new\n" });
    deepEqual(textsBelow(world.vault), {});
  });

  it("is refused where a link has come since the plan", async () => {
    await using world = await projectionWorld();
    await Deno.mkdir(join(world.claudeMemory, ".."), { recursive: true });
    const add = once("plan", "after", () => {
      Deno.symlinkSync("/elsewhere", world.claudeMemory);
    });

    await rejects(runClaude(runOf(world), add), EditConflict);

    equal(await Deno.readLink(world.claudeMemory), "/elsewhere");
  });
});
