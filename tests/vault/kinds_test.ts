import { describe, it } from "@std/testing/bdd";
import { deepStrictEqual as deepEqual, strictEqual as equal } from "node:assert/strict";
import { GLOBAL_SCOPE_ID, type NoteKind } from "@/lib/contracts.ts";
import { classifyNote, type KindMeta, storeOf } from "@/lib/vault/kinds.ts";
import { parseVaultPath } from "@/lib/vault/vault_path.ts";

const ULID = "01HX5ZK8Q2M4N6P8R0S2T4V6W8";
const WITH_ID: KindMeta = { id: "mem_1" };
const NAMED: KindMeta = { name: "Deploy", description: "How we deploy" };

/** Kinds that the place decides; the id of a memory changes nothing. */
const PLACES: [kind: NoteKind, path: string][] = [
  ["summary", "march/summary.md"],
  ["facts", "march/memory.md"],
  ["history", "march/history/2024.md"],
  ["history", "march/history/a/b.md"],
  ["history", "march/history/summary.md"],
  ["shared", "_shared/a.md"],
  ["shared", "_Shared/a/b.md"],
  ["shared", "_shared/summary.md"],
  ["shared", "_shared/history/a.md"],
  ["journal", "profiles/agent.md"],
  ["journal", "profiles/user.md"],
  ["journal", "profile.md"],
  ["journal", "rules.md"],
  ["journal", "session-log.md"],
  ["journal", "session-log.archive.md"],
  ["journal", "projects/march.md"],
  ["journal", "projects/MEMORY.md"],
  ["journal", "projects/archive/old.md"],
  ["journal", "memories/handoff/main.md"],
  ["journal", `memories/projects/${ULID}/handoff/feature/x.md`],
  ["derived", "memories/MEMORY.md"],
  ["derived", `memories/projects/${ULID}/MEMORY.md`],
  ["derived", `memories/projects/${ULID.toLowerCase()}/project.md`],
  ["derived", "_index.md"],
  ["derived", "a/b/_Index.md"],
  ["derived", "audit-log.md"],
  ["derived", "a/b (conflict 2024-01-01T12-34-56Z).md"],
  ["derived", "_shared/b (conflict 20240101).md"],
];

/** Places that decide nothing, close to those above: memory by id, else note. */
const OPEN_PLACES = [
  "a.md",
  "summary.md",
  "memory.md",
  "MEMORY.md",
  "project.md",
  "_shared.md",
  "history/a.md",
  "march/history.md",
  "march/MEMORY.md",
  "march/Summary.md",
  "march/a/summary.md",
  "march/a/history/b.md",
  "archive/summary.md",
  "Archive/memory.md",
  "attachments/history/a.md",
  "profiles/a/b.md",
  "profiles/summary/memory.md",
  "projects/archive/a/b.md",
  "projects/a/summary.md",
  "Profile.md",
  "a/profile.md",
  "a/audit-log.md",
  "handoff/main.md",
  "Memories/summary.md",
  "a/b (conflicted copy 2024-01-01).md",
  "__proto__/constructor.md",
];

const STORE_PLACES = [
  "memories/a.md",
  "memories/memory.md",
  "memories/summary.md",
  "memories/history/a.md",
  "memories/project.md",
  "memories/2026/MEMORY.md",
  "memories/2026/05/week2/2026-05-14-a.md",
  "memories/projects/march/project.md",
  "memories/projects/march/MEMORY.md",
  `memories/projects/${ULID}/a.md`,
  `memories/projects/${ULID}/a/project.md`,
  `memories/projects/${ULID}/history/a.md`,
  `memories/a/handoff/b.md`,
];

describe("classifyNote()", () => {
  const classify = (path: string, meta: KindMeta, memoriesFolder = "memories"): NoteKind =>
    classifyNote({ memoriesFolder }, parseVaultPath(path), meta);

  for (const [kind, path] of PLACES) {
    it(`classifyNote() takes ${path} for ${kind}, whatever its metadata`, () => {
      for (const meta of [{}, WITH_ID, NAMED]) equal(classify(path, meta), kind);
    });
  }

  for (const path of OPEN_PLACES) {
    it(`classifyNote() takes ${path} for a memory only with an id`, () => {
      equal(classify(path, {}), "note");
      equal(classify(path, NAMED), "note");
      equal(classify(path, WITH_ID), "memory");
    });
  }

  for (const path of STORE_PLACES) {
    it(`classifyNote() takes ${path}, in a store, for a memory with name and description`, () => {
      equal(classify(path, {}), "note");
      equal(classify(path, { name: "Deploy" }), "note");
      equal(classify(path, { description: "How we deploy" }), "note");
      equal(classify(path, NAMED), "memory");
      equal(classify(path, WITH_ID), "memory");
    });
  }

  it("classifyNote() takes empty fields for missing ones", () => {
    equal(classify("a.md", { id: "" }), "note");
    equal(classify("memories/a.md", { name: "a", description: "" }), "note");
    equal(classify("memories/a.md", { id: undefined, name: "", description: "d" }), "note");
  });

  const inWholeVault: [kind: NoteKind, path: string][] = [
    ["memory", "a.md"],
    ["memory", "2026/05/week2/a.md"],
    ["memory", `projects/${ULID}/a.md`],
    ["memory", "archive/summary.md"],
    ["derived", "MEMORY.md"],
    ["derived", `projects/${ULID}/MEMORY.md`],
    ["derived", `projects/${ULID}/project.md`],
    ["journal", "handoff/main.md"],
    ["journal", `projects/${ULID}/handoff/main.md`],
    ["journal", "projects/march.md"],
    ["journal", "profiles/agent.md"],
    ["summary", "march/summary.md"],
    ["facts", "march/memory.md"],
    ["history", "march/history/a.md"],
    ["shared", "_shared/a.md"],
  ];
  for (const [kind, path] of inWholeVault) {
    it(`classifyNote() takes ${path} for ${kind} when the vault itself is the store`, () => {
      equal(classify(path, NAMED, "."), kind);
    });
  }

  it("classifyNote() finds no project folder in a store with another name or deeper", () => {
    equal(classify("记忆/summary.md", {}, "记忆"), "note");
    equal(classify("march/history/a.md", NAMED, "march/history"), "memory");
    equal(classify("march/memory.md", NAMED, "march/history"), "facts");
    equal(classify("memories/summary.md", {}, "记忆"), "note");
    equal(classify("agents/summary.md", {}, "Agents"), "note");
  });
});

describe("storeOf()", () => {
  const find = (memoriesFolder: string, path: string) =>
    storeOf({ memoriesFolder }, parseVaultPath(path));
  const globalStore = (folder: string) => ({ scopeId: GLOBAL_SCOPE_ID, folder });

  it("storeOf() finds the global store", () => {
    deepEqual(find("memories", "memories/a/b.md"), globalStore("memories"));
    deepEqual(find("a/b", "a/b/c.md"), globalStore("a/b"));
    deepEqual(find(".", "a.md"), globalStore("."));
  });

  it("storeOf() finds a project's store by its ULID in any case", () => {
    const lower = ULID.toLowerCase();

    deepEqual(find("memories", `memories/projects/${lower}/a/b.md`), {
      scopeId: ULID,
      folder: `memories/projects/${lower}`,
    });
    deepEqual(find(".", `projects/${ULID}/a.md`), { scopeId: ULID, folder: `projects/${ULID}` });
  });

  const noUlids = [
    "march",
    ULID.slice(1),
    `${ULID}0`,
    ULID.replace("X", "U"),
    ULID.replace("X", "I"),
    GLOBAL_SCOPE_ID,
  ];
  for (const name of noUlids) {
    it(`storeOf() takes projects/${name} for a part of the global store`, () => {
      deepEqual(find("memories", `memories/projects/${name}/a.md`), globalStore("memories"));
    });
  }

  it("storeOf() takes a file named like a ULID for a part of the global store", () => {
    deepEqual(find("memories", `memories/projects/${ULID}`), globalStore("memories"));
  });

  it("storeOf() returns undefined for what lies outside", () => {
    for (const path of ["a.md", "memories.md", "memories2/a.md", "a/memories/b.md", "Memories/a"]) {
      equal(find("memories", path), undefined, path);
    }
  });
});
