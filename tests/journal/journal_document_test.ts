import { deepStrictEqual as deepEqual, strictEqual as equal, throws } from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import { readJournal } from "@/lib/journal/journal_document.ts";
import { JournalNotUnderstood } from "@/lib/journal/not_understood.ts";
import { type PartNames, PROFILE_SECTIONS, PROJECT_SECTIONS } from "@/lib/journal/journal_names.ts";
import { runAtOnce } from "@/lib/seams.ts";
import { documentOf } from "../_support/journal_text.ts";

describe("readJournal()", () => {
  const refused: readonly (readonly [what: string, text: string, message: RegExp])[] = [
    ["a merge", "# A\n<<<<<<< HEAD\na\n=======\nb\n>>>>>>> x\n", /line 2: a merge/],
    ["the end of a merge", "# A\n\nb\n>>>>>>> x\n", /line 4: a merge/],
    ["an open fence", "# A\n\n```\ncode\n", /line 3: .*never closed/],
    ["an open fence of one line", "# A\n\n```", /line 3: .*never closed/],
    ["an open fence in an item", "# A\n\n- a\n  ```\n  code\n", /line 4: .*never closed/],
    ["a fence closed too short", "# A\n\n````\ncode\n```\n", /line 3: .*never closed/],
    ["an open comment", "# A\n\n<!-- a\nb\n", /line 3: .*never closed/],
    ["an open comment of Obsidian", "# A\n\n%% a\nb\n", /line 3: .*never closed/],
    [
      "a comment that goes on over a heading to the end of another",
      "# A\n<!-- a\n## B\n- c\n<!-- d -->\n",
      /line 2: .*never closed/,
    ],
  ];
  for (const [what, text, message] of refused) {
    it(`refuses ${what}`, () => {
      throws(() => documentOf(text), message);
    });
  }

  const taken: readonly (readonly [what: string, text: string])[] = [
    ["a merge that is shown in code", "# A\n```\n<<<<<<< HEAD\n=======\n>>>>>>> x\n```\n"],
    ["a heading that is underlined with seven signs", "A\n=======\n\nb\n"],
    ["a comment at its end", "# A\n\n<!-- b -->\n"],
    ["a comment of several lines at its end", "# A\n\n<!-- b\nc -->"],
    ["a comment of Obsidian at its end", "# A\n\n%% b %%\n"],
    ["a comment over a heading that was meant so", "# A\n\n<!--\n## B\n- c\n-->\n\n## D\n"],
    ["a closed fence at its end", "# A\n\n~~~js\ncode\n~~~"],
    ["nothing", ""],
    ["frontmatter alone", "---\na: b\n---\n"],
  ];
  for (const [what, text] of taken) {
    it(`takes ${what}`, () => {
      equal(documentOf(text).note.text, text);
    });
  }

  it("refuses what is no UTF-8 text", () => {
    for (const bytes of [[0xff, 0xfe, 0x61, 0], [0x23, 0x20, 0xc3, 0x28], [0, 0, 0, 0]]) {
      throws(
        () => runAtOnce(readJournal("a.md", new Uint8Array(bytes))),
        (error: unknown) => error instanceof JournalNotUnderstood && /UTF-8/.test(error.message),
      );
    }
  });

  it("quotes nothing of the file", () => {
    throws(
      () => documentOf("# A\n\n## 状态\nsecret\n\n<<<<<<< secret\n"),
      (error: unknown) => error instanceof Error && !error.message.includes("secret"),
    );
  });
});

describe("JournalDocument.find()", () => {
  const { status, history } = PROJECT_SECTIONS;
  const find = (text: string, names: PartNames = status) =>
    documentOf(text).find(names)?.headingLine;

  const cases: readonly (readonly [what: string, text: string, line: number | undefined])[] = [
    ["a section", "# A\n\n## 当前状态\nx\n", 3],
    ["a deeper section", "# A\n\n## 进度\n\n### 状态\nx\n", 5],
    ["a title, if there is none else", "# 当前状态\nx\n", 1],
    ["a section rather than a title", "# 状态\n\n## 状态\nx\n", 3],
    ["the outer one of two within each other", "## 状态\n\n### 当前状态\nx\n", 1],
    [
      "the one with the usual name and the higher heading",
      "## 当前状态\na\n\n## B\n\n### 状态\nb\n",
      1,
    ],
    ["an underlined heading", "当前状态\n----\nx\n", 1],
    ["none in code", "```\n## 当前状态\n```\n", undefined],
    ["none in a quote or item", "> ## 当前状态\n\n- ## 当前状态\n", undefined],
    ["none in a comment", "<!--\n## 当前状态\n-->\n", undefined],
  ];
  for (const [what, text, line] of cases) {
    it(`finds ${what}`, () => {
      equal(find(text), line);
    });
  }

  it("refuses to choose between two of the same name, or of like names at different places", () => {
    throws(() => find("## 状态\n\n## 状态\n"), /line 3: a second section/);
    throws(() => find("## 当前状态\n\n## Current status\n"), /line 3: a second section/);
    throws(() => find("## 历史\n\n## 坑\n\n### 历史归档\n", history), /line 5/);
  });

  it("tells of no other section that is there twice", () => {
    const document = documentOf("## 写作风格\n\n## 开发习惯\n\n## 开发习惯\n");

    equal(document.find(PROFILE_SECTIONS.writing)?.headingLine, 1);
  });
});

describe("JournalDocument.updated", () => {
  const cases: readonly (readonly [text: string, day: string | undefined, tailLine: number])[] = [
    ["# A\n\n---\n最后更新：2026-05-14\n", "2026-05-14", 3],
    ["# A\n- a\n---\n最后更新：2026-05-14", "2026-05-14", 3],
    ["# A\n- a\n最后更新：2026-05-14\n", "2026-05-14", 3],
    ["# A\na\n---\n最后更新：2026-05-14\n", "2026-05-14", 3],
    ["# A\n\n***\n\n**Last updated:** 2026/5/4\n", "2026/5/4", 3],
    ["# A\n\n___\n> *Last-updated: 2026年5月4日*\n", "2026年5月4日", 3],
    ["# A\n\nUpdated: 2026-05-14\n", "2026-05-14", 3],
    ["# A\n\n最后更新：\n", "", 3],
    ["# A\n\n最后更新：YYYY-MM-DD\n", "YYYY-MM-DD", 3],
    ["# A\n\n最后更新：2026-05-14（我）\n", "2026-05-14", 3],
    ["# A\n最后更新：2026-05-14\n\n- a\n", "2026-05-14", 5],
    ["# A\n\n---\n最后更新：2026-05-14\n\n## B\n- b\n", "2026-05-14", 3],
    ["# A\n\n---\n最后更新：2026-05-14\n\n<!-- c -->\n", "2026-05-14", 3],
    ["---\nupdated: 2026-05-14\n---\n# A\n", undefined, 5],
    ["# A\n\nUpdated: the dependencies\n", undefined, 4],
    ["# A\n\nUpdated: 2026-05-14 the dependencies\n", undefined, 4],
    ["# A\n\n```\n最后更新：2026-05-14\n```\n", undefined, 6],
    ["# A\n\n* 最后更新：2026-05-14 的做法\n", undefined, 4],
    ["# A\n\n- a\n  最后更新：2026-05-14\n", undefined, 5],
  ];
  for (const [text, day, tailLine] of cases) {
    it(`is ${day ?? "nowhere"} in ${JSON.stringify(text)}`, () => {
      const { updated, tailLine: tail } = documentOf(text);

      const line = text.split("\n")[(updated?.line ?? 0) - 1] ?? "";
      equal(updated && line.slice(updated.from, updated.to), day);
      equal(tail, tailLine);
    });
  }
});

describe("JournalDocument.blocks", () => {
  it("parts an item from a label that follows it without a blank line", () => {
    const { blocks } = documentOf("## 状态\n- a\n  more\n**下次起点：** b\nc\n- d\nlazy\n");

    const placesOf = (text: string) =>
      documentOf(text).blocks.map(({ kind, startLine, endLine }) => [kind, startLine, endLine]);
    deepEqual(placesOf("> a\n**决策：**\n- b\n"), [["quote", 1, 1], ["paragraph", 2, 2], [
      "item",
      3,
      3,
    ]]);
    deepEqual(placesOf("> a\n**决策：** b\n> c\n"), [["quote", 1, 1], ["paragraph", 2, 2], [
      "quote",
      3,
      3,
    ]]);
    deepEqual(placesOf("| a |\n| - |\n**决策：**\n- b\n"), [
      ["table", 1, 2],
      ["paragraph", 3, 3],
      ["item", 4, 4],
    ]);
    deepEqual(
      blocks.map(({ kind, startLine, endLine }) => [kind, startLine, endLine]),
      [["heading", 1, 1], ["item", 2, 3], ["paragraph", 4, 5], ["item", 6, 7]],
    );
  });
});
