import { describe, it } from "@std/testing/bdd";
import { deepStrictEqual as deepEqual, match, ok, strictEqual as equal } from "node:assert/strict";
import process from "node:process";
import { runAtOnce } from "@/lib/seams.ts";
import {
  type FolderStamp,
  looksUnmounted,
  provenAbsent,
  rememberFolders,
  scanVault,
  type VaultScan,
} from "@/lib/vault/scan.ts";
import { MAX_NOTE_BYTES, openVault, statFile, type Vault } from "@/lib/vault/vault.ts";
import { parseVaultPath } from "@/lib/vault/vault_path.ts";

/** A vault with these files, and a folder beside it; removed at the end. */
async function testVault(files: readonly string[] = [], exclude: readonly string[] = []) {
  const base = await Deno.realPath(await Deno.makeTempDir());
  const root = `${base}/vault`;
  await Deno.mkdir(root);
  for (const path of files) {
    await Deno.mkdir(`${root}/${path}`.replace(/\/[^/]*$/, ""), { recursive: true });
    await Deno.writeTextFile(`${root}/${path}`, path);
  }
  const vault = openVault({ root, memoriesFolder: "memories", exclude });
  return {
    base,
    root,
    vault,
    scan: (): VaultScan => runAtOnce(scanVault(vault)),
    shut: async (folder: string) => {
      await Deno.chmod(base, 0o755);
      await Deno.chmod(`${root}/${folder}`, 0o000);
    },
    async [Symbol.asyncDispose]() {
      // Folders that a test has shut could not be emptied.
      await new Deno.Command("chmod", { args: ["-R", "u+rwX", base] }).output();
      await Deno.remove(base, { recursive: true });
    },
  };
}

/** Root may read everything, so tests of permissions step down, the whole process, for a moment. */
function asOrdinaryUser<T>(action: () => T): T {
  if (Deno.uid() !== 0) return action();
  process.seteuid?.(65534);
  try {
    return action();
  } finally {
    process.seteuid?.(0);
  }
}

function reasonsOf(scan: VaultScan): [path: string, reason: string][] {
  return scan.skipped.map(({ path, reason }): [string, string] => [path, reason]).sort();
}

describe("scanVault()", () => {
  it("scanVault() finds the Markdown files of all folders, and nothing else", async () => {
    const notes = ["a.md", "b/c.MD", "b/d/e.markdown", "folder.md/f.md", "memories/MEMORY.md"];
    await using world = await testVault([...notes, "b/picture.png", "README", "a.md.bak"]);

    const scan = world.scan();

    deepEqual([...scan.files.keys()].sort(), notes);
    deepEqual([...scan.folders.keys()], ["", "b", "b/d", "folder.md", "memories"]);
    deepEqual(scan.skipped, []);
    deepEqual([...scan.unreadableFolders], []);
    equal(scan.rootError, undefined);
  });

  it("scanVault() takes the same stamps as statFile()", async () => {
    await using world = await testVault(["a.md", "b/c.md"]);

    const { files } = world.scan();

    for (const [path, stamp] of files) {
      deepEqual(statFile(world.vault, path), { state: "file", stamp });
    }
    equal(files.size, 2);
  });

  it("scanVault() opens no excluded folder", async () => {
    const hidden = [
      "private/a.md",
      "b/Private/c.md",
      ".obsidian/d.md",
      "templates/e.md",
      "模板/f.md",
      "Work/g.md",
      ".h.md",
      "_index.md",
      "b/i.md.tmp",
    ];
    await using world = await testVault([...hidden, "b/note.md"], ["work"]);
    await world.shut("private");

    const scan = asOrdinaryUser(world.scan);

    deepEqual([...scan.files.keys()], ["b/note.md"]);
    deepEqual([...scan.folders.keys()], ["", "b"]);
    deepEqual(scan.skipped, []);
  });

  it("scanVault() visits folders in a stable order, each before those inside it", async () => {
    await using world = await testVault(["b/z/1.md", "b/a/2.md", "a/3.md", "c/4.md", "b-/5.md"]);

    deepEqual([...world.scan().folders.keys()], ["", "a", "b", "b/a", "b/z", "b-", "c"]);
  });

  it("scanVault() reports links and follows none", async () => {
    await using world = await testVault(["a/b.md"]);
    await Deno.mkdir(`${world.base}/outside`);
    await Deno.writeTextFile(`${world.base}/outside/secret.md`, "secret");
    const links = {
      "out": `${world.base}/outside`,
      "a/in": `${world.root}/a`,
      "v1.2": `${world.base}/outside`,
      "link.md": "a/b.md",
      "dangling.md": `${world.base}/outside/new.md`,
      "loop": "loop",
      "picture.png": "a/b.md",
      ".hidden": "a",
      "private": "a",
    };
    for (const [name, target] of Object.entries(links)) {
      await Deno.symlink(target, `${world.root}/${name}`);
    }

    const scan = world.scan();

    deepEqual([...scan.files.keys()], ["a/b.md"]);
    deepEqual(
      reasonsOf(scan),
      ["a/in", "dangling.md", "link.md", "loop", "out", "v1.2"].map((p) => [p, "symbolic-link"]),
    );
  });

  it("scanVault() reports what is named like a note and cannot be one", async () => {
    await using world = await testVault(["large.md", "largest.md", "b/ok.md"]);
    await Deno.truncate(`${world.root}/large.md`, MAX_NOTE_BYTES + 1);
    await Deno.truncate(`${world.root}/largest.md`, MAX_NOTE_BYTES);
    await new Deno.Command("mkfifo", { args: [`${world.root}/pipe.md`, `${world.root}/pipe`] })
      .output();
    using _socket = Deno.listen({ transport: "unix", path: `${world.root}/b/socket.md` });

    const scan = world.scan();

    deepEqual([...scan.files.keys()].sort(), ["b/ok.md", "largest.md"]);
    deepEqual(reasonsOf(scan), [
      ["b/socket.md", "not-a-file"],
      ["large.md", "too-large"],
      ["pipe.md", "not-a-file"],
    ]);
  });

  it("scanVault() reports names that no vault path can have, controls made visible", async () => {
    const odd = ["con.md", "new\nline.md", "back\\slash.md", "nul/a.md", " /b.md", "C:d.md"];
    await using world = await testVault([...odd, "odd\n.png", "ok.md"]);

    const scan = world.scan();

    deepEqual([...scan.files.keys()], ["ok.md"]);
    deepEqual(
      reasonsOf(scan),
      [" ", "C:d.md", "back\\slash.md", "con.md", "new\\u000aline.md", "nul"]
        .map((path) => [path, "odd-name"]),
    );
  });

  it("scanVault() reports names on disk that are not valid UTF-8", async () => {
    await using world = await testVault(["ok.md", "real\uFFFD.md"]);
    const script = `cd "$1" && printf x > "$(printf 'bad\\377.md')" && ` +
      `mkdir "$(printf 'dir\\376')" && printf x > "$(printf 'dir\\376/a.md')"`;
    const made = await new Deno.Command("sh", { args: ["-c", script, "sh", world.root] }).output();
    ok(made.success);

    const scan = world.scan();

    deepEqual([...scan.files.keys()].sort(), ["ok.md", "real\uFFFD.md"]);
    deepEqual(reasonsOf(scan), [["bad\uFFFD.md", "odd-name"], ["dir\uFFFD", "odd-name"]]);
  });

  it("scanVault() marks folders that it may not list or enter, once each", async () => {
    await using world = await testVault(["shut/a.md", "listed/b.md", "listed/c.md", "ok/d.md"]);
    await world.shut("shut");
    await Deno.chmod(`${world.root}/listed`, 0o444);

    const scan = asOrdinaryUser(world.scan);

    deepEqual([...scan.files.keys()], ["ok/d.md"]);
    deepEqual([...scan.unreadableFolders].sort(), ["listed", "shut"]);
    deepEqual(reasonsOf(scan), [["listed", "unreadable"], ["shut", "unreadable"]]);
    match(scan.skipped[0]?.message ?? "", /EACCES/);
  });

  it("scanVault() says why the root cannot be listed", async () => {
    await using world = await testVault(["a.md"]);
    await world.shut("");
    equal(asOrdinaryUser(world.scan).rootError, "EACCES");
    await Deno.chmod(world.root, 0o755);

    await Deno.rename(world.root, `${world.base}/moved`);
    equal(world.scan().rootError, "ENOENT");

    // what stands in for the root may not be a link, even to the same folder
    await Deno.symlink("moved", world.root);
    const scan = world.scan();
    equal(typeof scan.rootError, "string");
    equal(scan.files.size + scan.folders.size + scan.skipped.length, 0);
  });

  it("scanVault() takes an empty vault for a result", async () => {
    await using world = await testVault();

    const scan = world.scan();

    equal(scan.rootError, undefined);
    equal(scan.files.size, 0);
    ok(scan.folders.get("")?.empty);
  });

  it("scanVault() knows folders with nothing but dot files for empty", async () => {
    await using world = await testVault(["a/.keep", "b/picture.png"]);

    const { folders } = world.scan();

    deepEqual(
      Array.from(folders, ([path, stamp]) => [path, stamp.empty]),
      [["", false], ["a", true], ["b", false]],
    );
  });

  it("scanVault() goes on when files and folders vanish during the walk", async () => {
    const many = Array.from({ length: 120 }, (_, at) => `a/${at}.md`);
    await using world = await testVault([...many, "b/c.md", "d/e.md"]);
    const steps = scanVault(world.vault);
    // the root, and the first part of "a"
    steps.next();
    steps.next();
    await Deno.remove(`${world.root}/a`, { recursive: true });
    await Deno.remove(`${world.root}/b`, { recursive: true });

    const scan = runAtOnce(steps);

    ok(scan.files.has(parseVaultPath("d/e.md")));
    ok(scan.files.size < many.length);
    deepEqual(scan.skipped, []);
    deepEqual([...scan.unreadableFolders], []);
  });

  it("scanVault() does not enter a folder that became a link during the walk", async () => {
    await using world = await testVault(["a/b.md", "c/d.md"]);
    const steps = scanVault(world.vault);
    steps.next();
    await Deno.rename(`${world.root}/a`, `${world.base}/outside`);
    await Deno.symlink("../outside", `${world.root}/a`);

    const scan = runAtOnce(steps);

    deepEqual([...scan.files.keys()], ["c/d.md"]);
  });

  it("scanVault() yields every 50 entries and after each folder", async () => {
    await using world = await testVault(Array.from({ length: 101 }, (_, at) => `a/${at}.md`));

    const yields = Array.from(scanVault(world.vault)).length;

    // two inside "a", one after "a", one after the root
    equal(yields, 4);
  });
});

describe("provenAbsent()", () => {
  const isProven = (vault: Vault, path: string, scan: VaultScan) =>
    provenAbsent(vault, parseVaultPath(path), scan);

  it("provenAbsent() is true when nothing is there that could be read as a note", async () => {
    await using world = await testVault(["folder.md/a.md", "large.md", "private/b.md", "c.md"]);
    await Deno.truncate(`${world.root}/large.md`, MAX_NOTE_BYTES + 1);
    await Deno.symlink("c.md", `${world.root}/link.md`);
    const scan = world.scan();

    const gone = ["none.md", "no/ne.md", "c.md/d.md", "folder.md", "large.md", "link.md"];
    for (const path of [...gone, "private/b.md"]) {
      ok(isProven(world.vault, path, scan), path);
    }
  });

  it("provenAbsent() is false when the file is there again", async () => {
    await using world = await testVault();
    const scan = world.scan();
    await Deno.writeTextFile(`${world.root}/a.md`, "back");

    ok(!isProven(world.vault, "a.md", scan));
  });

  it("provenAbsent() is false below a folder that could not be read in the scan", async () => {
    await using world = await testVault(["shut/a/b.md", "c.md"]);
    await world.shut("shut");
    const scan = asOrdinaryUser(world.scan);
    await Deno.chmod(`${world.root}/shut`, 0o755);

    // readable again and truly absent, but this scan cannot tell
    ok(!isProven(world.vault, "shut/a/none.md", scan));
    ok(isProven(world.vault, "none.md", scan));
    ok(isProven(world.vault, "shut/a/none.md", world.scan()));
  });

  it("provenAbsent() is false when the folder cannot be read any more", async () => {
    await using world = await testVault(["shut/a.md"]);
    const scan = world.scan();
    await world.shut("shut");

    ok(!asOrdinaryUser(() => isProven(world.vault, "shut/none.md", scan)));
  });

  it("provenAbsent() is false when the root is away or another one", async () => {
    await using world = await testVault(["a.md"]);
    const scan = world.scan();
    await Deno.rename(world.root, `${world.base}/moved`);

    ok(!isProven(world.vault, "a.md", scan));
    ok(!isProven(world.vault, "a.md", world.scan()));

    await Deno.mkdir(world.root);
    ok(!isProven(world.vault, "a.md", scan));
    ok(isProven(world.vault, "a.md", world.scan()));
  });
});

type Folders = Record<string, FolderStamp>;
const mapOf = (folders: Folders) => new Map(Object.entries(folders));
const full = (dev: number, ino: number): FolderStamp => ({
  dev,
  ino,
  empty: false,
  entries: 3,
  mixed: false,
});
const empty = (dev: number, ino: number): FolderStamp => ({
  ...full(dev, ino),
  empty: true,
  entries: 0,
});

const MOUNTED: Folders = { "": full(1, 2), "a": full(1, 3), "m": full(9, 2), "m/s": full(9, 4) };

/** What a later scan sees, and the paths that seem to be away with their disk. */
const LATER: [what: string, after: Folders, unmounted: string[]][] = [
  ["is the same", MOUNTED, []],
  ["has an empty folder on another device", { ...MOUNTED, "m": empty(1, 5) }, [
    "m/x.md",
    "m/s/x.md",
  ]],
  ["has a full folder on another device", { ...MOUNTED, "m": full(8, 2) }, []],
  ["has a folder emptied on its own device", { ...MOUNTED, "m": empty(9, 2) }, []],
  ["has a folder made anew on its device", { ...MOUNTED, "a": empty(1, 7) }, []],
  ["lacks a folder", { "": full(1, 2), "a": full(1, 3) }, []],
  ["has an empty root on another device", { "": empty(5, 2) }, [
    "x.md",
    "a/x.md",
    "m/x.md",
    "m/s/x.md",
  ]],
  ["has another empty root on the same device", { "": empty(1, 8) }, [
    "x.md",
    "a/x.md",
    "m/x.md",
    "m/s/x.md",
  ]],
  ["has an emptied root", { "": empty(1, 2) }, []],
  ["has another full root", { "": full(5, 8), "a": full(5, 9) }, []],
];

describe("looksUnmounted()", () => {
  for (const [what, after, unmounted] of LATER) {
    it(`looksUnmounted() names ${unmounted.length} paths when the vault ${what}`, () => {
      const paths = ["x.md", "a/x.md", "m/x.md", "m/s/x.md"];

      const found = paths.filter((path) =>
        looksUnmounted(mapOf(MOUNTED), mapOf(after), parseVaultPath(path))
      );

      deepEqual(found, unmounted);
    });
  }

  it("looksUnmounted() is false when the folder was empty before or is new", () => {
    const after = mapOf({ "": full(1, 2), "m": empty(1, 5) });
    const path = parseVaultPath("m/x.md");

    ok(!looksUnmounted(mapOf({ "": full(1, 2), "m": empty(9, 2) }), after, path));
    ok(!looksUnmounted(new Map(), after, path));
  });
});

describe("rememberFolders()", () => {
  const scanOf = (folders: Folders, extra: Partial<VaultScan> = {}): VaultScan => ({
    files: new Map(),
    skipped: [],
    unreadableFolders: new Set(),
    folders: mapOf(folders),
    ...extra,
  });

  it("rememberFolders() takes over what the scan saw when all is well", () => {
    const after = { "": full(1, 2), "m": full(9, 6) };

    deepEqual(rememberFolders(mapOf(MOUNTED), scanOf(after)), mapOf(after));
  });

  it("rememberFolders() keeps an unmounted folder as it was, with all below", () => {
    const after = { "": full(1, 2), "m": empty(1, 5), "mm": full(1, 6) };
    const { "a": _gone, ...kept } = MOUNTED;

    const known = rememberFolders(mapOf({ ...MOUNTED, "m-old": full(1, 7) }), scanOf(after));

    deepEqual(known, mapOf({ ...kept, "mm": full(1, 6) }));
    // so the scan after that still knows it
    ok(looksUnmounted(known, mapOf(after), parseVaultPath("m/s/x.md")));
  });

  it("rememberFolders() keeps what cannot be read as it was, until it is empty or full", () => {
    const failing = scanOf(
      { "": full(1, 2), "a": full(1, 3) },
      { unreadableFolders: new Set(["m"]) },
    );

    const known = rememberFolders(mapOf(MOUNTED), failing);

    deepEqual(known, mapOf(MOUNTED));
  });

  it("rememberFolders() keeps everything when the root is away or an empty mount", () => {
    const away = scanOf({}, { rootError: "ENOENT" });

    deepEqual(rememberFolders(mapOf(MOUNTED), away), mapOf(MOUNTED));
    deepEqual(rememberFolders(mapOf(MOUNTED), scanOf({ "": empty(5, 1) })), mapOf(MOUNTED));
  });

  it("rememberFolders() lets go when the disk is back", () => {
    const known = rememberFolders(mapOf(MOUNTED), scanOf({ "": full(1, 2), "m": empty(1, 5) }));
    const back = { "": full(1, 2), "m": full(7, 2) };

    deepEqual(rememberFolders(known, scanOf(back)), mapOf(back));
  });
});
