import { deepStrictEqual as deepEqual, ok, strictEqual as equal } from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import { tempVault } from "../_support/temp_vault.ts";
import { inotifyWatches, parseWatches, watchedFolders } from "./inotify_watches.ts";

const isLinux = Deno.build.os === "linux";
const FILES = { "a.md": "", "garden/beds/b.md": "", "work/private/p.md": "" };

async function watchedWhile(
  options: { readonly paths: string[]; readonly recursive: boolean },
  tree: string,
): Promise<string[]> {
  using _watcher = Deno.watchFs(options.paths, { recursive: options.recursive });
  return await watchedFolders(tree, await inotifyWatches() ?? []);
}

describe("inotifyWatches()", () => {
  it("watchedFolders() names the folders that this process watches, and no others", {
    skip: !isLinux,
  }, async () => {
    await using vault = await tempVault(FILES);
    await using outside = await tempVault({ "deep/o.md": "" });
    const { root } = vault;

    const before = await watchedFolders(root, await inotifyWatches() ?? []);
    const flat = await watchedWhile({ paths: [root], recursive: false }, root);
    const part = await watchedWhile({ paths: [vault.pathOf("garden")], recursive: true }, root);
    const elsewhere = await watchedWhile({ paths: [root], recursive: true }, outside.root);

    deepEqual([before, flat, elsewhere], [[], [""], []]);
    deepEqual(part, ["garden", "garden/beds"]);
  });

  it("watchedFolders() names what a deep watcher reaches through a link", {
    skip: !isLinux,
  }, async () => {
    await using vault = await tempVault(FILES);
    await using outside = await tempVault({ "deep/o.md": "" });
    await Deno.symlink(outside.root, vault.pathOf("link"));

    const reached = await watchedWhile({ paths: [vault.root], recursive: true }, outside.root);

    deepEqual(reached, ["", "deep"]);
  });

  it("inotifyWatches() reads another process too", { skip: !isLinux }, async () => {
    await using vault = await tempVault(FILES);
    const code = "using _ = Deno.watchFs(Deno.args[0]); console.log(1); " +
      "await Deno.stdin.read(new Uint8Array(1));";
    const child = new Deno.Command(Deno.execPath(), {
      args: ["eval", code, vault.pathOf("work")],
      stdin: "piped",
      stdout: "piped",
    }).spawn();
    const reader = child.stdout.getReader();
    await reader.read();

    const watches = await inotifyWatches(child.pid);
    await child.stdin.close();
    reader.releaseLock();
    await child.stdout.cancel();
    await child.status;

    deepEqual(await watchedFolders(vault.root, watches ?? []), ["work", "work/private"]);
  });

  it("parseWatches() reads inode and device, and leaves other lines out", () => {
    const text = "pos:\t0\nflags:\t02004000\n" +
      "inotify wd:2 ino:8a3f sdev:800001 mask:fc6 ignored_mask:0 fhandle-bytes:8\n" +
      "inotify wd:1 ino:ff sdev:fe00 mask:fc6 ignored_mask:0\n";

    const [first, second, ...more] = parseWatches(text);

    deepEqual(first, { ino: 0x8a3f, dev: 8 * 256 + 1 });
    equal(second?.ino, 255);
    ok(more.length === 0);
  });
});
