import { deepStrictEqual as deepEqual, match, strictEqual as equal } from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import { InvalidRequest } from "@/lib/errors.ts";
import { requireEntries } from "@/lib/journal/entry_rules.ts";

const check = (field: string, text: string) => requireEntries(new Map([[field, text]])).get(field);

/** What is said of a text; `""` if it may be an entry. */
function faultOf(field: string, text: string): string {
  try {
    check(field, text);
    return "";
  } catch (error) {
    if (error instanceof InvalidRequest) return error.message;
    throw error;
  }
}

describe("requireEntries()", () => {
  const good: readonly (readonly [text: string, line: string])[] = [
    ["改用 SQLite，因为启动快", "改用 SQLite，因为启动快"],
    ["- 改用 SQLite", "改用 SQLite"],
    ["1. First", "First"],
    ["  a\n\tb  c\r\nd ", "a b c d"],
    ["好 <!-- 最后命中：2020-01-01 --> 的", "好 最后命中:2020-01-01 的".replace(":", "：")],
    ["a %% b", "a b"],
    ["Short sentences ^p12ab34", "Short sentences"],
    ["x\u2028y\u0007z", "x y z"],
    ["用 C#", "用 C#"],
    ["todo 列表放在首页", "todo 列表放在首页"],
    ["#tag first", "#tag first"],
    ["字".repeat(500), "字".repeat(500)],
    [`好${"😀".repeat(499)}`, `好${"😀".repeat(499)}`],
  ];
  for (const [text, line] of good) {
    it(`takes ${JSON.stringify(text.slice(0, 40))} as one line`, () => {
      equal(check("decisions[0]", text), line);
    });
  }

  const bad: readonly (readonly [field: string, text: string, message: RegExp])[] = [
    ["summary", "", /empty/],
    ["summary", " \n ", /empty/],
    ["summary", "。。。", /empty/],
    ["summary", "<!-- -->", /empty/],
    ["summary", "- ", /empty/],
    ["summary", "无", /empty/],
    ["summary", "N/A", /empty/],
    ["summary", "None.", /empty/],
    ["next[2]", "a\nb\nc\nd\ne", /whole output/],
    ["decisions[0]", "看：\n```js\nx()\n```", /whole output/],
    ["decisions[0]", "| a | b |", /whole output/],
    ["decisions[0]", "## 标题", /whole output/],
    ["status", "##%%x", /whole output/],
    ["decisions[0]", "字".repeat(501), /501 characters of 500/],
    ["status", "字".repeat(201), /201 characters of 200/],
    ["summary", "a".repeat(201), /201 characters of 200/],
    ["type", "a".repeat(31), /31 characters of 30/],
    ["profile[0]", "[R001] 先备份", /is a rule/],
    ["pitfalls[0]", "- [r12] 先备份", /is a rule/],
  ];
  for (const [field, text, message] of bad) {
    it(`refuses ${JSON.stringify(text.slice(0, 40))} as ${field}`, () => {
      match(faultOf(field, text), message);
    });
  }

  it("tells of all faults at once, by their fields", () => {
    const fields = new Map([["summary", ""], ["decisions[0]", "好的"], ["next[1]", "# x"]]);
    try {
      requireEntries(fields);
    } catch (error) {
      if (!(error instanceof InvalidRequest)) throw error;
      deepEqual(error.problems?.map(({ field }) => field), ["summary", "next[1]"]);
      return;
    }
    throw new Error("It was not refused");
  });
});
