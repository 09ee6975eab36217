import { ok, rejects, strictEqual as equal } from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import { type Embedder, EmbeddingUnavailable, type EmbedKind } from "@/lib/embed/embedder.ts";
import { EMBED_REST_MS, EmbedderGuard } from "@/lib/embed/embedder_guard.ts";
import { createLogger, systemClock } from "@/lib/seams.ts";
import { conceptEmbedder, type Mood } from "../_support/concept_embedder.ts";
import { untilSo } from "../_support/until.ts";

/** A guard whose clock stands until it is moved. */
function openWorld(embedder: Embedder, kind: EmbedKind = "query") {
  const time = { nowMs: 0 };
  const clock = { nowMs: () => time.nowMs, monotonicMs: () => time.nowMs };
  const logs: string[] = [];
  const write = (line: string) => void logs.push(line);
  const logger = createLogger({ level: "debug", clock, pretty: false, write });
  const guard = new EmbedderGuard({ embedder, kind, clock, logger });
  return { guard, logs, time };
}

describe("EmbedderGuard", () => {
  it("EmbedderGuard.embed() gives what the model gives, in order, while it works", async () => {
    const { guard } = openWorld(conceptEmbedder({ isLocal: false }));

    const [cat, nothing, bread] = await guard.embed(["cat", "zebra", "bread"]);

    equal(cat?.[0], 1);
    equal(nothing, undefined);
    equal(bread?.[1], 1);
    equal(guard.failure, undefined);
  });

  const moods: readonly [Mood, boolean, RegExp][] = [
    ["failing", false, /failed \(TypeError\)/],
    ["failing", true, /failed \(TypeError\)/],
    ["hanging", false, /took too long/],
    ["hanging", true, /took too long/],
    ["confused", false, /another form/],
    ["confused", true, /another form/],
  ];
  for (const [mood, isLocal, words] of moods) {
    const where = isLocal ? "local" : "distant";
    it(`EmbedderGuard.embed() says why when a ${where} model is ${mood}, without its words`, async () => {
      const embedder = conceptEmbedder({ isLocal });
      const { guard, logs } = openWorld(embedder);
      embedder.mood = mood;

      const refused = guard.embed(["cat", "bread"]);

      await rejects(refused, (error: Error) => {
        ok(error instanceof EmbeddingUnavailable);
        ok(words.test(error.message) && !error.message.includes("secret"));
        return true;
      });
      ok(words.test(guard.failure ?? ""));
      ok(logs.some((line) => line.includes("embedding-failed")));
      ok(!logs.join().includes("secret"));
    });
  }

  it("EmbedderGuard.embed() does not call a model that rests after a failure", async () => {
    const embedder = conceptEmbedder({ isLocal: false });
    const { guard, time } = openWorld(embedder);
    embedder.mood = "failing";
    await rejects(guard.embed(["cat"]));
    embedder.mood = "hanging";
    time.nowMs = EMBED_REST_MS - 1;

    for (let round = 0; round < 5; round++) await rejects(guard.embed(["cat"]));

    equal(embedder.calls(), 1);
    ok(!guard.isOpen);
  });

  it("EmbedderGuard.embed() tries a rested model in the background, once at a time", async () => {
    const embedder = conceptEmbedder({ isLocal: false });
    const { guard, time } = openWorld(embedder);
    embedder.mood = "failing";
    await rejects(guard.embed(["cat"]));
    embedder.mood = "well";
    time.nowMs = EMBED_REST_MS;

    const refused = [guard.embed(["cat"]), guard.embed(["cat"])];

    for (const each of refused) await rejects(each, EmbeddingUnavailable);
    await untilSo("the model is back", () => guard.failure === undefined);
    equal(embedder.calls(), 2);
    const [cat] = await guard.embed(["cat"]);
    equal(cat?.[0], 1);
  });

  for (const [isLocal, kind] of [[false, "passage"], [true, "query"], [true, "passage"]] as const) {
    const what = `a ${kind} through to a rested ${isLocal ? "local" : "distant"} model`;
    it(`EmbedderGuard.embed() lets ${what}`, async () => {
      const embedder = conceptEmbedder({ isLocal });
      const { guard, time } = openWorld(embedder, kind);
      embedder.mood = "failing";
      await rejects(guard.embed(["cat"]));
      embedder.mood = "well";
      await rejects(guard.embed(["cat"]), EmbeddingUnavailable);
      time.nowMs = EMBED_REST_MS;

      const [cat] = await guard.embed(["cat"]);

      equal(cat?.[0], 1);
      equal(guard.failure, undefined);
      equal(embedder.calls(), 2);
    });
  }

  it("EmbedderGuard.embed() passes on the words of a model that chose them for people", async () => {
    const embedder = conceptEmbedder();
    const words = "The file is missing";
    embedder.embed = () => Promise.reject(new EmbeddingUnavailable(words));
    const { guard, logs } = openWorld(embedder);

    await rejects(guard.embed(["cat"]), { message: words });

    equal(guard.failure, words);
    ok(logs.join().includes(words));
  });

  it("EmbedderGuard.embed() lets a model rest again that fails when it is tried", async () => {
    const embedder = conceptEmbedder({ isLocal: false });
    const { guard, time } = openWorld(embedder);
    embedder.mood = "failing";
    await rejects(guard.embed(["cat"]));
    time.nowMs = EMBED_REST_MS;

    await rejects(guard.embed(["cat"]));

    await untilSo("the model rests again", () => !guard.isOpen);
    await rejects(guard.embed(["cat"]));
    equal(embedder.calls(), 2);
  });

  it("EmbedderGuard.embed() gives up with the caller, and holds nothing against the model", async () => {
    const embedder = conceptEmbedder({ isLocal: false });
    const { guard } = openWorld(embedder);
    embedder.mood = "hanging";
    const caller = new AbortController();

    const asked = guard.embed(["cat"], caller.signal);
    caller.abort(new RangeError("gone"));

    await rejects(asked, RangeError);
    equal(guard.failure, undefined);
    await rejects(
      guard.embed(["cat"], AbortSignal.abort(new RangeError("gone"))),
      RangeError,
    );
    equal(guard.failure, undefined);
  });

  it("EmbedderGuard.embed() is open again as soon as a slow query has succeeded after all", async () => {
    const embedder = conceptEmbedder({ isLocal: false });
    const gate = Promise.withResolvers<void>();
    const slow: Embedder = {
      ...embedder,
      limitsMs: { query: 1, passage: 1 },
      async embed(texts, kind) {
        await gate.promise;
        return await embedder.embed(texts, kind);
      },
    };
    const { guard } = openWorld(slow);

    await rejects(guard.embed(["cat"]), /took too long/);
    const failure = guard.failure;
    gate.resolve();
    await untilSo("the late answer counts", () => guard.failure === undefined);

    ok(/took too long/.test(failure ?? ""));
    equal((await guard.embed(["cat"])).length, 1);
  });

  it("EmbedderGuard leaves a model alone for as long as it asks, an hour at the most", async () => {
    for (const [asked, rest] of [[undefined, EMBED_REST_MS], [90_000, 90_000], [9e9, 3_600_000]]) {
      const away = new EmbeddingUnavailable("away", { restMs: asked });
      const embedder: Embedder = { ...conceptEmbedder(), embed: () => Promise.reject(away) };
      const { guard, time } = openWorld(embedder);

      await rejects(guard.embed(["cat"]), { message: "away", cause: away });

      equal(guard.restMs, rest);
      time.nowMs = rest ?? 0;
      equal(guard.restMs, 0);
    }
  });

  it("EmbedderGuard of questions in the background waits, and tries again when it has rested", async () => {
    const embedder = conceptEmbedder({ isLocal: false });
    const logger = createLogger({ level: "error", clock: systemClock, pretty: false, write() {} });
    const time = { nowMs: 0 };
    const clock = { nowMs: () => time.nowMs, monotonicMs: () => time.nowMs };
    const options = { embedder, kind: "query", isBackground: true, clock, logger } as const;
    const guard = new EmbedderGuard(options);
    embedder.mood = "failing";
    await rejects(guard.embed(["cat"]));
    embedder.mood = "well";
    time.nowMs = EMBED_REST_MS;

    equal((await guard.embed(["cat"])).length, 1);
  });
});
