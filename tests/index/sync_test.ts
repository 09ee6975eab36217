import { deepStrictEqual as deepEqual, ok } from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import type { FileRecord } from "@/lib/index/indexed_note.ts";
import { ALWAYS_COMPARED_NOTES, mustCompare, planSync } from "@/lib/index/sync.ts";
import { runAtOnce } from "@/lib/seams.ts";
import type { FileStamp } from "@/lib/vault/vault.ts";
import { parseVaultPath, type VaultPath } from "@/lib/vault/vault_path.ts";

const CHANGED_MS = 1_700_000_000_000;
const stamp: FileStamp = { size: 5, mtimeMs: CHANGED_MS, ctimeMs: CHANGED_MS, ino: 1, dev: 1 };
const LONG_AFTER_MS = CHANGED_MS + 60_000;

function plan(found: FileStamp | undefined, known: FileRecord | undefined) {
  const path = parseVaultPath("a.md");
  const records = new Map<VaultPath, FileRecord>(known ? [[path, known]] : []);
  return runAtOnce(planSync(new Map(found ? [[path, found]] : []), {
    paths: () => records.keys(),
    has: (path) => records.has(path),
    fileOf: (path) => records.get(path),
  }));
}

describe("planSync()", () => {
  const quiet = { stamp, hashedAtMs: LONG_AFTER_MS };
  const dirty: Record<string, readonly [FileStamp, FileRecord | undefined]> = {
    "is new": [stamp, undefined],
    "has another size": [{ ...stamp, size: 6 }, quiet],
    "has another time": [{ ...stamp, mtimeMs: CHANGED_MS + 1 }, quiet],
    "goes back in time": [{ ...stamp, mtimeMs: CHANGED_MS - 9_000_000 }, quiet],
    "has another change time only": [{ ...stamp, ctimeMs: CHANGED_MS + 1_000 }, quiet],
    "is another file": [{ ...stamp, ino: 2 }, quiet],
    "was hashed just after it changed": [stamp, { stamp, hashedAtMs: CHANGED_MS + 1_999 }],
    "was hashed before it changed": [stamp, { stamp, hashedAtMs: CHANGED_MS - 10_000 }],
    "comes from the future": [
      { ...stamp, mtimeMs: LONG_AFTER_MS * 2 },
      { stamp: { ...stamp, mtimeMs: LONG_AFTER_MS * 2 }, hashedAtMs: LONG_AFTER_MS },
    ],
  };
  for (const [name, [found, known]] of Object.entries(dirty)) {
    it(`planSync() reads a file that ${name}`, () => {
      deepEqual(plan(found, known), { toRead: ["a.md"], missing: [] });
    });
  }

  it("planSync() leaves a quiet file alone", () => {
    deepEqual(plan(stamp, quiet), { toRead: [], missing: [] });
  });

  it("planSync() names known files that were not met", () => {
    deepEqual(plan(undefined, quiet), { toRead: [], missing: ["a.md"] });
  });
});

describe("planSync() of a part", () => {
  const known = new Map<VaultPath, FileRecord>(
    ["a.md", "b/c.md", "b/d/e.md", "bb.md"].map((
      path,
    ) => [parseVaultPath(path), { stamp, hashedAtMs: LONG_AFTER_MS }]),
  );
  const parts: readonly [
    name: string,
    places: string[],
    found: string[],
    expected: { toRead: string[]; missing: string[] },
  ][] = [
    ["reads what was heard of, whatever its stamp", ["a.md"], ["a.md"], {
      toRead: ["a.md"],
      missing: [],
    }],
    ["misses no file elsewhere", ["a.md"], [], { toRead: [], missing: ["a.md"] }],
    ["misses what lay in a folder", ["b"], [], { toRead: [], missing: ["b/c.md", "b/d/e.md"] }],
    ["leaves quiet files of a folder alone", ["b"], ["b/c.md", "b/d/e.md"], {
      toRead: [],
      missing: [],
    }],
    ["knows nothing of what was never there", ["new.md", "c"], ["new.md"], {
      toRead: ["new.md"],
      missing: [],
    }],
  ];
  for (const [name, places, found, expected] of parts) {
    it(`planSync() ${name}`, () => {
      const files = new Map(found.map((path) => [parseVaultPath(path), stamp]));
      const part = { places: new Set(places), wasFolder: (place: string) => place === "b" };

      const steps = planSync(files, {
        paths: () => known.keys(),
        has: (path) => known.has(path),
        fileOf: (path) => known.get(path),
      }, part);

      deepEqual(runAtOnce(steps), expected);
    });
  }
});

it("mustCompare() always does up to the limit, and every few seconds above", () => {
  const large = { notes: ALWAYS_COMPARED_NOTES + 1, comparedAtMs: 1_000 };

  ok(mustCompare({ notes: ALWAYS_COMPARED_NOTES, comparedAtMs: 1_000, nowMs: 1_001 }));
  ok(!mustCompare({ ...large, nowMs: 5_999 }));
  ok(mustCompare({ ...large, nowMs: 6_000 }));
  ok(mustCompare({ ...large, comparedAtMs: undefined, nowMs: 1_001 }));
});
