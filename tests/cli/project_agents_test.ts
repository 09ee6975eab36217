import {
  deepStrictEqual as deepEqual,
  match,
  ok,
  rejects,
  strictEqual as equal,
} from "node:assert/strict";
import { it } from "@std/testing/bdd";
import { applyProjections, removeProjections } from "@/lib/cli/project_agents.ts";
import { openProjectionSession } from "@/lib/cli/projection_session.ts";
import { ConfigError, EditConflict } from "@/lib/errors.ts";
import { codex } from "@/lib/projection/codex.ts";
import { listProjections } from "@/lib/projection/projection_record.ts";
import { describeWithGit as describe } from "../_support/git_repo.ts";
import { readTree } from "../_support/homes.ts";
import {
  inStore,
  memoryText,
  type ProjectionWorld,
  projectionWorld,
} from "../_support/projection_world.ts";
import { fakeTerminal } from "./_fake_terminal.ts";

const VAULT = {
  "memories/g.md": memoryText("m_global"),
  ...inStore({ "p.md": memoryText("m_project") }),
};

/** Calls as the commands that connect agents do. */
function callsOf(world: ProjectionWorld, { answers = [] }: { answers?: string[] } = {}) {
  const isTerminal = answers.length > 0;
  const surroundings = world.surroundings([], fakeTerminal(answers, { isTerminal }));
  return {
    apply: (agent: string, project?: string, access: "open" | "ask" = "open") =>
      applyProjections({ ...world.config(), access }, surroundings, { agent, project }),
    remove: (agent: string, project?: string) =>
      removeProjections(surroundings, { agent, project }),
  };
}

describe("applyProjections()", () => {
  it("applyProjections() shows what belongs to no project, unless one is named", async () => {
    await using world = await projectionWorld(VAULT);
    const { apply } = callsOf(world);

    const claude = await apply("claude");
    const codex = await apply("codex");

    deepEqual(claude, { lines: [], refusals: [] });
    deepEqual(codex.refusals, []);
    deepEqual(codex.lines, [
      `${world.inHome(".codex/AGENTS.md")} was made for the list of memories`,
    ]);
    equal((await listProjections(world.home)).length, 1);
  });

  it("applyProjections() shows a project that is named by any folder in it", async () => {
    await using world = await projectionWorld(VAULT);
    await Deno.mkdir(world.inRepo("src"));
    const { apply } = callsOf(world);

    await apply("claude", world.inRepo("src"));
    await apply("codex", "src");

    equal(await Deno.readLink(world.claudeMemory), world.store);
    ok(world.read(world.inRepo("AGENTS.md")).includes("m_project"));
  });

  it("applyProjections() shows nothing to an agent that it does not know", async () => {
    await using world = await projectionWorld(VAULT);

    deepEqual(await callsOf(world).apply("other", world.repo), { lines: [], refusals: [] });
  });

  it("applyProjections() says what was refused, and does the rest", async () => {
    await using world = await projectionWorld(VAULT);
    world.write(world.repo, { "AGENTS.md": "```\n" });
    await Deno.mkdir(world.git.pathOf("plain"));
    const { apply } = callsOf(world);

    const { lines, refusals } = await apply("codex", world.repo);
    equal(lines.length, 1);
    match(refusals.join(), /AGENTS\.md: its end lies inside of code/);

    const none = await apply("codex", world.git.pathOf("plain"));
    match(none.refusals.join(), /plain is in no Git repository/);
    await rejects(apply("codex", "none"), ConfigError);
  });

  it("applyProjections() takes the person's leave in mode ask", async () => {
    await using world = await projectionWorld(VAULT);

    const refused = await callsOf(world).apply("codex", world.repo, "ask");
    const asked = await callsOf(world, { answers: ["n", "y"] }).apply("codex", world.repo, "ask");

    deepEqual(refused.lines, []);
    equal(refused.refusals.length, 2);
    equal(asked.refusals.length, 1);
    deepEqual(
      (await listProjections(world.home)).map(({ scope, decidedBy }) => [scope, decidedBy]),
      [["global", "answer"]],
    );
  });
});

describe("ProjectionSession", () => {
  it("apply() refuses a plan whose file has changed since, and puts nothing on record", async () => {
    await using world = await projectionWorld(VAULT);
    world.write(world.repo, { "AGENTS.md": "mine\n" });
    const surroundings = world.surroundings([], fakeTerminal());
    await using session = await openProjectionSession(world.config(), surroundings);
    const [open] = await session.plan({ adapters: [codex], cwd: world.repo });
    if (open === undefined) throw new Error("There is a plan");
    world.write(world.repo, { "AGENTS.md": "mine, and more\n" });

    await rejects(session.apply(open), EditConflict);

    equal(world.read(world.inRepo("AGENTS.md")), "mine, and more\n");
    deepEqual(Object.keys(await world.tree()), [".gitconfig"]);
  });

  it("apply() leaves no record of a file that could not be written", async () => {
    await using world = await projectionWorld(VAULT);
    const surroundings = world.surroundings([], fakeTerminal());
    await using session = await openProjectionSession(world.config(), surroundings);
    const [open] = await session.plan({ adapters: [codex], cwd: world.repo });
    if (open === undefined) throw new Error("There is a plan");
    await Deno.chmod(world.repo, 0o555);
    try {
      await rejects(session.apply(open), /read-only/);
    } finally {
      await Deno.chmod(world.repo, 0o755);
    }

    deepEqual(Object.keys(await world.tree()), [".gitconfig"]);
  });
});

describe("applyProjections() at once with itself", () => {
  it("applyProjections() does it once, and it can be undone", async () => {
    await using world = await projectionWorld(VAULT);
    world.write(world.claudeMemory, { "a.md": "of Claude\n" });
    world.write(world.repo, { "AGENTS.md": "mine\n" });
    const before = [await world.tree(), await readTree(world.repo)];
    const { apply, remove } = callsOf(world);

    const reports = await Promise.all(
      ["claude", "codex", "claude", "codex", "claude"].map((agent) => apply(agent, world.repo)),
    );

    const refusals = reports.flatMap((report) => report.refusals);
    ok(refusals.every((words) => words.includes("Somebody has just changed")), refusals.join());
    equal(await Deno.readLink(world.claudeMemory), world.store);
    equal(world.read(world.inRepo("AGENTS.md")).split("memory:start").length, 2);
    equal((await listProjections(world.home)).length, 3);
    await remove("claude");
    await remove("codex");
    deepEqual([await world.tree(), await readTree(world.repo)], before);
  });
});

describe("removeProjections()", () => {
  it("removeProjections() takes back all of an agent, or of one project, and nothing else", async () => {
    await using world = await projectionWorld(VAULT);
    await world.git.init("other");
    world.write(world.repo, { "AGENTS.md": "mine\n" });
    const other = world.git.pathOf("other");
    const before = [await world.tree(), await readTree(world.repo), await readTree(other)];
    const { apply, remove } = callsOf(world);
    await apply("claude", world.repo);
    await apply("codex", world.repo);
    await apply("codex", other);
    const targets = async () => (await listProjections(world.home)).map(({ target }) => target);

    await remove("codex", other);
    deepEqual(await readTree(other), before[2]);
    deepEqual(
      (await targets()).sort(),
      [
        world.inHome(".codex/AGENTS.md"),
        world.inRepo("AGENTS.md"),
        world.claudeMemory,
      ].sort(),
    );

    const { lines, refusals } = await remove("codex");
    deepEqual(refusals, []);
    match(lines.join("\n"), /repo\/AGENTS\.md is as it was before/);
    deepEqual(await targets(), [world.claudeMemory]);

    await remove("claude");
    deepEqual([await world.tree(), await readTree(world.repo), await readTree(other)], before);
    deepEqual(await remove("claude"), { lines: [], refusals: [] });
  });

  it("removeProjections() needs neither the vault nor the repository", async () => {
    await using world = await projectionWorld(VAULT);
    const before = await world.tree();
    const { apply, remove } = callsOf(world);
    await apply("claude", world.repo);
    await apply("codex", world.repo);
    await Deno.remove(world.vault, { recursive: true });
    await Deno.remove(world.repo, { recursive: true });

    deepEqual((await remove("claude")).refusals, []);
    deepEqual((await remove("codex")).refusals, []);

    deepEqual(await world.tree(), before);
  });

  it("removeProjections() keeps on record what it could not take back", async () => {
    await using world = await projectionWorld(VAULT);
    const { apply, remove } = callsOf(world);
    await apply("codex");
    const path = world.inHome(".codex/AGENTS.md");
    const text = world.read(path);
    await Deno.writeTextFile(path, `${text}\n${text}`);

    match((await remove("codex")).refusals.join(), /several blocks/);
    equal((await listProjections(world.home)).length, 1);

    await Deno.writeTextFile(path, text);
    deepEqual((await remove("codex")).refusals, []);
    deepEqual(await listProjections(world.home), []);
  });
});
