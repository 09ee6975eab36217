/** The commands as a person or a script runs them: a process of its own, with pipes. */
import { deepStrictEqual as deepEqual, match, ok, strictEqual as equal } from "node:assert/strict";
import { join } from "node:path";
import { describe, it } from "@std/testing/bdd";
import {
  type Home,
  MAIN_PATH,
  makeHome,
  neededEnv,
  Program,
  serveArgs,
  TASK_PERMISSIONS,
} from "../_support/program.ts";
import { listAll, textsBelow, writeFiles } from "../_support/temp_vault.ts";
import { JOURNAL } from "./_journal_world.ts";

const READ_ONLY = ["--allow-read", "--allow-env"];

interface Ended {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

interface RunOptions {
  readonly home: Home;
  readonly input?: string;
  readonly permissions?: readonly string[];
}

/** Runs a command on the vault of a home, with this on its stdin, to its end. */
async function run(
  args: readonly string[],
  { home, input = "", permissions = TASK_PERMISSIONS }: RunOptions,
): Promise<Ended> {
  const folders = ["--vault", home.vault, "--state", home.state];
  const child = new Deno.Command(Deno.execPath(), {
    args: ["run", "--no-prompt", ...permissions, MAIN_PATH, ...args, ...folders],
    cwd: home.folder,
    clearEnv: true,
    env: neededEnv(home),
    stdin: "piped",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  const writer = child.stdin.getWriter();
  // A program that has ended reads no more, and may.
  await writer.write(new TextEncoder().encode(input)).catch(() => undefined);
  await writer.close().catch(() => undefined);
  const { code, stdout, stderr } = await child.output();
  const decode = (bytes: Uint8Array) => new TextDecoder().decode(bytes);
  return { code, stdout: decode(stdout), stderr: decode(stderr) };
}

async function makeJournal(): Promise<Home> {
  const home = await makeHome();
  writeFiles(home.vault, JOURNAL);
  return home;
}

describe("main.ts audit", () => {
  it("audit prints the report and nothing else, and may not even write", async () => {
    await using home = await makeJournal();
    const before = textsBelow(home.vault);

    const { code, stdout, stderr } = await run(["audit"], { home, permissions: READ_ONLY });

    deepEqual([code, stderr], [0, ""]);
    match(stdout, /^📋 记忆审计报告 \d{4}-\d\d-\d\d\n/);
    ok(!stdout.includes("\x1b"));
    deepEqual(textsBelow(home.vault), before);
  });

  it("audit --json prints one JSON value", async () => {
    await using home = await makeJournal();

    const { code, stdout, stderr } = await run(["audit", "--json"], { home });

    deepEqual([code, stderr], [0, ""]);
    equal(JSON.parse(stdout).log.item, "log");
  });

  it("audit --apply takes its answers from a script, line by line", async () => {
    await using home = await makeJournal();
    const input = "逐条确认\r\n是\r\n否\r\n构建时不用 root";

    const { code, stdout, stderr } = await run(["audit", "--apply"], { home, input });

    deepEqual([code, stderr], [0, ""], stdout);
    match(stdout, /✅ 审计完成：/);
    const files = textsBelow(home.vault);
    ok("projects/archive/done.md" in files);
    match(files["rules.md"] ?? "", /\[R001\] 构建时不用 root\n/);
  });

  it("audit --apply without input is a cancel", async () => {
    await using home = await makeJournal();

    const { code, stdout } = await run(["audit", "--apply"], { home });

    equal(code, 0);
    match(stdout, /输入已结束，视为取消\n\n审计已取消/);
    ok("projects/done.md" in textsBelow(home.vault));
  });

  it("audit makes neither a vault nor a token of the person's", async () => {
    await using home = await makeHome();
    const missing = { ...home, vault: join(home.folder, "nowhere") };
    const asked = await run(["audit", "--access", "ask"], { home });
    const nowhere = await run(["audit"], { home: missing });

    deepEqual([asked.code, asked.stderr], [0, ""]);
    equal(nowhere.code, 2);
    match(nowhere.stderr, /there is no folder/);
    deepEqual(listAll(home.folder), ["vault/", "vault/a.md"]);
  });
});

describe("main.ts doctor", () => {
  it("doctor needs no right to write, and says by its exit code what it thinks", async () => {
    await using home = await makeHome();

    const well = await run(["doctor"], { home, permissions: READ_ONLY });
    await Deno.writeTextFile(join(home.vault, "b.md"), "---\ntitle: B\n");
    const ill = await run(["doctor"], { home, permissions: READ_ONLY });
    const json = await run(["doctor", "--json"], { home, permissions: READ_ONLY });

    deepEqual([well.code, well.stderr], [0, ""]);
    match(well.stdout, /^✅ Nothing is wrong: 1 note/);
    deepEqual([ill.code, ill.stderr], [1, ""]);
    match(ill.stdout, /^⚠️ frontmatter-unclosed \(1\)\n/);
    deepEqual([json.code, JSON.parse(json.stdout).total], [1, 1]);
  });

  it("doctor leaves a server alone that runs on the same vault and state", async () => {
    await using home = await makeHome();
    await using server = new Program(serveArgs(home, ["--port", "0"]), { home });
    const { address } = JSON.parse(await server.line('"event":"started"'));
    await server.line('"event":"vault-indexed"');
    const before = listAll(home.state);

    const { code, stderr } = await run(["doctor"], { home });

    deepEqual([code, stderr], [0, ""]);
    deepEqual(listAll(home.state), before);
    const { results } = await (await fetch(`${address}/api/search?q=zebra`)).json();
    equal(results.length, 1);
    server.kill("SIGTERM");
    equal((await server.end()).code, 0);
    ok(!/"level":"(?:warn|error)"/.test(server.output), server.output);
  });
});
