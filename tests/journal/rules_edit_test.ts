import { deepStrictEqual as deepEqual, strictEqual as equal } from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import { newJournalText } from "@/lib/journal/journal_templates.ts";
import { addRules, type NewRule, readRules, ruleIds } from "@/lib/journal/rules_edit.ts";
import { documentOf, edited, TODAY } from "../_support/journal_text.ts";

const RULE: NewRule = {
  text: "发布前先备份",
  sources: [
    { path: "projects/a.md", day: "2026-02-03" },
    { path: "projects/b.md", day: "2026-01-10" },
    { path: "projects/a.md", day: "" },
  ],
};
const ADDED = `- [R001] 发布前先备份
  来源：projects/a.md、projects/b.md 踩坑记录，2026-01-10 / 2026-02-03 三次同类问题
  最后命中：${TODAY}
`;

describe("readRules()", () => {
  it("reads numbers, words and nothing else", () => {
    const rules = readRules(documentOf(
      "# 固化规则\n\n## 规则列表\n- [R001] 一\n  来源：projects/a.md\n  最后命中：2026-01-01\n- R12：二\n- 三\n" +
        "- [R001] （规则内容，一句话可执行描述）\n  来源：projects/{项目名}.md 踩坑记录\n\n1. [r7] Four\n   Source: x\n",
    ));

    deepEqual(rules.map(({ number, text }) => [number, text]), [
      ["R001", "一"],
      ["R12", "二"],
      [undefined, "三"],
      ["R7", "Four"],
    ]);
  });
});

describe("ruleIds()", () => {
  it("are numbers, unless two rules have the same", () => {
    const rules = readRules(documentOf("# A\n- [R001] a\n- [R002] b\n- [R002] c\n- d\n"));

    const ids = [...ruleIds(rules).keys()];

    equal(ids[0], "R001");
    deepEqual(ids.slice(1).map((id) => /^r[0-9a-f]{6}$/.test(id)), [true, true, true]);
    equal(new Set(ids).size, 4);
  });
});

describe("addRules()", () => {
  const add = (text: string, ...rules: readonly NewRule[]) =>
    edited(text, (edit) => {
      addRules(edit, rules);
    });

  it("adds the first to a new file", () => {
    const text = newJournalText({ kind: "rules" }, { day: TODAY, language: "zh" });

    equal(add(text, RULE), text.replace("## 规则列表\n", `## 规则列表\n${ADDED}`));
  });

  it("goes on counting behind the highest number, wherever that stands", () => {
    const text = "# A\n\n## 规则\n- [R009] a\n- [R003] b\n\n## 旧的\n- [R011] c\n";

    equal(
      add(text, RULE),
      text.replace("- [R003] b\n", `- [R003] b\n${ADDED.replace("R001", "R012")}`),
    );
  });

  it("takes the place of the template's own", () => {
    const text =
      "# 固化规则\n\n## 规则列表\n\n- [R001] （规则内容，一句话可执行描述）\n  来源：projects/{项目名}.md 踩坑记录\n  最后命中：YYYY-MM-DD\n\n---\n最后更新：2026-01-01\n";

    equal(add(text, RULE), `# 固化规则\n\n## 规则列表\n\n${ADDED}\n---\n最后更新：2026-01-01\n`);
  });

  it("keeps its lines together in a numbered list, and with CR LF", () => {
    const after = add("## 规则\r\n1. a\r\n", RULE);

    equal(
      after,
      `## 规则\n1. a\n${ADDED.replace("- ", "2. ").replaceAll("\n  ", "\n   ")}`.replaceAll(
        "\n",
        "\r\n",
      ),
    );
  });
});
