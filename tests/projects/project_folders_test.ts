import {
  deepStrictEqual as deepEqual,
  match,
  ok,
  rejects,
  strictEqual as equal,
} from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import { IndexNotReady } from "@/lib/errors.ts";
import { MAX_FOLDERS_LOOKED_AT, ProjectFolders } from "@/lib/projects/project_folders.ts";
import { MEMORY_ROUTE_MAX_ITEMS } from "@/lib/protocol_keys.ts";
import { type Clock, systemClock } from "@/lib/seams.ts";
import { classifyNote } from "@/lib/vault/kinds.ts";
import { openVault, readFile, type VaultOptions } from "@/lib/vault/vault.ts";
import { parseVaultPath } from "@/lib/vault/vault_path.ts";
import { summaryOf } from "../_support/project_notes.ts";
import { type Files, type TempVault, tempVault } from "../_support/temp_vault.ts";

interface FolderWorld extends TempVault {
  readonly projects: ProjectFolders;
  /** Paths of all files that were read, in order. */
  readonly reads: string[];
  /** Names of the project folders that a scan finds. */
  namesOf(first?: readonly string[]): Promise<string[]>;
}

/** A clock that is so far ahead that no stamp of this machine is too fresh. */
const laterClock: Clock = { ...systemClock, nowMs: () => systemClock.nowMs() + 60_000 };

async function folderWorld(
  files: Files,
  options: Partial<VaultOptions> & { readonly clock?: Clock } = {},
): Promise<FolderWorld> {
  const { clock = systemClock, ...settings } = options;
  const folder = await tempVault(files);
  const vault = openVault({
    root: folder.root,
    memoriesFolder: "memories",
    exclude: [],
    ...settings,
  });
  const reads: string[] = [];
  const read: typeof readFile = (of, path, maxBytes) => {
    reads.push(path);
    return readFile(of, path, maxBytes);
  };
  const projects = new ProjectFolders({ vault, clock, read });
  return {
    ...folder,
    projects,
    reads,
    namesOf: async (first = []) => (await projects.scan(first)).folders.map(({ name }) => name),
  };
}

const SITE = summaryOf("project: site", "tags: [web]");

/** Makes many folders in a fast way. */
function fill(world: TempVault, names: readonly string[], summary = SITE): void {
  for (const name of names) {
    Deno.mkdirSync(world.pathOf(name));
    if (summary !== "") Deno.writeTextFileSync(world.pathOf(`${name}/summary.md`), summary);
  }
}

const numbered = (count: number, prefix = "p") =>
  Array.from({ length: count }, (_, i) => prefix + String(i).padStart(5, "0"));

describe("ProjectFolders.scan()", () => {
  it("finds the direct folders that hold summary.md, memory.md or history, and no others", async () => {
    await using world = await folderWorld({
      "site/summary.md": SITE,
      "bare/summary.md": "# Bare\n",
      "facts/memory.md": "# Facts\n",
      "past/history/a.md": "# A\n",
      "odd/summary.md": "---\ntags: [a]\n---\n",
      "notes/a.md": "# A\n",
      "deep/site/summary.md": SITE,
      "wrong/history": "a file",
      "other/Summary.md": SITE,
      "summary.md": SITE,
      "folder/summary.md/a.md": "# A\n",
    });

    const { folders, unchecked } = await world.projects.scan([]);

    deepEqual(folders, [
      { name: "bare", state: "unmigrated", hasSummary: true },
      { name: "facts", state: "unmigrated", hasSummary: false },
      {
        name: "odd",
        state: "incompatible",
        problem: "project: add the name of the project",
        hasSummary: true,
      },
      { name: "past", state: "unmigrated", hasSummary: false },
      {
        name: "site",
        state: "canonical",
        meta: {
          project: "site",
          aliases: [],
          tags: ["web"],
          related: [],
          dependsOn: [],
        },
        hasSummary: true,
      },
    ]);
    equal(unchecked, 0);
  });

  it("always excludes private, _shared, .obsidian, template folders and what is configured", async () => {
    const names = ["private", "_shared", ".obsidian", ".git", "templates", "Templates", "模板"];
    const reserved = ["memories", "profiles", "projects", "attachments", "Archive", "PRIVATE"];
    const hidden = [...names, ...reserved, "Work", "store"];
    const files = Object.fromEntries(hidden.map((name) => [`${name}/summary.md`, SITE]));
    await using world = await folderWorld({ ...files, "site/summary.md": SITE }, {
      memoriesFolder: "store",
      exclude: ["work"],
    });

    deepEqual(await world.namesOf(hidden), ["site"]);
    deepEqual(world.reads, ["site/summary.md"]);
    equal((await world.projects.scan(hidden)).unchecked, 0);
  });

  it("agrees with the kinds of notes on which folders hold a project", async () => {
    const folders = ["memories", "profiles", "projects", "_shared", "archive", "site", "mine"];
    const files = Object.fromEntries(folders.map((name) => [`${name}/summary.md`, SITE]));
    await using world = await folderWorld(files);
    const layout = { memoriesFolder: "memories" };

    const summaries = folders.filter((name) =>
      classifyNote(layout, parseVaultPath(`${name}/summary.md`), {}) === "summary"
    );

    deepEqual(await world.namesOf(), summaries.toSorted());
  });

  it("never reads _index.md, bodies of facts or history", async () => {
    await using world = await folderWorld({
      "_index.md": summaryOf("project: x"),
      "site/_index.md": summaryOf("project: x"),
      "site/memory.md": "# Facts\n",
      "site/history/a.md": "# A\n",
      "site/summary.md": SITE,
    });

    deepEqual(await world.namesOf(), ["site"]);
    deepEqual(world.reads, ["site/summary.md"]);
  });

  it("follows no link: not of a folder, a summary or a history", async () => {
    await using outside = await tempVault({ "summary.md": SITE, "history/a.md": "# A\n" });
    await using world = await folderWorld({
      "real/summary.md": SITE,
      "file/a.md": "",
      "past/a": "",
    });
    await Deno.symlink(outside.root, world.pathOf("linked"));
    await Deno.symlink(world.pathOf("real"), world.pathOf("inner"));
    await Deno.symlink(outside.pathOf("summary.md"), world.pathOf("file/summary.md"));
    await Deno.symlink(outside.pathOf("history"), world.pathOf("past/history"));

    deepEqual(await world.namesOf(["linked", "inner", "file"]), ["real"]);
    deepEqual(world.reads, ["real/summary.md"]);
  });

  it("looks at the folders named first, then at the rest in a stable order", async () => {
    const names = ["b", "a", "Z", "é", "中", "b2"];
    const files = Object.fromEntries(names.map((name) => [`${name}/summary.md`, SITE]));
    await using world = await folderWorld(files);

    deepEqual(await world.namesOf(), ["Z", "a", "b", "b2", "é", "中"]);
    deepEqual(await world.namesOf(["中", "b2", "b2"]), ["中", "b2", "Z", "a", "b", "é"]);
  });

  it("takes for a folder named first only a safe direct one, spelt as on disk", async () => {
    await using world = await folderWorld({ "a/summary.md": SITE, "z/y/summary.md": SITE });
    const unsafe = ["..", ".", "", "z/y", "/etc", "z\\y", "a\0b", "A", "none", "../a", "con"];

    deepEqual(await world.namesOf(unsafe), ["a"]);
    deepEqual(world.reads, ["a/summary.md"]);
    equal((await world.projects.scan(unsafe)).unchecked, 0);
  });

  it("handles at most 60 projects, the one named first among them, and reads no more files", async () => {
    await using world = await folderWorld({});
    fill(world, numbered(5_000));

    const { folders, unchecked } = await world.projects.scan(["p04999"]);

    deepEqual(folders.map(({ name }) => name), ["p04999", ...numbered(59)]);
    equal(unchecked, 4_940);
    equal(world.reads.length, MEMORY_ROUTE_MAX_ITEMS);
  });

  it("does not count folders without a project toward the 60", async () => {
    await using world = await folderWorld({});
    fill(world, numbered(100, "a"), "");
    fill(world, numbered(60));

    const { folders, unchecked } = await world.projects.scan([]);

    deepEqual([folders.length, unchecked], [60, 0]);
  });

  it("looks at a bounded number of folders, and counts the rest as unchecked", async () => {
    await using world = await folderWorld({});
    fill(world, numbered(2_300, "a"), "");
    fill(world, ["z"]);
    fill(world, [".git", "private", "Templates", "memories"], "");

    const { folders, unchecked } = await world.projects.scan([]);
    const named = await world.projects.scan(["z"]);

    deepEqual([folders.length, unchecked], [0, 2_301 - MAX_FOLDERS_LOOKED_AT]);
    deepEqual(named.folders.map(({ name }) => name), ["z"]);
    equal(named.unchecked, unchecked);
  });

  it("reads only the head of a long summary", async () => {
    const long = SITE + "x".repeat(9 * 1024 * 1024);
    await using world = await folderWorld({
      "long/summary.md": long,
      "unclosed/summary.md": `---\nproject: p\n#${"x".repeat(200_000)}\n---\n`,
      "cut/summary.md": summaryOf("project: cut") + "飞".repeat(100_000),
    });
    const vault = openVault({ root: world.root, memoriesFolder: ".", exclude: [] });

    const { bytes } = readFile(vault, parseVaultPath("long/summary.md"), 100);
    const { folders } = await world.projects.scan([]);

    equal(new TextDecoder().decode(bytes), long.slice(0, 100));
    deepEqual(folders.map(({ name, state }) => [name, state]), [
      ["cut", "canonical"],
      ["long", "canonical"],
      ["unclosed", "incompatible"],
    ]);
  });

  it("lets one broken folder harm no other, and says what is wrong with it", async () => {
    await using world = await folderWorld({
      "a/summary.md": SITE,
      "binary/summary.md": new Uint8Array(1000),
      "huge/summary.md": "",
      "z/summary.md": SITE,
    });
    await Deno.truncate(world.pathOf("huge/summary.md"), 11 * 1024 * 1024);
    const vault = openVault({ root: world.root, memoriesFolder: ".", exclude: [] });
    const failing = new ProjectFolders({
      vault,
      clock: systemClock,
      read: (of, path, maxBytes) => {
        if (path === "a/summary.md") throw new IndexNotReady("secret path", new Error("x"));
        return readFile(of, path, maxBytes);
      },
    });

    const { folders } = await failing.scan([]);

    deepEqual(folders.map(({ name, state }) => [name, state]), [
      ["a", "incompatible"],
      ["binary", "incompatible"],
      ["huge", "incompatible"],
      ["z", "canonical"],
    ]);
    deepEqual(folders.map(({ problem = "" }) => problem), [
      "summary.md: cannot be read now (Error)",
      "summary.md: is no text in UTF-8; save it as such",
      "summary.md: is larger than 10 MiB; shorten it",
      "",
    ]);
  });

  it("sees a changed summary at once, also where size and times are the same", async () => {
    await using world = await folderWorld({ "site/summary.md": summaryOf("project: aaa") });
    const path = world.pathOf("site/summary.md");
    const time = new Date();
    await Deno.utime(path, time, time);

    const before = await world.projects.scan([]);
    await Deno.writeTextFile(path, summaryOf("project: bbb"));
    await Deno.utime(path, time, time);
    const after = await world.projects.scan([]);

    deepEqual(
      [before, after].map(({ folders: [folder] }) => folder?.meta?.project),
      ["aaa", "bbb"],
    );
  });

  it("sees a new folder, and one that has gone, at once", async () => {
    await using world = await folderWorld({ "a/summary.md": SITE, "b/summary.md": SITE });

    const before = await world.namesOf();
    world.write("c/summary.md", SITE);
    world.remove("a");
    const after = await world.namesOf();

    deepEqual([before, after], [["a", "b"], ["b", "c"]]);
  });

  it("reads nothing again that has not changed", async () => {
    await using world = await folderWorld({ "a/summary.md": SITE, "b/summary.md": SITE }, {
      clock: laterClock,
    });

    await world.namesOf();
    await world.namesOf(["b"]);
    world.write("b/summary.md", summaryOf("project: other"));
    const { folders } = await world.projects.scan([]);

    deepEqual(world.reads, ["a/summary.md", "b/summary.md", "b/summary.md"]);
    deepEqual(folders.map(({ meta }) => meta?.project), ["site", "other"]);
  });

  it("says that the vault cannot be read if it has gone or is a link now", async () => {
    await using outside = await tempVault({ "site/summary.md": SITE });
    const world = await folderWorld({ "a/summary.md": SITE });
    world.remove("");

    await rejects(world.projects.scan([]), IndexNotReady);
    await Deno.symlink(outside.root, world.root);
    await rejects(world.projects.scan([]), (error) => {
      match(String(error), /The vault cannot be read/);
      ok(!String(error).includes(world.root));
      return error instanceof IndexNotReady;
    });
    await Deno.remove(world.root);
  });

  it("ends when nobody waits any more", async () => {
    await using world = await folderWorld({ "a/summary.md": SITE }, { clock: laterClock });
    const aborted = AbortSignal.abort(new Error("gone"));

    await rejects(world.projects.scan([], aborted), /gone/);
    deepEqual(world.reads, []);
    await world.namesOf();
    await rejects(world.projects.scan([], aborted), /gone/);
  });
});
