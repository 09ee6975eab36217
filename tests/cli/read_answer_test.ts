import { strictEqual as equal } from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import { readChoice, readYesOrNo } from "@/lib/cli/read_answer.ts";

describe("readChoice()", () => {
  it("readChoice() knows the answers of the report in both languages, and no others", () => {
    const cases: [string, string | undefined][] = [
      ["全部执行", "all"],
      [" all ", "all"],
      ["ＡＬＬ", "all"],
      ["逐条确认。", "one-by-one"],
      ["One  by one.", "one-by-one"],
      ["取消", "cancel"],
      ["Cancel!", "cancel"],
      ["", undefined],
      ["y", undefined],
      ["是", undefined],
      ["all of it", undefined],
    ];
    for (const [answer, choice] of cases) {
      equal(readChoice(answer), choice, answer);
    }
  });
});

describe("readYesOrNo()", () => {
  it("readYesOrNo() knows yes and no in both languages, and nothing else", () => {
    const cases: [string, string | undefined][] = [
      ["是", "yes"],
      ["Y", "yes"],
      ["ｙ", "yes"],
      ["yes.", "yes"],
      ["否", "no"],
      ["N", "no"],
      ["No", "no"],
      ["", undefined],
      ["ok", undefined],
      ["yesterday", undefined],
    ];
    for (const [answer, meant] of cases) {
      equal(readYesOrNo(answer), meant, answer);
    }
  });
});
