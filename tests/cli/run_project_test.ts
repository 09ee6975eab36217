import {
  deepStrictEqual as deepEqual,
  match,
  ok,
  rejects,
  strictEqual as equal,
} from "node:assert/strict";
import { it } from "@std/testing/bdd";
import { join } from "node:path";
import { ConfigError } from "@/lib/errors.ts";
import { listProjections } from "@/lib/projection/projection_record.ts";
import { describeWithGit as describe } from "../_support/git_repo.ts";
import { readTree } from "../_support/homes.ts";
import {
  inStore,
  memoryText,
  type ProjectionWorld,
  projectionWorld,
  type RunOptions,
} from "../_support/projection_world.ts";
import { textsBelow } from "../_support/temp_vault.ts";
import { untilSo } from "../_support/until.ts";

const VAULT = {
  "memories/g.md": memoryText("m_global"),
  ...inStore({ "p.md": memoryText("m_project") }),
};

const TOKEN = "the-owners-own-token";

/** A world in which both agents are used. */
async function usedWorld(): Promise<ProjectionWorld> {
  const world = await projectionWorld(VAULT);
  await Deno.mkdir(world.inHome(".claude"));
  await Deno.mkdir(world.inHome(".codex"));
  return world;
}

describe("runProject()", () => {
  it("runProject() shows memories to every agent that is there", async () => {
    await using world = await projectionWorld(VAULT);
    const before = await world.tree();
    match((await world.run()).output, /No agent with files of its own is here/);
    deepEqual(await world.tree(), before);

    await Deno.mkdir(world.inHome(".codex"));
    equal((await world.run()).code, 0);

    ok(world.read(world.inRepo("AGENTS.md")).includes("m_project"));
    deepEqual((await world.tree())[".claude"], undefined);

    await Deno.mkdir(world.inHome(".claude"));
    equal((await world.run()).code, 0);
    equal(await Deno.readLink(world.claudeMemory), world.store);
  });

  it("runProject() shows at once what one agent brings to the next", async () => {
    await using world = await usedWorld();
    world.write(world.claudeMemory, { "x.md": "---\nname: X\ndescription: d\n---\n\nx\n" });

    await world.run();

    ok(world.read(world.inRepo("AGENTS.md")).includes("x.md | X | d"));
    equal((await world.run()).output, "Nothing had to be changed\n");
  });

  it("runProject() does what can be done outside of a project", async () => {
    await using world = await usedWorld();
    await Deno.mkdir(world.git.pathOf("plain"));

    const { code, errors } = await world.run([], { cwd: "plain" });

    deepEqual([code, errors], [0, ""]);
    ok(world.read(world.inHome(".codex/AGENTS.md")).includes("m_global"));
    match(
      (await world.run([], { cwd: "plain", env: { CODEX_HOME: "/none" } })).output,
      /no project/,
    );
    const { code: refused, errors: reason } = await world.run(["--project", "../plain"]);
    match(reason, /plain is in no Git repository/);
    equal(refused, 1);
  });

  it("runProject() goes on where one agent is refused, and ends with 1", async () => {
    await using world = await usedWorld();
    world.write(world.claudeMemory, { "x.json": "{}" });

    const { code, errors } = await world.run();

    equal(code, 1);
    match(errors, /holds what is no note/);
    ok(world.read(world.inRepo("AGENTS.md")).includes("m_project"));
  });

  const WRONG: readonly (readonly [args: readonly string[], words: RegExp])[] = [
    [["codx"], /There is no agent "codx"; did you mean codex\?/],
    [["file"], /There is no agent "file"; known are claude, codex/],
    [["codex", "--file", "A.md"], /codex has its own/],
    [["--file", "docs/"], /needs the name of a file/],
    [["--project", "none"], /--project: there is no folder .*none/],
    [["--watch", "--dry-run"], /--dry-run changes nothing/],
    [["--undo", "--watch"], /--undo takes back/],
    [["--undo", "--refresh"], /--undo takes back/],
    [["--json"], /belongs to/],
  ];
  for (const [args, words] of WRONG) {
    it(`runProject() refuses ${args.join(" ")}`, async () => {
      await using world = await usedWorld();
      const before = await world.tree();

      await rejects(
        world.run(args),
        (error) => error instanceof ConfigError && words.test(error.message),
      );

      deepEqual(await world.tree(), before);
    });
  }

  it("runProject() refuses a machine without a home", async () => {
    await using world = await usedWorld();

    await rejects(world.run(["codex"], { env: { HOME: "" } }), /There is no home folder/);
  });

  it("runProject() --refresh brings up to date what is shown, and shows nothing new", async () => {
    await using world = await usedWorld();
    deepEqual(await world.run(["codex", "--refresh"]), {
      code: 0,
      output: "",
      errors: "",
      questions: [],
    });
    deepEqual(await listProjections(world.home), []);
    await world.run(["codex"]);
    await Deno.writeTextFile(world.inHome(".codex/AGENTS.md"), "taken out\n");
    world.write(world.vault, {
      "memories/new.md": memoryText("m_new"),
      ...inStore({ "new.md": memoryText("m_newer") }),
    });

    const { code, errors } = await world.run(["codex", "--refresh"]);

    deepEqual([code, errors], [0, ""]);
    ok(world.read(world.inRepo("AGENTS.md")).includes("m_newer"));
    equal(world.read(world.inHome(".codex/AGENTS.md")), "taken out\n");
  });

  it("runProject() --undo takes back of this project, and what belongs to none", async () => {
    await using world = await usedWorld();
    await world.git.init("other");
    const before = await readTree(world.git.pathOf("other"));
    await world.run(["codex"]);
    await world.run(["codex"], { cwd: "other" });

    match((await world.run(["--undo", "--dry-run"])).output, /This would be taken back:[^]*AGENTS/);
    ok(world.read(world.inRepo("AGENTS.md")).includes("m_project"));
    await world.run(["--undo", "--project", "../other"]);
    deepEqual(await readTree(world.git.pathOf("other")), before);
    equal((await listProjections(world.home)).length, 2);
    await world.run(["--undo"]);

    deepEqual(await listProjections(world.home), []);
  });

  it("runProject() shows a note's text as it is, and steers no terminal with it", async () => {
    await using world = await usedWorld();
    world.write(world.home, { ".codex/AGENTS.md": "\u001b[31m\n```\n" });

    const { errors, output } = await world.run(["codex", "--dry-run"]);

    ok(!`${errors}${output}`.includes("\u001b"));
  });
});

describe("runProject() in mode ask", () => {
  const ask = (world: ProjectionWorld, args: readonly string[], options?: RunOptions) =>
    world.run([...args, "--access", "ask"], options);

  it("runProject() shows nothing without the person's leave, and says how to give it", async () => {
    await using world = await usedWorld();
    const before = [await world.tree(), await readTree(world.repo), textsBelow(world.vault)];

    for (const args of [[], ["claude"], ["codex"], ["--file", "A.md"], ["codex", "--dry-run"]]) {
      const { code, errors, output } = await ask(world, args);
      equal(code, 1, args.join(" "));
      match(errors, /Run the command in a terminal.*or bring your own token with --owner-token/);
      ok(!/m_global|m_project/.test(errors + output));
    }

    deepEqual([await world.tree(), await readTree(world.repo), textsBelow(world.vault)], before);
  });

  it("runProject() does not say without the person's leave why a store refuses something", async () => {
    await using world = await usedWorld();
    world.write(world.store, { "Secret/x.md": "x\n" });
    world.write(world.claudeMemory, { "secret/y.md": "y\n" });

    for (const args of [["claude"], ["claude", "--dry-run"]]) {
      const { code, errors, output } = await ask(world, args);
      equal(code, 1);
      match(errors, /it takes your leave/);
      ok(!`${errors}${output}`.includes("Secret"));
      match((await ask(world, args, { isTerminal: true })).errors, /the store has as "Secret"/);
    }
  });

  it("runProject() asks in words that say what the agent will see, and does as it is told", async () => {
    await using world = await usedWorld();

    const refused = await ask(world, [], { answers: ["n", "maybe", "否", ""], isTerminal: true });
    equal(refused.code, 1);
    match(refused.errors, /not allowed, so nothing was changed/);
    match(refused.errors, /Answer y/);
    deepEqual(await listProjections(world.home), []);

    const { code, questions } = await ask(world, [], {
      answers: ["y", "是", "yes"],
      isTerminal: true,
    });

    equal(code, 0);
    equal(questions.length, 3);
    match(
      questions[0] ?? "",
      /Claude Code would read, change and add to the memories of project site in .*vault, as files in/,
    );
    match(
      questions[1] ?? "",
      /Codex would see names and descriptions of the memories of the project/,
    );
    match(questions[2] ?? "", /Codex would see names and descriptions of your global memories/);
    deepEqual((await listProjections(world.home)).map(({ decidedBy }) => decidedBy), [
      "answer",
      "answer",
      "answer",
    ]);
  });

  it("runProject() takes the end of input for no", async () => {
    await using world = await usedWorld();

    equal((await ask(world, ["codex"], { isTerminal: true })).code, 1);

    deepEqual(await listProjections(world.home), []);
  });

  it("runProject() goes on under a decision, without asking again", async () => {
    await using world = await usedWorld();
    await ask(world, ["codex"], { answers: ["y", "y"], isTerminal: true });
    world.write(world.vault, { "memories/new.md": memoryText("m_new") });

    equal((await ask(world, ["codex", "--refresh"])).code, 0);
    ok(world.read(world.inHome(".codex/AGENTS.md")).includes("m_new"));
    equal((await ask(world, ["codex"])).code, 0);

    // Taken back, it takes another one.
    await ask(world, ["codex", "--undo"]);
    equal((await ask(world, ["codex"])).code, 1);
  });

  it("runProject() takes no decision that was made for another vault", async () => {
    await using world = await usedWorld();
    await ask(world, ["codex"], { answers: ["y", "y"], isTerminal: true });
    const vault = world.git.pathOf("other-vault");
    world.write(vault, { "memories/x.md": memoryText("m_other") });
    const before = [await world.tree(), await readTree(world.repo)];

    for (const args of [["codex"], ["codex", "--refresh"], ["codex", "--dry-run"]]) {
      equal((await ask(world, args, { vault })).code, 1);
    }

    deepEqual([await world.tree(), await readTree(world.repo)], before);
  });

  it("runProject() shows nothing that was shown while nobody had to be asked", async () => {
    await using world = await usedWorld();
    await world.run(["codex"]);
    world.write(world.vault, { "memories/new.md": memoryText("m_new") });

    const { code, errors } = await ask(world, ["codex", "--refresh"]);

    equal(code, 1);
    match(errors, /it takes your leave/);
    ok(!world.read(world.inHome(".codex/AGENTS.md")).includes("m_new"));
  });

  for (
    const [name, args, env] of [
      ["a flag", ["--owner-token", TOKEN], {}],
      ["the environment", [], { COMMONPLACE_OWNER_TOKEN: TOKEN }],
      ["a name of the environment", ["--owner-token", "env:MINE"], { MINE: TOKEN }],
    ] as const
  ) {
    it(`runProject() takes the owner's token by ${name}`, async () => {
      await using world = await usedWorld();
      world.write(world.state, { "owner-token": `${TOKEN}\n` });
      await Deno.chmod(join(world.state, "owner-token"), 0o600);

      const { code, errors, questions } = await ask(world, ["codex", ...args], { env });

      deepEqual([code, errors, questions], [0, "", []]);
      deepEqual((await listProjections(world.home)).map(({ decidedBy }) => decidedBy), [
        "token",
        "token",
      ]);
      equal((await ask(world, ["codex", "--dry-run", ...args], { env })).code, 0);
    });
  }

  it("runProject() refuses a token that is not the owner's", async () => {
    await using world = await usedWorld();
    world.write(world.state, { "owner-token": `${TOKEN}\n` });
    await Deno.chmod(join(world.state, "owner-token"), 0o600);
    const wrong = ["--owner-token", "not-the-owners-token"];

    for (const args of [["codex"], ["claude"], ["codex", "--dry-run"]]) {
      const { code, errors } = await ask(world, [...args, ...wrong], { isTerminal: true });
      equal(code, 1);
      match(errors, /is not the one in .*owner-token/);
      ok(!errors.includes("not-the-owners-token"));
    }
    deepEqual(await listProjections(world.home), []);
  });
});

describe("runProject() --watch", () => {
  it("runProject() --watch follows memories until it is asked to stop", async () => {
    await using world = await usedWorld();
    const stop = Promise.withResolvers<void>();
    const path = world.inHome(".codex/AGENTS.md");

    const running = world.run(["codex", "--watch"], { askedToStop: () => stop.promise });
    await untilSo("it is shown", () => isIn(world, path, "m_global"));
    world.write(world.vault, { "memories/one.md": memoryText("m_one") });
    await untilSo("a change is seen", () => isIn(world, path, "m_one"));
    stop.resolve();

    const { code, errors, output } = await running;
    deepEqual([code, errors], [0, ""]);
    match(output, /Following changes; Ctrl-C ends it/);
  });
});

function isIn(world: ProjectionWorld, path: string, text: string): boolean {
  try {
    return world.read(path).includes(text);
  } catch {
    // Not made yet.
    return false;
  }
}
