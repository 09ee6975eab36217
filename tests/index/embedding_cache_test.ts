// In Deno 2.9 the short names that this module exports are the loose ones.
import { deepStrictEqual as deepEqual, ok, strictEqual as equal } from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import type { EmbeddingCache } from "@/lib/index/embedding_cache.ts";
import {
  BATCH,
  countKnown,
  countRows,
  DIMENSIONS,
  makeFile,
  makeWorld,
  putSome,
  textOf,
  vectorOf,
} from "../_support/cache_world.ts";

const PRUNE_STEP = 256;

describe("openEmbeddingCache()", () => {
  it("get() tells a vector, none and not known apart, before and after it was written", async () => {
    await using world = await makeWorld();
    const cache = world.open();
    cache.put("some", vectorOf(1));
    cache.put("none", null);
    const ask = (from: EmbeddingCache) => ["some", "none", "other"].map((text) => from.get(text));

    const buffered = ask(cache);
    cache.flush();
    const written = ask(cache);
    cache.close();
    const reopened = ask(world.open());

    const expected = [vectorOf(1), null, undefined];
    deepEqual(buffered, expected);
    deepEqual(written, expected);
    deepEqual(reopened, expected);
    deepEqual(world.logs, []);
  });

  it("put() and get() copy, so that no later change of an array reaches the cache", async () => {
    await using world = await makeWorld();
    const cache = world.open();
    const vector = vectorOf(1);

    cache.put("a", vector);
    vector.fill(0);
    cache.get("a")?.fill(1);

    deepEqual(cache.get("a"), vectorOf(1));
  });

  it("put() of a known text replaces what was known of it", async () => {
    await using world = await makeWorld();
    const cache = world.open();
    cache.put("a", null);
    cache.flush();

    cache.put("a", vectorOf(2));
    cache.flush();

    deepEqual(cache.get("a"), vectorOf(2));
    equal(countRows(world.openFile()), 1);
  });

  it("put() takes the extremes of a byte as they are", async () => {
    await using world = await makeWorld();
    const cache = world.open({ dimensions: 4 });

    cache.put("a", new Int8Array([-128, -1, 0, 127]));
    cache.flush();

    deepEqual(cache.get("a"), new Int8Array([-128, -1, 0, 127]));
  });

  it("put() does not keep a vector of other dimensions", async () => {
    await using world = await makeWorld();
    const cache = world.open();

    const found = [0, 1, DIMENSIONS - 1, DIMENSIONS + 1].map((length) => {
      cache.put("a", new Int8Array(length));
      return cache.get("a");
    });

    deepEqual(found, [undefined, undefined, undefined, undefined]);
  });

  it("put() does not keep a text whose bytes would be another's too", async () => {
    await using world = await makeWorld();
    const cache = world.open();

    cache.put("half \ud83d", vectorOf(1));
    const wrong = cache.get("half \ufffd");
    cache.put("half \ufffd", vectorOf(2));

    equal(wrong, undefined);
    equal(cache.get("half \ud83d"), undefined);
    deepEqual(cache.get("half \ufffd"), vectorOf(2));
  });

  it("get() finds nothing of another model or of other dimensions, and each keeps its own", async () => {
    await using world = await makeWorld();
    const models = [
      { modelId: "model-a", dimensions: 4 },
      { modelId: "model-b", dimensions: 4 },
      { modelId: "model-a", dimensions: 8 },
      { modelId: "model-a4", dimensions: 4 },
      { modelId: "", dimensions: 4 },
      { modelId: '",4]', dimensions: 4 },
    ];
    const found = models.map((model, index) => {
      const cache = world.open(model);
      const before = cache.get("a");
      cache.put("a", vectorOf(index, model.dimensions));
      cache.close();
      return before;
    });

    const again = models.map((model) => world.open(model).get("a"));

    deepEqual(found, models.map(() => undefined));
    deepEqual(again, models.map(({ dimensions }, index) => vectorOf(index, dimensions)));
  });

  it("the vectors hold no text and no name of a model", async () => {
    await using world = await makeWorld();
    const cache = world.open({ modelId: "model-with-a-name" });
    cache.put("zebra crossing", vectorOf(1));
    cache.close();

    const bytes = new TextDecoder("latin1").decode(await Deno.readFile(world.file));

    ok(bytes.includes("embeddings"));
    ok(!/zebra|crossing|model-with/.test(bytes));
  });

  it("after close() nothing is known or kept, and closing twice does no harm", async () => {
    await using world = await makeWorld();
    const cache = world.open();
    cache.put("a", vectorOf(1));

    cache.close();
    cache.close();
    cache.put("b", vectorOf(2));
    cache.flush();

    equal(cache.get("a"), undefined);
    equal(cache.get("b"), undefined);
    deepEqual(world.logs, []);
  });
});

describe("the batches of vectors", () => {
  it("put() writes when a batch is full by number", async () => {
    await using world = await makeWorld();
    const cache = world.open();
    const other = world.open();

    putSome(cache, 0, BATCH - 1);
    const before = countKnown(other, 0, BATCH);
    putSome(cache, BATCH - 1, BATCH);

    equal(before, 0);
    equal(countKnown(other, 0, BATCH), BATCH);
  });

  it("put() writes when a batch is full by bytes", async () => {
    await using world = await makeWorld();
    const dimensions = 100_000;
    const cache = world.open({ dimensions });
    const other = world.open({ dimensions });

    cache.put("a", vectorOf(1, dimensions));
    cache.put("b", vectorOf(2, dimensions));
    const before = other.get("a");
    cache.put("c", vectorOf(3, dimensions));

    equal(before, undefined);
    deepEqual(other.get("a"), vectorOf(1, dimensions));
    deepEqual(other.get("c"), vectorOf(3, dimensions));
  });

  it("put() drops the longest-ago written over the bound, whichever model they are of", async () => {
    await using world = await makeWorld();
    const other = world.open({ modelId: "model-b" });
    other.put("old", vectorOf(1));
    other.flush();
    const cache = world.open({ maxEntries: 300 });

    putSome(cache, 0, 1000);
    cache.flush();

    equal(countKnown(cache, 700, 1000), 300);
    equal(countRows(world.openFile()), 300);
    equal(other.get("old"), undefined);
  });

  it("flush() goes below a bound that was lowered in small steps", async () => {
    await using world = await makeWorld();
    const wide = world.open();
    putSome(wide, 0, 1000);
    wide.close();
    const narrow = world.open({ maxEntries: 10 });
    const db = world.openFile();
    const [rows, oldest]: [unknown[], number[]] = [[], []];

    for (let index = 1000; index < 1005; index++) {
      narrow.put(textOf(index), vectorOf(index));
      narrow.flush();
      rows.push(countRows(db));
      oldest.push(Number(db.prepare("SELECT min(age) AS oldest FROM embeddings").get()?.oldest));
    }

    deepEqual(oldest, [1, 2, 3].map((step) => 1 + step * PRUNE_STEP).concat(995, 996));
    deepEqual(rows, [1, 2, 3].map((step) => 1000 - step * (PRUNE_STEP - 1)).concat(10, 10));
    equal(countKnown(narrow, 995, 1005), 10);
  });

  it("two caches on one file see what the other wrote", async () => {
    await using world = await makeWorld();
    const [one, two] = [world.open(), world.open()];

    putSome(one, 0, 300);
    putSome(two, 200, 500);
    one.flush();
    two.flush();

    equal(countKnown(one, 0, 500), 500);
    equal(countKnown(two, 0, 500), 500);
    equal(countRows(world.openFile()), 500);
    deepEqual(world.warnings, []);
  });

  it("flush() skips a write while another holds the lock, and goes on after", async () => {
    await using world = await makeWorld();
    const cache = world.open();
    putSome(cache, 0, 10);
    cache.flush();
    const db = world.openFile();
    db.exec("BEGIN IMMEDIATE");

    putSome(cache, 10, 20);
    cache.flush();
    const whileLocked = [cache, world.open()].map((each) => countKnown(each, 0, 20));
    db.exec("COMMIT");
    putSome(cache, 20, 30);
    cache.flush();

    deepEqual(whileLocked, [10, 10]);
    equal(countKnown(world.open(), 0, 30), 20);
    deepEqual(world.warnings, []);
  });

  it("flush() skips a write that fails at its end, where the file was not made for two", async () => {
    await using world = await makeWorld();
    makeFile(world);
    const db = world.openFile();
    db.exec("PRAGMA journal_mode = DELETE; BEGIN; SELECT count(*) FROM embeddings");
    countRows(db);
    const cache = world.open();

    putSome(cache, 200, 210);
    cache.flush();
    db.exec("COMMIT");
    putSome(cache, 210, 220);
    cache.flush();

    equal(countKnown(cache, 0, 210), 200);
    equal(countKnown(cache, 210, 220), 10);
    deepEqual(world.warnings, []);
  });

  it("the write-ahead log stays small however much is written and read", async () => {
    await using world = await makeWorld();
    const cache = world.open();

    for (let from = 0; from < 10_000; from += 500) {
      putSome(cache, from, from + 500);
      countKnown(cache, from, from + 10);
    }

    ok((await Deno.stat(`${world.file}-wal`)).size < 4 * 1024 * 1024);
  });
});
