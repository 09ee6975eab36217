/**
 * The bundle as somebody has it who has nothing else: one file in a folder, an empty home, an empty
 * cache of Deno, and no right to read anything but the vault.
 */
import { deepStrictEqual as deepEqual, match, ok, strictEqual as equal } from "node:assert/strict";
import { dirname, join } from "node:path";
import { after, before, describe, it } from "@std/testing/bdd";
import { ENV_NAMES } from "@/lib/config.ts";
import { SearchAnswerShape } from "@/lib/contracts.ts";
import { type Home, MAIN_PATH, makeHome, Program, TASK_PERMISSIONS } from "../_support/program.ts";
import { until } from "../_support/until.ts";

const ROOT = dirname(MAIN_PATH);

const NOTES: Readonly<Record<string, string>> = {
  "bread.md": "# Sourdough loaf\n\nThe bread is too dense when the dough has not risen enough.\n",
  "发布.md": "# 发布流程\n\n出了问题先回滚到上一个版本，再找原因。\n",
  "番茄.md": "# 阳台番茄\n\n夏天每天早上浇水，叶子发黄就少浇一点。\n",
  "budget.md": "# Household budget\n\nPut aside three months of expenses before you invest.\n",
};

/** Questions that share no word with the note that answers them. */
const FIRST: Readonly<Record<string, string>> = {
  "面团没发好，面包太密实": "bread.md",
  "watering tomatoes on the balcony": "番茄.md",
};

/** Neither an earlier run nor a download helps it. */
const ALONE = ["--cached-only", "--no-prompt"];

describe("the bundle", () => {
  let folder = "";
  let bundle = "";

  before(async () => {
    folder = await Deno.makeTempDir({ prefix: "bundle-test-" });
    bundle = join(folder, "alone", "commonplace.js");
    const { success, stderr } = await new Deno.Command(Deno.execPath(), {
      args: ["task", "bundle", "--output", bundle],
      cwd: ROOT,
      stdin: "null",
    }).output();
    ok(success, new TextDecoder().decode(stderr));
  });

  after(() => Deno.remove(folder, { recursive: true }));

  function start(
    home: Home,
    args: readonly string[],
    env: Readonly<Record<string, string>> = {},
  ): Program {
    const cwd = dirname(bundle);
    return new Program(args, { home, env: { DENO_DIR: join(home.folder, "cache"), ...env }, cwd });
  }

  it("deno run … serve answers questions across languages and ends cleanly at SIGTERM", async () => {
    await using home = await makeHomeWithNotes();
    await Deno.mkdir(home.state);
    const folders = `${home.vault},${home.state}`;
    await using program = start(home, [
      "run",
      ...ALONE,
      "--unstable-no-legacy-abort",
      `--allow-read=${folders}`,
      `--allow-write=${folders}`,
      "--allow-net=127.0.0.1:0",
      `--allow-env=${ENV_NAMES.join(",")}`,
      bundle,
      "serve",
      ...["--vault", home.vault, "--state", home.state, "--port", "0"],
    ]);
    const { address } = JSON.parse(await program.line('"event":"started"'));

    await requireAnswers(address);
    program.kill("SIGTERM");

    equal((await program.end()).code, 0);
    ok(!/"level":"(?:warn|error)"|Deno\.serve/.test(program.output), program.output);
    deepEqual(await listNames(dirname(bundle)), ["commonplace.js"]);
  });

  it("deno run … without an argument makes the vault that welcomes", async () => {
    await using home = await makeHome();
    const env = { COMMONPLACE_PORT: "0" };
    await using program = start(home, ["run", ...ALONE, ...TASK_PERMISSIONS, bundle], env);
    const { address } = JSON.parse(await program.line('"event":"started"'));

    equal(await findFirst(address, "welcome"), "welcome.md");
    program.kill("SIGINT");

    equal((await program.end()).code, 0);
  });

  it("deno serve … answers questions across languages", async () => {
    await using home = await makeHomeWithNotes();
    const env = { COMMONPLACE_VAULT: home.vault, COMMONPLACE_STATE: home.state };
    const place = ["--host", "127.0.0.1", "--port", "0"];
    const args = ["serve", ...ALONE, ...TASK_PERMISSIONS, ...place, bundle];
    await using program = start(home, args, env);
    const line = await program.line("the vault is opened at the first request");
    const [, port] = /port (\d+)/.exec(line) ?? [];

    await requireAnswers(`http://127.0.0.1:${port}`);
    program.kill("SIGTERM");

    equal((await program.end()).code, 0);
    ok(!/"level":"(?:warn|error)"/.test(program.output), program.output);
  });

  const words: readonly [args: string, words: RegExp][] = [
    ["--version", /^commonplace \d+\.\d+\.\d+\n$/],
    ["help", /--vault DIR/],
  ];
  for (const [args, expected] of words) {
    it(`deno run … ${args} needs no permission`, async () => {
      await using home = await makeHome();
      const { code, stdout } = await new Deno.Command(Deno.execPath(), {
        args: ["run", ...ALONE, bundle, args],
        cwd: dirname(bundle),
        clearEnv: true,
        env: { HOME: home.folder, DENO_NO_UPDATE_CHECK: "1" },
        stdin: "null",
      }).output();

      equal(code, 0);
      match(new TextDecoder().decode(stdout), expected);
    });
  }
});

async function makeHomeWithNotes(): Promise<Home> {
  const home = await makeHome();
  for (const [name, text] of Object.entries(NOTES)) {
    await Deno.writeTextFile(join(home.vault, name), text);
  }
  return home;
}

async function requireAnswers(address: string): Promise<void> {
  for (const [query, path] of Object.entries(FIRST)) {
    equal(await findFirst(address, query), path, query);
  }
}

/** Returns the first hit of a hybrid search, once all of the vault takes part in it. */
async function findFirst(address: string, query: string): Promise<string | undefined> {
  const { mode, results } = await until(async () => {
    const response = await fetch(`${address}/api/search?q=${encodeURIComponent(query)}`);
    const answer = SearchAnswerShape.parse(await response.json());
    return answer.fallback === undefined && answer.indexing === undefined && answer;
  }, "Waited in vain for an answer without a fallback");
  equal(mode, "hybrid");
  return results[0]?.path;
}

async function listNames(folder: string): Promise<string[]> {
  return (await Array.fromAsync(Deno.readDir(folder))).map(({ name }) => name).sort();
}
