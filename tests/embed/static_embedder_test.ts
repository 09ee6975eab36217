import {
  deepStrictEqual as deepEqual,
  notStrictEqual as notEqual,
  ok,
  rejects,
  strictEqual as equal,
} from "node:assert/strict";
import { crc32 } from "node:zlib";
import { describe, it } from "@std/testing/bdd";
import { type Embedding, EmbeddingUnavailable } from "@/lib/embed/embedder.ts";
import { readModelFile } from "@/lib/embed/model_file.ts";
import { STATIC_MODEL_ID, StaticEmbedder } from "@/lib/embed/static_embedder.ts";
import { type Clock, SLICE_MS, systemClock } from "@/lib/seams.ts";
import { countTurns } from "../_support/count_turns.ts";
import { modelBytes } from "./_model_bytes.ts";

const PIECES = [{ text: "▁a", row: [7] }, { text: "▁b", row: [0, 7] }, {
  text: "▁c",
  row: [0, 0, 7],
}];
const TINY = modelBytes({ id: STATIC_MODEL_ID, dim: 512, pieces: PIECES });

/** An embedder of a tiny model, and how often its file was read. */
function tinyEmbedder(clock: Clock = systemClock) {
  const reads: number[] = [];
  const embedder = new StaticEmbedder({
    clock,
    crc32: crc32(TINY),
    read: () => {
      reads.push(TINY.length);
      return Promise.resolve(TINY);
    },
  });
  return { embedder, reads };
}

/** A clock on which a slice is over at every look. */
function hastyClock() {
  let nowMs = 0;
  const looks = { count: 0 };
  const monotonicMs = () => {
    looks.count++;
    return nowMs += SLICE_MS;
  };
  return { looks, clock: { nowMs: monotonicMs, monotonicMs } };
}

/** The dimension in which the only piece of a text lies. */
const axisOf = (vector: Embedding) => vector?.findIndex((value) => value > .99);

describe("StaticEmbedder", () => {
  it("says what it is before its file was read", () => {
    const { embedder, reads } = tinyEmbedder();

    equal(embedder.id, "static-zh-en-512q4-v1");
    equal(embedder.dimensions, 512);
    ok(embedder.isLocal);
    const { floor, ceiling, weight, hintAt } = embedder.scale;
    deepEqual({ floor, ceiling, weight, hintAt }, {
      floor: .1,
      ceiling: .8,
      weight: .4,
      hintAt: .4,
    });
    equal(reads.length, 0);
  });

  it("is right about the shipped file", async () => {
    const embedder = new StaticEmbedder({ clock: systemClock, read: readModelFile });

    const [question, answer, other, silent] = await embedder.embed(
      ["如何撤销最近一次提交", "How do I undo my last commit?", "the user prefers tea", "。"],
      "query",
    );

    const cosine = (a: Embedding, b: Embedding) =>
      a?.reduce((sum, value, i) => sum + value * (b?.[i] ?? NaN), 0) ?? NaN;
    ok(cosine(question, answer) > .4);
    ok(cosine(question, other) < .2);
    equal(silent, undefined);
  });

  it("embed() gives one embedding a text, in their order, for questions and answers alike", async () => {
    const { embedder } = tinyEmbedder();

    const answers = await embedder.embed(["c", "", "a", "b", "?"], "query");

    deepEqual(answers.map(axisOf), [2, undefined, 0, 1, undefined]);
    deepEqual(await embedder.embed(["c", "", "a", "b", "?"], "passage"), answers);
    deepEqual(await embedder.embed([], "query"), []);
  });

  it("embed() has the file read once, however many ask at once", async () => {
    const { embedder, reads } = tinyEmbedder();

    await Promise.all(["a", "b", "c"].map((text) => embedder.embed([text], "query")));
    await embedder.embed(["a"], "query");

    equal(reads.length, 1);
  });

  it("load() loads ahead, and gives the model that embed() uses", async () => {
    const { embedder, reads } = tinyEmbedder();

    const model = await embedder.load();
    const [vector] = await embedder.embed(["a b"], "query");

    equal(reads.length, 1);
    deepEqual(vector, model.embed("a b"));
    equal(await embedder.load(), model);
  });

  it("embed() tries again when the file could not be read", async () => {
    const outcomes = [
      () => Promise.reject(new RangeError("no such disk")),
      () => Promise.resolve(TINY.slice(0, -1)),
      () => Promise.resolve(TINY),
    ];
    const read = () => outcomes.shift()?.() ?? Promise.reject(new Error("read too often"));
    const embedder = new StaticEmbedder({ clock: systemClock, read, crc32: crc32(TINY) });

    const both = [embedder.embed(["a"], "query"), embedder.load()];
    for (const one of both) await rejects(one, /cannot be read \(RangeError\)/);
    await rejects(embedder.embed(["a"], "query"), /it ends within/);
    const [vector] = await embedder.embed(["a"], "query");

    equal(axisOf(vector), 0);
    equal(axisOf((await embedder.embed(["b"], "query"))[0]), 1);
  });

  const foreign = [
    { id: "other-v1", dim: 512, pieces: PIECES },
    { id: STATIC_MODEL_ID, dim: 256, pieces: PIECES },
  ];
  for (const model of foreign) {
    it(`embed() refuses a file of ${model.id} with ${model.dim} dimensions`, async () => {
      const read = () => Promise.resolve(modelBytes(model));
      const embedder = new StaticEmbedder({ clock: systemClock, read });

      await rejects(embedder.embed(["a"], "query"), {
        name: "ModelFileError",
        message: new RegExp(`holds ${model.id} of ${model.dim} dimensions`),
      });
    });
  }

  it("embed() refuses the model of the program when a single bit of it is another", async () => {
    const read = async () => {
      const bytes = await readModelFile();
      const last = bytes.length - 1;
      bytes[last] = (bytes[last] ?? 0) ^ 1;
      return bytes;
    };
    const embedder = new StaticEmbedder({ clock: systemClock, read });

    await rejects(embedder.embed(["a"], "query"), /it is damaged. Restore lib\/embed\/static/);
  });

  const unread: readonly [Error, RegExp][] = [
    [new Deno.errors.NotFound("/home/ada/x"), /: it is missing. Restore/],
    [new Deno.errors.NotCapable("/home/ada/x"), /start with --allow-read=lib\/embed\/static/],
    [new Deno.errors.IsADirectory("/home/ada/x"), /cannot be read \(IsADirectory\)/],
  ];
  for (const [error, words] of unread) {
    it(`embed() says what to do about ${error.name}, without a path`, async () => {
      const read = () => Promise.reject(error);
      const embedder = new StaticEmbedder({ clock: systemClock, read });

      await rejects(embedder.embed(["a"], "query"), (refusal: Error) => {
        ok(refusal instanceof EmbeddingUnavailable);
        ok(words.test(refusal.message) && !refusal.message.includes("ada"), refusal.message);
        return true;
      });
    });
  }

  it("embed() lets others have the event loop between texts, and while it loads", async () => {
    const { clock } = hastyClock();
    const { embedder } = tinyEmbedder(clock);
    const texts = Array.from({ length: 100 }, () => "a b");

    const turnsOfLoading = await countTurns(embedder.load());
    const turns = await countTurns(embedder.embed(texts, "passage"));

    ok(turnsOfLoading >= 2, `${turnsOfLoading}`);
    ok(turns >= 30, `${turns}`);
  });

  it("embed() lets others have the event loop within a long text", async () => {
    const { clock } = hastyClock();
    const { embedder } = tinyEmbedder(clock);
    await embedder.load();

    const turns = await countTurns(embedder.embed(["a b ".repeat(50_000)], "passage"));

    ok(turns >= 30, `${turns}`);
  });

  it("embed() reads nothing for a signal that has aborted", async () => {
    const { embedder, reads } = tinyEmbedder();

    const work = embedder.embed(["a"], "query", AbortSignal.abort(new Error("gone")));

    await rejects(work, /gone/);
    equal(reads.length, 0);
  });

  for (const texts of [Array.from({ length: 1_000 }, () => "a"), ["a ".repeat(1_000_000)]]) {
    it(`embed() ends soon after its signal aborts, with ${texts.length} texts to do`, async () => {
      const { clock, looks } = hastyClock();
      const { embedder } = tinyEmbedder(clock);
      await embedder.load();
      const abort = new AbortController();
      const before = looks.count;

      const work = embedder.embed(texts, "passage", abort.signal);
      setTimeout(() => abort.abort(new Error("gone")), 0);

      await rejects(work, /gone/);
      ok(looks.count - before < 200, `${looks.count - before}`);
    });
  }

  it("embed() is none the worse for calls that were aborted", async () => {
    const { clock } = hastyClock();
    const { embedder } = tinyEmbedder(clock);
    const abort = new AbortController();
    const text = `${"a b ".repeat(5_000)}`;

    const gone = embedder.embed([text, text], "passage", abort.signal);
    const stays = embedder.embed([text, "c"], "passage");
    setTimeout(() => abort.abort(new Error("gone")), 5);
    await rejects(gone, /gone/);

    const alone = await tinyEmbedder().embedder.embed([text, "c"], "passage");
    deepEqual(await stays, alone);
  });

  it("two of them share nothing", async () => {
    const [one, other] = [tinyEmbedder(), tinyEmbedder()];

    await one.embedder.embed(["a"], "query");

    equal(other.reads.length, 0);
    notEqual(await one.embedder.load(), await other.embedder.load());
    equal(axisOf((await other.embedder.embed(["b"], "query"))[0]), 1);
  });
});
