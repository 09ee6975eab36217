import {
  deepStrictEqual as deepEqual,
  notStrictEqual,
  strictEqual as equal,
} from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import { allEntries } from "@/lib/journal/all_entries.ts";
import { entryId } from "@/lib/journal/entries.ts";
import { documentOf } from "../_support/journal_text.ts";

const entriesOf = (text: string) => allEntries(documentOf(text), "p");
const idsOf = (text: string) => entriesOf(text).map(({ id }) => id);
const FILE = "# A\n\n## 写作风格\n- 一\n- 二\n\n## 其他\n- 三\n";

describe("allEntries()", () => {
  const cases: readonly (readonly [what: string, text: string, entries: readonly string[]])[] = [
    ["items and paragraphs", "# A\n- a\n* b\n+ c\n1. d\n2) e\n\nf\ng\n", [
      "a",
      "b",
      "c",
      "d",
      "e",
      "f g",
    ]],
    ["check boxes", "# A\n- [ ] a\n- [x] b\n- [/] c\n", ["a", "b", "c"]],
    ["what goes on on further lines", "# A\n- a\n  b\nc\n", ["a b c"]],
    ["no nested items", "# A\n- a\n  - b\n    - c\n", ["a"]],
    ["the words behind a bare marker", "# A\n-\n  a\n", ["a"]],
    [
      "no marks, comments and names of blocks",
      "# A\n- a <!-- last hit: 2026-01-01 --> %%x%% ^id\n",
      ["a"],
    ],
    ["no mark on a line of its own", "# A\n- a\n  最后命中：2026-01-01\n", ["a"]],
    ["nothing above the first heading", "a\n\n# A\nb\n", ["b"]],
    [
      "no code, quote, table and comment",
      "# A\n```\na\n```\n> b\n\n| c |\n| - |\n\n<!-- d -->\n",
      [],
    ],
    ["no labels", "# A\n**a**\n\nb：\n\n**c:**\n\n**d** e\n", ["**d** e"]],
    ["no end line", "# A\n- a\n\n---\n最后更新：2026-01-01\n", ["a"]],
    ["not the end line that follows too closely", "# A\n- a\n---\n最后更新：2026-01-01\n", ["a"]],
    ["what stands behind the end line", "# A\n最后更新：2026-01-01\n\n- a\n", ["a"]],
  ];
  for (const [what, text, entries] of cases) {
    it(`reads ${what}`, () => {
      deepEqual(entriesOf(text).map((entry) => entry.text), entries);
    });
  }

  it("knows what templates have in place of entries", () => {
    const text =
      "# A\n- （决策内容）\n- YYYY-MM-DD：（决策内容）\n- \n- （其他稳定偏好）<!-- 最后命中：YYYY-MM-DD -->\n" +
      "- <!-- mine -->\n- %%mine%%\n- （决策内容）\n  - mine\n- （我的话）\n";

    deepEqual(
      entriesOf(text).map(({ isPlaceholder }) => isPlaceholder),
      [true, true, true, true, false, false, false, false],
    );
  });

  it("reads the mark of an entry, and on which line it is", () => {
    const [a, b, c] = entriesOf(
      "# A\n- a\n  b <!-- last hit: 2026-01-01 -->\n- c\n  - d<!-- 最后命中：2026-01-02 -->\n- e\n  Last hit: 2026-01-03\n",
    );

    deepEqual([a?.mark?.day, a?.mark?.line], ["2026-01-01", 3]);
    equal(b?.mark, undefined);
    deepEqual([c?.mark?.day, c?.mark?.line], ["2026-01-03", 7]);
  });
});

describe("ids of entries", () => {
  it("follow from their words alone", () => {
    const ids = idsOf(FILE);

    deepEqual(ids, ["一", "二", "三"].map((text) => entryId("p", text)));
    deepEqual(idsOf(FILE.replace("- 一", "- 一<!-- 最后命中：2026-05-14 -->")), ids);
    deepEqual(idsOf(FILE.replaceAll("\n", "\r\n")), ids);
    deepEqual(idsOf(FILE.replace("- 二", "* [x] 二 ^abc")), ids);
    deepEqual(idsOf(FILE.replace("## 其他", "## 我的\n\n## 其他")), ids);
    deepEqual(idsOf(FILE.replace("- 二\n", "- 二\n  - 新的一行\n")), ids);
  });

  it("stay when entries come and go elsewhere", () => {
    const [one, two, three] = idsOf(FILE);

    deepEqual(idsOf(FILE.replace("- 一\n", "- 零\n- 一\n")).slice(1), [one, two, three]);
    deepEqual(idsOf(FILE.replace("- 一\n", "")), [two, three]);
    notStrictEqual(idsOf(FILE.replace("- 一", "- 一！"))[0], one);
  });

  it("differ for texts that are the same, in one section or in two", () => {
    const ids = idsOf("# A\n\n## B\n- 一\n- 一\n\n## C\n- 一\n");

    equal(new Set(ids).size, 3);
    equal(ids[0], entryId("p", "一"));
  });

  it("have the prefix of their file and six digits", () => {
    for (const id of idsOf(FILE)) equal(String(/^p[0-9a-f]{6}$/.test(id)), "true");
  });
});
