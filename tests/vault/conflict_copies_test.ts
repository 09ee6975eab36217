import { describe, it } from "@std/testing/bdd";
import { deepStrictEqual as deepEqual, ok, strictEqual as equal } from "node:assert/strict";
import { conflictCopyOf, isOwnConflictCopy } from "@/lib/vault/conflict_copies.ts";
import { parseVaultPath } from "@/lib/vault/vault_path.ts";

const CERTAIN: [copy: string, original: string][] = [
  ["n.sync-conflict-20240101-123456-ABCDEFG.md", "n.md"],
  ["a/b.c.sync-conflict-20240101-123456.md", "a/b.c.md"],
  ["n_conflict-20240101-123456.md", "n.md"],
  ["n (conflicted copy 2024-01-01).md", "n.md"],
  ["n (conflicted copy 2024-01-01 123456).md", "n.md"],
  ["n (Alice's conflicted copy 2024-01-01).md", "n.md"],
  ["n (Alice Smith's Conflicted Copy).MD", "n.MD"],
  ["n (DESKTOP-1's conflicted copy 2024-01-01 (2)).md", "n.md"],
  ["n (Conflicted copy My-Mac 202405011234).md", "n.md"],
  ["n (conflicted copy 2024-01-01) (1).md", "n.md"],
  ["n (conflicted copy 2024-01-01) 2.md", "n.md"],
  ["n (conflicted copy 2024-01-01) (conflicted copy 2024-01-02).md", "n.md"],
  ["n 2 (conflicted copy 2024-01-01).md", "n 2.md"],
  ["n (SFConflict ann@example.com 2024-01-01-12-34-56).md", "n.md"],
  ["n (conflict 20240101T123456Z).md", "n.md"],
  ["n (conflict 2024-01-01 12-34-56).md", "n.md"],
  ["笔记 (某某的冲突副本 2024-01-01).md", "笔记.md"],
  ["笔记（某某 的冲突副本）.md", "笔记.md"],
  ["筆記 (某某 的衝突複本 2024-01-01).md", "筆記.md"],
  ["a/n (x's conflicted copy).markdown", "a/n.markdown"],
];

const WEAK: [copy: string, original: string][] = [
  ["n 2.md", "n.md"],
  ["a/Chapter 12.md", "a/Chapter.md"],
  ["n (1).md", "n.md"],
  ["n(3).md", "n.md"],
  ["笔记 2.md", "笔记.md"],
];

const NONE = [
  "n.md",
  "n 1.md",
  "n 100.md",
  "n2.md",
  "2.md",
  "(1).md",
  "n (0).md",
  "n (2024).md",
  "Treaty (conflict 1939).md",
  "Conflict of interest.md",
  "conflicted copy.md",
  "(conflicted copy).md",
  "n (unconflicted copy).md",
  "n (conflicted copy) notes.md",
  "冲突副本.md",
  "n.sync-conflict-2024.md",
  "n (conflicted copy 2024-01-01)/a.md",
  "con (1).md",
];

describe("conflictCopyOf()", () => {
  for (const [copy, original] of CERTAIN) {
    it(`conflictCopyOf() is certain that ${copy} is a copy`, () => {
      deepEqual(conflictCopyOf(parseVaultPath(copy)), { original, certain: true });
    });
  }

  for (const [copy, original] of WEAK) {
    it(`conflictCopyOf() leaves it open whether ${copy} is a copy`, () => {
      deepEqual(conflictCopyOf(parseVaultPath(copy)), { original, certain: false });
    });
  }

  for (const path of NONE) {
    it(`conflictCopyOf() returns undefined for ${path}`, () => {
      equal(conflictCopyOf(parseVaultPath(path)), undefined);
    });
  }
});

describe("isOwnConflictCopy()", () => {
  it("isOwnConflictCopy() tells our copies from those of sync tools", () => {
    ok(isOwnConflictCopy(parseVaultPath("a/n (conflict 2024-01-01T12-34-56Z).md")));
    ok(!isOwnConflictCopy(parseVaultPath("a/n (conflicted copy 2024-01-01).md")));
    ok(!isOwnConflictCopy(parseVaultPath("Treaty (conflict 1939).md")));
  });
});
