import { describe, it } from "@std/testing/bdd";
import { deepStrictEqual as deepEqual, ok, strictEqual as equal, throws } from "node:assert/strict";
import process from "node:process";
import {
  AppError,
  ConfigError,
  IndexNotReady,
  NoteNotFound,
  PathEscapesVault,
  PayloadTooLarge,
} from "@/lib/errors.ts";
import {
  diskPathOf,
  type FileStamp,
  isRacy,
  MAX_NOTE_BYTES,
  openVault,
  readFile,
  sameStamp,
  statFile,
  type Vault,
} from "@/lib/vault/vault.ts";
import { parseVaultPath } from "@/lib/vault/vault_path.ts";
import { randomSource } from "../_support/random.ts";

const STAMP: FileStamp = { size: 1, mtimeMs: 2, ctimeMs: 3, ino: 4, dev: 5 };

/** A folder `vault` with a folder `outside` beside it, both removed at the end. */
async function testFolders(files: Record<string, string> = {}) {
  const base = await Deno.realPath(await Deno.makeTempDir());
  const root = `${base}/vault`;
  await Deno.mkdir(root);
  await Deno.mkdir(`${base}/outside`);
  await Deno.writeTextFile(`${base}/outside/secret.md`, "secret");
  for (const [path, text] of Object.entries(files)) {
    await Deno.mkdir(`${root}/${path}`.replace(/\/[^/]*$/, ""), { recursive: true });
    await Deno.writeTextFile(`${root}/${path}`, text);
  }
  return {
    base,
    root,
    outside: `${base}/outside`,
    open: (): Vault => openVault({ root, memoriesFolder: "memories", exclude: [] }),
    async [Symbol.asyncDispose]() {
      // Folders that a test has shut could not be emptied.
      await new Deno.Command("chmod", { args: ["-R", "u+rwX", base] }).output();
      await Deno.remove(base, { recursive: true });
    },
  };
}

function readText(vault: Vault, path: string): string {
  return new TextDecoder().decode(readFile(vault, parseVaultPath(path)).bytes);
}

/** Runs `interfere` in the moment before a file is opened, as another program might. */
function whileOpening<T>(interfere: () => void, action: () => T): T {
  const { openSync } = Deno;
  Deno.openSync = (path, options) => {
    interfere();
    return openSync(path, options);
  };
  try {
    return action();
  } finally {
    Deno.openSync = openSync;
  }
}

/** Makes the disk spell every file in lower case, as one that folds case might. */
function whileFoldingCase<T>(action: () => T): T {
  const { realPathSync } = Deno;
  Deno.realPathSync = (path) => realPathSync(path).replace(/[^/]*$/, (name) => name.toLowerCase());
  try {
    return action();
  } finally {
    Deno.realPathSync = realPathSync;
  }
}

/** The ways to the disk that `readFile()` takes with a path. */
const PATH_CALLS = ["lstatSync", "openSync", "realPathSync"] as const;
type PathCall = (typeof PATH_CALLS)[number];

/** Runs `before` and `after` around each call that takes a path, as another program might. */
function whileCalling<T>(
  hooks: { readonly before: (call: PathCall) => void; readonly after?: (call: PathCall) => void },
  action: () => T,
): T {
  const { lstatSync, openSync, realPathSync } = Deno;
  const hooked =
    <A extends unknown[], R>(call: PathCall, real: (...args: A) => R) => (...args: A) => {
      hooks.before(call);
      try {
        return real(...args);
      } finally {
        hooks.after?.(call);
      }
    };
  Deno.lstatSync = hooked("lstatSync", lstatSync);
  Deno.openSync = hooked("openSync", openSync);
  Deno.realPathSync = hooked("realPathSync", realPathSync);
  try {
    return action();
  } finally {
    Object.assign(Deno, { lstatSync, openSync, realPathSync });
  }
}

/** Returns what puts a link to `target` in the place of a folder, and the folder back. */
function folderSwap(folder: string, target: string): (wanted: "folder" | "link") => void {
  let there = "folder";
  return (wanted) => {
    if (wanted === there) return;
    there = wanted;
    if (wanted === "link") {
      Deno.renameSync(folder, `${folder}-away`);
      Deno.symlinkSync(target, folder);
    } else {
      Deno.removeSync(folder);
      Deno.renameSync(`${folder}-away`, folder);
    }
  };
}

/** Returns the text, or the name of the error that the vault refuses it with. */
function readOrRefuse(vault: Vault, path: string): string {
  try {
    return readText(vault, path);
  } catch (error) {
    return error instanceof AppError ? error.name : "unexpected";
  }
}

/** Makes all that was done on the disk so far long ago. */
function muchLater<T>(action: () => T): T {
  const { now } = Date;
  Date.now = () => now() + 60_000;
  try {
    return action();
  } finally {
    Date.now = now;
  }
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

describe("openVault()", () => {
  it("openVault() keeps the real path when the root is given through a link", async () => {
    await using folders = await testFolders({ "a.md": "text" });
    await Deno.symlink(folders.root, `${folders.base}/link`);

    const vault = openVault({
      root: `${folders.base}/link/`,
      memoriesFolder: "memories",
      exclude: [],
    });

    equal(vault.root, folders.root);
    equal(readText(vault, "a.md"), "text");
  });

  it("openVault() works for a vault below a hidden and excluded folder", async () => {
    await using folders = await testFolders({ ".hidden/private/v/a.md": "text" });
    const root = `${folders.root}/.hidden/private/v`;

    const vault = openVault({ root, memoriesFolder: ".", exclude: [] });

    equal(readText(vault, "a.md"), "text");
  });

  it("openVault() throws ConfigError when the root is missing or a file", async () => {
    await using folders = await testFolders({ "a.md": "text" });

    for (const root of [`${folders.root}/none`, `${folders.root}/a.md`, ""]) {
      throws(() => openVault({ root, memoriesFolder: ".", exclude: [] }), ConfigError, root);
    }
  });

  it("openVault() throws ConfigError when the root may not be read", async () => {
    await using folders = await testFolders();
    await Deno.chmod(folders.base, 0o755);
    await Deno.chmod(folders.root, 0o000);

    throws(() => asOrdinaryUser(folders.open), ConfigError);
  });

  const memoriesFolders: [given: string, kept: string][] = [
    [".", "."],
    ["./", "."],
    ["", "."],
    ["memories", "memories"],
    ["./memories/", "memories"],
    ["a/b", "a/b"],
    ["not/there/yet", "not/there/yet"],
    ["m\u00e9moires/x", "me\u0301moires/x"],
  ];
  for (const [memoriesFolder, kept] of memoriesFolders) {
    it(`openVault() takes the memories folder ${JSON.stringify(memoriesFolder)}`, async () => {
      await using folders = await testFolders({ "a/b/c.md": "", "me\u0301moires/a.md": "" });

      equal(openVault({ root: folders.root, memoriesFolder, exclude: [] }).memoriesFolder, kept);
    });
  }

  for (const memoriesFolder of ["..", "/a", "C:\\a", "private/m", ".m", "a.md", "link", "Work"]) {
    it(`openVault() refuses the memories folder ${JSON.stringify(memoriesFolder)}`, async () => {
      await using folders = await testFolders({ "a.md": "" });
      await Deno.symlink(folders.outside, `${folders.root}/link`);

      throws(
        () => openVault({ root: folders.root, memoriesFolder, exclude: ["Work"] }),
        ConfigError,
      );
    });
  }

  it("openVault() understands an excluded folder that is given as an absolute path", async () => {
    await using folders = await testFolders({ "a/b/c.md": "", "x/a/b/c.md": "" });
    await Deno.symlink(folders.root, `${folders.base}/link`);
    const open = (root: string) =>
      openVault({ root, memoriesFolder: ".", exclude: [`${root}/a/b`] }).exclusions;

    for (const root of [folders.root, `${folders.base}/link`]) {
      ok(open(root).excludes(parseVaultPath("a/b/c.md")));
      ok(!open(root).excludes(parseVaultPath("x/a/b/c.md")));
    }
  });
});

describe("stamps", () => {
  it("sameStamp() is false when any field differs", () => {
    ok(sameStamp(STAMP, { ...STAMP }));
    for (const field of Object.keys(STAMP)) {
      ok(!sameStamp(STAMP, { ...STAMP, [field]: 9 }), field);
    }
  });

  const times: [mtimeMs: number, ctimeMs: number, racy: boolean][] = [
    [10_000, 10_000, false],
    [17_999, 17_999, false],
    [18_000, 10_000, true],
    [10_000, 18_000, true],
    [20_000, 10_000, true],
    [10_000, 25_000, true],
    [10_000, 0, false],
  ];
  for (const [mtimeMs, ctimeMs, racy] of times) {
    it(`isRacy() is ${racy} for times ${mtimeMs}, ${ctimeMs} and a hash at 20000`, () => {
      equal(isRacy({ ...STAMP, mtimeMs, ctimeMs }, 20_000), racy);
    });
  }
});

describe("statFile()", () => {
  it("statFile() gives the stamp of a regular file", async () => {
    await using folders = await testFolders({ "a/b.md": "中文" });
    const info = await Deno.lstat(`${folders.root}/a/b.md`);

    const found = statFile(folders.open(), parseVaultPath("a/b.md"));

    deepEqual(found, {
      state: "file",
      stamp: {
        size: 6,
        mtimeMs: info.mtime?.getTime(),
        ctimeMs: info.ctime?.getTime(),
        ino: info.ino,
        dev: info.dev,
      },
    });
  });

  it("statFile() says absent when nothing can have that name", async () => {
    await using folders = await testFolders({
      "a.md": "",
      ".obsidian/b.md": "",
      "private/c.md": "",
    });
    const vault = folders.open();

    const paths = ["b.md", "a/b.md", "a.md/b.md", ".obsidian/b.md", "private/c.md"];
    for (const path of paths) {
      deepEqual(statFile(vault, parseVaultPath(path)), { state: "absent" }, path);
    }
    // valid as a path, too long for the disk together with the root
    const long = parseVaultPath(`${"a".repeat(255)}/`.repeat(15) + "b".repeat(250));
    deepEqual(statFile(vault, long), { state: "absent" });
  });

  it("statFile() follows no link, whether it is the file or a folder above", async () => {
    await using folders = await testFolders({ "a.md": "", "real/b.md": "" });
    await Deno.symlink(`${folders.outside}/secret.md`, `${folders.root}/file.md`);
    await Deno.symlink(`${folders.root}/a.md`, `${folders.root}/inside.md`);
    await Deno.symlink(`${folders.outside}/new.md`, `${folders.root}/dangling.md`);
    await Deno.symlink(folders.outside, `${folders.root}/out`);
    await Deno.symlink("real", `${folders.root}/in`);
    await Deno.symlink("loop", `${folders.root}/loop`);
    const vault = folders.open();

    const paths = [
      "file.md",
      "inside.md",
      "dangling.md",
      "out",
      "out/secret.md",
      "in/b.md",
      "loop/a.md",
    ];
    for (const path of paths) {
      deepEqual(statFile(vault, parseVaultPath(path)), { state: "other", what: "symlink" }, path);
    }
  });

  it("statFile() tells folders and special files", async () => {
    await using folders = await testFolders({ "folder.md/a.md": "" });
    await new Deno.Command("mkfifo", { args: [`${folders.root}/pipe.md`] }).output();
    const vault = folders.open();

    deepEqual(statFile(vault, parseVaultPath("folder.md")), { state: "other", what: "folder" });
    deepEqual(statFile(vault, parseVaultPath("pipe.md")), { state: "other", what: "special" });
  });

  it("statFile() says unreadable, not absent, when a folder may not be entered", async () => {
    await using folders = await testFolders({ "shut/a.md": "" });
    const vault = folders.open();
    await Deno.chmod(folders.base, 0o755);
    await Deno.chmod(`${folders.root}/shut`, 0o000);

    const found = asOrdinaryUser(() => statFile(vault, parseVaultPath("shut/a.md")));

    deepEqual(found, { state: "unreadable", reason: "EACCES" });
  });
});

describe("readFile()", () => {
  const contents: [name: string, bytes: Uint8Array][] = [
    ["nothing", new Uint8Array()],
    ["one byte", new Uint8Array([0])],
    ["bytes that are no UTF-8", new Uint8Array([0xff, 0xfe, 0, 0x0d, 0x0a])],
    ["as much as is allowed", new Uint8Array(MAX_NOTE_BYTES).fill(97)],
  ];
  for (const [name, bytes] of contents) {
    it(`readFile() gives the bytes as they are when they are ${name}`, async () => {
      await using folders = await testFolders();
      await Deno.writeFile(`${folders.root}/a.md`, bytes);
      const vault = folders.open();

      const note = readFile(vault, parseVaultPath("a.md"));

      equal(note.bytes.length, bytes.length);
      ok(note.bytes.every((byte, at) => byte === bytes[at]));
      deepEqual({ state: "file", stamp: note.stamp }, statFile(vault, parseVaultPath("a.md")));
    });
  }

  it("readFile() opens names that Unicode and objects make hard", async () => {
    const names = ["re\u0301.md", "r\u00e9.md", "100%20.md", "__proto__/a.md", "记忆/中 文.md"];
    await using folders = await testFolders(Object.fromEntries(names.map((name) => [name, name])));
    const vault = folders.open();

    for (const name of names) equal(readText(vault, name), name);
  });

  it("readFile() throws NoteNotFound for what is not there, excluded, or no file", async () => {
    await using folders = await testFolders({
      "a.md": "",
      "private/b.md": "",
      "x/_index.md": "",
      "folder.md/c.md": "",
    });
    await new Deno.Command("mkfifo", { args: [`${folders.root}/pipe.md`] }).output();
    const vault = folders.open();

    const paths = ["none.md", "a.md/b.md", "private/b.md", "private/none.md", "x/_index.md"];
    for (const path of [...paths, "folder.md", "pipe.md"]) {
      throws(() => readFile(vault, parseVaultPath(path)), {
        name: NoteNotFound.name,
        message: `There is no note "${path}"`,
      });
    }
  });

  it("readFile() throws PathEscapesVault for links, and names no place outside", async () => {
    await using folders = await testFolders({ "real/b.md": "" });
    await Deno.symlink(`${folders.outside}/secret.md`, `${folders.root}/file.md`);
    await Deno.symlink(`${folders.outside}/new.md`, `${folders.root}/dangling.md`);
    await Deno.symlink(folders.outside, `${folders.root}/real/out`);
    await Deno.symlink("real", `${folders.root}/in`);
    await Deno.symlink("loop", `${folders.root}/loop`);
    const vault = folders.open();

    const paths = ["file.md", "dangling.md", "real/out/secret.md", "in/b.md", "loop/a.md"];
    for (const path of paths) {
      throws(
        () => readFile(vault, parseVaultPath(path)),
        (error) => error instanceof PathEscapesVault && !error.message.includes(folders.base),
        path,
      );
    }
  });

  it("readFile() throws PayloadTooLarge for a file over the limit", async () => {
    await using folders = await testFolders({ "a.md": "" });
    const vault = folders.open();

    // the larger one would not fit into memory
    for (const size of [MAX_NOTE_BYTES + 1, 2 ** 40]) {
      await Deno.truncate(`${folders.root}/a.md`, size);
      throws(() => readFile(vault, parseVaultPath("a.md")), PayloadTooLarge);
    }
  });

  it("readFile() throws IndexNotReady, without the real path, when reading is forbidden", async () => {
    await using folders = await testFolders({ "a.md": "text" });
    const vault = folders.open();
    await Deno.chmod(folders.base, 0o755);
    await Deno.chmod(`${folders.root}/a.md`, 0o000);

    throws(() => asOrdinaryUser(() => readFile(vault, parseVaultPath("a.md"))), {
      name: IndexNotReady.name,
      message: 'Cannot read note "a.md" now: EACCES',
    });
  });
});

describe("a disk that folds case", () => {
  it("statFile() and readFile() find nothing under another spelling", async () => {
    await using folders = await testFolders({ "A.md": "text" });
    const vault = folders.open();
    const path = parseVaultPath("A.md");

    whileFoldingCase(() => {
      deepEqual(statFile(vault, path), { state: "absent" });
      throws(() => readFile(vault, path), NoteNotFound);
    });
  });
});

describe("readFile() while others write", () => {
  it("readFile() reads once more when the file changed, and then has the new stamp", async () => {
    await using folders = await testFolders({ "a.md": "old" });
    const vault = folders.open();
    let changes = 0;
    const appendOnce = () => {
      if (changes++ === 0) Deno.writeTextFileSync(`${folders.root}/a.md`, "+new", { append: true });
    };

    const note = whileOpening(appendOnce, () => readFile(vault, parseVaultPath("a.md")));

    equal(new TextDecoder().decode(note.bytes), "old+new");
    deepEqual({ state: "file", stamp: note.stamp }, statFile(vault, parseVaultPath("a.md")));
  });

  it("readFile() reads to the end, and keeps the earlier stamp, when the file grows on", async () => {
    await using folders = await testFolders({ "a.md": "" });
    const vault = folders.open();
    const sizes = [10, 90_000];
    const grow = () => {
      Deno.writeTextFileSync(`${folders.root}/a.md`, "+".repeat(sizes.shift() ?? 0), {
        append: true,
      });
    };

    const note = whileOpening(grow, () => readFile(vault, parseVaultPath("a.md")));

    equal(new TextDecoder().decode(note.bytes), "+".repeat(90_010));
    equal(note.stamp.size, 10);
  });

  it("readFile() throws PayloadTooLarge when the file grows over the limit", async () => {
    await using folders = await testFolders({ "a.md": "old" });
    const vault = folders.open();
    const sizes = [4, MAX_NOTE_BYTES + 1];
    const grow = () => Deno.truncateSync(`${folders.root}/a.md`, sizes.shift() ?? 0);

    throws(() => whileOpening(grow, () => readText(vault, "a.md")), PayloadTooLarge);
  });

  it("readFile() gives what is left when the file shrinks", async () => {
    await using folders = await testFolders({ "a.md": "0123456789" });
    const vault = folders.open();
    const sizes = [6, 3];
    const shrink = () => Deno.truncateSync(`${folders.root}/a.md`, sizes.shift() ?? 0);

    const note = whileOpening(shrink, () => readFile(vault, parseVaultPath("a.md")));

    equal(new TextDecoder().decode(note.bytes), "012");
    equal(note.stamp.size, 6);
  });

  it("readFile() reads the new file when the old one is replaced by it", async () => {
    await using folders = await testFolders({ "a.md": "old", "b.md": "new" });
    const vault = folders.open();
    let changes = 0;
    const replaceOnce = () => {
      if (changes++ === 0) Deno.renameSync(`${folders.root}/b.md`, `${folders.root}/a.md`);
    };

    const text = whileOpening(replaceOnce, () => readText(vault, "a.md"));

    equal(text, "new");
  });

  for (const replacements of [2, 3, 4]) {
    it(`readFile() reads the last of ${replacements} files that come one after another`, async () => {
      const numbers = [1, 2, 3, 4].map((number) => [`b${number}.md`, `${number}`]);
      await using folders = await testFolders({ "a.md": "0", ...Object.fromEntries(numbers) });
      const vault = folders.open();
      let changes = 0;
      const replace = () => {
        if (changes === replacements) return;
        Deno.renameSync(`${folders.root}/b${++changes}.md`, `${folders.root}/a.md`);
      };

      equal(whileOpening(replace, () => readText(vault, "a.md")), `${replacements}`);
    });
  }

  it("readFile() throws IndexNotReady when another file stands there at each try", async () => {
    const numbers = [1, 2, 3, 4, 5].map((number) => [`b${number}.md`, `${number}`]);
    await using folders = await testFolders({ "a.md": "0", ...Object.fromEntries(numbers) });
    const vault = folders.open();
    let changes = 0;
    const replace = () =>
      Deno.renameSync(`${folders.root}/b${++changes}.md`, `${folders.root}/a.md`);

    throws(() => whileOpening(replace, () => readText(vault, "a.md")), IndexNotReady);
    equal(changes, 5);
  });

  it("readFile() throws NoteNotFound when the file goes away", async () => {
    await using folders = await testFolders({ "a.md": "old" });
    const vault = folders.open();
    const remove = () => Deno.removeSync(`${folders.root}/a.md`);

    throws(() => whileOpening(remove, () => readText(vault, "a.md")), NoteNotFound);
  });

  it("readFile() throws PathEscapesVault when the file becomes a link", async () => {
    await using folders = await testFolders({ "a.md": "old" });
    const vault = folders.open();
    const swap = () => {
      Deno.removeSync(`${folders.root}/a.md`);
      Deno.symlinkSync(`${folders.outside}/secret.md`, `${folders.root}/a.md`);
    };

    throws(() => whileOpening(swap, () => readText(vault, "a.md")), PathEscapesVault);
  });

  it("readFile() throws PathEscapesVault when a folder above becomes a link", async () => {
    await using folders = await testFolders({ "sub/secret.md": "old" });
    const vault = folders.open();
    const swap = () => {
      Deno.renameSync(`${folders.root}/sub`, `${folders.root}/gone`);
      Deno.symlinkSync(folders.outside, `${folders.root}/sub`);
    };

    throws(() => whileOpening(swap, () => readText(vault, "sub/secret.md")), PathEscapesVault);
  });
});

describe("readFile() while others swap folders", () => {
  it("readFile() gives nothing from outside when the link is away just for the real path", async () => {
    await using folders = await testFolders({ "d/secret.md": "inside" });
    const vault = folders.open();
    const swap = folderSwap(`${folders.root}/d`, folders.outside);
    swap("link");

    const read = whileCalling({
      before: (call) => swap(call === "realPathSync" ? "folder" : "link"),
      after: () => swap("link"),
    }, () => readOrRefuse(vault, "d/secret.md"));

    equal(read, PathEscapesVault.name);
  });

  it("readFile() gives nothing from outside however the calls meet with the link", async () => {
    await using folders = await testFolders({ "a/d/e/secret.md": "inside" });
    await Deno.mkdir(`${folders.outside}/e`);
    await Deno.writeTextFile(`${folders.outside}/e/secret.md`, "secret");
    const vault = folders.open();
    const swap = folderSwap(`${folders.root}/a/d`, folders.outside);
    const below = randomSource(1);

    const seen = new Set<string>();
    for (let round = 0; round < 200; round++) {
      seen.add(
        whileCalling({
          before: () => swap(below(2) === 0 ? "folder" : "link"),
        }, () => readOrRefuse(vault, "a/d/e/secret.md")),
      );
    }

    deepEqual([...seen].sort(), [IndexNotReady.name, PathEscapesVault.name]);
  });

  it("readFile() asks little where the folders have been still, and more where they have not", async () => {
    await using folders = await testFolders({ "a/b.md": "text" });
    const vault = folders.open();
    const countLooks = () => {
      let looks = 0;
      whileCalling({ before: () => looks++ }, () => readText(vault, "a/b.md"));
      return looks;
    };

    const early = countLooks();
    const late = muchLater(countLooks);

    // the file before and after, its opening, its real path, the folder that holds the folder
    equal(late, 5);
    ok(early > 20);
  });

  it("readFile() throws IndexNotReady when the file is replaced at each try, once it is open", async () => {
    const numbers = [1, 2, 3, 4, 5].map((number) => [`b${number}.md`, `${number}`]);
    await using folders = await testFolders({ "a.md": "0", ...Object.fromEntries(numbers) });
    const vault = folders.open();
    let changes = 0;
    const replace = (call: PathCall) => {
      if (call !== "realPathSync") return;
      Deno.renameSync(`${folders.root}/b${++changes}.md`, `${folders.root}/a.md`);
    };

    throws(() => whileCalling({ before: replace }, () => readText(vault, "a.md")), IndexNotReady);
    equal(changes, 5);
  });
});

describe("diskPathOf()", () => {
  it("diskPathOf() joins a root with and without a slash at its end", () => {
    const path = parseVaultPath("a/b.md");

    equal(diskPathOf({ root: "/v" }, path), "/v/a/b.md");
    equal(diskPathOf({ root: "/" }, path), "/a/b.md");
    equal(diskPathOf({ root: "/v" }, ""), "/v");
  });
});
