import {
  deepStrictEqual as deepEqual,
  match,
  ok,
  rejects,
  strictEqual as equal,
} from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import type { CountingEmbedder, EmbeddingSeams } from "@/lib/cli/embedding_seams.ts";
import { EmbeddingUnavailable } from "@/lib/embed/embedder.ts";
import { ConfigError } from "@/lib/errors.ts";
import type { RemoteModel } from "@/lib/remote_model.ts";
import { embeddingsWorld } from "./_embeddings_world.ts";

/** A provider that answers, or fails with these words; it notes what it was asked. */
function fakeProvider(failure?: string): EmbeddingSeams & { readonly asked: RemoteModel[] } {
  const asked: RemoteModel[] = [];
  const answer = <T>(value: T): Promise<T> =>
    failure === undefined
      ? Promise.resolve(value)
      : Promise.reject(new EmbeddingUnavailable(failure));
  return {
    asked,
    openEmbedder({ remoteModel }) {
      if (remoteModel === undefined) return undefined;
      asked.push(remoteModel);
      const { dimensions } = remoteModel;
      const embedder: CountingEmbedder = {
        id: "fake",
        dimensions,
        scale: undefined,
        isLocal: false,
        embed: (texts) => answer(texts.map(() => new Float32Array(dimensions).fill(1))),
      };
      return embedder;
    },
    learnDimensions: () => answer(640),
    calibrate: () => Promise.resolve(undefined),
  };
}

const OTHER = "openai-compatible --embedding-base-url http://127.0.0.1:8080/v1/embeddings";

describe("embeddings use", () => {
  const WRITTEN: readonly (readonly [words: string, settings: Record<string, unknown>])[] = [
    ["ollama", { embedding: "ollama" }],
    ["ollama --embedding-model bge-m3", { embedding: "ollama" }],
    ["openai --embedding-base-url https://api.openai.com/v1/", { embedding: "openai" }],
    ["openai --embedding-credential env:OPENAI_API_KEY", { embedding: "openai" }],
    ["openai --embedding-dimensions 1536", { embedding: "openai" }],
    [
      "openai --embedding-dimensions 512 --dense-weight .6 --embedding-timeout 900",
      {
        "embedding": "openai",
        "embedding-dimensions": 512,
        "dense-weight": 0.6,
        "embedding-timeout": 900,
      },
    ],
    [
      `${OTHER} --embedding-model acme/unheard-of --embedding-credential env:ACME`,
      {
        "embedding": "openai-compatible",
        "embedding-model": "acme/unheard-of",
        "embedding-base-url": "http://127.0.0.1:8080/v1",
        "embedding-credential": "env:ACME",
        "embedding-dimensions": 640,
      },
    ],
    ["static", { embedding: "static" }],
    ["none", { embedding: "none" }],
  ];
  for (const [words, settings] of WRITTEN) {
    it(`embeddings use ${words} writes no more than is needed`, async () => {
      await using world = await embeddingsWorld();
      const seams = fakeProvider();

      const { code, output, errors } = await world.run(["use", ...words.split(" ")], { seams });

      deepEqual([code, errors], [0, ""]);
      deepEqual(await world.settings(), settings);
      match(output, /Written into .*config\.json:[^]*Start the server anew/);
      if (settings["embedding-dimensions"] === 640) equal(seams.asked[0]?.dimensions, 640);
    });
  }

  it("embeddings use makes the file for its person alone", async () => {
    await using world = await embeddingsWorld();

    await world.run(["use", "none"]);

    if (Deno.build.os === "windows") return;
    const modes = [world.config, `${world.folder}/.commonplace`].map((path) =>
      (Deno.statSync(path).mode ?? 0) & 0o777
    );
    deepEqual(modes, [0o600, 0o700]);
  });

  it("embeddings use makes a path absolute, which is meant from elsewhere in the file", async () => {
    await using world = await embeddingsWorld();

    await world.run(["use", "openai", "--embedding-credential", "file:keys/openai"], {
      seams: fakeProvider(),
    });

    equal((await world.settings())["embedding-credential"], `file:${world.folder}/keys/openai`);
  });

  it("embeddings use takes out what belonged to the former provider, and leaves the rest", async () => {
    await using world = await embeddingsWorld();
    await world.configure({
      "port": 9000,
      "embedding-model": "nomic-embed-text",
      "embedding": "ollama",
      "embedding-base-url": "http://10.0.0.7:11434/v1",
      "embedding-timeout": 500,
      "dense-weight": 0.6,
      "log": "warn",
    });

    const { output } = await world.run(["use", "openai"], { seams: fakeProvider() });

    equal(
      await world.configText(),
      '{\n  "port": 9000,\n  "embedding": "openai",\n  "embedding-timeout": 500,\n  "log": "warn"\n}',
    );
    match(output, /"embedding": "openai"\n {3}"embedding-model" is taken out\n/);
  });

  it("embeddings use writes nothing where the provider does not answer, and says why", async () => {
    await using world = await embeddingsWorld();
    await world.configure({ embedding: "none" });
    const before = await world.configText();
    const seams = fakeProvider("Nobody answers");

    for (const words of ["ollama", `${OTHER} --embedding-model acme/unheard-of`]) {
      const { code, errors, output } = await world.run(["use", ...words.split(" ")], { seams });

      deepEqual([code, output], [1, ""]);
      match(errors, /^Nobody answers\nIt was asked for \S+ at http\S+, without a key$/);
      equal(await world.configText(), before);
    }
  });

  it("embeddings use --untested asks nobody, and needs to be told what only the provider knows", async () => {
    await using world = await embeddingsWorld();
    const seams = fakeProvider("Nobody answers");
    const unknown = ["use", ...OTHER.split(" "), "--embedding-model", "x", "--untested"];

    equal((await world.run(["use", "ollama", "--untested"], { seams })).code, 0);
    await rejects(
      world.run(unknown, { seams }),
      /vectors of x are is not known: pass --embedding-d/,
    );
    deepEqual(await world.settings(), { embedding: "ollama" });
    equal((await world.run([...unknown, "--embedding-dimensions", "7"], { seams })).code, 0);

    equal((await world.settings())["embedding-dimensions"], 7);
    deepEqual(seams.asked, []);
  });

  it("embeddings use --dry-run asks, and writes nothing", async () => {
    await using world = await embeddingsWorld();
    const seams = fakeProvider();

    const { code, output } = await world.run(["use", "ollama", "--dry-run"], { seams });

    equal(code, 0);
    match(output, /^bge-m3 gave a vector of 1024 numbers in \d+ ms\nThis would be written into/);
    equal(await world.configText(), undefined);
    equal(seams.asked.length, 1);
  });

  it("embeddings use says so where there is nothing to change", async () => {
    await using world = await embeddingsWorld();
    await world.configure({ embedding: "none" });

    match((await world.run(["use", "none"])).output, /says so already: nothing had to be changed/);
  });

  it("embeddings use names variables that go before the file, and takes nothing from them", async () => {
    await using world = await embeddingsWorld();
    const env = { COMMONPLACE_EMBEDDING: "ollama", COMMONPLACE_EMBEDDING_MODEL: "all-minilm" };

    const { output } = await world.run(["use", "ollama"], { env, seams: fakeProvider() });

    deepEqual(await world.settings(), { embedding: "ollama" });
    match(output, /⚠️ COMMONPLACE_EMBEDDING_MODEL is set in the environment, which goes before/);
    ok(!output.includes("COMMONPLACE_EMBEDDING is"), output);
  });

  const REFUSED: readonly (readonly [name: string, config: string, words: RegExp])[] = [
    ["is no JSON", '{"port": 1, // one\n}', /config\.json is not valid JSON/],
    ["is wrong in another place", '{"prot": 1, "host": "a b"}', /"prot" in .*\n.*"host" in /],
  ];
  for (const [name, config, words] of REFUSED) {
    it(`embeddings use leaves a file as it is that ${name}`, async () => {
      await using world = await embeddingsWorld();
      await world.configure(config);
      const seams = fakeProvider();

      await rejects(
        world.run(["use", "ollama"], { seams }),
        (error) => error instanceof ConfigError && words.test(error.message),
      );

      equal(await world.configText(), config);
      deepEqual(seams.asked, []);
    });
  }

  it("embeddings use mends settings of a former provider that cannot be used", async () => {
    await using world = await embeddingsWorld();
    await world.configure({ "embedding": "openai-compatible", "embedding-dimensions": "many" });

    equal((await world.run(["use", "static"])).code, 0);

    deepEqual(await world.settings(), { embedding: "static" });
  });

  it("embeddings use shows nothing of a key that was put where it does not belong", async () => {
    await using world = await embeddingsWorld();
    const args = ["use", "openai", "--embedding-credential", "sk-SECRET"];

    await rejects(
      world.run(args, { seams: fakeProvider() }),
      (error) => error instanceof ConfigError && !error.message.includes("SECRET"),
    );

    equal(await world.configText(), undefined);
  });
});

describe("runEmbeddings()", () => {
  const WRONG: readonly (readonly [args: string, words: RegExp])[] = [
    ["", /needs to know what to do: use PROVIDER, or test/],
    ["usr", /There is no action "usr"; did you mean use\?/],
    ["use", /use needs the name of a provider/],
    ["use olama", /There is no provider "olama"; did you mean ollama\?/],
    ["use ollama --json", /--json does not belong to `embeddings use`/],
    ["test --untested", /--untested does not belong to `embeddings test`/],
    ["test --dry-run", /--dry-run does not belong to `embeddings test`/],
    ["use ollama more", /"more" is one argument too many/],
    ["use ollama --embedding openai", /--embedding is given more than once/],
    ["use azure", /--embedding azure needs an address/],
  ];
  for (const [args, words] of WRONG) {
    it(`runEmbeddings() refuses \`${args}\``, async () => {
      await using world = await embeddingsWorld();

      await rejects(
        world.run(args.split(" ").filter((word) => word !== ""), { seams: fakeProvider() }),
        (error) => error instanceof ConfigError && words.test(error.message),
      );
    });
  }
});
