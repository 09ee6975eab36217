import { describe, it } from "@std/testing/bdd";
import {
  deepStrictEqual as deepEqual,
  notStrictEqual as notEqual,
  ok,
  strictEqual as equal,
  throws,
} from "node:assert/strict";
import { PathEscapesVault } from "@/lib/errors.ts";
import {
  ancestorsOf,
  baseName,
  comparisonKey,
  foldCase,
  isMarkdown,
  joinVaultPath,
  parentOf,
  parseVaultPath,
  stemOf,
} from "@/lib/vault/vault_path.ts";

const ORDINARY = [
  "a.md",
  "a/b/c.md",
  "100%20.md",
  "100%.md",
  "50%2e5.md",
  "a%2fb.md",
  "https%3A%2F%2Fexample.com.md",
  "%252e%252e.md",
  "%e4%b8%ad.md",
  "..a.md",
  "a...md",
  "...a/b",
  "记忆/上下文.md",
  "re\u0301sume\u0301.md",
  "Q: why.md",
  "Re: 10:30.md",
  "folder/C:/a.md",
  "console.md",
  "auxiliary/com10.md",
  "com.md",
  "nul-values.md",
  "a b.md",
  " a.md",
  "👨‍👩‍👧.md",
  "__proto__/constructor.md",
  `${"x".repeat(252)}.md`,
  `${"中".repeat(84)}.md`,
  `${"a".repeat(255)}/`.repeat(15) + "b.md",
];

const HOSTILE = [
  "",
  ".",
  "..",
  "...",
  "../a.md",
  "a/../b.md",
  "a/..",
  "./a.md",
  "a/./b.md",
  "a/.. /b.md",
  "a/ /b.md",
  "a/. ./b.md",
  "/",
  "/etc/passwd",
  "//host/share",
  "a//b.md",
  "a/",
  "C:",
  "c:/a.md",
  "C:a.md",
  "C:\\a.md",
  "\\\\?\\C:\\a.md",
  "\\a",
  "a\\b.md",
  "a\\..\\b.md",
  "a\0.md",
  "a\n.md",
  "a\r/b.md",
  "a\x1b[31m.md",
  "a\x7f.md",
  "a\x85.md",
  "%2e%2e/a.md",
  "%2E%2e/a.md",
  ".%2e/a.md",
  "a/%2e./b.md",
  "%2e",
  "a/..%2f..%2fb.md",
  "a%2f..%2f..%2fx",
  "..%5c..%5cx.md",
  "%2fetc%2fpasswd",
  "%5c%5chost",
  "C%3A%5Ca.md",
  "a%00.md",
  "a%0a.md",
  "con",
  "CON.md",
  "a/nul",
  "a/Aux.txt.md",
  "prn.md",
  "com1.md",
  "LPT9",
  "com¹.md",
  "con .md",
  "nul:.md",
  "conin$",
  "CONOUT$.md",
  "aux/a.md",
  "a\ud800.md",
  "\udc00",
  "x".repeat(256),
  `${"中".repeat(85)}.md`,
  `${"a".repeat(255)}/`.repeat(16) + "b.md",
  "中/".repeat(1100) + "b.md",
  "a".repeat(1_000_000),
];

describe("parseVaultPath()", () => {
  for (const text of ORDINARY) {
    it(`parseVaultPath() keeps ${JSON.stringify(text.slice(0, 40))} as it is spelt`, () => {
      equal(parseVaultPath(text), text);
    });
  }

  for (const text of HOSTILE) {
    it(`parseVaultPath() refuses ${JSON.stringify(text.slice(0, 40))} (${text.length})`, () => {
      throws(() => parseVaultPath(text), PathEscapesVault);
    });
  }

  it("parseVaultPath() refuses .. wherever it is put into a good path", () => {
    for (const good of ORDINARY) {
      const segments = good.split("/");
      for (let at = 0; at <= segments.length; at++) {
        const bad = segments.toSpliced(at, 0, "..").join("/");

        throws(() => parseVaultPath(bad), PathEscapesVault, bad);
      }
    }
  });

  it("parseVaultPath() shows a long or dirty text cut and escaped", () => {
    throws(
      () => parseVaultPath(`../\x1b${"a".repeat(5_000)}`),
      (error: Error) => error.message.length < 250 && !error.message.includes("\x1b"),
    );
  });
});

describe("joinVaultPath()", () => {
  it("joinVaultPath() joins as parseVaultPath() would take it", () => {
    const folder = parseVaultPath("a/b");

    equal(joinVaultPath(folder, "c.md"), "a/b/c.md");
    equal(joinVaultPath("", "c.md"), "c.md");
    equal(joinVaultPath(folder, "C:"), "a/b/C:");
  });

  it("joinVaultPath() returns undefined when the name cannot be a segment", () => {
    const names = ["", ".", "..", "a/b", "/", "a\\b", "a\nb", "con.md", "x".repeat(256)];

    for (const name of names) equal(joinVaultPath(parseVaultPath("a"), name), undefined, name);
    equal(joinVaultPath("", "C:a.md"), undefined);
  });

  it("joinVaultPath() returns undefined when the whole path gets too long", () => {
    const folder = parseVaultPath(`${"a".repeat(255)}/`.repeat(15) + "b".repeat(250));

    equal(joinVaultPath(folder, "c.md")?.length, 4095);
    equal(joinVaultPath(folder, "ccccc.md"), undefined);
  });
});

describe("parts of a path", () => {
  it("baseName(), parentOf() and ancestorsOf() take a path apart", () => {
    const path = parseVaultPath("a/b/c.md");

    equal(baseName(path), "c.md");
    equal(parentOf(path), "a/b");
    equal(parentOf(parseVaultPath("c.md")), "");
    deepEqual(ancestorsOf(path), ["a/b", "a", ""]);
    deepEqual(ancestorsOf(""), []);
  });

  const stems: [path: string, stem: string][] = [
    ["a/b.md", "b"],
    ["a.b.MD", "a.b"],
    ["a.markdown", "a"],
    ["a.md/b", "b"],
    ["a.txt", "a.txt"],
    ["re\u0301.md", "r\u00e9"],
  ];
  for (const [path, stem] of stems) {
    it(`stemOf() gives ${JSON.stringify(stem)} for ${path}`, () => {
      equal(stemOf(path), stem);
    });
  }

  it("isMarkdown() goes by the ending in any case", () => {
    for (const name of ["a.md", "a.MD", "a.Markdown", "a/b.c.md"]) ok(isMarkdown(name));
    for (const name of ["a.mdx", "a.md.tmp", "md", "a.md/b", "a.txt"]) {
      ok(!isMarkdown(name), name);
    }
  });
});

describe("comparison", () => {
  it("comparisonKey() joins Unicode forms and keeps case apart", () => {
    equal(comparisonKey("re\u0301.md"), comparisonKey("r\u00e9.md"));
    notEqual(comparisonKey("A.md"), comparisonKey("a.md"));
  });

  it("foldCase() joins what a disk that folds case takes for one name", () => {
    const pairs = [["PRIVATE", "private"], ["R\u00c9", "re\u0301"], ["STRASSE", "straße"]];

    for (const [left = "", right = ""] of pairs) equal(foldCase(left), foldCase(right));
    equal(foldCase("ſecret"), foldCase("Secret"));
    notEqual(foldCase("模板"), foldCase("模版"));
  });
});
