import { deepStrictEqual as deepEqual, match, ok, strictEqual as equal } from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import { join } from "node:path";
import type { CalibrationReport } from "@/lib/cli/embedding_seams.ts";
import { type EmbeddingProvider, startEmbeddingProvider } from "../_support/embedding_provider.ts";
import { type EmbeddingsWorld, embeddingsWorld } from "./_embeddings_world.ts";

const LEARNT: CalibrationReport = {
  floor: 0.1,
  ceiling: 0.6,
  hintAt: 0.45,
  languages: ["zh", "en"],
  pairs: 120,
};

/** Has the world's configuration name a provider that is there. */
async function configureFor(
  world: EmbeddingsWorld,
  { baseUrl }: EmbeddingProvider,
  more: Record<string, unknown> = {},
): Promise<void> {
  await world.configure({
    "embedding": "openai-compatible",
    "embedding-base-url": baseUrl,
    "embedding-model": "acme/unheard-of",
    ...more,
  });
}

async function writeNotes(world: EmbeddingsWorld): Promise<void> {
  const notes = {
    "port.md": "---\ndescription: which port the server takes\n---\nThe server takes port 8787, " +
      "unless it is told otherwise with a flag.",
    "bread.md": "Bread wants time: knead it, let it rest over night, and bake it hot in a pot.",
    "empty.md": "# Nothing\n",
  };
  for (const [name, text] of Object.entries(notes)) {
    await Deno.writeTextFile(join(world.vault, name), text);
  }
}

describe("embeddings test", () => {
  it("embeddings test shows what the configured model costs and finds", async () => {
    await using world = await embeddingsWorld();
    await using provider = startEmbeddingProvider({ dimensions: 64, key: "the-key-itself" });
    await configureFor(world, provider, { "embedding-credential": "env:ACME_KEY" });
    await writeNotes(world);

    const { code, output, errors } = await world.run(["test"], {
      env: { ACME_KEY: "the-key-itself" },
    });

    deepEqual([code, errors], [0, ""]);
    match(output, /^provider {4}openai-compatible\nmodel {7}acme\/unheard-of\n/);
    match(output, new RegExp(`\naddress {5}${provider.baseUrl}\nkey {9}env:ACME_KEY\n`));
    match(output, /\ndimensions {2}64\nquestion {4}[\d.]+ ms \(the first one [\d.]+ ms\)\n/);
    match(output, /\npassage {5}[\d.]+ ms, of 2 sent together\ntokens {6}\d+, in 10 requests\n/);
    match(output, /\nscale {7}0\.\d\d says nothing, .* \(learnt from 34 pairs\)\n/);
    match(
      output,
      /\nwhich port the server takes\n {3}cosine 0\.\d\d {2}score 0\.\d\d {2}port\n {3}cosine .*bread$/m,
    );
    ok(!output.includes("the-key-itself"));
  });

  it("embeddings test sends no notes to a provider that is not configured", async () => {
    await using world = await embeddingsWorld();
    await using provider = startEmbeddingProvider({ dimensions: 8 });
    await writeNotes(world);
    const flags = ["--embedding-base-url", provider.baseUrl, "--embedding-model", "acme/new"];

    const { code, output } = await world.run(["test", "openai-compatible", ...flags]);

    equal(code, 0);
    const sent = provider.requests.flatMap(({ texts }) => texts).join("\n");
    ok(sent.includes("BEGIN IMMEDIATE"));
    ok(!/8787|Bread/.test(sent), sent);
    // One question in each language, four passages for each.
    equal(output.match(/^ {3}cosine /gm)?.length, 8);
  });

  it("embeddings test sends what the server sends, and nothing more of the vault", async () => {
    await using world = await embeddingsWorld();
    await using provider = startEmbeddingProvider({ dimensions: 8 });
    await configureFor(world, provider, { index: "memories" });
    await writeNotes(world);
    const body = "Every release is tagged by the machine that has built it, and never by hand.\n";
    await Deno.mkdir(join(world.vault, "private"));
    for (const name of ["m1.md", "m2.md", "private/m3.md"]) {
      const text = `---\nid: ${name}\nname: ${name}\ndescription: tags\n---\n${name}: ${body}`;
      await Deno.writeTextFile(join(world.vault, name), text);
    }

    const { code } = await world.run(["test"]);

    equal(code, 0);
    const sent = provider.requests.flatMap(({ texts }) => texts).join("\n");
    ok(/m1\.md: Every[^]*m2\.md: Every/.test(sent));
    ok(!/8787|Bread|m3/.test(sent), sent);
  });

  it("embeddings test shows what was learnt of the cosines, and scores by it", async () => {
    await using world = await embeddingsWorld();
    await using provider = startEmbeddingProvider({ dimensions: 64 });
    await configureFor(world, provider);
    await writeNotes(world);

    const { output } = await world.run(["test"], {
      seams: { calibrate: () => Promise.resolve(LEARNT) },
    });

    match(
      output,
      /\nscale {7}0\.10 says nothing, 0\.60 all; hints from a score of 0\.45 \(learnt from 120 pairs, centred by language: zh, en\)\n/,
    );
    match(output, /\n {3}cosine 0\.\d\d {2}score [01]\.\d\d {2}port\n/);
  });

  it("embeddings test --json says the same to programs", async () => {
    await using world = await embeddingsWorld();
    await using provider = startEmbeddingProvider({ dimensions: 8 });
    await configureFor(world, provider);
    await writeNotes(world);

    const { code, output } = await world.run(["test", "--json"]);

    equal(code, 0);
    const { works, dimensions, tokens, examples, ...rest } = JSON.parse(output);
    deepEqual([works, dimensions, typeof tokens, examples.length], [true, 8, "number", 1]);
    equal(rest.baseUrl, provider.baseUrl);
    deepEqual(Object.keys(examples[0].passages[0]), ["name", "cosine", "score"]);
  });

  it("embeddings test ends with 1 and the reason where the model does not answer", async () => {
    await using world = await embeddingsWorld();
    await using provider = startEmbeddingProvider({ dimensions: 8, key: "right" });
    await configureFor(world, provider, {
      "embedding-credential": "env:ACME_KEY",
      "embedding-dimensions": 8,
    });

    const wrong = await world.run(["test"], { env: { ACME_KEY: "wrong" } });
    const missing = await world.run(["test"]);
    const json = await world.run(["test", "--json"]);

    deepEqual([wrong.code, wrong.output], [1, ""]);
    match(
      wrong.errors,
      /did not accept the key .*\nIt was asked for acme.* with the key from env:A/,
    );
    match(missing.errors, /^The variable ACME_KEY is not set/);
    deepEqual([json.code, JSON.parse(json.output).works], [1, false]);
  });

  it("embeddings test works for what needs no provider, whatever is configured", async () => {
    await using world = await embeddingsWorld();
    await world.configure({ "embedding": "ollama", "embedding-model": "bge-m3" });
    await writeNotes(world);

    const own = await world.run(["test", "static"]);
    const none = await world.run(["test", "none"]);

    deepEqual([own.code, none.code], [0, 0]);
    match(own.output, /^provider {4}static\nmodel .*\ndimensions {2}512\nquestion/);
    match(own.output, /\nscale {7}0\.10 says nothing, 0\.80 all; .*\(declared\)\n/);
    match(
      own.output,
      /\nwhich port the server takes\n {3}cosine 0\.\d\d {2}score 0\.\d\d {2}port\n/,
    );
    ok(!/address|key|tokens/.test(own.output));
    match(none.output, /^No model: notes are found by their words alone/);
  });

  it("embeddings test warns of a model that is slower than searches wait", async () => {
    await using world = await embeddingsWorld();
    await using provider = startEmbeddingProvider({ dimensions: 8, latencyMs: 130 });
    await configureFor(world, provider, { "embedding-timeout": 100 });

    const { output } = await world.run(["test"]);

    match(output, /⚠️ Searches wait 100 ms for it, and no longer/);
  });
});
