import { describe, it } from "@std/testing/bdd";
import { deepStrictEqual as deepEqual, ok, strictEqual as equal, throws } from "node:assert/strict";
import { ConfigError } from "@/lib/errors.ts";
import { createExclusions } from "@/lib/vault/exclusions.ts";
import { parseVaultPath } from "@/lib/vault/vault_path.ts";

const EXCLUDED = [
  "private",
  "private/a.md",
  "Private/a.md",
  "a/b/PRIVATE/c/d.md",
  ".obsidian/a.md",
  ".trash/a.md",
  "a/.git/b/c.md",
  "templates/a.md",
  "Templates/a.md",
  "a/模板/b.md",
  ".a.md",
  "a/.#b.md",
  "a/~$b.md",
  "a.md.tmp",
  "a.TMP",
  "_index.md",
  "a/_INDEX.md",
];

const KEPT = [
  "a.md",
  "privately/a.md",
  "private.md",
  "a/private.md",
  "template/a.md",
  "templates.md",
  "a.tmp/b.md",
  "~$a/b.md",
  "_index/a.md",
  "a_index.md",
  "_shared/a.md",
  "a..b/c.md",
  "__proto__/constructor.md",
];

describe("createExclusions()", () => {
  for (const path of EXCLUDED) {
    it(`excludes() is true for ${path}`, () => {
      ok(createExclusions([]).excludes(parseVaultPath(path)));
    });
  }

  for (const path of KEPT) {
    it(`excludes() is false for ${path}`, () => {
      ok(!createExclusions([]).excludes(parseVaultPath(path)));
    });
  }

  it("excludesFolder() judges the folder itself, not those above", () => {
    const { excludesFolder } = createExclusions([]);

    ok(excludesFolder(parseVaultPath("a/private")));
    ok(!excludesFolder(parseVaultPath("private/a")));
    ok(!excludesFolder(parseVaultPath("a.tmp")));
  });

  it("excludesFile() judges the name itself, not the folders above", () => {
    const { excludesFile } = createExclusions([]);

    ok(excludesFile(parseVaultPath("a/b.md.tmp")));
    ok(!excludesFile(parseVaultPath("private/b.md")));
    ok(!excludesFile(parseVaultPath("private")));
  });

  const entries: [entry: string, path: string, excluded: boolean][] = [
    ["Work", "work/a.md", true],
    ["Work", "a/WORK/b/c.md", true],
    ["Work/", "a/work/b.md", true],
    [" Work ", "work/a.md", true],
    ["Work", "homework/a.md", false],
    ["Work", "work.md", false],
    ["/Work", "work/a.md", true],
    ["/Work", "a/work/b.md", false],
    ["./Work", "a/work/b.md", false],
    ["a/b", "a/b/c/d.md", true],
    ["a/b/", "A/B/c.md", true],
    ["a\\b", "a/b/c.md", true],
    ["a/b", "x/a/b/c.md", false],
    ["a/b", "a/c.md", false],
    ["a/b", "a/bb/c.md", false],
    ["re\u0301", "r\u00c9/a.md", true],
  ];
  for (const [entry, path, excluded] of entries) {
    it(`excludes() is ${excluded} for ${path} with the entry ${JSON.stringify(entry)}`, () => {
      equal(createExclusions([entry]).excludes(parseVaultPath(path)), excluded);
    });
  }

  for (const entry of ["", " ", "/", ".", "..", "../a", "a/../b", "a//b", "C:\\a", "a/*", "*.md"]) {
    it(`createExclusions() refuses the entry ${JSON.stringify(entry)}`, () => {
      throws(() => createExclusions([entry]), ConfigError);
    });
  }
});

it("globs name every excluded folder, with marks of patterns made harmless", () => {
  const { globs } = createExclusions(["Work", "a/b", "odd[1]"]);

  deepEqual(
    [...globs].sort(),
    ["/a/b", "odd\\[1\\]", "private", "templates", "work", "模板"].sort(),
  );
});
