import { deepStrictEqual as deepEqual, strictEqual as equal, throws } from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import { InvalidRequest } from "@/lib/errors.ts";
import { entryId } from "@/lib/journal/entries.ts";
import { editProfile, isSame, type ProfileEntry } from "@/lib/journal/profile_edit.ts";
import { edited } from "../_support/journal_text.ts";

const MARK = "<!-- 最后命中：2026-05-14 -->";
const edit = (text: string, ...entries: readonly ProfileEntry[]) =>
  edited(text, (it) => editProfile(it, entries));
const replace = (text: string, old: string, by: string) =>
  edit(text, { text: by, replaces: entryId("p", old) });

describe("editProfile()", () => {
  const added: readonly (readonly [what: string, before: string, after: string])[] = [
    [
      "at the end of a section's list",
      "# A\n## 其他偏好\n- a\n\n## B\n",
      `# A\n## 其他偏好\n- a\n- 新${MARK}\n\n## B\n`,
    ],
    [
      "into an empty section",
      "# A\n## 其他偏好\n\n---\n最后更新：2026-01-01\n",
      `# A\n## 其他偏好\n- 新${MARK}\n\n---\n最后更新：2026-01-01\n`,
    ],
    ["with the bullet of the list", "## 其他\n* a\n", `## 其他\n* a\n* 新${MARK}\n`],
    ["with the indent of the list", "## 其他\n  - a\n", `## 其他\n  - a\n  - 新${MARK}\n`],
    ["with the next number", "## 其他\n3) a\n", `## 其他\n3) a\n4) 新${MARK}\n`],
    [
      "behind nested items",
      "## 其他\n- a\n  - b\n\n  c\n\n",
      `## 其他\n- a\n  - b\n\n  c\n- 新${MARK}\n\n`,
    ],
    ["behind a paragraph, parted from it", "## 其他\nmine\n", `## 其他\nmine\n\n- 新${MARK}\n`],
    [
      "above deeper headings",
      "## 其他\n- a\n\n### B\n- b\n",
      `## 其他\n- a\n- 新${MARK}\n\n### B\n- b\n`,
    ],
    [
      "in a section of its own, in its place",
      "# A\n\n## 写作\n- a\n\n## B\n- b\n",
      `# A\n\n## 写作\n- a\n\n## 其他偏好\n- 新${MARK}\n\n## B\n- b\n`,
    ],
    [
      "in a section of its own above the end",
      "# A\n\n---\n最后更新：2026-01-01\n",
      `# A\n\n## 其他偏好\n- 新${MARK}\n\n---\n最后更新：2026-01-01\n`,
    ],
    ["of the level of the others", "# 写作\n- a\n", `# 写作\n- a\n\n# 其他偏好\n- 新${MARK}\n`],
    [
      "never above the frontmatter",
      "---\na: b\n---\n## B\n- b\n",
      `---\na: b\n---\n## B\n- b\n\n## 其他偏好\n- 新${MARK}\n`,
    ],
    [
      "in place of a placeholder",
      "## 其他\n- （其他稳定偏好）<!-- 最后命中：YYYY-MM-DD -->\n",
      `## 其他\n- 新${MARK}\n`,
    ],
    [
      "beside a person's comment in an item",
      "## 其他\n- %%mine%%\n",
      `## 其他\n- %%mine%%\n- 新${MARK}\n`,
    ],
  ];
  for (const [what, before, after] of added) {
    it(`adds an entry ${what}`, () => {
      equal(edit(before, { text: "新" }), after);
    });
  }

  it("adds to the last section and behind it, each in its place", () => {
    const after = edit(
      "## 开发\n- a\n",
      { text: "茶" },
      { text: "慢", section: "pace" },
      { text: "测", section: "development" },
    );

    equal(
      after,
      `## 开发\n- a\n- 测${MARK}\n\n## 工作节奏\n- 慢${MARK}\n\n## 其他偏好\n- 茶${MARK}\n`,
    );
  });

  it("finds sections by part, by either language, and by the person's own headings", () => {
    const text = "## 开发习惯\n- a\n\n## 技术偏好\n- b\n\n## 我的茶\n- c\n";
    const sections = ["development", "开发", "Coding", "技术偏好", "我的茶", "  我的茶: "];

    const at = sections.map((section) =>
      edit(text, { text: "新", section }).split("\n").findIndex((line) => line.includes("新"))
    );

    deepEqual(at, [2, 2, 2, 5, 8, 8]);
  });

  it("refuses sections and ids that there are not, and an id given twice", () => {
    const twice = { text: "b", replaces: entryId("p", "a") };

    throws(() => edit("## 其他\n- a\n", { text: "x", section: "茶" }), InvalidRequest);
    throws(() => edit("## 其他\n- a\n", { text: "x", replaces: "p000000" }), InvalidRequest);
    throws(() => edit("## 其他\n- a\n", twice, twice), InvalidRequest);
  });

  it("tells nothing of the person's headings to who may not read", () => {
    throws(
      () =>
        edited(
          "## 我的秘密\n- a\n",
          (it) => editProfile(it, [{ text: "x", section: "我的秘蜜" }], { tellsSections: false }),
        ),
      (error: unknown) => error instanceof InvalidRequest && !error.message.includes("秘密"),
    );
  });

  const replaced: readonly (readonly [what: string, before: string, old: string, after: string])[] =
    [
      [
        "an entry and its mark",
        "## B\n- a<!-- 最后命中：2026-01-01 -->\n- b\n",
        "a",
        `## B\n- 新${MARK}\n- b\n`,
      ],
      ["one of several lines", "## B\n- a\n  b\n- c\n", "a b", `## B\n- 新${MARK}\n- c\n`],
      [
        "one with a mark of its own line",
        "## B\n- a\n  最后命中：2026-01-01\n",
        "a",
        `## B\n- 新${MARK}\n`,
      ],
      ["one and leaves what is nested", "## B\n- a\n  - b\n", "a", `## B\n- 新${MARK}\n  - b\n`],
      ["a paragraph", "## B\na\nb\n\nc\n", "a b", `## B\n新${MARK}\n\nc\n`],
      ["one with a check box", "## B\n- [x] a\n", "a", `## B\n- [x] 新${MARK}\n`],
      ["one to which links lead", "## B\n- a ^id\n", "a", `## B\n- 新${MARK} ^id\n`],
      ["one behind a bare marker", "## B\n-\n  a\n", "a", `## B\n- 新${MARK}\n`],
      ["the last one of an open end", "## B\r\n- a", "a", `## B\r\n- 新${MARK}`],
    ];
  for (const [what, before, old, after] of replaced) {
    it(`replaces ${what}`, () => {
      equal(replace(before, old, "新"), after);
    });
  }

  it("says what is said already no second time, and marks it", () => {
    const text = "## 其他\n- 用 C\n- 先说结论\n";

    equal(edit(text, { text: "先说结论。" }), `## 其他\n- 用 C\n- 先说结论${MARK}\n`);
    equal(edit(text, { text: "新" }, { text: "新！" }), `${text}- 新${MARK}\n`);
  });
});

describe("isSame()", () => {
  it("leaves case, width, blanks and the last stop out, and nothing else", () => {
    deepEqual(
      ([
        ["Short  sentences.", "short sentences"],
        ["用Ｃ", "用c"],
        ["用 C", "用 C#"],
        ["用 C", "用 C++"],
        ["<100 行", ">100 行"],
        ["1. a", "2. a"],
        ["不用 X", "用 X"],
      ] as const).map(([a, b]) => isSame(a, b)),
      [true, true, false, false, false, false, false],
    );
  });
});
