// In Deno 2.9 the short names that this module exports are the loose ones.
import { deepStrictEqual as deepEqual, ok, strictEqual as equal } from "node:assert/strict";
import { dirname, join } from "node:path";
import { describe, it } from "@std/testing/bdd";
import {
  type CacheWorld,
  checkRoundTrip,
  countFiles,
  countKnown,
  listNames,
  makeFile,
  makeWorld,
  MODEL,
  overwrite,
  putFiles,
  putSome,
  vectorOf,
} from "../_support/cache_world.ts";
import { randomSource } from "../_support/random.ts";

const IS_WINDOWS = Deno.build.os === "windows";

/** What may lie where the file should, and what is told of it. */
interface Damage {
  readonly what: string;
  readonly make: (world: CacheWorld) => void;
  /** Of the 200 vectors that were there. */
  readonly known?: number;
  /** Of the 200 files that were there; none by default. */
  readonly files?: number;
  readonly warnings?: readonly string[];
}

function change(sql: string): (world: CacheWorld) => void {
  return (world) => {
    makeFile(world);
    const db = world.openFile();
    db.exec(sql);
    db.close();
  };
}

const DAMAGED = ["cache-renewed damaged"];
const UNUSABLE = ["cache-renewed unusable"];
const OTHER_VERSION = ["cache-renewed other-version"];

const DAMAGES: readonly Damage[] = [
  { what: "no file", make: () => {} },
  { what: "an empty file", make: ({ file }) => write(file, "") },
  { what: "a text", make: ({ file }) => write(file, "x".repeat(9000)), warnings: DAMAGED },
  { what: "a few bytes", make: ({ file }) => write(file, "SQLite"), warnings: DAMAGED },
  {
    what: "half a file",
    make: (world) => {
      makeFile(world);
      Deno.truncateSync(world.file, Deno.statSync(world.file).size / 2);
    },
    warnings: DAMAGED,
  },
  {
    what: "nothing but its first page",
    make: (world) => {
      makeFile(world);
      Deno.truncateSync(world.file, 4096);
    },
    warnings: DAMAGED,
  },
  {
    what: "a file whose pages are all overwritten but the first",
    make: (world) => {
      makeFile(world);
      overwrite(world.file, { at: 4096, length: Deno.statSync(world.file).size - 4096 });
    },
    warnings: DAMAGED,
  },
  { what: "a later schema", make: change("PRAGMA user_version = 3"), warnings: OTHER_VERSION },
  {
    what: "a file of another program",
    make: change("DROP TABLE embeddings; CREATE TABLE embeddings (id); PRAGMA user_version = 0"),
    warnings: UNUSABLE,
  },
  {
    what: "a table with other columns",
    make: change("ALTER TABLE embeddings RENAME COLUMN value TO vector"),
    warnings: UNUSABLE,
  },
  { what: "a folder", make: ({ file }) => write(join(file, "in it"), ""), warnings: UNUSABLE },
  {
    what: "a folder that was put aside before",
    make: ({ file }) => {
      write(`${file}.damaged/in it`, "");
      write(file, "x".repeat(9000));
    },
    warnings: DAMAGED,
  },
  {
    what: "a write-ahead log of nonsense",
    make: (world) => {
      makeFile(world);
      write(`${world.file}-wal`, "x".repeat(9000));
    },
    known: 200,
    files: 200,
  },
  {
    what: "a folder in place of the write-ahead log",
    make: (world) => {
      makeFile(world);
      write(`${world.file}-wal/in it`, "");
    },
    warnings: UNUSABLE,
  },
  {
    what: "a write-ahead log without its file",
    make: (world) => {
      const cache = world.open();
      putSome(cache, 0, 200);
      cache.flush();
      Deno.copyFileSync(`${world.file}-wal`, `${world.file}.log`);
      cache.close();
      Deno.removeSync(world.file);
      Deno.renameSync(`${world.file}.log`, `${world.file}-wal`);
    },
  },
  {
    what: "values without their last byte",
    make: change("UPDATE embeddings SET value = substr(value, 1, length(value) - 1)"),
    files: 200,
  },
  {
    what: "values of no byte",
    make: change("UPDATE embeddings SET value = x''"),
    files: 200,
  },
  {
    what: "values that say none",
    make: change("UPDATE embeddings SET value = x'00000000'"),
    files: 200,
  },
  {
    what: "values with one byte changed",
    make: change("UPDATE embeddings SET value = CAST(x'80' || substr(value, 2) AS BLOB)"),
    files: 200,
  },
  {
    what: "values that changed places",
    make: change(
      "UPDATE embeddings SET value = (SELECT value FROM embeddings AS other " +
        "WHERE other.age = embeddings.age % 200 + 1)",
    ),
    files: 200,
  },
  {
    what: "a table of files with other columns",
    make: change("ALTER TABLE memory_index RENAME COLUMN etag TO hash"),
    warnings: UNUSABLE,
  },
  { what: "no table of files", make: change("DROP TABLE memory_index"), warnings: UNUSABLE },
  {
    what: "a file of version 1 that has a table of that name",
    make: change("PRAGMA user_version = 1"),
    warnings: UNUSABLE,
  },
];

function write(path: string, text: string): void {
  Deno.mkdirSync(dirname(path), { recursive: true });
  Deno.writeTextFileSync(path, text);
}

describe("a cache over what it cannot use", () => {
  for (const { what, make, known = 0, files = 0, warnings = [] } of DAMAGES) {
    it(`openCache() copes with ${what}`, async () => {
      await using world = await makeWorld();
      make(world);

      const cache = world.openAll();
      const vectors = cache.embeddingsOf(MODEL);
      const found = [countKnown(vectors, 0, 200), countFiles(cache.files)];
      putSome(vectors, 0, 200);
      vectors.flush();
      putFiles(cache.files, 0, 200);
      const healed = [countKnown(vectors, 0, 200), countFiles(cache.files)];
      cache.close();

      deepEqual(found, [known, files]);
      deepEqual(healed, [200, 200]);
      deepEqual(world.warnings, warnings);
      equal((await listNames(world.state)).includes("cache.sqlite.damaged"), warnings.length > 0);
      ok(world.logs.every((line) => !line.includes(world.folder)));
      checkRoundTrip(world);
    });
  }

  it("openCache() puts a link aside and leaves alone what it leads to", async () => {
    await using world = await makeWorld();
    if (IS_WINDOWS) return;
    const target = join(world.folder, "precious.txt");
    await Deno.writeTextFile(target, "precious", { mode: 0o644 });
    await Deno.mkdir(world.state);
    await Deno.symlink(target, world.file);

    checkRoundTrip(world);

    equal(await Deno.readTextFile(target), "precious");
    equal(((await Deno.stat(target)).mode ?? 0) & 0o777, 0o644);
    deepEqual(world.warnings, UNUSABLE);
  });

  it("openCache() knows nothing when the state folder is a file", async () => {
    await using world = await makeWorld();
    await Deno.writeTextFile(world.state, "");

    const cache = world.openAll();
    const vectors = cache.embeddingsOf(MODEL);
    vectors.put("a", vectorOf(1));
    putFiles(cache.files, 0, 300);

    equal(vectors.get("a"), undefined);
    equal(countFiles(cache.files), 0);
    deepEqual(world.warnings, ["cache-off unusable"]);
  });

  it("openCache() leaves a file that is locked, and uses it the next time", async () => {
    await using world = await makeWorld();
    makeFile(world);
    const db = world.openFile();
    db.exec("PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE");

    const locked = world.openAll();
    const vectors = locked.embeddingsOf(MODEL);
    vectors.put("a", vectorOf(1));
    const known = [countKnown(vectors, 0, 200), vectors.get("a"), countFiles(locked.files)];
    db.exec("COMMIT");
    db.close();

    deepEqual(known, [0, undefined, 0]);
    deepEqual(world.warnings, ["cache-off locked"]);
    equal(countKnown(world.open(), 0, 200), 200);
    equal(countFiles(world.openAll().files), 200);
    checkRoundTrip(world);
  });

  it("a cache whose file breaks under it begins anew once, then turns itself off", async () => {
    await using world = await makeWorld();
    const cache = world.open();
    const breakFile = () => {
      const db = world.openFile();
      db.exec("DROP TABLE embeddings");
      db.close();
    };
    putSome(cache, 0, 200);

    breakFile();
    const afterFirst = countKnown(cache, 0, 10);
    putSome(cache, 0, 200);
    cache.flush();
    const begunAnew = countKnown(cache, 0, 200);
    breakFile();
    putSome(cache, 200, 600);
    const afterSecond = countKnown(cache, 0, 600);
    cache.close();

    deepEqual([afterFirst, begunAnew, afterSecond], [0, 200, 0]);
    deepEqual(world.warnings, [
      "cache-renewed unusable",
      "cache-off unusable",
    ]);
    checkRoundTrip(world);
  });

  it("no damage makes the cache fail or answer wrongly", async () => {
    await using world = await makeWorld();
    const random = randomSource(20);
    makeFile(world);
    const whole = await Deno.readFile(world.file);

    for (let round = 0; round < 60; round++) {
      const length = 1 + random(6000);
      const at = random(whole.length - length);
      await Deno.writeFile(world.file, whole);
      overwrite(world.file, { at, length });
      const cache = world.openAll();
      const vectors = cache.embeddingsOf(MODEL);
      countKnown(vectors, 0, 200);
      countFiles(cache.files);
      putSome(vectors, 0, 300);
      putFiles(cache.files, 0, 300);
      cache.close();
      const next = world.openAll();
      countKnown(next.embeddingsOf(MODEL), 0, 300);
      countFiles(next.files);
      next.close();
    }

    ok(world.warnings.length > 10);
    ok(world.warnings.every((warning) => warning.startsWith("cache-renewed")));
    checkRoundTrip(world);
  });
});
