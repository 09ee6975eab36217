// In Deno 2.9 the short names that this module exports are the loose ones.
import { deepStrictEqual as deepEqual, ok, strictEqual as equal } from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import { CacheStore } from "@/lib/index/_cache_store.ts";
import { FileTable } from "@/lib/index/_file_table.ts";
import { type FileCache, StoredFiles } from "@/lib/index/file_cache.ts";
import type { FileRecord } from "@/lib/index/indexed_note.ts";
import type { KnownFile } from "@/lib/index/known_file.ts";
import { runAtOnce } from "@/lib/seams.ts";
import { parseVaultPath, type VaultPath } from "@/lib/vault/vault_path.ts";
import {
  BATCH,
  countFiles,
  knownOf,
  makeWorld,
  noteOf,
  pathOf,
  putFiles,
  recordOf,
  rowsOf,
  withStamp,
} from "../_support/cache_world.ts";

const A = parseVaultPath("a.md");

function readAll(files: FileCache): Map<VaultPath, KnownFile> {
  return runAtOnce(files.readAll());
}

/** Returns a path's etag as the number that it was made from, and its moment, "" if unknown. */
function stateOf(files: FileCache, path: VaultPath = A): string {
  const known = readAll(files).get(path);
  return known ? `${Number.parseInt(known.etag, 16)} at ${known.file.stamp.size}` : "";
}

function countSteps<T>(steps: Generator<void, T>): number {
  let count = 0;
  while (!steps.next().done) count++;
  return count;
}

const ODD_PATHS = [
  "__proto__",
  "constructor/prototype.md",
  "memories/2026/05/week2/2026-05-14-缓存顺序.md",
  'O\'Reilly "quoted"; DROP TABLE memory_index; --.md',
  "100% sure.md",
  "emoji 👩‍👩‍👧‍👦 🦓.md",
  "Re\u0301sume\u0301.md",
  "Résumé.md",
  "a".repeat(255),
];

const ODD_STAMPS: readonly Partial<FileRecord["stamp"]>[] = [
  { size: 0, mtimeMs: 0, ctimeMs: 0, ino: 0, dev: 0 },
  { mtimeMs: -1876, ctimeMs: -2000 },
  { mtimeMs: 1_716_000_000_000.25 },
  { ino: 2 ** 53 + 2, dev: 2 ** 60 },
  { ino: 2 ** 64, dev: 2 ** 63 },
  { size: 10 * 1024 * 1024 },
];

describe("readAll()", () => {
  for (const [index, path] of ODD_PATHS.entries()) {
    it(`returns what was known of ${JSON.stringify(path).slice(0, 60)}`, async () => {
      await using world = await makeWorld();
      const cache = world.openAll();
      cache.files.put(noteOf(path, index), recordOf(index));
      cache.close();

      const all = readAll(world.openAll().files);

      deepEqual([...all], [[path, knownOf(index)]]);
      deepEqual(world.logs, []);
    });
  }

  for (const odd of ODD_STAMPS) {
    it(`returns exactly a stamp with ${JSON.stringify(odd)}`, async () => {
      await using world = await makeWorld();
      const cache = world.openAll();
      const record = recordOf(1);
      const file = { ...record, stamp: { ...record.stamp, ...odd } };
      cache.files.put(noteOf(A), file);
      cache.files.touch(parseVaultPath("b.md"), knownOf(1));
      cache.close();

      const all = readAll(world.openAll().files);

      deepEqual([...all], [[A, { etag: noteOf(A).etag, file }]]);
      deepEqual(world.logs, []);
    });
  }

  it("knows two files that claim one id", async () => {
    await using world = await makeWorld();
    const cache = world.openAll();
    cache.files.put(noteOf("a.md", 1), recordOf(1));
    cache.files.put(noteOf("copy of a.md", 1), recordOf(2));

    equal(readAll(cache.files).size, 2);
  });

  it("ends, in whatever order a damaged file gives its rows", async () => {
    await using world = await makeWorld();
    const all = () => [{ row: 900 }, { row: 5 }];
    const db = { exec: () => {}, prepare: () => ({ get: () => undefined, all, run: () => {} }) };
    const open = () => ({ files: new FileTable(db), close: () => {} });
    const store = new CacheStore({ path: world.file, logger: world.logger, open });

    equal(countSteps(new StoredFiles(store, "vault-a").readAll()), 2);
  });

  it("reads and writes 50 000 files in small steps", async () => {
    await using world = await makeWorld();
    const { files } = world.openAll();
    putFiles(files, 0, 50_000);
    const other = world.openAll().files;

    const writing = countSteps(files.flush());
    const reading = countSteps(other.readAll());

    // All full batches were written by put().
    equal(writing, 1);
    equal(reading, Math.ceil(50_000 / 256) + 1);
    equal(countFiles(other), 50_000);
  });
});

/** What is done to one path, one after another, and what is known in the end. */
const STORIES:
  readonly (readonly [story: string, acts: (files: FileCache) => void, end: string])[] = [
    ["put", (files) => files.put(noteOf(A, 2), recordOf(2)), "2 at 2"],
    ["touch", (files) => files.touch(A, knownOf(1, 5)), "1 at 5"],
    ["touch of other content", (files) => files.touch(A, knownOf(2, 5)), "1 at 1"],
    ["remove", (files) => files.remove(A), ""],
    ["put, put", (files) => {
      files.put(noteOf(A, 2), recordOf(2));
      files.put(noteOf(A, 3), recordOf(3));
    }, "3 at 3"],
    ["put, touch", (files) => {
      files.put(noteOf(A, 2), recordOf(2));
      files.touch(A, knownOf(2, 5));
    }, "2 at 5"],
    ["put, touch of other content", (files) => {
      files.put(noteOf(A, 2), recordOf(2));
      files.touch(A, knownOf(3, 5));
    }, "1 at 1"],
    ["put, remove", (files) => {
      files.put(noteOf(A, 2), recordOf(2));
      files.remove(A);
    }, ""],
    ["remove, put", (files) => {
      files.remove(A);
      files.put(noteOf(A, 2), recordOf(2));
    }, "2 at 2"],
    ["touch, put", (files) => {
      files.touch(A, knownOf(1, 5));
      files.put(noteOf(A, 2), recordOf(2));
    }, "2 at 2"],
    ["touch, remove", (files) => {
      files.touch(A, knownOf(1, 5));
      files.remove(A);
    }, ""],
    ["touch, touch", (files) => {
      files.touch(A, knownOf(1, 5));
      files.touch(A, knownOf(1, 6));
    }, "1 at 6"],
  ];

describe("the changes of a file", () => {
  for (const [story, acts, end] of STORIES) {
    it(`${story}: the last one counts`, async () => {
      await using world = await makeWorld();
      const cache = world.openAll();
      cache.files.put(noteOf(A, 1), recordOf(1));
      cache.files.put(noteOf("b.md", 9), recordOf(9));
      runAtOnce(cache.files.flush());

      acts(cache.files);
      cache.close();

      const { files } = world.openAll();
      equal(stateOf(files), end);
      equal(stateOf(files, parseVaultPath("b.md")), "9 at 9");
      deepEqual(world.logs, []);
    });
  }

  it("touch() changes nothing but the stamp", async () => {
    await using world = await makeWorld();
    const cache = world.openAll();
    const columns = "id, path, name, description, tags_json, status, kind, etag, vault";
    cache.files.put(noteOf(A, 1), recordOf(1));
    runAtOnce(cache.files.flush());
    const before = rowsOf(world, columns);

    cache.files.touch(A, knownOf(1, 5));
    cache.close();

    deepEqual(rowsOf(world, columns), before);
    deepEqual(rowsOf(world, "mtime_ms, size"), [{ mtime_ms: 1_716_000_000_005, size: 5 }]);
  });

  const UNSOUND: readonly (readonly [what: string, known: KnownFile])[] = [
    ["an etag that is none", { ...knownOf(2), etag: "x1" }],
    ["a size below nothing", withStamp({ size: -1 })],
    ["a time that is none", withStamp({ mtimeMs: NaN })],
    ["an inode that is none", withStamp({ ino: Infinity })],
  ];
  for (const [what, { etag, file }] of UNSOUND) {
    it(`put() of ${what} forgets what was known, and no error comes of it`, async () => {
      await using world = await makeWorld();
      const { files } = world.openAll();
      files.put(noteOf(A, 1), recordOf(1));
      runAtOnce(files.flush());

      files.put({ ...noteOf(A, 2), etag }, file);

      equal(stateOf(files), "");
      deepEqual(world.logs, []);
    });
  }
});

describe("the batches of files", () => {
  it("put() writes when a batch is full by number, changes of one path counted too", async () => {
    await using world = await makeWorld();
    const { files } = world.openAll();
    const other = world.openAll().files;

    putFiles(files, 0, BATCH - 2);
    putFiles(files, 0, 1);
    const before = countFiles(other);
    putFiles(files, 0, 1);

    equal(before, 0);
    equal(countFiles(other), BATCH - 2);
  });

  it("put() writes when a batch is full by length", async () => {
    await using world = await makeWorld();
    const { files } = world.openAll();
    const other = world.openAll().files;
    const putLong = (index: number) => {
      const description = "x".repeat(100_000);
      files.put({ ...noteOf(pathOf(index), index), description }, recordOf(index));
    };

    putLong(1);
    putLong(2);
    const before = countFiles(other);
    putLong(3);

    equal(before, 0);
    equal(countFiles(other), 3);
  });

  it("flush() writes what waited for a lock in small steps, and at once nothing", async () => {
    await using world = await makeWorld();
    const { files } = world.openAll();
    const db = world.openFile();
    db.exec("BEGIN IMMEDIATE");

    putFiles(files, 0, 10_000);
    files.put(noteOf(pathOf(0), 5), recordOf(5));
    files.put(noteOf(pathOf(0), 0), recordOf(0));
    const whileLocked = [countSteps(files.flush()), countFiles(files)];
    db.exec("COMMIT");
    const after = [countSteps(files.flush()), countSteps(files.flush())];

    deepEqual(whileLocked, [0, 0]);
    deepEqual(after, [Math.ceil(10_000 / BATCH), 0]);
    equal(countFiles(world.openAll().files), 10_000);
    deepEqual(world.warnings, []);
    ok(world.logs.length < 100, "one try for each batch");
  });

  it("flush() yields between long rows", async () => {
    await using world = await makeWorld();
    const { files } = world.openAll();
    const db = world.openFile();
    db.exec("BEGIN IMMEDIATE");
    for (let index = 0; index < 9; index++) {
      const description = "x".repeat(100_000);
      files.put({ ...noteOf(pathOf(index), index), description }, recordOf(index));
    }
    db.exec("COMMIT");

    equal(countSteps(files.flush()), 3);
  });
});

describe("two servers at one file", () => {
  it("the last one that writes of a file wins, and both know all", async () => {
    await using world = await makeWorld();
    const [one, two] = [world.openAll().files, world.openAll().files];

    putFiles(one, 0, 300);
    putFiles(two, 200, 500);
    one.put(noteOf(A, 1), recordOf(1));
    runAtOnce(one.flush());
    two.put(noteOf(A, 2), recordOf(2));
    runAtOnce(two.flush());

    equal(stateOf(one), "2 at 2");
    one.remove(A);
    equal(countFiles(one), 500);
    equal(countFiles(two), 500);
    deepEqual(world.warnings, []);
  });

  it("touch() never gives the content that another has written a stamp of its own", async () => {
    await using world = await makeWorld();
    const [one, two] = [world.openAll().files, world.openAll().files];
    one.put(noteOf(A, 2), recordOf(2));
    runAtOnce(one.flush());
    // It had read the file before, and comes late.
    two.put(noteOf(A, 1), recordOf(1));
    runAtOnce(two.flush());

    one.touch(A, knownOf(2, 5));
    runAtOnce(one.flush());

    equal(stateOf(world.openAll().files), "1 at 1");
  });

  it("readAll() goes on while another writes and removes", async () => {
    await using world = await makeWorld();
    const [one, two] = [world.openAll().files, world.openAll().files];
    putFiles(one, 0, 1000);
    runAtOnce(one.flush());
    const reading = two.readAll();
    reading.next();

    putFiles(one, 1000, 1500);
    for (let index = 600; index < 700; index++) one.remove(parseVaultPath(pathOf(index)));
    runAtOnce(one.flush());

    equal(runAtOnce(reading).size, 1400);
    deepEqual(world.logs, []);
  });
});

describe("two vaults at one file", () => {
  it("readAll() returns nothing of another vault, and removes it in small steps", async () => {
    await using world = await makeWorld();
    const other = world.openAll("vault-b");
    putFiles(other.files, 0, 1000);
    other.close();
    const { files } = world.openAll("vault-a");
    files.put(noteOf(pathOf(3), 3), recordOf(3));

    const steps = countSteps(files.readAll());

    ok(steps >= 4, String(steps));
    deepEqual(rowsOf(world, "path, vault"), [{ path: pathOf(3), vault: "vault-a" }]);
    equal(countFiles(files), 1);
    equal(countFiles(world.openAll("vault-b").files), 0);
  });

  it("touch() and remove() leave alone what is known of another vault", async () => {
    await using world = await makeWorld();
    const [here, other] = [world.openAll("vault-a").files, world.openAll("vault-b").files];
    other.put(noteOf(A, 1), recordOf(1));
    other.put(noteOf("b.md", 1), recordOf(1));
    runAtOnce(other.flush());

    here.touch(A, knownOf(1, 5));
    here.remove(parseVaultPath("b.md"));
    runAtOnce(here.flush());

    equal(stateOf(other), "1 at 1");
    equal(stateOf(other, parseVaultPath("b.md")), "1 at 1");
  });
});
