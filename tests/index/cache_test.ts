// In Deno 2.9 the short names that this module exports are the loose ones.
import { deepStrictEqual as deepEqual, strictEqual as equal } from "node:assert/strict";
import { Buffer } from "node:buffer";
import { createHash } from "node:crypto";
import { crc32 } from "node:zlib";
import { describe, it } from "@std/testing/bdd";
import {
  type CacheWorld,
  checkRoundTrip,
  countFiles,
  countKnown,
  DIMENSIONS,
  listNames,
  makeFile,
  makeWorld,
  MODEL,
  putFiles,
  putSome,
  textOf,
  vectorOf,
} from "../_support/cache_world.ts";

const IS_WINDOWS = Deno.build.os === "windows";

/** Makes a file as the program wrote it before it knew files, with one vector. */
function makeVersion1(world: CacheWorld): void {
  const db = world.openFile();
  db.exec(`
    PRAGMA journal_mode = WAL;
    CREATE TABLE embeddings (
      age INTEGER PRIMARY KEY,
      key BLOB NOT NULL UNIQUE,
      value BLOB NOT NULL
    ) STRICT;
    PRAGMA user_version = 1;
  `);
  const key = createHash("sha256").update(`["model-a",${DIMENSIONS}]${textOf(1)}`).digest();
  const vector = new Uint8Array(vectorOf(1).buffer);
  const checksum = Buffer.alloc(4);
  checksum.writeUInt32BE(crc32(vector, crc32(key.toString("hex"))));
  db.prepare("INSERT INTO embeddings (key, value) VALUES (?, ?)")
    .run(key, Buffer.concat([vector, checksum]));
  db.close();
}

describe("openCache()", () => {
  it("folder and files are for this person alone, and become so where they were not", async () => {
    await using world = await makeWorld();
    const modeOf = async (path: string) => ((await Deno.stat(path)).mode ?? 0) & 0o777;
    makeFile(world);
    if (IS_WINDOWS) return;
    equal(await modeOf(world.state), 0o700);
    equal(await modeOf(world.file), 0o600);
    const known: number[] = [];
    for (const mode of [0o400, 0o644]) {
      await Deno.chmod(world.file, mode);
      const cache = world.open();
      known.push(countKnown(cache, 0, 200));
      putSome(cache, 200, 500);
    }

    deepEqual(known, [200, 200]);
    deepEqual(world.logs, []);
    deepEqual(await listNames(world.state), [
      "cache.sqlite",
      "cache.sqlite-shm",
      "cache.sqlite-wal",
    ]);
    for (const suffix of ["", "-wal", "-shm"]) equal(await modeOf(world.file + suffix), 0o600);
  });

  it("embeddingsOf() leaves the file to the others when it is closed", async () => {
    await using world = await makeWorld();
    const cache = world.openAll();
    const [one, two] = [MODEL, { ...MODEL, modelId: "model-b" }].map(cache.embeddingsOf);

    one?.put("a", vectorOf(1));
    one?.close();
    one?.put("a", vectorOf(2));
    two?.put("a", vectorOf(3));
    putFiles(cache.files, 0, 10);

    equal(one?.get("a"), undefined);
    deepEqual(two?.get("a"), vectorOf(3));
    equal(countFiles(cache.files), 10);
    deepEqual(world.open().get("a"), vectorOf(1));
    deepEqual(world.logs, []);
  });

  it("close() writes all that waits, then nothing is known or kept", async () => {
    await using world = await makeWorld();
    const cache = world.openAll();
    const vectors = cache.embeddingsOf(MODEL);
    vectors.put("a", vectorOf(1));
    putFiles(cache.files, 0, 10);

    cache.close();
    cache.close();
    vectors.put("b", vectorOf(2));
    putFiles(cache.files, 10, 300);
    const after = [vectors.get("a"), countFiles(cache.files)];

    deepEqual(after, [undefined, 0]);
    deepEqual(world.open().get("a"), vectorOf(1));
    equal(countFiles(world.openAll().files), 10);
    deepEqual(world.logs, []);
  });

  it("keeps the vectors of a file of version 1, and the files from then on", async () => {
    await using world = await makeWorld();
    await Deno.mkdir(world.state);
    makeVersion1(world);

    const cache = world.openAll();
    const known = [cache.embeddingsOf(MODEL).get(textOf(1)), countFiles(cache.files)];
    putFiles(cache.files, 0, 10);
    cache.close();

    deepEqual(known, [vectorOf(1), 0]);
    equal(countFiles(world.openAll().files), 10);
    equal(world.openFile().prepare("PRAGMA user_version").get()?.user_version, 2);
    deepEqual(world.logs, []);
    checkRoundTrip(world);
  });

  it("takes a file of version 1 along while an earlier program uses it", async () => {
    await using world = await makeWorld();
    await Deno.mkdir(world.state);
    makeVersion1(world);
    const earlier = world.openFile();
    const ask = earlier.prepare("SELECT count(*) AS rows FROM embeddings");
    ask.get();

    const cache = world.openAll();
    putSome(cache.embeddingsOf(MODEL), 0, 200);
    cache.close();

    equal(ask.get()?.rows, 200);
    deepEqual(world.logs, []);
  });

  it("leaves a file of version 1 that is locked as it is", async () => {
    await using world = await makeWorld();
    await Deno.mkdir(world.state);
    makeVersion1(world);
    const db = world.openFile();
    db.exec("BEGIN IMMEDIATE");

    world.openAll();
    db.exec("COMMIT");

    equal(db.prepare("PRAGMA user_version").get()?.user_version, 1);
    deepEqual(world.warnings, ["cache-off locked"]);
    deepEqual(world.open().get(textOf(1)), vectorOf(1));
  });
});
