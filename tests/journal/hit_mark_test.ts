import { deepStrictEqual as deepEqual, strictEqual as equal } from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import { findHitMark, formatHitMark, isMarkLine, withoutHitMarks } from "@/lib/journal/hit_mark.ts";

describe("findHitMark()", () => {
  const cases: readonly (readonly [line: string, day: string | undefined | "none"])[] = [
    ["- a<!-- 最后命中：2026-05-14 -->", "2026-05-14"],
    ["- a <!-- last hit: 2026-05-14 -->", "2026-05-14"],
    ["- a <!--LAST-HIT：2026-05-14-->", "2026-05-14"],
    ["- a <!-- Last used: 2024-11 -->", "2024-11"],
    ["- a<!-- 最後命中: 2026-05-14 --> ^id", "2026-05-14"],
    ["- a<!-- 最后命中：YYYY-MM-DD -->", undefined],
    ["  最后命中：2026-05-14", "2026-05-14"],
    ["Last hit: 2026-05-14", "2026-05-14"],
    ["- 最后命中：2026-05-14", "none"],
    ["上次最后命中：2026-05-14", "none"],
    ["- a <!-- 2026-05-14 -->", "none"],
    ["- a <!-- 最后命中：昨天 -->", "none"],
    ["", "none"],
  ];
  for (const [line, day] of cases) {
    it(`reads ${day ?? "no day"} in ${JSON.stringify(line)}`, () => {
      const found = findHitMark(line);

      equal(found === undefined ? "none" : found.day, day);
      if (found?.day) equal(line.slice(found.from, found.to), found.day);
    });
  }
});

describe("withoutHitMarks()", () => {
  it("takes all marks and the blanks before them, and nothing else", () => {
    equal(
      withoutHitMarks(
        "a  <!-- last hit: 2026-05-14 --> b <!-- note --><!-- 最后命中：2026-01-01 -->",
      ),
      "a b <!-- note -->",
    );
  });
});

describe("isMarkLine()", () => {
  it("is for lines that say nothing else", () => {
    deepEqual(
      ["  最后命中：2026-05-14", "Last hit: YYYY-MM-DD ", "最后命中：2026-05-14 起"].map(
        isMarkLine,
      ),
      [true, true, false],
    );
  });
});

describe("formatHitMark()", () => {
  it("is read again as it was written", () => {
    for (const language of ["zh", "en"] as const) {
      equal(findHitMark(formatHitMark("2026-05-14", language))?.day, "2026-05-14");
    }
  });
});
