/** The command `embeddings` as a process of its own, with a provider that it reaches over HTTP. */
import { deepStrictEqual as deepEqual, match, ok, strictEqual as equal } from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import { join } from "node:path";
import { startEmbeddingProvider } from "../_support/embedding_provider.ts";
import { type Home, MAIN_PATH, makeHome, neededEnv } from "../_support/program.ts";

const tasks: Record<string, string> = JSON.parse(
  Deno.readTextFileSync(join(MAIN_PATH, "../deno.json")),
).tasks;

interface Ended {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs the command with the permissions of its task. */
async function run(home: Home, args: readonly string[], key: string): Promise<Ended> {
  const permissions = tasks["embeddings"]?.match(/--allow-\S+/g) ?? [];
  const command = new Deno.Command(Deno.execPath(), {
    args: ["run", "--no-prompt", ...permissions, MAIN_PATH, "embeddings", ...args],
    cwd: home.folder,
    clearEnv: true,
    env: { ...neededEnv(home), COMMONPLACE_VAULT: home.vault, COMMONPLACE_LLM_KEY: key },
    stdin: "null",
  });
  const { code, stdout, stderr } = await command.output();
  const decode = (bytes: Uint8Array) => new TextDecoder().decode(bytes);
  return { code, stdout: decode(stdout), stderr: decode(stderr) };
}

describe("main.ts embeddings", () => {
  it("embeddings use asks a provider and writes it down, and test tries what is written", async () => {
    await using home = await makeHome();
    await using provider = startEmbeddingProvider({ dimensions: 24, key: "right-key" });
    const use = ["use", "openai-compatible", "--embedding-base-url", provider.baseUrl].concat(
      "--embedding-model",
      "acme/unheard-of",
      "--embedding-credential",
      "env:COMMONPLACE_LLM_KEY",
    );
    const config = join(home.folder, ".commonplace", "config.json");

    const refused = await run(home, use, "wrong-key");
    const written = await run(home, use, "right-key");
    const tried = await run(home, ["test"], "right-key");

    equal(refused.code, 1);
    match(refused.stderr, /did not accept the key/);
    deepEqual([written.code, written.stderr], [0, ""]);
    match(written.stdout, /Written into .*config\.json/);
    deepEqual(JSON.parse(await Deno.readTextFile(config)), {
      "embedding": "openai-compatible",
      "embedding-model": "acme/unheard-of",
      "embedding-base-url": provider.baseUrl,
      "embedding-credential": "env:COMMONPLACE_LLM_KEY",
      "embedding-dimensions": 24,
    });
    deepEqual([tried.code, tried.stderr], [0, ""]);
    match(tried.stdout, /\ndimensions {2}24\n/);
    ok(!/(right|wrong)-key/.test(JSON.stringify([refused, written, tried])));
  });

  it("embeddings ends with 2 and words where it cannot be meant", async () => {
    await using home = await makeHome();

    const { code, stderr } = await run(home, ["use", "olama"], "");

    equal(code, 2);
    match(stderr, /^There is no provider "olama"; did you mean ollama\?\n$/);
  });
});
