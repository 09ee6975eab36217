import {
  deepStrictEqual as deepEqual,
  ok,
  rejects,
  strictEqual as equal,
} from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import { ConfigError } from "@/lib/errors.ts";
import { type InitOptions, initVault } from "@/lib/vault/init.ts";
import { randomId, systemClock } from "@/lib/seams.ts";
import { silentLogger } from "../_support/silent_logger.ts";
import { listAll, tempVault } from "../_support/temp_vault.ts";

/** Noon, so that every time zone but the outermost agrees on the day. */
const NOW_MS = Date.UTC(2026, 4, 14, 12);

const FULL_LAYOUT = [
  "memories/",
  "projects/",
  "projects/archive/",
  "_shared/",
  "profiles/",
  "profiles/agent.md",
  "profiles/user.md",
  "profile.md",
  "rules.md",
  "session-log.md",
];

type Given = Partial<InitOptions> & { readonly nowMs?: number };

function init(root: string, given: Given = {}): Promise<readonly string[]> {
  const { nowMs = NOW_MS, ...options } = given;
  const clock = { ...systemClock, nowMs: () => nowMs };
  const seams = { clock, newId: randomId, logger: silentLogger() };
  return initVault({ root, memoriesFolder: "memories", layout: "full", ...seams, ...options });
}

function readText(root: string, path: string): Promise<string> {
  return Deno.readTextFile(`${root}/${path}`);
}

describe("initVault() with the full layout", () => {
  it("initVault() creates it in an empty folder and leaves nothing else", async () => {
    await using vault = await tempVault({});

    const created = await init(vault.root);

    deepEqual(created, FULL_LAYOUT);
    deepEqual(listAll(vault.root), [...FULL_LAYOUT].sort());
  });

  it("initVault() creates a missing root with the folders above it", async () => {
    await using base = await tempVault({});

    const created = await init(base.pathOf("deep/er/vault"));

    deepEqual(created, ["./", ...FULL_LAYOUT]);
  });

  it("initVault() creates nothing the second time", async () => {
    await using vault = await tempVault({});
    await init(vault.root);
    const before = await readText(vault.root, "profile.md");

    const created = await init(vault.root, { nowMs: NOW_MS + 10 * 86_400_000 });

    deepEqual(created, []);
    equal(await readText(vault.root, "profile.md"), before);
  });

  it("initVault() keeps what is there, empty files too", async () => {
    await using vault = await tempVault({
      "rules.md": "",
      "profiles/user.md": "mine",
      "projects/site.md": "mine",
    });

    const created = await init(vault.root);

    const there = ["projects/", "profiles/", "profiles/user.md", "rules.md"];
    deepEqual(created, FULL_LAYOUT.filter((path) => !there.includes(path)));
    equal(await readText(vault.root, "rules.md"), "");
    equal(await readText(vault.root, "profiles/user.md"), "mine");
  });

  it("initVault() puts the store where the configuration has it", async () => {
    const cases: [string, string[]][] = [
      [".", []],
      ["memories", ["memories/"]],
      ["a/b", ["a/", "a/b/"]],
      ["记忆/", ["记忆/"]],
    ];
    for (const [memoriesFolder, expected] of cases) {
      await using vault = await tempVault({});

      const created = await init(vault.root, { memoriesFolder });

      deepEqual(created, [...expected, ...FULL_LAYOUT.slice(1)], memoriesFolder);
    }
  });

  it("initVault() dates its files and names sections in both languages", async () => {
    await using vault = await tempVault({});
    await init(vault.root);

    const profile = await readText(vault.root, "profile.md");
    const rules = await readText(vault.root, "rules.md");

    ok(profile.endsWith("\n---\n最后更新：2026-05-14\n"), profile);
    ok(rules.endsWith("\n---\n最后更新：2026-05-14\n"), rules);
    ok(/^## 写作风格 \/ Writing$/m.test(profile));
  });

  it("initVault() accepts a root that is a link to a folder", async () => {
    await using vault = await tempVault({ "real/x.md": "" });
    await Deno.symlink(vault.pathOf("real"), vault.pathOf("alias"));

    const created = await init(vault.pathOf("alias"));

    deepEqual(created, FULL_LAYOUT);
  });

  it("initVault() refuses a link or a wrong kind below the root, and names it", async () => {
    await using outside = await tempVault({ "rules.md": "theirs" });
    const cases: [string, (path: string) => Promise<void>, RegExp][] = [
      ["memories", (path) => Deno.symlink(outside.root, path), /"memories".*a link stands where/],
      ["profiles", (path) => Deno.symlink(outside.root, path), /"profiles".*a link stands where/],
      ["profiles", (path) => Deno.writeTextFile(path, ""), /"profiles".*a file stands where a fo/],
      ["rules.md", (path) => Deno.mkdir(path), /"rules\.md".*a folder stands where a file/],
      [
        "rules.md",
        (path) => Deno.symlink(`${outside.root}/rules.md`, path),
        /"rules\.md".*a link stands where a file/,
      ],
      // a link to nothing would be a way to create a file elsewhere
      [
        "session-log.md",
        (path) => Deno.symlink(`${outside.root}/new.md`, path),
        /"session-log\.md".*a link stands where a file/,
      ],
    ];
    for (const [path, place, expected] of cases) {
      await using vault = await tempVault({});
      await place(vault.pathOf(path));

      await rejects(init(vault.root), (error) => {
        ok(error instanceof ConfigError);
        ok(expected.test(error.message), error.message);
        return true;
      });
      deepEqual(listAll(outside.root), ["rules.md"]);
      deepEqual(listAll(vault.root).filter((left) => left.endsWith(".tmp")), []);
    }
  });

  it("initVault() refuses a store outside the vault and a root that is a file", async () => {
    await using base = await tempVault({ "vault/x.md": "", "file": "" });
    const root = base.pathOf("vault");

    for (const memoriesFolder of ["..", "../out", "a/../../out", "/tmp/out", ""]) {
      await rejects(init(root, { memoriesFolder }), ConfigError, memoriesFolder);
    }
    await rejects(init(base.pathOf("file")), /a file stands there/);
    await rejects(init(base.pathOf("file/below")), ConfigError);

    deepEqual(listAll(base.root), ["file", "vault/", "vault/x.md"]);
  });

  it("initVault() creates each file once when two start together", async () => {
    await using vault = await tempVault({});

    const runs = await Promise.all([init(vault.root), init(vault.root), init(vault.root)]);

    deepEqual(runs.flat().sort(), [...FULL_LAYOUT].sort());
    deepEqual(listAll(vault.root), [...FULL_LAYOUT].sort());
  });
});

describe("initVault() with the welcome layout", () => {
  it("initVault() creates the folder with one note that tells how to go on", async () => {
    await using base = await tempVault({});
    const root = base.pathOf(".commonplace/vault");

    const created = await init(root, { layout: "welcome" });

    deepEqual(created, ["./", "welcome.md"]);
    deepEqual(listAll(root), ["welcome.md"]);
    const text = await readText(root, "welcome.md");
    ok(text.startsWith("# 欢迎 / Welcome\n"));
    ok(text.includes("--init"));
  });

  it("initVault() touches no folder that was there, not even an empty one", async () => {
    await using vault = await tempVault({});

    const created = await init(vault.root, { layout: "welcome" });

    deepEqual([created, listAll(vault.root)], [[], []]);
  });
});
