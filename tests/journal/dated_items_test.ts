import { deepStrictEqual as deepEqual, strictEqual as equal } from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import { newestFirst, orderOf, readDated } from "@/lib/journal/dated_items.ts";

describe("readDated()", () => {
  const cases: readonly (readonly [text: string, day: string, rest: string])[] = [
    ["2026-05-14：换库", "2026-05-14", "换库"],
    ["2026-05-14: Change", "2026-05-14", "Change"],
    ["2026/5/4 换库", "2026-05-04", "换库"],
    ["2026.5.4 - 换库", "2026-05-04", "换库"],
    ["2026年5月4日，换库", "2026-05-04", "换库"],
    ["**2026-05-14**：换库", "2026-05-14", "换库"],
    ["[2026-05-14] Change", "2026-05-14", "Change"],
    ["（2026-05-14）换库", "2026-05-14", "换库"],
    ["2026-05-14 | a | b", "2026-05-14", "a | b"],
    ["2026-05-14", "2026-05-14", ""],
    ["2026-02-30：没有这天", "", "2026-02-30：没有这天"],
    ["2026-13-01: x", "", "2026-13-01: x"],
    ["换库 2026-05-14", "", "换库 2026-05-14"],
    ["2026-05", "", "2026-05"],
    ["YYYY-MM-DD：（决策内容）", "", "YYYY-MM-DD：（决策内容）"],
    ["", "", ""],
  ];
  for (const [text, day, rest] of cases) {
    it(`reads ${day || "no day"} in "${text}"`, () => {
      deepEqual(readDated(text), { day, text: rest });
    });
  }
});

describe("orderOf()", () => {
  it("tells in which order days stand, by those that there are", () => {
    deepEqual(
      [
        ["2026-05-02", "2026-05-01"],
        ["2026-05-01", "", "2026-05-01", "2026-05-02"],
        ["2026-05-01", "2026-05-01"],
        ["2026-05-01", "2026-05-03", "2026-05-02"],
        ["2026-05-01"],
        [],
      ].map(orderOf),
      ["newest-first", "oldest-first", undefined, undefined, undefined, undefined],
    );
  });
});

describe("newestFirst()", () => {
  const items = (...days: string[]) => days.map((day, index) => ({ day, index }));

  it("goes by days, then by places; what has no day comes last", () => {
    const order = (sorted: readonly { index: number }[]) =>
      sorted.map(({ index }) => index).join("");

    equal(order(newestFirst(items("2", "", "3", "2"), "newest-first")), "2031");
    equal(order(newestFirst(items("2", "", "3", "2"), "oldest-first")), "2301");
  });
});
