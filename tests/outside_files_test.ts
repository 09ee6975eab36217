import { deepStrictEqual as deepEqual, rejects, strictEqual as equal } from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import { join } from "node:path";
import { AppError, EditConflict } from "@/lib/errors.ts";
import {
  listMissingFolders,
  readOutsideFile,
  removeEmptyFolders,
  removeOutsideFile,
  requireWritable,
  writeOutsideFile,
} from "@/lib/outside_files.ts";
import { listAll, type TempVault, tempVault } from "./_support/temp_vault.ts";

const bytesOf = (text: string) => new TextEncoder().encode(text);
const notWritable = (words: RegExp) => (error: unknown) =>
  error instanceof AppError && error.code === "not-writable" && words.test(error.message);

/** Writes what a file is to hold, as it was read a moment ago. */
async function write(path: string, text: string, more = {}): Promise<string[]> {
  const before = await readOutsideFile(path);
  return await writeOutsideFile({ path, bytes: bytesOf(text), before, ...more });
}

const modeOf = async (path: string) => ((await Deno.stat(path)).mode ?? 0) & 0o777;

describe("readOutsideFile()", () => {
  it("readOutsideFile() gives the bytes, and where they lie behind links", async () => {
    await using folder = await tempVault({ "real/a.md": "text" });
    await Deno.symlink("real", folder.pathOf("linked"));
    await Deno.symlink("linked/a.md", folder.pathOf("b.md"));

    const file = await readOutsideFile(folder.pathOf("b.md"));

    equal(file?.path, folder.pathOf("b.md"));
    equal(file.realPath, folder.pathOf("real/a.md"));
    deepEqual(file.bytes, bytesOf("text"));
  });

  it("readOutsideFile() finds nothing where nothing is, below a file neither", async () => {
    await using folder = await tempVault({ "a.md": "" });

    equal(await readOutsideFile(folder.pathOf("none/b.md")), undefined);
    equal(await readOutsideFile(folder.pathOf("a.md/b.md")), undefined);
  });

  it("readOutsideFile() refuses what is no file, and a link that leads nowhere", async () => {
    await using folder = await tempVault({ "folder/a.md": "" });
    await Deno.symlink("gone", folder.pathOf("dead"));
    await Deno.symlink("loop", folder.pathOf("loop"));

    await rejects(readOutsideFile(folder.pathOf("folder")), notWritable(/is no file/));
    await rejects(readOutsideFile(folder.pathOf("dead")), notWritable(/leads nowhere/));
    await rejects(readOutsideFile(folder.pathOf("loop")), notWritable(/cannot be looked at/));
  });
});

describe("writeOutsideFile()", () => {
  it("writeOutsideFile() makes a file with the folders that it needs, and says which", async () => {
    await using folder = await tempVault({});
    const path = folder.pathOf("a/b/c.md");

    const made = await write(path, "text", { mode: 0o640 });

    deepEqual(made, [folder.pathOf("a"), folder.pathOf("a/b")]);
    equal(await Deno.readTextFile(path), "text");
    equal(await modeOf(path), 0o640);
    deepEqual(listAll(folder.root), ["a/", "a/b/", "a/b/c.md"]);
  });

  it("writeOutsideFile() keeps rights and links, and leaves nothing beside the file", async () => {
    await using folder = await tempVault({ "real/a.md": "old" });
    await Deno.chmod(folder.pathOf("real/a.md"), 0o604);
    await Deno.symlink("real/a.md", folder.pathOf("a.md"));

    await write(folder.pathOf("a.md"), "new", { mode: 0o600 });

    equal(await Deno.readTextFile(folder.pathOf("real/a.md")), "new");
    equal(await modeOf(folder.pathOf("real/a.md")), 0o604);
    equal(await Deno.readLink(folder.pathOf("a.md")), "real/a.md");
    deepEqual(listAll(folder.root), ["a.md", "real/", "real/a.md"]);
  });

  it("writeOutsideFile() sets rights where it is told to", async () => {
    await using folder = await tempVault({ "a.md": "old" });

    await write(folder.pathOf("a.md"), "new", { setMode: 0o600 });

    equal(await modeOf(folder.pathOf("a.md")), 0o600);
  });

  it("writeOutsideFile() refuses a file that has changed, has come or has gone", async () => {
    await using folder = await tempVault({ "a.md": "old", "b.md": "old" });
    const [a, b, c] = ["a.md", "b.md", "c.md"].map(folder.pathOf) as [string, string, string];
    const [ofA, ofB] = [await readOutsideFile(a), await readOutsideFile(b)];
    folder.write("a.md", "theirs");
    folder.remove("b.md");
    folder.write("c.md", "theirs");

    for (const [path, before] of [[a, ofA], [b, ofB], [c, undefined]] as const) {
      await rejects(writeOutsideFile({ path, bytes: bytesOf("ours"), before }), EditConflict);
    }

    equal(await Deno.readTextFile(a), "theirs");
    equal(await Deno.readTextFile(c), "theirs");
    deepEqual(listAll(folder.root), ["a.md", "c.md"]);
  });

  it("writeOutsideFile() refuses what its owner has made read-only", async () => {
    await using folder = await tempVault({ "a.md": "old", "shut/b.md": "old" });
    await Deno.chmod(folder.pathOf("a.md"), 0o444);
    await Deno.chmod(folder.pathOf("shut"), 0o555);
    try {
      await rejects(write(folder.pathOf("a.md"), "new"), notWritable(/is read-only/));
      await rejects(write(folder.pathOf("shut/b.md"), "new"), notWritable(/lies in .*read-only/));
      await rejects(write(folder.pathOf("shut/c/d.md"), "new"), notWritable(/lies in .*read-only/));

      equal(await Deno.readTextFile(folder.pathOf("a.md")), "old");
      equal(await Deno.readTextFile(folder.pathOf("shut/b.md")), "old");
    } finally {
      await Deno.chmod(folder.pathOf("shut"), 0o755);
    }
  });
});

describe("requireWritable()", () => {
  it("requireWritable() refuses what would lie below a file", async () => {
    await using folder = await tempVault({ "a.md": "" });

    await rejects(
      requireWritable(folder.pathOf("a.md/b/c.md"), undefined),
      notWritable(/is no folder/),
    );
  });
});

describe("removeOutsideFile()", () => {
  it("removeOutsideFile() removes what is as it was, and a link to it", async () => {
    await using folder = await tempVault({ "real.md": "text", "other.md": "" });
    await Deno.symlink("real.md", folder.pathOf("a.md"));
    const file = await readOutsideFile(folder.pathOf("a.md"));
    if (file === undefined) throw new Error("It is there");

    await removeOutsideFile(file);

    deepEqual(listAll(folder.root), ["other.md"]);
  });

  it("removeOutsideFile() leaves what somebody has changed, and takes it well if it is gone", async () => {
    await using folder = await tempVault({ "a.md": "old" });
    const file = await readOutsideFile(folder.pathOf("a.md"));
    if (file === undefined) throw new Error("It is there");

    folder.write("a.md", "theirs");
    await rejects(removeOutsideFile(file), EditConflict);
    equal(await Deno.readTextFile(file.path), "theirs");

    folder.remove("a.md");
    await removeOutsideFile(file);
  });
});

describe("removeEmptyFolders()", () => {
  it("removeEmptyFolders() removes from the inside, up to one that holds something", async () => {
    await using folder = await tempVault({ "a/x.md": "" });
    const folders = await listMissingFolders(folder.pathOf("a/b/c"));
    deepEqual(folders, [folder.pathOf("a/b"), folder.pathOf("a/b/c")]);
    await Deno.mkdir(folder.pathOf("a/b/c"), { recursive: true });

    await removeEmptyFolders([folder.pathOf("a"), ...folders]);

    deepEqual(listAll(folder.root), ["a/", "a/x.md"]);
  });
});

/** A file is its old or its new bytes at any moment. */
describe("a file that is replaced again and again", () => {
  it("is never seen half", async () => {
    await using folder: TempVault = await tempVault({ "a.md": "a".repeat(100_000) });
    const path = join(folder.root, "a.md");
    let isDone = false;
    const seen = new Set<string>();
    const look = async () => {
      while (!isDone) {
        const text = await Deno.readTextFile(path);
        seen.add(`${text.length} ${new Set(text).size}`);
      }
    };
    const looking = look();

    for (const letter of "bcdefghijk") await write(path, letter.repeat(100_000));
    isDone = true;
    await looking;

    deepEqual([...seen], ["100000 1"]);
  });
});
