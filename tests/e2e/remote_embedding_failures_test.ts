/** A provider that fails in all kinds of ways, while notes are embedded and while queries are. */
import { deepStrictEqual as deepEqual, match, ok, strictEqual as equal } from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import { EMBED_REST_MS } from "@/lib/embed/embedder_guard.ts";
import { settleWithin } from "@/lib/seams.ts";
import type { EmbeddingProvider, ProviderMood } from "../_support/embedding_provider.ts";
import { until, untilSo } from "../_support/until.ts";
import { openRemoteVault, type RemoteVault, SECRET, wordNotes } from "./remote_embedding_world.ts";

/** So long that who waits for what shall not be waited for fails. */
const LONG_MS = 8_000;

interface Failing {
  readonly name: string;
  readonly prepare: (provider: EmbeddingProvider) => void;
  readonly says: RegExp;
}

const moodOf = (mood: ProviderMood) => (provider: EmbeddingProvider) => {
  provider.mood = mood;
};
const well = (provider: EmbeddingProvider) => {
  provider.mood = "well";
  provider.key = "sk-of-the-test";
};

const FAILING: readonly Failing[] = [
  {
    name: "refuses the key",
    prepare: (provider) => {
      provider.key = "sk-another";
    },
    says: /127\.0\.0\.1:\d+ did not accept the key \(401 invalid_api_key\): check --embedding-cred/,
  },
  {
    name: "gives vectors of another length",
    prepare: moodOf("wrong dimensions"),
    says: /gave vectors of 513 numbers instead of 512: set --embedding-dimensions 513/,
  },
  {
    name: "knows no such model",
    prepare: moodOf({ status: 404, code: "model_not_found" }),
    says: /has no model "test-model".*\(404 model_not_found\): check --embedding-model/,
  },
  {
    name: "has used up its quota",
    prepare: moodOf({ status: 429, code: "insufficient_quota" }),
    says: /The quota at .* is used up \(429 insufficient_quota\): see to the account/,
  },
  {
    name: "wants to be left alone for long",
    prepare: moodOf({ status: 429, headers: { "retry-after": "90" } }),
    says: /is asked too often \(429 an_error\); it is asked again later/,
  },
  {
    name: "answers with 500",
    prepare: moodOf({ status: 500 }),
    says: /is in trouble \(500 an_error\); it is asked again later/,
  },
  {
    name: "refuses all texts",
    prepare: moodOf({ status: 400 }),
    says: /refuses to embed with "test-model" \(400 an_error\): check --embedding-model/,
  },
  {
    name: "shows a page instead",
    prepare: moodOf("html"),
    says: /gave an answer that is no JSON: check --embedding-base-url/,
  },
];

async function checkSaysNothing(vault: RemoteVault, answers: readonly unknown[]): Promise<void> {
  const said = [...vault.world.logs, await vault.health(), await vault.warnings(), ...answers];
  // Notes themselves are in answers, with what they hold.
  const text = JSON.stringify(said).replaceAll(/"results":\[.*?\]/g, "");
  ok(!/sk-|Your key|Schr/.test(text), text);
}

describe("a provider that fails", () => {
  for (const { name, prepare, says } of FAILING) {
    it(`says so in words to act on when it ${name}, and is back when that is mended`, async () => {
      await using vault = await openRemoteVault(wordNotes(40), { prepare });
      await until(async () => (await vault.health()).status === "degraded");

      const answer = await vault.search("word7");
      const warnings = await vault.warnings();
      const { embeddingProgress } = await vault.health();
      await checkSaysNothing(vault, [answer.fallback]);
      well(vault.provider);
      const back = await until(async () => {
        // More than once: a request that was under way may still fail.
        vault.moveOn(100_000);
        const again = await vault.search("word7");
        return again.fallback === undefined && again;
      });

      deepEqual([answer.mode, answer.paths[0]], ["keyword", "note-7.md"]);
      match(answer.fallback?.reason ?? "", /^40 of 40 notes are not embedded yet: /);
      match(answer.fallback?.reason ?? "", says);
      match(warnings.join(), says);
      deepEqual(embeddingProgress, { done: 0, total: 40 });
      equal(back.paths[0], "note-7.md");
      await until(async () => (await vault.health()).status === "ok");
    });
  }

  it("dies while notes are embedded, and goes on by itself when it is there again", async () => {
    await using vault = await openRemoteVault(wordNotes(80), { provider: { latencyMs: 30 } });
    await untilSo("some notes are embedded", () => vault.provider.requests.length >= 3);
    await vault.provider.stop();

    const answer = await vault.search("word7");
    vault.provider.start();
    await until(async () => (await vault.health()).embeddingProgress === null);
    const back = await vault.untilMeaning("word7");

    match(answer.fallback?.reason ?? "", /^\d+ of 80 notes are not embedded yet/);
    equal(answer.paths[0], "note-7.md");
    equal(back.paths[0], "note-7.md");
  });

  it("dies while queries are asked, which answer by words until it is there again", async () => {
    await using vault = await openRemoteVault(wordNotes(30));
    await vault.untilMeaning("word7");
    await vault.provider.stop();

    const known = await vault.search("word7");
    const answers = await Promise.all([1, 2, 3].map((at) => vault.search(`word${at}`)));
    const { status } = await vault.health();
    vault.provider.start();
    vault.moveOn(EMBED_REST_MS);
    const back = await vault.untilMeaning("word3");

    equal(known.mode, "hybrid");
    for (const [index, { mode, fallback, paths }] of answers.entries()) {
      deepEqual([mode, paths[0]], ["keyword", `note-${index + 1}.md`]);
      match(fallback?.reason ?? "", /^Nobody answers at 127\.0\.0\.1:\d+$/);
    }
    equal(status, "degraded");
    equal(back.paths[0], "note-3.md");
    equal((await vault.health()).status, "ok");
    await checkSaysNothing(vault, answers.map(({ fallback }) => fallback));
  });

  it("is waited for once when it hangs, and by nobody when it is tried again", async () => {
    await using vault = await openRemoteVault(wordNotes(30), { model: { timeoutMs: 200 } });
    await vault.untilMeaning("word7");
    vault.provider.mood = "hanging";
    const before = vault.provider.requests.length;
    const asked = () => vault.provider.requests.length - before;

    const first = await vault.search("word1");
    const others = await Promise.all([2, 3, 4, 5].map((at) => vault.search(`word${at}`)));
    const askedWhileResting = asked();
    vault.moveOn(EMBED_REST_MS);
    const tried = await Promise.all([6, 7, 8].map((at) => vault.search(`word ${at}`)));
    await untilSo("it is tried again", () => asked() === 2);
    vault.provider.mood = "well";
    vault.moveOn(EMBED_REST_MS);
    await until(async () => {
      vault.moveOn(EMBED_REST_MS);
      return (await vault.search("word2")).fallback === undefined;
    });

    for (const { fallback } of [first, ...others, ...tried]) {
      match(fallback?.reason ?? "", /The embedding took too long|did not answer within/);
    }
    equal(askedWhileResting, 1);
    deepEqual(others.map(({ paths }) => paths[0]), [2, 3, 4, 5].map((at) => `note-${at}.md`));
  });

  it("embeds all notes although it lets through few requests at a time", async () => {
    const rate = { perSecond: 30, burst: 3, says: "nothing" as const };
    await using vault = await openRemoteVault(wordNotes(300), { provider: { rate } });

    await until(
      async () => (await vault.health()).embeddingProgress === null,
      "Not all notes were embedded",
    );

    ok(new Set(vault.texts()).size >= 600);
  });
});

describe("a server that is closed", () => {
  const moods: Readonly<Record<string, ProviderMood>> = {
    "hangs": "hanging",
    "wants to be left alone": { status: 429, headers: { "retry-after": "40" } },
    "fails in passing": { status: 503, headers: { "retry-after": "40" } },
  };
  for (const [name, mood] of Object.entries(moods)) {
    it(`ends soon while notes are embedded by a provider that ${name}`, async () => {
      await using vault = await openRemoteVault(wordNotes(100), { prepare: moodOf(mood) });
      await untilSo("the provider is asked", () => vault.provider.requests.length > 0);
      await vault.search("word7");
      const order: string[] = [];

      const closed = vault.close().then(() => order.push("closed"));
      await settleWithin(closed, LONG_MS);
      order.push("long after");
      const askedAtEnd = vault.provider.requests.length;
      vault.provider.mood = "well";
      await new Promise((resolve) => setTimeout(resolve, 50));

      deepEqual(order, ["closed", "long after"]);
      equal(vault.provider.requests.length, askedAtEnd);
      deepEqual(vault.world.logs.filter((line) => line.includes('"level":"error"')), []);
    });
  }

  it("ends soon while a query is under way that hangs", async () => {
    await using vault = await openRemoteVault(wordNotes(30), { model: { timeoutMs: 1_000 } });
    await vault.untilMeaning("word7");
    vault.provider.mood = "hanging";
    const order: string[] = [];

    const before = vault.provider.requests.length;
    const asked = vault.search(`of ${SECRET}`).then(() => order.push("answered"));
    await untilSo("it is asked", () => vault.provider.requests.length > before);
    const closed = vault.close().then(() => order.push("closed"));
    await settleWithin(closed, LONG_MS);
    order.push("long after");
    await asked;

    ok(order.indexOf("closed") < order.indexOf("long after"), order.join());
  });
});
