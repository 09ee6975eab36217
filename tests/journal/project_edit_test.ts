import {
  deepStrictEqual as deepEqual,
  match,
  strictEqual as equal,
  throws,
} from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import { InvalidRequest } from "@/lib/errors.ts";
import {
  editProject,
  type ProjectChange,
  type ProjectOutcome,
} from "@/lib/journal/project_edit.ts";
import { decisionsOf, readProjectNote } from "@/lib/journal/project_note.ts";
import { documentOf, edited, TODAY } from "../_support/journal_text.ts";

const MARK = `<!-- 最后命中：${TODAY} -->`;
const NOTHING: ProjectChange = { decisions: [], pitfalls: [], next: [] };
const edit = (text: string, change: Partial<ProjectChange>): string =>
  edited(
    text,
    (it, document) => editProject(it, readProjectNote(document), { ...NOTHING, ...change }),
  );

function outcomeOf(text: string, change: Partial<ProjectChange>): ProjectOutcome | undefined {
  let outcome: ProjectOutcome | undefined;
  edited(text, (it, document) => {
    outcome = editProject(it, readProjectNote(document), { ...NOTHING, ...change });
  });
  return outcome;
}

type Case = readonly [what: string, before: string, change: Partial<ProjectChange>, after: string];

function check(cases: readonly Case[]): void {
  for (const [what, before, change, after] of cases) {
    it(what, () => {
      equal(edit(before, change), after);
    });
  }
}

describe("editProject(), the status", () => {
  check([
    [
      "replaces the sentence",
      "## 当前状态\na<!-- 最后命中：2026-01-01 -->\n",
      { status: "新" },
      `## 当前状态\n新${MARK}\n`,
    ],
    [
      "replaces a sentence of several lines",
      "## 状态\na\nb\n\nc\n",
      { status: "新" },
      `## 状态\n新${MARK}\n\nc\n`,
    ],
    [
      "keeps what a person has put a name to",
      "## 状态\na\n负责人：小周\n",
      { status: "新" },
      `## 状态\n新${MARK}\n负责人：小周\n`,
    ],
    ["writes the first", "## 状态\n\n## 坑\n", { status: "新" }, `## 状态\n新${MARK}\n\n## 坑\n`],
    [
      "writes the first where a heading follows",
      "## 状态\n## 坑\n",
      { status: "新" },
      `## 状态\n新${MARK}\n## 坑\n`,
    ],
    [
      "writes the first above a label",
      "## 状态\n**下一步：**\n- a\n",
      { status: "新" },
      `## 状态\n新${MARK}\n\n**下一步：**\n- a\n`,
    ],
    [
      "writes the first above a rule",
      "## 状态\n---\n最后更新：2026-01-01\n",
      { status: "新" },
      `## 状态\n新${MARK}\n\n---\n最后更新：2026-01-01\n`,
    ],
    ["replaces one that ends the file too closely", "## 状态\na\n---\n最后更新：2026-01-01\n", {
      status: "新",
    }, `## 状态\n新${MARK}\n---\n最后更新：2026-01-01\n`],
    [
      "replaces one that stands in a list",
      "## 状态\n- a\n  - b\n- c\n",
      { status: "新" },
      `## 状态\n- 新${MARK}\n  - b\n- c\n`,
    ],
    [
      "leaves a decision in a list alone",
      "## 状态\n- 决策：用 SQLite\n",
      { status: "新" },
      `## 状态\n新${MARK}\n\n- 决策：用 SQLite\n`,
    ],
    [
      "replaces one in a callout",
      "## 状态\n> [!info] 进度\n> a\n> b\n\n**决策：**\n",
      { status: "新" },
      `## 状态\n> [!info] 进度\n> 新${MARK}\n\n**决策：**\n`,
    ],
    [
      "leaves a quote that says more than a sentence",
      "## 状态\n> a\n>\n> - b\n",
      { status: "新" },
      `## 状态\n新${MARK}\n\n> a\n>\n> - b\n`,
    ],
    ["keeps a sentence a sentence", "## 状态\na\n", { status: "> 新" }, `## 状态\n\\> 新${MARK}\n`],
    [
      "makes the section",
      "# A\n\nmine\n\n## 坑\n- b\n",
      { status: "新" },
      `# A\n\nmine\n\n## 当前状态\n新${MARK}\n\n## 坑\n- b\n`,
    ],
    ["makes the section behind the overview, of its level", "# A\n### 概述\nb\n### C\n", {
      status: "新",
    }, `# A\n### 概述\nb\n\n### 当前状态\n新${MARK}\n\n### C\n`],
    [
      "makes the section in a note without a title",
      "---\na: b\n---\n## C\n",
      { status: "新" },
      `---\na: b\n---\n\n## 当前状态\n新${MARK}\n\n## C\n`,
    ],
    ["is left as it is where nothing is said of it", "## 状态\na\n", {}, "## 状态\na\n"],
    [
      "replaces a sentence that reads like a label, by its mark",
      "## 状态\n下一步：a<!-- 最后命中：2026-01-01 -->\n",
      { status: "新" },
      `## 状态\n新${MARK}\n`,
    ],
  ]);

  it("can be said again and again", () => {
    const odd = [
      "Next: a",
      "决策：b",
      "> c",
      "<div>",
      "$$d",
      "- - e",
      "Updated: 2026-01-01",
      "**f：**",
      "==g==",
    ];
    let text = "# A\n\n## 当前状态\n\n## 踩坑记录\n";

    for (const status of odd) text = edit(text, { status });

    equal(text, `# A\n\n## 当前状态\n==g==${MARK}\n\n## 踩坑记录\n`);
  });
});

const LIST =
  "## 状态\na<!-- 最后命中：2026-05-14 -->\n\n**最近决策：**\n- 2026-05-03：c\n  - c1\n- 2026-05-02：b\n- 2026-05-01：a\n\n**下次起点：**\n- n\n";

describe("editProject(), decisions", () => {
  check([
    [
      "puts the newest on top, and the oldest into history",
      LIST,
      { decisions: ["d"] },
      LIST.replace("- 2026-05-03", `- ${TODAY}：d\n- 2026-05-03`).replace("- 2026-05-01：a\n", "") +
      "\n## 历史归档\n- 2026-05-01：a\n",
    ],
    [
      "goes by the order of the note",
      "## 状态\n**决策：**\n- 2026-05-01：a\n- 2026-05-02：b\n",
      { decisions: ["c", "d"] },
      `## 状态\n**决策：**\n- 2026-05-02：b\n- ${TODAY}：c\n- ${TODAY}：d\n\n## 历史归档\n- 2026-05-01：a\n`,
    ],
    [
      "takes nothing for a decision that stands below another label",
      "## 状态\n**决策：**\n- 2026-05-01：a\n\n**阻塞：**\n- b\n- c\n- d\n",
      { decisions: ["e"] },
      `## 状态\n**决策：**\n- ${TODAY}：e\n- 2026-05-01：a\n\n**阻塞：**\n- b\n- c\n- d\n`,
    ],
    [
      "finds a label that follows a list without a blank line",
      "## 状态\n**下一步：**\n- n\n**决策：**\n- 2026-05-01：a\n",
      { decisions: ["b"] },
      `## 状态\n**下一步：**\n- n\n**决策：**\n- ${TODAY}：b\n- 2026-05-01：a\n`,
    ],
    [
      "makes the label",
      "## 状态\na<!-- 最后命中：2026-05-14 -->\n**下一步：**\n- n\n",
      { decisions: ["b"] },
      `## 状态\na${MARK}\n\n**最近决策（保留最新 3 条）：**\n- ${TODAY}：b\n\n**下一步：**\n- n\n`,
    ],
    [
      "makes the label a heading where the other is one",
      "## 状态\na<!-- 最后命中：2026-05-14 -->\n\n### 下一步\n- n\n",
      { decisions: ["b"] },
      `## 状态\na${MARK}\n\n### 最近决策\n- ${TODAY}：b\n\n### 下一步\n- n\n`,
    ],
    ["keeps what stands behind the label on its line", "## 状态\n**决策：** 用 SQLite\n因为快\n", {
      decisions: ["b"],
    }, `## 状态\n**决策：** 用 SQLite\n因为快\n- ${TODAY}：b\n`],
    ["keeps the day that a decision names", "## 状态\n**决策：**\n", {
      decisions: ["2026/5/1：a", "2030-01-01：b"],
    }, `## 状态\n**决策：**\n- ${TODAY}：2030-01-01：b\n- 2026-05-01：a\n`],
    [
      "marks the status that they are part of",
      "## 状态\na<!-- 最后命中：2026-01-01 -->\n\n**决策：**\n",
      { decisions: ["b"] },
      `## 状态\na${MARK}\n\n**决策：**\n- ${TODAY}：b\n`,
    ],
    [
      "moves what is nested, so that it stays nested",
      "## 状态\n**决策：**\n1. 2026-05-04：d\n2. 2026-05-03：c\n3. 2026-05-02：b\n   - b1\n\n     b2\n\n## 历史\n  - 2026-05-01：a\n",
      { decisions: ["e"] },
      `## 状态\n**决策：**\n1. ${TODAY}：e\n1. 2026-05-04：d\n2. 2026-05-03：c\n\n## 历史\n  - 2026-05-01：a\n  - 2026-05-02：b\n    - b1\n\n      b2\n`,
    ],
    [
      "takes placeholders out",
      "## 状态\n**决策：**\n- YYYY-MM-DD：（决策内容）\n- YYYY-MM-DD：（决策内容）\n",
      { decisions: ["a"] },
      `## 状态\n**决策：**\n- ${TODAY}：a\n`,
    ],
  ]);

  it("says none twice on one day, not even one that is history", () => {
    const text = `## 状态\n**决策：**\n- ${TODAY}：a\n\n## 历史\n- ${TODAY}：b\n- 2026-05-01：c\n`;

    equal(edit(text, { decisions: ["a", "b"] }), text);
    deepEqual(outcomeOf(text, { decisions: ["a", "c", "c"] })?.decisions, 1);
  });

  it("keeps no more than there is room for, and tells by how much it is too long", () => {
    const long = (length: number) => "字".repeat(length);
    const text = `## 状态\na\n\n**决策：**\n- 2026-05-03：${long(90)}\n- 2026-05-02：${
      long(90)
    }\n- 2026-05-01：${long(90)}\n`;

    const after = edit(text, { decisions: [long(50)] });

    const status = readProjectNote(documentOf(after)).status;
    deepEqual(status && decisionsOf(status).map(({ day }) => day), [TODAY, "2026-05-03"]);
    equal(
      outcomeOf(`## 状态\n${long(190)}\n\n**决策：**\n- 2026-05-03：${long(90)}\n`, { next: ["b"] })
        ?.over,
      81,
    );
  });

  it("refuses what does not fit by itself", () => {
    throws(
      () => edit("## 状态\n", { status: "字".repeat(100), decisions: ["字".repeat(101)] }),
      (error: unknown) =>
        error instanceof InvalidRequest && error.problems?.[0]?.field === "status",
    );
  });
});

describe("editProject(), the next start", () => {
  check([
    [
      "replaces the list",
      "## 状态\n**下次起点：**\n- a\n  - b\n- c\n",
      { next: ["x", "y"] },
      "## 状态\n**下次起点：**\n- x\n- y\n",
    ],
    [
      "replaces what stands on the label's line",
      "## 状态\n**下次起点：** 从缓存开始\n然后\n\n## 坑\n",
      { next: ["x"] },
      "## 状态\n**下次起点：**\n- x\n\n## 坑\n",
    ],
    ["replaces a text below the label", "## 状态\n### Next\nGo on\nand on\n\n## 坑\n", {
      next: ["x"],
    }, "## 状态\n### Next\n- x\n\n## 坑\n"],
    [
      "replaces a text apart from the label",
      "## 状态\n**下一步：**\n\n从缓存开始\n\n**风险：** 高\n",
      { next: ["x"] },
      "## 状态\n**下一步：**\n- x\n\n**风险：** 高\n",
    ],
    [
      "leaves other labels of the person alone",
      "## 状态\n**下一步：** a\n**风险：** 高\n\n**参考：**\n- b\n",
      { next: ["x"] },
      "## 状态\n**下一步：**\n- x\n\n**风险：** 高\n\n**参考：**\n- b\n",
    ],
    ["leaves a text behind the list alone", "## 状态\n**下一步：**\n- a\n\n我的话\n\n- b\n", {
      next: ["x"],
    }, "## 状态\n**下一步：**\n- x\n\n我的话\n\n- b\n"],
    [
      "keeps check boxes and bullets",
      "## 状态\n**To do:**\n* [ ] a\n* [x] b\n",
      { next: ["x"] },
      "## 状态\n**To do:**\n* [ ] x\n",
    ],
    ["makes the label behind the decisions", "## 状态\n### 决策\n- 2026-05-01：a\n### 我的\nb\n", {
      next: ["x"],
    }, "## 状态\n### 决策\n- 2026-05-01：a\n\n### 下次起点\n- x\n\n### 我的\nb\n"],
    [
      "makes the label at the end of the status",
      "## 状态\na<!-- 最后命中：2026-05-14 -->\n\nb\n\n<!-- c -->\n## 坑\n",
      { next: ["x"] },
      `## 状态\na${MARK}\n\nb\n\n**下次起点：**\n- x\n\n<!-- c -->\n## 坑\n`,
    ],
  ]);
});

describe("editProject(), the rest", () => {
  check([
    ["adds pitfalls in the order that is there", "## 坑\n- 2026-05-02：b\n- 2026-05-01：a\n", {
      pitfalls: ["c"],
    }, `## 坑\n- ${TODAY}：c\n- 2026-05-02：b\n- 2026-05-01：a\n`],
    [
      "adds pitfalls at the end where there is none",
      "## 坑\n- a\n",
      { pitfalls: ["b", "c"] },
      `## 坑\n- a\n- ${TODAY}：b\n- ${TODAY}：c\n`,
    ],
    ["makes the pitfalls behind the status", "## 状态\na\n\n<!-- x -->\n## 历史\n", {
      pitfalls: ["b"],
    }, `## 状态\na\n\n## 踩坑记录\n- ${TODAY}：b\n\n<!-- x -->\n## 历史\n`],
    [
      "makes the pitfalls above the end",
      "# A\n\n---\n最后更新：2026-01-01\n",
      { pitfalls: ["b"] },
      `# A\n\n## 踩坑记录\n- ${TODAY}：b\n\n---\n最后更新：2026-01-01\n`,
    ],
    ["replaces the overview", "## 概述\na\nb\n\nc\n", { overview: "新" }, "## 概述\n新\n\nc\n"],
    ["writes the overview", "## 概述\n- a\n", { overview: "新" }, "## 概述\n新\n\n- a\n"],
    ["makes the overview below what introduces the note", "# A\n\nmine\n\n## 状态\n", {
      overview: "新",
    }, "# A\n\nmine\n\n## 项目概述\n新\n\n## 状态\n"],
    [
      "makes the overview below the frontmatter",
      "---\na: b\n---\n## 状态\nx\n",
      { overview: "新" },
      "---\na: b\n---\n\n## 项目概述\n新\n\n## 状态\nx\n",
    ],
  ]);

  it("speaks English where the note does", () => {
    const text = edited("## Status\na\n", (it, document) => {
      editProject(it, readProjectNote(document), {
        ...NOTHING,
        status: "New",
        decisions: ["b"],
        pitfalls: ["c"],
        next: ["d"],
      });
    }, "en");

    match(
      text,
      /New <!-- last hit: 2026-05-14 -->\n\n\*\*Recent decisions \(the newest 3\):\*\*\n- 2026-05-14: b\n\n\*\*Next start:\*\*\n- d\n\n## Pitfalls\n- 2026-05-14: c\n/,
    );
  });
});
