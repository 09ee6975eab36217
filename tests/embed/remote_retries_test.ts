import { deepStrictEqual as deepEqual, ok, strictEqual as equal } from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import { type FailureKind, readRetryAfter, RequestFailure } from "@/lib/embed/_request_failure.ts";
import { planQueryRetry, planRetry } from "@/lib/embed/_retries.ts";
import type { ProviderMood } from "../_support/embedding_provider.ts";
import { untilSo } from "../_support/until.ts";
import { openRemoteWorld, unavailable } from "./_remote_world.ts";

function failure(kind: FailureKind, retryAfterMs?: number, status?: number): RequestFailure {
  return new RequestFailure("no", { kind, retryAfterMs, status });
}

describe("retries", () => {
  const NOW_MS = Date.parse("2026-12-01T00:00:00Z");
  const headers: readonly [Record<string, string>, number | undefined][] = [
    [{}, undefined],
    [{ "retry-after": "2" }, 2_000],
    [{ "retry-after": "0.5" }, 500],
    [{ "retry-after": "Tue, 01 Dec 2026 00:00:07 GMT" }, 7_000],
    [{ "retry-after": "Mon, 30 Nov 2026 00:00:00 GMT" }, 0],
    // Their clock is an hour behind.
    [{
      "retry-after": "Mon, 30 Nov 2026 23:00:09 GMT",
      date: "Mon, 30 Nov 2026 23:00:00 GMT",
    }, 9_000],
    [{ "retry-after": "2", "retry-after-ms": "150" }, 150],
    [{ "retry-after": "soon" }, undefined],
    [{ "retry-after": "-1" }, undefined],
  ];
  for (const [header, ms] of headers) {
    it(`readRetryAfter() reads ${JSON.stringify(header)}`, () => {
      equal(readRetryAfter(new Headers(header), NOW_MS), ms);
    });
  }

  const plans: readonly [string, RequestFailure, number, number | undefined][] = [
    ["half a second at most at first", failure("passing"), 1, 500],
    ["twice that then", failure("passing"), 2, 1_000],
    ["what the provider says", failure("passing", 7_000), 1, 7_000],
    ["not at all after six attempts", failure("passing"), 6, undefined],
    ["not at all if it says more than a minute", failure("passing", 60_001), 1, undefined],
    [
      "not at all after three errors of the server",
      failure("passing", undefined, 500),
      3,
      undefined,
    ],
    ["not at all after two that were too slow", failure("slow"), 2, undefined],
    ["no time where the pacer waits", failure("limit", 5_000), 9, 0],
    ["not at all for an hour", failure("limit", 3_600_000), 1, undefined],
    ["not at all for what is refused", failure("refused"), 1, undefined],
    ["not at all for the key", failure("key"), 1, undefined],
    ["not at all for what stays", failure("lasting"), 1, undefined],
  ];
  for (const [name, failed, attempt, waitMs] of plans) {
    it(`planRetry() waits ${name}`, () => {
      equal(planRetry(failed, attempt, 1), waitMs);
    });
  }

  const queryPlans: readonly [string, RequestFailure, number | undefined][] = [
    ["a moment after what passes", failure("passing"), 100],
    ["as long as is said, if that is short", failure("limit", 500), 500],
    ["for no limit of unknown length", failure("limit"), undefined],
    ["for nothing longer", failure("passing", 501), undefined],
    ["for no answer that is slow", failure("slow"), undefined],
    ["for nothing that stays", failure("lasting"), undefined],
  ];
  for (const [name, failed, waitMs] of queryPlans) {
    it(`planQueryRetry() waits ${name}`, () => {
      equal(planQueryRetry(failed, 1), waitMs);
    });
  }

  const passing: readonly ProviderMood[] = [
    ...[408, 409, 425, 429, 500, 502, 503, 504, 529].map((status) => {
      return { status, headers: { "retry-after": "0" } };
    }),
    { status: 429, headers: { "retry-after": new Date().toUTCString() } },
    { status: 429, headers: { "retry-after": "9", "retry-after-ms": "1" } },
    {
      status: 429,
      text: '[{"error":{"code":429,"details":[{"@type":"x"},{"retryDelay":"0.01s"}]}}]',
    },
    { status: 429 },
    "cut off",
  ];
  for (const mood of passing) {
    it(`RemoteEmbedder.embed() sends passages again after ${JSON.stringify(mood)}`, async () => {
      await using world = openRemoteWorld();
      world.provider.script.push(mood);

      const [embedding] = await world.embedder.embed(["one"], "passage");

      ok(embedding);
      equal(world.provider.requests.length, 2);
    });
  }

  it("RemoteEmbedder.embed() sends a request again that takes too long", async () => {
    await using world = openRemoteWorld({ embedder: { requestLimitMs: 60 } });
    world.provider.script.push("hanging");

    const [embedding] = await world.embedder.embed(["one"], "passage");

    ok(embedding);
    equal(world.provider.requests.length, 2);
  });

  it("RemoteEmbedder.embed() says so when there is no answer at all", async () => {
    await using world = openRemoteWorld({ embedder: { requestLimitMs: 60 } });
    world.provider.mood = "hanging";

    const passage = await unavailable(world.embedder.embed(["one"], "passage"));
    const query = await unavailable(world.embedder.embed(["one"], "query"));

    ok(/did not answer within 0\.06 s/.test(passage.message));
    ok(/did not answer/.test(query.message));
    equal(world.provider.requests.length, 3);
  });

  const hopeless: readonly [ProviderMood, number, RegExp, number | undefined][] = [
    [{ status: 503 }, 6, /is in trouble \(503 an_error\); it is asked again later/, undefined],
    ["cut off", 6, /connection to .* broke off/, undefined],
    [
      { status: 429, headers: { "retry-after": "3600" } },
      1,
      /asked too often \(429 an_error\)/,
      3_600_000,
    ],
    [{ status: 503, headers: { "retry-after": "61" } }, 1, /in trouble/, 61_000],
    [{ status: 429, headers: { "retry-after": "0" } }, 10, /asked too often/, 0],
    [{ status: 429, code: "insufficient_quota" }, 1, /used up/, undefined],
    [{ status: 401 }, 1, /wants a key/, undefined],
  ];
  for (const [mood, requests, words, restMs] of hopeless) {
    it(`RemoteEmbedder.embed() gives up ${JSON.stringify(mood)} after ${requests}`, async () => {
      await using world = openRemoteWorld();
      world.provider.mood = mood;

      const failed = await unavailable(world.embedder.embed(["one"], "passage"));

      ok(words.test(failed.message), failed.message);
      equal(failed.restMs, restMs);
      equal(world.provider.requests.length, requests);
    });
  }

  it("RemoteEmbedder.embed() goes on when the provider comes back", async () => {
    await using world = openRemoteWorld({
      model: { provider: "dashscope" },
      provider: { latencyMs: 5 },
      embedder: { random: () => 0.2 },
    });
    const texts = Array.from({ length: 100 }, (_, at) => `text ${at}`);
    const embedding = world.embedder.embed(texts, "passage");
    await untilSo("some are embedded", () => world.embedder.usage.texts > 0);

    await world.provider.stop();
    world.provider.start();

    const embeddings = await embedding;
    ok(embeddings.every((each) => each !== undefined));
  });

  const soon: readonly ProviderMood[] = [
    { status: 503 },
    { status: 500 },
    { status: 429, headers: { "retry-after-ms": "5" } },
    "cut off",
  ];
  for (const mood of soon) {
    it(`RemoteEmbedder.embed() sends a query once more after ${JSON.stringify(mood)}`, async () => {
      await using world = openRemoteWorld();
      world.provider.script.push(mood);
      const [embedding] = await world.embedder.embed(["one"], "query");
      world.provider.mood = mood;

      const failed = await unavailable(world.embedder.embed(["two"], "query"));

      ok(embedding);
      ok(failed.message !== "");
      equal(world.provider.requests.length, 4);
    });
  }

  it("RemoteEmbedder.embed() sends no query again that nobody waits for any more", async () => {
    await using world = openRemoteWorld({ model: { timeoutMs: 100 } });
    world.provider.mood = { status: 503, headers: { "retry-after-ms": "200" } };

    await unavailable(world.embedder.embed(["one"], "query"));

    equal(world.provider.requests.length, 1);
  });

  it("RemoteEmbedder.embed() has so many batches under way as the provider's table says", async () => {
    await using world = openRemoteWorld({
      model: { provider: "dashscope" },
      provider: { latencyMs: 10 },
    });
    const texts = Array.from({ length: 100 }, (_, at) => `text ${at}`);

    await Promise.all([
      world.embedder.embed(texts, "passage"),
      world.embedder.embed(texts, "passage"),
    ]);

    equal(world.provider.requests.length, 20);
    equal(world.provider.mostAtOnce(), 4);
  });

  it("RemoteEmbedder.embed() lets a query past all passages that wait", async () => {
    await using world = openRemoteWorld({ model: { provider: "ollama" } });
    world.provider.script.push({ status: 429, headers: { "retry-after": "50" } });
    const stop = new AbortController();
    const texts = Array.from({ length: 40 }, (_, at) => `text ${at}`);
    const passages = world.embedder.embed(texts, "passage", stop.signal).catch(() => "stopped");
    await untilSo("the limit is hit", () => world.provider.requests.length === 1);

    const [embedding] = await world.embedder.embed(["one"], "query");

    ok(embedding);
    equal(world.provider.requests.length, 2);
    stop.abort();
    equal(await passages, "stopped");
  });

  it("RemoteEmbedder.embed() lets passages rest when a query is too many", async () => {
    await using world = openRemoteWorld();
    world.provider.script.push({ status: 429, headers: { "retry-after": "50" } });
    await unavailable(world.embedder.embed(["one"], "query"));
    const stop = new AbortController();

    const passages = world.embedder.embed(["two"], "passage", stop.signal).catch(() => "stopped");
    const [embedding] = await world.embedder.embed(["three"], "query");

    ok(embedding);
    deepEqual(world.provider.requests.map(({ texts }) => texts), [["one"], ["three"]]);
    stop.abort();
    equal(await passages, "stopped");
  });

  it("RemoteEmbedder.embed() keeps to a limit once it has met it", async () => {
    await using world = openRemoteWorld({
      model: { provider: "dashscope" },
      provider: { rate: { perSecond: 40, burst: 5, says: "nothing" } },
      embedder: { random: Math.random },
    });
    const texts = Array.from({ length: 600 }, (_, at) => `text ${at}`);

    const embeddings = await world.embedder.embed(texts, "passage");

    ok(embeddings.every((each) => each !== undefined));
    ok(world.provider.requests.length < 100);
  });
});
