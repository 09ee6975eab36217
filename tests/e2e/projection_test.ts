/** Agents' own files and the vault, as processes of their own with the permissions that they have. */
import { deepStrictEqual as deepEqual, match, ok, strictEqual as equal } from "node:assert/strict";
import { it } from "@std/testing/bdd";
import { join } from "node:path";
import { ENV_NAMES } from "@/lib/config.ts";
import { describeWithGit as describe } from "../_support/git_repo.ts";
import { MAIN_PATH, neededEnv, Program } from "../_support/program.ts";
import {
  inStore,
  memoryText,
  type ProjectionWorld,
  projectionWorld,
} from "../_support/projection_world.ts";
import { textsBelow } from "../_support/temp_vault.ts";
import { until, untilSo } from "../_support/until.ts";

const NOTE = "---\nname: Zebra rule\ndescription: Stripes before spots\n---\n\nStripes win.\n";
/** As `deno task project` grants them. */
const PERMISSIONS = [
  "--allow-read",
  "--allow-write",
  "--allow-net",
  "--allow-env",
  "--allow-run",
];

/** Runs `project` as a process of its own. */
async function runProgram(world: ProjectionWorld, ...args: string[]) {
  const { code, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: [
      ...["run", "--no-prompt", "--quiet", ...PERMISSIONS, MAIN_PATH, "project", ...args],
      ...["--vault", world.vault, "--state", world.state],
    ],
    cwd: world.repo,
    clearEnv: true,
    env: { ...neededEnv({ folder: world.home }), ...world.git.env },
  }).output();
  const text = (bytes: Uint8Array) => new TextDecoder().decode(bytes);
  return { code, output: text(stdout), errors: text(stderr) };
}

describe("Claude Code's folder as a link, while a server runs", () => {
  it("what Claude Code writes is found by the next search, and listed in the manifest", async () => {
    await using world = await projectionWorld({ "a.md": "# A\n" });
    equal((await world.run(["claude"])).code, 0);
    await using server = await world.serve();

    await Deno.writeTextFile(join(world.claudeMemory, "zebra.md"), NOTE);

    const found = await (await fetch(`${server.url}/api/search?q=zebra+stripes`)).json();
    equal(found.results[0]?.name, "Zebra rule");
    equal(found.results[0].kind, "memory");
    const manifest = join(world.claudeMemory, "MEMORY.md");
    await untilSo(
      "the manifest lists it",
      () => readIfThere(manifest).includes("- [Zebra rule](zebra.md) — Stripes before spots"),
    );
  });

  it("what another agent saves lies in Claude Code's folder", async () => {
    await using world = await projectionWorld({ "a.md": "# A\n" });
    equal((await world.run(["claude"])).code, 0);
    await using server = await world.serve();

    const response = await fetch(`${server.url}/api/memories`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({
        name: "Deploy",
        description: "How to deploy",
        body: "With care.",
        tags: ["ops"],
        scope: "project",
        cwd: world.repo,
      }),
    });

    equal(response.status, 201);
    const { path } = await response.json();
    const name = path.slice(path.lastIndexOf("/") + 1);
    match(await Deno.readTextFile(join(world.claudeMemory, name)), /With care\./);
  });

  it("what Claude Code changes and deletes is changed and gone", async () => {
    await using world = await projectionWorld(inStore({ "m.md": memoryText("m_one") }));
    equal((await world.run(["claude"])).code, 0);
    await using server = await world.serve();
    const path = join(world.claudeMemory, "m.md");
    const search = async (words: string) =>
      (await (await fetch(`${server.url}/api/search?q=${words}`)).json()).total;

    await Deno.writeTextFile(path, memoryText("m_one").replace("The body", "A giraffe"));
    equal(await search("giraffe"), 1);
    await Deno.remove(path);
    equal(await search("giraffe"), 0);
  });
});

function readIfThere(path: string): string {
  try {
    return Deno.readTextFileSync(path);
  } catch {
    return "";
  }
}

describe("main.ts project", () => {
  it("main.ts project does all of it, and undoes it, with the permissions of its task", async () => {
    await using world = await projectionWorld({
      "memories/g.md": memoryText("m_global"),
      ...inStore({ "p.md": memoryText("m_project") }),
    });
    world.write(world.claudeMemory, { "x.md": NOTE });
    world.write(world.home, { ".codex/config.toml": "" });
    const before = await world.tree();

    const shown = await runProgram(world);

    deepEqual([shown.code, shown.errors], [0, ""]);
    equal(await Deno.readLink(world.claudeMemory), world.store);
    equal(textsBelow(world.store)["x.md"], NOTE);
    ok(world.read(world.inRepo("AGENTS.md")).includes("m_project"));
    ok(world.read(world.inHome(".codex/AGENTS.md")).includes("m_global"));
    equal((await runProgram(world, "--undo")).code, 0);
    deepEqual(await world.tree(), before);
    equal((await runProgram(world, "codx")).code, 2);
  });

  it("main.ts project --watch ends when it is asked to", async () => {
    await using world = await projectionWorld({ "memories/g.md": memoryText("m_global") });
    const child = new Deno.Command(Deno.execPath(), {
      args: [
        ...["run", "--no-prompt", "--quiet", ...PERMISSIONS, MAIN_PATH, "project", "codex"],
        ...["--watch", "--vault", world.vault, "--state", world.state],
      ],
      cwd: world.repo,
      clearEnv: true,
      env: { ...neededEnv({ folder: world.home }), ...world.git.env },
      stdout: "piped",
    }).spawn();
    const reader = child.stdout.pipeThrough(new TextDecoderStream()).getReader();
    let output = "";
    while (!output.includes("Following changes")) {
      const { value, done } = await reader.read();
      if (done) throw new Error(`It ended: ${output}`);
      output += value;
    }

    child.kill("SIGTERM");

    while (!(await reader.read()).done);
    equal((await child.status).code, 0);
  });
});

describe("GET /api/projections of a server that may read no agent's files", () => {
  it("GET /api/projections refuses with a reason what it may not look at", async () => {
    await using world = await projectionWorld({ "memories/g.md": memoryText("m_global") });
    const folders = `${world.vault},${world.state}`;
    await using program = new Program([
      "run",
      "--no-prompt",
      `--allow-read=${folders},${join(MAIN_PATH, "../lib/embed/static")}`,
      `--allow-write=${folders}`,
      "--allow-net=127.0.0.1:0",
      "--allow-run=rg,git",
      "--allow-sys=statfs",
      `--allow-env=${ENV_NAMES.join(",")}`,
      MAIN_PATH,
      ...["serve", "--vault", world.vault, "--state", world.state, "--port", "0"],
    ], {
      home: { folder: world.home, vault: world.vault, state: world.state, ...noDispose },
      env: world.git.env,
    });
    const { address } = JSON.parse(await program.line('"event":"started"'));

    const response = await until(async () => {
      const answer = await fetch(
        `${address}/api/projections?cwd=${encodeURIComponent(world.repo)}`,
      );
      return answer.status === 503 ? undefined : answer;
    });

    equal(response.status, 200);
    const { projections } = await response.json();
    ok(projections.length > 0);
    for (const { state, reason } of projections) {
      equal(state, "refused");
      match(reason, /no permission to/);
    }
    program.kill("SIGTERM");
    await program.end();
  });
});

const noDispose = { [Symbol.asyncDispose]: () => Promise.resolve() };
