import { deepStrictEqual as deepEqual, strictEqual as equal, throws } from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import { datedIn, decisionsOf, readProjectNote } from "@/lib/journal/project_note.ts";
import { documentOf } from "../_support/journal_text.ts";

const noteOf = (text: string) => readProjectNote(documentOf(text));

describe("readProjectNote()", () => {
  const labels: readonly (readonly [line: string, isLabel: boolean])[] = [
    ["**最近决策（保留最新 3 条）：**", true],
    ["**最近决策**：", true],
    ["**最近决策** (3):", true],
    ["__Recent decisions:__", true],
    ["==决策==：", true],
    ["最近决策：", true],
    ["**🔥 决策**", true],
    ["### 决策", true],
    ["### Decisions ###", true],
    ["**Decisions / 决策：** 见下", true],
    ["最近决策", false],
    ["决策很多：", false],
    ["> **决策：**", false],
    ["**其他：**", false],
  ];
  for (const [line, isLabel] of labels) {
    it(`takes "${line}" for ${isLabel ? "a" : "no"} label`, () => {
      const { status } = noteOf(
        `# A\n## 状态\na<!-- 最后命中：2026-01-01 -->\n\n${line}\n- 2026-05-01：b\n`,
      );

      deepEqual(status ? decisionsOf(status).map(({ text }) => text) : [], isLabel ? ["b"] : []);
    });
  }

  const sentences: readonly (readonly [below: string, sentence: string | undefined])[] = [
    ["a\nb\n\nc", "a b"],
    ["a<!-- 最后命中：2026-01-01 -->\n**决策：**\n- b", "a"],
    ["<!-- x -->\n> y\n\na", "a"],
    ["- a\n- b", "a"],
    ["进度：一半", "进度：一半"],
    ["**决策：**\n- b\n\na", undefined],
    ["决策：a", undefined],
    ["- 下一步：a", undefined],
    ["**我的：**\n- a", undefined],
    ["| a |\n| - |", undefined],
    ["### a\nb", undefined],
    ["", undefined],
  ];
  for (const [below, sentence] of sentences) {
    it(`finds ${sentence ?? "no sentence"} in ${JSON.stringify(below)}`, () => {
      equal(noteOf(`# A\n## 状态\n${below}\n`).status?.sentence?.text, sentence);
    });
  }

  it("reads days, and leaves placeholders out", () => {
    const note = noteOf(
      "## 坑\n- 2026/5/1：a\n- b\n- YYYY-MM-DD：（问题描述 + 原因 + 解决方式）\n\n### 旧的\n- 2026-04-01: c\n",
    );

    deepEqual(datedIn(note, note.pitfalls).map(({ day, text }) => [day, text]), [
      ["2026-05-01", "a"],
      ["", "b"],
      ["2026-04-01", "c"],
    ]);
    deepEqual(datedIn(note, note.history), []);
  });

  it("refuses a note with two sections of one name", () => {
    throws(() => noteOf("## 坑\n\n## 坑\n"), /line 3: a second section/);
  });
});
