import { strictEqual as equal } from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import { allEntries } from "@/lib/journal/all_entries.ts";
import { renderJournal } from "@/lib/journal/render_journal.ts";
import { documentOf } from "../_support/journal_text.ts";

const render = (text: string) => renderJournal(documentOf(text));

describe("renderJournal()", () => {
  const cases: readonly (readonly [what: string, text: string, shown: string])[] = [
    [
      "no title, comments, rules, blank lines and end line",
      "# A\n\n<!-- x -->\n## B\n\n- b\n\n***\n- c\n\n---\n最后更新：2026-01-01\n",
      "## B\n- b\n- c",
    ],
    [
      "no marks and names of blocks",
      "## B\n- a <!-- last hit: 2026-01-01 --> ^id\n- b\n  最后命中：2026-01-01\n",
      "## B\n- a\n- b",
    ],
    [
      "no comments of either kind in a line",
      "## B\n- a %%private%% b <!-- c --> d\n",
      "## B\n- a  b  d",
    ],
    ["no frontmatter", "---\na: b\n---\n## B\n- a\n", "## B\n- a"],
    [
      "no heading or label below which nothing stands",
      "## A\n### B\n\n## C\n**d：**\n\n**e：**\n- f\n",
      "## C\n**e：**\n- f",
    ],
    [
      "nothing at all of a template",
      "# A\n\n## 写作风格\n- （公众号文章的风格、口吻、结构偏好）<!-- 最后命中：YYYY-MM-DD -->\n\n---\n最后更新：YYYY-MM-DD\n",
      "",
    ],
    ["titles where there are several", "# A\n- a\n# B\n- b\n", "# A\n- a\n# B\n- b"],
    ["an underlined heading on one line", "# T\n\nA\nB\n---\n- a\n", "## A B\n- a"],
    [
      "code as it is",
      "## A\n```\n<!-- a -->\n%%b%%\n# c\n```\n",
      "## A\n```\n<!-- a -->\n%%b%%\n# c\n```",
    ],
    [
      "quotes, tables and nested items",
      "## A\n> [!info] b\n> c\n\n| d |\n| - |\n\n- e\n  - f\n",
      "## A\n> [!info] b\n> c\n| d |\n| - |\n- e\n  - f",
    ],
    [
      "text behind the end line",
      "# A\n- a\n\n---\n最后更新：2026-01-01\n\n## B\n- b\n",
      "- a\n## B\n- b",
    ],
    [
      "no line that may pass for the head of a part",
      "## A\n[rules]\n  [Project: x] y\n- [rules]\n",
      "## A\n\\[rules]\n\\  [Project: x] y\n- [rules]",
    ],
    ["CR LF as single lines", "## A\r\n- a\r\n- b\r\n", "## A\n- a\n- b"],
  ];
  for (const [what, text, shown] of cases) {
    it(`shows ${what}`, () => {
      equal(render(text), shown);
    });
  }

  it("shows some lines alone", () => {
    equal(
      renderJournal(documentOf("# A\n## B\n- b\n## C\n- c\n"), { fromLine: 4, toLine: 5 }),
      "## C\n- c",
    );
  });

  it("shows ids behind the last words of entries, and no sources where nobody wants them", () => {
    const document = documentOf(
      "# A\n## B\n- a\n  b\n  来源：c\n  最后命中：2026-01-01\n- d\n  ^id\n- e\n  - f\n\ng\nh\n",
    );
    const ids = new Map(allEntries(document, "p").map((entry, index) => [entry, `p${index}`]));

    equal(
      renderJournal(document, { ids, withoutSources: true }),
      "## B\n- a\n  b ^p0\n- d ^p1\n- e ^p2\n  - f\ng\nh ^p3",
    );
  });
});
