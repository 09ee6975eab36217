import { deepStrictEqual as deepEqual, strictEqual as equal } from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import {
  addToLog,
  movableText,
  newestDay,
  oldestBeyond,
  readLog,
  removeFromLog,
} from "@/lib/journal/dated_log.ts";
import { documentOf, edited } from "../_support/journal_text.ts";

const NEW = "2026-05-14 | 开发 | 新的";
const add = (text: string, place: "end" | "top" = "end", texts = [NEW]) =>
  edited(text, (edit, document) => addToLog(edit, readLog(document), { texts, place }));

describe("readLog()", () => {
  const cases: readonly (readonly [line: string, day: string, text: string])[] = [
    ["2026-05-14 | a | b", "2026-05-14", "a | b"],
    ["2026/5/4 | a | b", "2026-05-04", "a | b"],
    ["2026年5月4日｜a｜b", "2026-05-04", "a｜b"],
    ["- 2026-05-14 | a | b", "2026-05-14", "a | b"],
    ["* **2026-05-14** | a | b", "2026-05-14", "a | b"],
    ["3. 2026-05-14 | a", "2026-05-14", "a"],
    ["- [x] 2026-05-14 | a | b", "2026-05-14", "a | b"],
    ["- [[2026-05-14]] | a | b", "2026-05-14", "a | b"],
    ["| 2026-05-14 | a | b |", "2026-05-14", "a | b"],
    ["| 2026-05-14 | a | b \\| c |", "2026-05-14", "a | b | c"],
  ];
  for (const [line, day, text] of cases) {
    it(`reads "${line}"`, () => {
      const [entry] = readLog(documentOf(`# A\n\n${line}\n`));

      deepEqual([entry?.day, entry?.text], [day, text]);
    });
  }

  it("takes nothing else for an entry", () => {
    const text = "# 2026-05-14 | a\n\n2026-02-30 | a\nto 2026-05-14 | a\n2026-05-14：a\n\n" +
      "```\n2026-05-14 | a\n```\n> 2026-05-14 | a\n\n%%\n2026-05-14 | a\n%%\n<!-- 2026-05-14 | a -->\n";

    deepEqual(readLog(documentOf(text)), []);
  });

  it("takes what is indented below an entry for part of it", () => {
    const entries = readLog(documentOf("- 2026-05-13 | a\n  - b\n\tc\n- 2026-05-14 | d\n"));

    deepEqual(entries.map(({ startLine, endLine }) => [startLine, endLine]), [[1, 3], [4, 4]]);
  });
});

describe("addToLog()", () => {
  const cases: readonly (readonly [what: string, before: string, after: string])[] = [
    ["below a heading", "# 任务日志\n\n", `# 任务日志\n\n${NEW}\n`],
    ["below a heading without a blank line", "# 任务日志\n", `# 任务日志\n\n${NEW}\n`],
    ["behind the last", "# A\n\n2026-05-13 | a | b\n", `# A\n\n2026-05-13 | a | b\n${NEW}\n`],
    ["behind an open end", "# A\n\n2026-05-13 | a | b", `# A\n\n2026-05-13 | a | b\n${NEW}`],
    [
      "before what a person has put behind",
      "# A\n2026-05-13 | a | b\n\nmine\n",
      `# A\n2026-05-13 | a | b\n${NEW}\n\nmine\n`,
    ],
    [
      "as an item",
      "# A\n- 2026-05-13 | a | b\n  - c\n",
      `# A\n- 2026-05-13 | a | b\n  - c\n- ${NEW}\n`,
    ],
    ["as the next number", "# A\n9. 2026-05-13 | a\n", `# A\n9. 2026-05-13 | a\n10. ${NEW}\n`],
    [
      "as a row of a table",
      "# A\n| 日期 | 类型 | 摘要 |\n| --- | --- | --- |\n| 2026-05-13 | a | b |\n",
      "# A\n| 日期 | 类型 | 摘要 |\n| --- | --- | --- |\n| 2026-05-13 | a | b |\n" +
      `| ${NEW} |\n`,
    ],
    [
      "above a rule",
      "# A\n---\n最后更新：2026-01-01\n",
      `# A\n\n${NEW}\n\n---\n最后更新：2026-01-01\n`,
    ],
    ["behind frontmatter", "---\na: b\n---\n", `---\na: b\n---\n\n${NEW}\n`],
    ["into nothing", "", `${NEW}\n`],
  ];
  for (const [what, before, after] of cases) {
    it(`adds one ${what}`, () => {
      equal(add(before), after);
    });
  }

  it("adds one on top, and several in their order", () => {
    const log = "# A\n\nmine\n\n- 2026-05-13 | a\n";

    equal(add(log, "top"), `# A\n\nmine\n\n- ${NEW}\n- 2026-05-13 | a\n`);
    equal(add(log, "end", ["x", "y"]), `${log}- x\n- y\n`);
  });

  it("keeps a bar in a summary from making a cell", () => {
    const after = add("| 2026-05-13 | a | b |\n", "end", ["2026-05-14 | t | x | y"]);

    equal(after, "| 2026-05-13 | a | b |\n| 2026-05-14 | t | x \\| y |\n");
    equal(readLog(documentOf(after))[1]?.text, "t | x | y");
  });
});

describe("oldestBeyond()", () => {
  const days = (text: string, kept: number) =>
    oldestBeyond(readLog(documentOf(text)), kept).map((entry) => entry.text);

  it("goes by days first, then by the order of the log", () => {
    equal(days("2026-05-13 | a\n2026-05-14 | b\n2026-05-12 | c\n", 1).join(), "c,a");
    equal(days("2026-05-14 | a\n2026-05-13 | b\n2026-05-13 | c\n", 1).join(), "c,b");
    equal(days("2026-05-13 | a\n2026-05-13 | b\n2026-05-14 | c\n", 1).join(), "a,b");
    equal(days("2026-05-14 | a\n2026-05-14 | b\n", 1).join(), "a");
    deepEqual(days("2026-05-14 | a\n", 5), []);
  });
});

describe("what moves to an archive", () => {
  it("is whole, without what only its own log needs", () => {
    const document = documentOf("- 2026-05-13 | a\n  - b\n| 2026-05-14 | c \\| d |\n");

    deepEqual(readLog(document).map((entry) => movableText(document, entry)), [
      ["2026-05-13 | a", "  - b"],
      ["2026-05-14 | c | d"],
    ]);
  });

  it("leaves the log with nothing else gone", () => {
    const after = edited(
      "# A\n- 2026-05-13 | a\n  - b\n\nmine\n- 2026-05-14 | c\n",
      (edit, document) => removeFromLog(edit, readLog(document).slice(0, 1)),
    );

    equal(after, "# A\n\nmine\n- 2026-05-14 | c\n");
  });
});

describe("newestDay()", () => {
  it("is the newest, wherever it stands", () => {
    equal(
      newestDay(readLog(documentOf("2026-05-14 | a\n2026-05-15 | b\n2026-05-13 | c\n"))),
      "2026-05-15",
    );
    equal(newestDay([]), undefined);
  });
});
