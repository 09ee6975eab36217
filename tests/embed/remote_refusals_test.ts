import { deepStrictEqual as deepEqual, ok, strictEqual as equal } from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import { KeyHolder } from "@/lib/embed/_key_holder.ts";
import { EmbeddingUnavailable } from "@/lib/embed/embedder.ts";
import type { ProviderMood } from "../_support/embedding_provider.ts";
import { openRemoteWorld, unavailable } from "./_remote_world.ts";

const isThere = (embedding: unknown) => embedding !== undefined;

describe("refused texts", () => {
  for (const status of [400, 413, 422, 500]) {
    it(`RemoteEmbedder.embed() finds the text that is refused with ${status}`, async () => {
      await using world = openRemoteWorld({
        provider: { poison: { text: "confidential", status } },
      });
      const texts = Array.from(
        { length: 16 },
        (_, at) => at === 11 ? "confidential" : `text ${at}`,
      );

      const embeddings = await world.embedder.embed(texts, "passage");

      deepEqual(embeddings.map(isThere), texts.map((text) => text !== "confidential"));
      const warnings = world.logs.filter((line) => line.includes("embedding-text-refused"));
      equal(warnings.length, 1);
      ok(warnings[0]?.includes(String(status)));
      ok(!world.logs.join().includes("confidential"));
    });
  }

  it("RemoteEmbedder.embed() finds several, in several batches, without asking all the time whether texts are taken", async () => {
    await using world = openRemoteWorld({
      model: { provider: "dashscope" },
      provider: { poison: { text: "confidential", status: 400 } },
    });
    const texts = Array.from({ length: 40 }, (_, at) => at % 13 === 0 ? "confidential" : `t ${at}`);

    const embeddings = await world.embedder.embed(texts, "passage");

    deepEqual(embeddings.map(isThere), texts.map((text) => text !== "confidential"));
    const probes = world.provider.requests.filter(({ texts: [text] }) =>
      text?.startsWith("A short text")
    );
    // Each batch at its beginning at the most, and each text before it is given up.
    ok(probes.length <= 8, String(probes.length));
  });

  for (const mood of ["NaN", "null", "zeros"] as const) {
    it(`RemoteEmbedder.embed() gets the others when a text comes out as ${mood}`, async () => {
      await using world = openRemoteWorld({ model: { provider: "ollama" } });
      await world.embedder.embed(["first of all"], "passage");
      // The batch of three, then its first part.
      world.provider.script.push(mood, mood);

      const embeddings = await world.embedder.embed(["odd", "one", "two"], "passage");

      deepEqual(embeddings.map(isThere), [false, true, true]);
    });

    it(`RemoteEmbedder.embed() says so when all comes out as ${mood}`, async () => {
      await using world = openRemoteWorld({ model: { provider: "ollama" } });
      world.provider.mood = mood;

      const passage = await unavailable(world.embedder.embed(["one", "two"], "passage"));
      const query = await unavailable(world.embedder.embed(["one"], "query"));

      ok(/gave a vector (of zeros|that does not hold numbers only)/.test(passage.message));
      equal(query.message, passage.message);
    });
  }

  it("RemoteEmbedder.embed() embeds the beginning of a text that is too long", async () => {
    await using world = openRemoteWorld({
      provider: { maxChars: 1_000 },
      model: { prefixes: { query: "", passage: "passage: " } },
    });
    const long = "一字".repeat(2_000);

    const [short, cut] = await world.embedder.embed(["short", long], "passage");

    ok(short && cut);
    const sent = world.provider.requests.at(-1)?.texts[0];
    equal(sent, `passage: ${long.slice(0, 500)}`);
    ok(world.logs.some((line) => line.includes("embedding-text-shortened")));
  });

  it("RemoteEmbedder.embed() cuts between characters, and not below 200", async () => {
    await using world = openRemoteWorld({ provider: { poison: { text: "😀", status: 400 } } });

    const [embedding] = await world.embedder.embed([`x${"😀".repeat(450)}`], "passage");

    equal(embedding, undefined);
    const parts = world.provider.requests.flatMap(({ texts }) => texts)
      .filter((text) => text.includes("😀"));
    deepEqual(parts.map((text) => text.length), [901, 449, 225]);
    ok(parts.every((text) => text.isWellFormed()));
  });

  it("RemoteEmbedder.embed() takes no text for refused when all are, even from now on", async () => {
    await using world = openRemoteWorld();
    await world.embedder.embed(["before"], "passage");
    world.provider.mood = { status: 400, code: "bad_account" };

    const { message } = await unavailable(world.embedder.embed(["one", "two"], "passage"));

    ok(/refuses to embed with "test-model" \(400 bad_account\)/.test(message));
    ok(!world.logs.join().includes("refused"));
  });

  it("RemoteEmbedder.embed() has no vector for a query that is refused where others are not", async () => {
    await using world = openRemoteWorld({ provider: { maxChars: 100 } });
    const long = "x".repeat(101);

    const atFirst = await world.embedder.embed([long], "query");
    await world.embedder.embed(["one"], "query");
    const later = await world.embedder.embed([long], "query");

    deepEqual([atFirst, later], [[undefined], [undefined]]);
  });

  it("RemoteEmbedder.embed() takes the beginning of a query that is too long", async () => {
    await using world = openRemoteWorld({ provider: { maxChars: 300 } });
    const long = "what was it that we said about caches ".repeat(25);

    const [found] = await world.embedder.embed([long], "query");

    const [wanted] = await world.embedder.embed([long.slice(0, long.length >> 2)], "query");
    deepEqual(found, wanted);
  });

  it("RemoteEmbedder.embedPatiently() parts questions that are refused from the others", async () => {
    const poison = { text: "bad", status: 400 };
    await using world = openRemoteWorld({ provider: { poison } });

    const found = await world.embedder.embedPatiently(["one", "bad", "two"], "query");

    deepEqual(found.map((vector) => vector !== undefined), [true, false, true]);
  });

  it("RemoteEmbedder.embedPatiently() gets through a narrow limit, each question once", async () => {
    const rate = { perSecond: 20, burst: 1, says: "nothing" } as const;
    await using world = openRemoteWorld({ provider: { rate } });
    const questions = Array.from({ length: 300 }, (_, i) => `question ${i}`);

    const found = await world.embedder.embedPatiently(questions, "query");

    ok(found.every((vector) => vector !== undefined));
    equal(world.embedder.usage.texts, 300);
  });
});

describe("keys", () => {
  it("RemoteEmbedder.embed() reads the key once, when it is needed", async () => {
    let reads = 0;
    const readCredential = () => Promise.resolve(`sk-${++reads}`);
    await using world = openRemoteWorld({ embedder: { readCredential } });
    equal(reads, 0);

    await Promise.all([
      world.embedder.embed(["one"], "query"),
      world.embedder.embed(["two"], "passage"),
    ]);

    equal(reads, 1);
  });

  for (const kind of ["query", "passage"] as const) {
    it(`RemoteEmbedder.embed() takes a key that was changed, for a ${kind} too`, async () => {
      const state = { key: "sk-old", reads: 0 };
      const readCredential = () => {
        state.reads++;
        return Promise.resolve(state.key);
      };
      await using world = openRemoteWorld({
        provider: { key: "sk-old" },
        embedder: { readCredential },
      });
      await world.embedder.embed(["one"], kind);
      [state.key, world.provider.key] = ["sk-new", "sk-new"];

      const embeddings = await Promise.all(
        ["two", "three", "four"].map((text) => world.embedder.embed([text], kind)),
      );

      ok(embeddings.flat().every(isThere));
      equal(state.reads, 2);
    });
  }

  const moods: readonly ProviderMood[] = [{ status: 401 }, { status: 403, code: "forbidden" }];
  for (const mood of moods) {
    it(`RemoteEmbedder.embed() sends nothing again with the same key after ${JSON.stringify(mood)}`, async () => {
      await using world = openRemoteWorld({
        embedder: { readCredential: () => Promise.resolve("sk-1") },
      });
      world.provider.mood = mood;

      const { message } = await unavailable(world.embedder.embed(["one"], "passage"));

      ok(/did not accept the key \(40[13] \w+\): check --embedding-credential/.test(message));
      equal(world.provider.requests.length, 1);
    });
  }

  it("RemoteEmbedder.embed() tells why a key cannot be read, and reads it again the next time", async () => {
    const state = { reads: 0 };
    const readCredential = () =>
      state.reads++ === 0
        ? Promise.reject(new EmbeddingUnavailable("The variable KEY is not set"))
        : Promise.resolve("sk-1");
    await using world = openRemoteWorld({ embedder: { readCredential } });

    const { message } = await unavailable(world.embedder.embed(["one"], "passage"));
    const [embedding] = await world.embedder.embed(["one"], "passage");

    equal(message, "The variable KEY is not set");
    ok(embedding);
  });

  it("KeyHolder.renew() reads once for all that were refused together", async () => {
    const keys = ["old", "new", "newer"];
    const holder = new KeyHolder(() => Promise.resolve(keys.shift() ?? ""));
    await holder.get();

    const renewed = await Promise.all([holder.renew("old"), holder.renew("old")]);
    const late = await holder.renew("old");

    deepEqual([...renewed, late], ["new", "new", "new"]);
    deepEqual(keys, ["newer"]);
  });
});
