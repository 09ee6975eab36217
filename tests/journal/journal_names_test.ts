import { deepStrictEqual as deepEqual, strictEqual as equal } from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import {
  foldPartName,
  isNamed,
  languageOfName,
  languageOfText,
  nameRank,
  partNamed,
  PROFILE_SECTIONS,
  PROJECT_SECTIONS,
  STATUS_LABELS,
} from "@/lib/journal/journal_names.ts";

describe("partNamed()", () => {
  const cases:
    readonly (readonly [heading: string, part: keyof typeof PROJECT_SECTIONS | undefined])[] = [
      ["当前状态", "status"],
      ["★ 当前状态（200 字以内） / Status", "status"],
      ["📌 Current status:", "status"],
      ["**当前状态**", "status"],
      ["1. 当前状态", "status"],
      ["二、踩坑记录", "pitfalls"],
      ["當前狀態", "status"],
      ["ＣＵＲＲＥＮＴ　ＳＴＡＴＵＳ", "status"],
      ["current-status", "status"],
      ["History / 历史", "history"],
      ["历史归档 [旧]", "history"],
      ["状态说明", undefined],
      ["Statuses", undefined],
      ["不是当前状态", undefined],
      ["", undefined],
      ["（当前状态）", undefined],
      ["/", undefined],
    ];
  for (const [heading, part] of cases) {
    it(`takes "${heading}" for ${part ?? "none"}`, () => {
      equal(partNamed(heading, PROJECT_SECTIONS), part);
    });
  }

  it("knows labels with what stands in brackets behind them", () => {
    equal(partNamed("最近决策（保留最新 3 条）", STATUS_LABELS), "decisions");
    equal(partNamed("Recent decisions (the newest 3)", STATUS_LABELS), "decisions");
    equal(partNamed("👉 下次起点", STATUS_LABELS), "next");
  });
});

describe("nameRank()", () => {
  it("is 0 for the name that new files get, and higher for rarer ones", () => {
    deepEqual(
      ["开发习惯", "技术偏好", "Development habits", "Coding style", "Cooking"].map((name) =>
        nameRank(name, PROFILE_SECTIONS.development)
      ),
      [0, 3, 0, 4, undefined],
    );
  });
});

describe("languageOfName()", () => {
  it("tells the language of a name, and none where both are there", () => {
    const { status } = PROJECT_SECTIONS;

    deepEqual(
      ["当前状态", "Status", "状态 / Status", "其他"].map((name) => languageOfName(name, status)),
      ["zh", "en", undefined, undefined],
    );
    equal(isNamed("状态 / Status", status), true as boolean);
  });
});

describe("languageOfText()", () => {
  it("takes a text for Chinese as soon as one of a few words is", () => {
    deepEqual(
      [
        "更新记忆",
        "update memory",
        "把 cache 换成 SQLite",
        "see README 吧 for all the other details",
        "123",
        "",
      ]
        .map(languageOfText),
      ["zh", "en", "zh", "en", undefined, undefined],
    );
  });
});

describe("foldPartName()", () => {
  it("leaves what names have in common, and comes to an end", () => {
    deepEqual(
      ["## 1.2. **Foo  Bar** :", "一、二、三", "---", "𝗙𝗼𝗼", "foo_bar"].map(foldPartName),
      ["foo bar", "三", "", "foo", "foo bar"],
    );
  });
});
