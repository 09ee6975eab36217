// In Deno 2.9 the short names that this module exports are the loose ones.
import { deepStrictEqual as deepEqual, strictEqual as equal } from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import type { FileRecord } from "@/lib/index/indexed_note.ts";
import { checksumOf } from "@/lib/index/known_file.ts";
import { runAtOnce } from "@/lib/seams.ts";
import { parseVaultPath } from "@/lib/vault/vault_path.ts";
import {
  countRows,
  makeWorld,
  noteOf,
  recordOf,
  rowsOf,
  withStamp,
} from "../_support/cache_world.ts";

const A = parseVaultPath("a.md");

describe("the table memory_index", () => {
  it("begins with the columns that people know", async () => {
    await using world = await makeWorld();
    world.openAll();

    const columns = world.openFile().prepare("PRAGMA table_info(memory_index)").all();

    deepEqual(columns.slice(0, 8).map(({ name, type, notnull }) => `${name} ${type} ${notnull}`), [
      "id TEXT 1",
      "path TEXT 1",
      "name TEXT 1",
      "description TEXT 1",
      "tags_json TEXT 1",
      "status TEXT 1",
      "mtime_ms INTEGER 1",
      "size INTEGER 1",
    ]);
  });

  it("can be read with SQL", async () => {
    await using world = await makeWorld();
    const cache = world.openAll();
    const record = recordOf(7);
    const texts = {
      id: "__proto__",
      name: `"缓存"\n'; DROP TABLE memory_index; -- 🦓`,
      description: "two\nlines",
    };
    const note = { ...noteOf("b.md", 1), ...texts };
    cache.files.put(noteOf(A, 3), recordOf(3));
    cache.files.put({ ...note, tags: ["a,b", "项目/x", `"`], status: " Archived " }, record);
    cache.close();

    const columns = "id, path, name, description, tags_json, status, mtime_ms, size, kind";

    deepEqual(rowsOf(world, columns), [
      {
        id: "id-3",
        path: "a.md",
        name: "name 3",
        description: "what is remembered of 3",
        tags_json: '["tag-3"]',
        status: "active",
        mtime_ms: 1_716_000_000_003,
        size: 3,
        kind: "memory",
      },
      {
        ...texts,
        path: "b.md",
        tags_json: '["a,b","项目/x","\\""]',
        status: "archived",
        mtime_ms: 1_716_000_000_007,
        size: 7,
        kind: "memory",
      },
    ]);
  });

  const NONSENSE: readonly (readonly [what: string, set: string])[] = [
    ["a path out of the vault", "path = '../a.md'"],
    ["a path that is no text", "path = x'612e6d64'"],
    ["the path of another file", "path = 'other.md'"],
    ["an etag of another file", `etag = '${noteOf(A, 3).etag}'`],
    ["an etag that is none", "etag = upper('a' || substr(etag, 2))"],
    ["an etag that is a number", "etag = 7"],
    ["a size that is a text", "size = 'large'"],
    ["a size that is an empty blob", "size = x''"],
    ["a size of another moment", "size = size + 1"],
    ["a time of another moment", "mtime_ms = mtime_ms + 1"],
    ["a ctime of another moment", "ctime_ms = ctime_ms + 1000"],
    ["an inode beyond all numbers", "ino = 9223372036854775807"],
    ["a device of no number", "dev = 'NaN'"],
    ["a later look", "hashed_at_ms = hashed_at_ms + 10000"],
    ["a checksum that is a text", "checksum = 'x'"],
    ["a checksum of no number", "checksum = x'00'"],
    ["no vault", "vault = ''"],
    ["a size below nothing, well sealed", `size = -1, checksum = ${sealOf({ size: -1 })}`],
  ];
  for (const [what, set] of NONSENSE) {
    it(`readAll() takes a row with ${what} as if it were not there`, async () => {
      await using world = await makeWorld();
      const { files } = world.openAll();
      files.put(noteOf(A, 2), recordOf(2));
      files.put(noteOf("b.md", 9), recordOf(9));
      runAtOnce(files.flush());
      const db = world.openFile();
      db.exec(`UPDATE memory_index SET ${set} WHERE path = 'a.md'`);

      const all = runAtOnce(files.readAll());

      deepEqual([...all.keys()], ["b.md"]);
      equal(countRows(db, "memory_index"), 1);
      deepEqual(world.logs, []);
    });
  }
});

function sealOf(stamp: Partial<FileRecord["stamp"]>): number {
  return checksumOf(A, withStamp(stamp));
}
