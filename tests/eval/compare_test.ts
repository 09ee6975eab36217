import { deepStrictEqual as deepEqual, ok, strictEqual as equal, throws } from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import { compareBehindHttp, compareHybrid, compareRows, parseExpectations } from "./compare.ts";
import { nameOf, OPEN_ROWS } from "./report.ts";
import { toRow } from "./temp_data.ts";

describe("compareRows()", () => {
  it("compareRows() compares each mode with what is expected of it", () => {
    const expectations = parseExpectations({
      keyword: { "birds en": 0.4, "fish en": 0.4 },
      vector: { "birds en": 0.6 },
    });
    const rows = ["keyword", "vector", "hybrid"].map((mode) => toRow({ mode, "nDCG@10": 0.5 }));

    const comparisons = compareRows(rows, expectations);

    deepEqual(comparisons.map(({ row }) => row.mode), ["keyword", "vector"]);
    deepEqual(comparisons.map(({ isLower }) => isLower), [false, true]);
  });

  const cases: [string, number, number, boolean][] = [
    ["no lower by the tolerance", 150, 0.49, false],
    ["lower by more", 150, 0.4899, true],
    ["no lower by the tolerance of few queries", 149, 0.48, false],
    ["lower by more of few queries", 149, 0.4799, true],
    ["no lower when it is higher", 150, 0.9, false],
  ];
  for (const [name, n, ndcg, isLower] of cases) {
    it(`compareRows() finds a row ${name}`, () => {
      const expectations = parseExpectations({ keyword: { "birds en": 0.5 } });

      const [comparison] = compareRows([toRow({ n, "nDCG@10": ndcg })], expectations);

      equal(comparison?.isLower, isLower);
    });
  }
});

describe("parseExpectations()", () => {
  const cases: [string, unknown, RegExp][] = [
    ["a mode that is none", { keywords: {} }, /"keywords" is none of the modes grep, keyword/],
    ["rows without their mode", { "birds en": 0.5 }, /"birds en" is none of the modes/],
    ["a number for a mode", { keyword: 0.5 }, /needs numbers by mode/],
    ["a text for a number", { keyword: { "birds en": "0.5" } }, /"0.5" is no number/],
    ["nothing", null, /needs numbers by mode/],
  ];
  for (const [name, value, message] of cases) {
    it(`parseExpectations() refuses ${name}`, () => {
      throws(() => parseExpectations(value), { name: "TypeError", message });
    });
  }

  it("parseExpectations() reads the expectations of the program, open rows and their mean", () => {
    const file = new URL("./expected.json", import.meta.url);

    const expectations = parseExpectations(JSON.parse(Deno.readTextFileSync(file)));

    deepEqual([...expectations.keys()], ["keyword", "vector", "hybrid"]);
    for (const rows of expectations.values()) {
      deepEqual(OPEN_ROWS.filter((name) => !rows.has(name)), []);
      ok(rows.has(nameOf({ set: "mean", lang: `${OPEN_ROWS.length} open rows` })));
    }
  });
});

describe("compareHybrid()", () => {
  const inModes = (keyword: number, vector: number, hybrid: number) => [
    toRow({ mode: "keyword", "nDCG@10": keyword }),
    toRow({ mode: "vector", "nDCG@10": vector }),
    toRow({ mode: "hybrid", "nDCG@10": hybrid }),
  ];
  const cases: [string, [number, number, number], boolean][] = [
    ["no lower than both", [0.4, 0.6, 0.7], false],
    ["no lower within the tolerance", [0.4, 0.6, 0.58], false],
    ["lower than vector", [0.4, 0.6, 0.5799], true],
    ["lower than keyword", [0.6, 0.4, 0.5799], true],
  ];
  for (const [name, [keyword, vector, hybrid], isLower] of cases) {
    it(`compareHybrid() finds hybrid ${name}`, () => {
      const [comparison] = compareHybrid(inModes(keyword, vector, hybrid));

      equal(comparison?.isLower, isLower);
      equal(comparison?.name, "birds en");
      equal(comparison?.difference, hybrid - Math.max(keyword, vector));
    });
  }

  it("compareHybrid() needs all three modes of the same row", () => {
    const [keyword, vector, hybrid] = inModes(0.5, 0.5, 0.1);
    const rows = [keyword, vector, hybrid].flatMap((row, index) =>
      row ? [{ ...row, lang: index === 0 ? "zh" : "en" }] : []
    );

    deepEqual(compareHybrid(rows), []);
  });
});

describe("compareBehindHttp()", () => {
  const cases: [string, number, boolean][] = [
    ["lower by the tolerance", 0.48, false],
    ["lower by more", 0.4799, true],
    ["higher by far", 0.9, false],
  ];
  for (const [name, ndcg, isLower] of cases) {
    it(`compareBehindHttp() finds a row ${name}`, () => {
      const [comparison] = compareBehindHttp([toRow({})], [toRow({ "nDCG@10": ndcg })]);

      equal(comparison?.name, "birds en");
      equal(comparison?.isLower, isLower);
    });
  }

  it("compareBehindHttp() leaves out what was measured one way only", () => {
    const rows = [toRow({}), toRow({ lang: "zh" })];

    const comparisons = compareBehindHttp(rows, [toRow({ lang: "zh" })]);

    deepEqual(comparisons.map(({ name }) => name), ["birds zh"]);
  });
});
