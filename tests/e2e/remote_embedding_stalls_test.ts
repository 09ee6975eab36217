/**
 * What must go on by itself, whatever goes wrong on the way: embedding without a search, calibration
 * in spite of odd texts and narrow limits.
 */
import { deepStrictEqual as deepEqual, match, ok, strictEqual as equal } from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import { join } from "node:path";
import { EMBED_REST_MS } from "@/lib/embed/embedder_guard.ts";
import { RemoteEmbedder } from "@/lib/embed/remote_embedder.ts";
import type { EmbeddingCache } from "@/lib/index/embedding_cache.ts";
import { Embeddings } from "@/lib/index/embeddings.ts";
import { systemClock } from "@/lib/seams.ts";
import { startEmbeddingProvider } from "../_support/embedding_provider.ts";
import { remoteModel } from "../_support/remote_model.ts";
import { silentLogger } from "../_support/silent_logger.ts";
import { until, untilSo } from "../_support/until.ts";
import { openRemoteVault, type RemoteVault, wordNotes } from "./remote_embedding_world.ts";

/** Answers only when it is let through; counts how often it was asked. */
function gated() {
  const gate = Promise.withResolvers<void>();
  const embed = async (texts: readonly string[]) => {
    await gate.promise;
    return texts.map((text) => {
      const vector = new Array<number>(512).fill(0.01);
      vector[text.length % 512] = 1;
      return vector;
    });
  };
  return { embed, open: gate.resolve };
}

const isEmbedded = async (vault: RemoteVault) => (await vault.health()).embeddingProgress === null;

function longNote(chunks: number): string {
  const sections = Array.from(
    { length: chunks },
    (_, at) => `## Part ${at}\n\nOf word${at} here.\n`,
  );
  return sections.join("\n");
}

describe("embedding that nobody watches", () => {
  it("takes up a note that was edited while it was embedded", async () => {
    const { embed, open } = gated();
    await using vault = await openRemoteVault({ "a.md": "of zebras" }, { provider: { embed } });
    await untilSo("the provider is asked", () => vault.provider.requests.length > 0);

    vault.world.write("a.md", "of giraffes, and more than before");
    await vault.services.index.refresh();
    open();

    await until(() => isEmbedded(vault), "The edited note was never embedded");
  });

  it("takes up the notes of a vault that was read anew meanwhile", async () => {
    const { embed, open } = gated();
    await using vault = await openRemoteVault(wordNotes(5), { provider: { embed } });
    await untilSo("the provider is asked", () => vault.provider.requests.length > 0);

    await vault.services.index.load();
    open();

    await until(() => isEmbedded(vault), "The notes were never embedded");
  });

  it("goes on when one of two requests failed and the other got through later", async () => {
    const gate = Promise.withResolvers<void>();
    const latest = { count: 0 };
    const embed = async (texts: readonly string[]) => {
      if (latest.count++ === 0) await gate.promise;
      return texts.map((text) =>
        Array.from({ length: 512 }, (_, at) => at === text.length ? 1 : 0.1)
      );
    };
    await using vault = await openRemoteVault({ "long.md": longNote(100) }, {
      provider: { embed },
      prepare: ({ script }) => script.push("well", { status: 404 }),
    });
    await untilSo("one failed", () => vault.world.logs.some((line) => line.includes("404")));

    gate.resolve();

    await untilSo(
      "it is back",
      () => vault.world.logs.some((line) => line.includes("embedding-back")),
    );
    await until(() => isEmbedded(vault), "The rest of the note was never embedded");
  });
});

describe("a provider that is away", () => {
  it("says nothing against a long note, whose vectors are waited for", async () => {
    await using vault = await openRemoteVault({ "long.md": longNote(200) }, {
      prepare: (provider) => {
        provider.key = "sk-another";
      },
    });
    await until(async () => (await vault.health()).status === "degraded");

    const answer = await vault.search("word7");

    match(answer.fallback?.reason ?? "", /^1 of 1 notes are not embedded yet: .*the key/);
  });

  it("is asked for many texts at a time when it is back, however often it was away", async () => {
    await using vault = await openRemoteVault(wordNotes(40), {
      prepare: (provider) => {
        provider.key = "sk-another";
      },
    });
    for (let time = 1; time <= 8; time++) {
      const before = vault.provider.requests.length;
      await until(async () => {
        vault.moveOn(EMBED_REST_MS);
        await vault.search("word7");
        return vault.provider.requests.length > before;
      });
    }
    await until(async () => (await vault.health()).status === "degraded");
    const before = vault.provider.requests.length;

    vault.provider.key = "sk-of-the-test";
    await until(async () => {
      // One that was sent before may still be refused.
      vault.moveOn(EMBED_REST_MS);
      await vault.search("word7");
      return await isEmbedded(vault);
    });

    const sizes = vault.provider.requests.slice(before).map(({ texts }) => texts.length);
    // Those of passages, of the search, of a calibration that may have begun, and a refused one.
    ok(sizes.length <= 8, `texts by request: ${sizes.join()}`);
  });

  it("is no warning any more when nothing is left that it failed over", async () => {
    await using vault = await openRemoteVault(wordNotes(30));
    await vault.untilMeaning("word7");
    vault.provider.key = "sk-another";
    vault.world.write("new.md", "of giraffes");
    await vault.services.index.refresh();
    await until(async () => (await vault.health()).status === "degraded");

    vault.provider.key = "sk-of-the-test";
    vault.world.remove("new.md");
    vault.moveOn(EMBED_REST_MS);
    const answer = await vault.search("word8");
    const again = await vault.search("word9");

    deepEqual([answer.mode, again.mode], ["hybrid", "hybrid"]);
    deepEqual(await vault.warnings(), []);
  });
});

describe("many calls to a provider", () => {
  it("leave nothing behind", async () => {
    const child = join(import.meta.dirname ?? "", "remote_embedding_leak_child.ts");
    const config = join(import.meta.dirname ?? "", "../config.json");
    const { stdout } = await new Deno.Command(Deno.execPath(), {
      args: ["run", "--v8-flags=--expose-gc", "--no-check", "--config", config, child],
      stderr: "null",
    }).output();

    const bytes = Number(new TextDecoder().decode(stdout));

    ok(bytes < 500, `${bytes} bytes a call`);
  });
});

describe("calibration", () => {
  it("says what keeps it from being done", async () => {
    await using vault = await openRemoteVault(wordNotes(10));
    // What is embedded is taken in half a second later, and calibrated then.
    await untilSo("all is embedded", () => vault.texts().length >= 20);
    vault.provider.key = "sk-another";
    await until(async () => (await vault.health()).status === "degraded");

    const answer = await vault.search("word7");

    equal(answer.mode, "keyword");
    match(answer.fallback?.reason ?? "", /did not accept the key/);
  });

  it("is not kept from all by a note whose first sentence the provider refuses", async () => {
    const poison = { text: "venom", status: 400 };
    await using vault = await openRemoteVault(
      { ...wordNotes(20), "odd.md": "Of venom, from the first sentence on." },
      { provider: { poison } },
    );

    const answer = await vault.untilMeaning("word7");

    equal(answer.paths[0], "note-7.md");
  });

  it("gets through to a provider that takes one request a second", async () => {
    const rate = { perSecond: 1, burst: 1 };
    await using provider = startEmbeddingProvider({ dimensions: 16, rate });
    let aheadMs = 0;
    const clock = { ...systemClock, monotonicMs: () => systemClock.monotonicMs() + aheadMs };
    const kept = new Map<string, Int8Array | null>();
    const cache: EmbeddingCache = {
      get: (text) => kept.get(text),
      put: (text, vector) => void kept.set(text, vector),
      flush: () => undefined,
      close: () => undefined,
    };
    const logger = silentLogger();
    const embeddings = new Embeddings({
      embedder: new RemoteEmbedder({
        model: remoteModel({ baseUrl: provider.baseUrl }),
        readCredential: undefined,
        clock,
        logger,
      }),
      openCache: () => cache,
      readTexts: () => Promise.resolve(undefined),
      clock,
      logger,
    });
    // As many as are taken from a vault in one language.
    const questions = Array.from({ length: 48 }, (_, at) => `What is said of thing ${at}`);

    let vectors: unknown[] = [];
    for (let time = 1; time <= 3 && vectors.length === 0; time++) {
      vectors = await embeddings.embedQuestions(questions).catch(() => []);
      // As long as a calibration waits until it tries again, for both sides.
      aheadMs += 31_000;
      await new Promise((resolve) => setTimeout(resolve, 1_100));
    }
    await embeddings.close();

    equal(vectors.length, questions.length, `after ${provider.requests.length} requests`);
  });
});
