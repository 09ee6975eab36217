import { deepStrictEqual as deepEqual } from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import { runAtOnce } from "@/lib/seams.ts";
import { scanPlaces, scanVault } from "@/lib/vault/scan.ts";
import { openVault } from "@/lib/vault/vault.ts";
import { parseVaultPath } from "@/lib/vault/vault_path.ts";
import { tempVault } from "../_support/temp_vault.ts";

const FILES = {
  "a.md": "a",
  "b/c.md": "c",
  "b/d/e.md": "e",
  "b/private/p.md": "p",
  "x.tmp.md": "x",
  "pic.png": "no note",
};

describe("scanPlaces()", () => {
  const looks: readonly [name: string, places: string[], files: string[], folders: string[]][] = [
    ["a file", ["a.md"], ["a.md"], []],
    ["a folder with all below", ["b"], ["b/c.md", "b/d/e.md"], ["b", "b/d"]],
    ["several places", ["a.md", "b/d"], ["a.md", "b/d/e.md"], ["b/d"]],
    ["what is not there", ["gone.md", "gone/too.md", "a.md/in.md"], [], []],
    ["what is excluded", ["b/private", "b/private/p.md"], [], []],
    ["what is no note", ["pic.png"], [], []],
    ["nothing", [], [], []],
  ];
  for (const [name, places, files, folders] of looks) {
    it(`scanPlaces() looks at ${name}`, async () => {
      await using disk = await tempVault(FILES);
      const vault = openVault({ root: disk.root, memoriesFolder: "memories", exclude: [] });
      const whole = runAtOnce(scanVault(vault));

      const scan = runAtOnce(scanPlaces(vault, places.map(parseVaultPath)));

      deepEqual([...scan.files.keys()].sort(), files);
      deepEqual([...scan.folders.keys()].sort(), folders);
      deepEqual(scan.skipped, []);
      for (const [path, stamp] of scan.files) deepEqual(stamp, whole.files.get(path));
      for (const [path, stamp] of scan.folders) deepEqual(stamp, whole.folders.get(path));
    });
  }

  it("scanPlaces() reports a link and follows none", async () => {
    await using files = await tempVault(FILES);
    await Deno.symlink(files.pathOf("a.md"), files.pathOf("link.md"));
    await Deno.symlink(files.pathOf("b"), files.pathOf("l"));
    const vault = openVault({ root: files.root, memoriesFolder: "memories", exclude: [] });

    const places = ["link.md", "l", "l/c.md"].map(parseVaultPath);
    const scan = runAtOnce(scanPlaces(vault, places));

    deepEqual([...scan.files.keys()], []);
    deepEqual(scan.skipped.map(({ reason }) => reason), Array(3).fill("symbolic-link"));
  });
});
