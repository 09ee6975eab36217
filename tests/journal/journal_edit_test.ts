import { strictEqual as equal } from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import { allEntries } from "@/lib/journal/all_entries.ts";
import { PROFILE_SECTIONS } from "@/lib/journal/journal_names.ts";
import { edited, TODAY } from "../_support/journal_text.ts";

const MARK = `<!-- 最后命中：${TODAY} -->`;

describe("JournalEdit.markHit()", () => {
  const cases: readonly (readonly [what: string, before: string, after: string])[] = [
    ["an entry without one", "- a", `- a${MARK}`],
    ["an entry with an older one", "- a<!-- 最后命中：2024-11 -->", `- a${MARK}`],
    ["an entry of a template", "- a<!-- 最后命中：YYYY-MM-DD -->", `- a${MARK}`],
    [
      "no entry with a newer one",
      "- a<!-- 最后命中：2027-01-01 -->",
      "- a<!-- 最后命中：2027-01-01 -->",
    ],
    [
      "one in the words that it has",
      "- a <!-- Last used: 2026-01-01 -->",
      `- a <!-- Last used: ${TODAY} -->`,
    ],
    ["one on its own line", "- a\n  Last hit: 2026-01-01", `- a\n  Last hit: ${TODAY}`],
    ["before the name of a block", "- a ^id", `- a${MARK} ^id`],
    ["above a block's name on its own line", "- a\n  ^id", `- a${MARK}\n  ^id`],
    ["at the end of its own words", "- a\n  b  \n  - c", `- a\n  b${MARK}  \n  - c`],
    ["a paragraph of several lines", "a\nb", `a\nb${MARK}`],
    ["behind a backslash, which would hide it", "- a\\", `- a\\ ${MARK}`],
  ];
  for (const [what, before, after] of cases) {
    it(`marks ${what}`, () => {
      const marked = edited(`# A\n${before}\n\n# B\n`, (edit, document) => {
        const [entry] = allEntries(document, "p");
        if (entry) edit.markHit(entry, TODAY);
      });

      equal(marked, `# A\n${after}\n\n# B\n`);
    });
  }

  it("parts an English mark from the words, and does nothing twice", () => {
    const marked = edited("# A\n- a\n", (edit, document) => {
      for (const entry of [...allEntries(document, "p"), ...allEntries(document, "p")]) {
        edit.markHit(entry, TODAY);
      }
    }, "en");

    equal(marked, `# A\n- a <!-- last hit: ${TODAY} -->\n`);
  });
});

describe("JournalEdit.touch()", () => {
  const cases: readonly (readonly [before: string, after: string])[] = [
    ["# A\n\n---\n最后更新：2026-01-01\n", `# A\n\n---\n最后更新：${TODAY}\n`],
    ["# A\n\n---\n最后更新：YYYY-MM-DD\n", `# A\n\n---\n最后更新：${TODAY}\n`],
    ["# A\n\n最后更新：\n", `# A\n\n最后更新：${TODAY}\n`],
    ["# A\n\n**Last updated:** 2026/1/5 (me)\n", `# A\n\n**Last updated:** ${TODAY} (me)\n`],
    ["# A\n> 最后更新：2025年1月5日\n\n- a\n", `# A\n> 最后更新：${TODAY}\n\n- a\n`],
    ["# A\n- a\n\n\n", `# A\n- a\n\n---\n最后更新：${TODAY}\n\n\n`],
    ["# A\r\n- a", `# A\r\n- a\r\n\r\n---\r\n最后更新：${TODAY}`],
    ["# A\n\nUpdated: the docs\n", `# A\n\nUpdated: the docs\n\n---\n最后更新：${TODAY}\n`],
    [
      "---\nupdated: 2026-01-01\n---\n# A\n",
      `---\nupdated: 2026-01-01\n---\n# A\n\n---\n最后更新：${TODAY}\n`,
    ],
    [`# A\n最后更新：${TODAY}\n`, `# A\n最后更新：${TODAY}\n`],
  ];
  for (const [before, after] of cases) {
    it(`sets the day in ${JSON.stringify(before)}`, () => {
      equal(edited(before, (edit) => edit.touch()), after);
    });
  }
});

describe("JournalEdit.addItems()", () => {
  const add = (text: string, texts: readonly string[], place: "first" | "last" = "last") =>
    edited(text, (edit, document) => {
      const section = document.find(PROFILE_SECTIONS.other);
      if (section) edit.addItems(section, texts, place);
    });

  it("puts them first or last, in their order", () => {
    equal(add("## 其他\n- a\n- b\n", ["x", "y"], "first"), "## 其他\n- x\n- y\n- a\n- b\n");
    equal(add("## 其他\n- a\n- b\n", ["x", "y"]), "## 其他\n- a\n- b\n- x\n- y\n");
    equal(add("## 其他\n5. a\n6. b\n", ["x", "y"], "first"), "## 其他\n5. x\n5. y\n5. a\n6. b\n");
    equal(add("## 其他\n5. a\n6. b\n", ["x", "y"]), "## 其他\n5. a\n6. b\n7. x\n8. y\n");
  });

  it("keeps an indented list a list, and what is nested in its place", () => {
    equal(
      add("## 其他\n  - a\n    - b\n", ["x\n  - y"], "first"),
      "## 其他\n  - x\n    - y\n  - a\n    - b\n",
    );
    equal(
      add("## 其他\n10. a\n", ["x\n  - y\n\n\tz"]),
      "## 其他\n10. a\n11. x\n    - y\n\n\t\tz\n",
    );
  });
});
