import { deepStrictEqual as deepEqual, rejects } from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import { MAX_FILES, readNativeFolder } from "@/lib/projection/native_folder.ts";
import { type Files, tempVault } from "../_support/temp_vault.ts";

async function pathsOf(files: Files): Promise<string[]> {
  await using folder = await tempVault(files);
  return (await readNativeFolder(folder.root)).map(({ path }) => path);
}

describe("readNativeFolder()", () => {
  it("readNativeFolder() takes Markdown in folders that are not deep, in order", async () => {
    deepEqual(
      await pathsOf({ "b.md": "", "MEMORY.md": "", "team/a.md": "", "team/x/缓存.markdown": "" }),
      ["MEMORY.md", "b.md", "team/a.md", "team/x/缓存.markdown"],
    );
    deepEqual(await pathsOf({}), []);
  });

  it("readNativeFolder() leaves what says nothing", async () => {
    deepEqual(await pathsOf({ "a.md": "", ".consolidate-lock": "123", ".DS_Store": "x" }), [
      "a.md",
    ]);
  });

  const UNKNOWN: readonly (readonly [name: string, files: Files, reason: RegExp])[] = [
    ["another file", { "a.md": "", "b.txt": "" }, /what is no note \(b\.txt\)/],
    ["a hidden file", { ".a.md": "" }, /what is no note/],
    ["a hidden folder", { ".git/a.md": "" }, /folder that is not one of notes/],
    ["deep folders", { "a/b/c/d.md": "" }, /folder that is not one of notes \(a\/b\/c\)/],
    ["bytes that are no text", { "a.md": new Uint8Array([0xff, 0x61]) }, /no text in UTF-8/],
    ["UTF-16", { "a.md": new Uint8Array([0xff, 0xfe, 0x61, 0]) }, /no text in UTF-8/],
    ["a binary", { "a.md": new Uint8Array(64) }, /no text in UTF-8/],
    ["a large file", { "a.md": "a".repeat(2 * 1024 * 1024 + 1) }, /a file of more than/],
    [
      "too many files",
      Object.fromEntries(Array.from({ length: MAX_FILES + 1 }, (_, at) => [`${at}.md`, ""])),
      /more than 2000 files/,
    ],
  ];
  for (const [name, files, reason] of UNKNOWN) {
    it(`readNativeFolder() does not know a folder with ${name}`, async () => {
      await rejects(pathsOf(files), reason);
    });
  }

  it("readNativeFolder() does not know a folder with links", async () => {
    await using folder = await tempVault({ "a.md": "text" });
    await Deno.symlink("a.md", folder.pathOf("b.md"));

    await rejects(readNativeFolder(folder.root), /holds a link \(b\.md\)/);
  });

  it("readNativeFolder() does not wait for a pipe", async () => {
    if (Deno.build.os === "windows") return;
    await using folder = await tempVault({});
    await new Deno.Command("mkfifo", { args: [folder.pathOf("a.md")] }).output();

    await rejects(readNativeFolder(folder.root), /what is no note/);
  });
});
