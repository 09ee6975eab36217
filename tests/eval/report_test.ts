import { deepStrictEqual as deepEqual, strictEqual as equal } from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import { meanRows, OPEN_ROWS, toRows } from "./report.ts";
import { toResult, toRow } from "./temp_data.ts";

function openRow(name: string, mode: string) {
  const [set = "", lang = ""] = name.split(" ");
  return toRow({ set, lang, mode, n: 10, "nDCG@10": 0.2, "R@5": 0.4 });
}

describe("toRows()", () => {
  const results = [
    toResult({ lang: "en", ndcg: 1 }),
    toResult({ lang: "zh", ndcg: 0, error: "no" }),
    toResult({ lang: "zh", ndcg: 0.5, fellBack: true }),
    toResult({ lang: "en", mode: "vector" }),
  ];

  it("toRows() keeps languages and modes apart", () => {
    const rows = toRows(results, Boolean("by language"));

    deepEqual(rows.map(({ lang, mode, n }) => [lang, mode, n]), [
      ["en", "keyword", 1],
      ["zh", "keyword", 2],
      ["en", "vector", 1],
    ]);
    deepEqual(rows.map((row) => row["nDCG@10"]), [1, 0.25, 1]);
  });

  it("toRows() counts what failed and what another mode answered", () => {
    const [, zh] = toRows(results, Boolean("by language"));

    equal(zh?.failed, 1);
    equal(zh?.fallback, 1);
  });
});

describe("meanRows()", () => {
  it("meanRows() gives each row the same weight", () => {
    const [mean, ...more] = meanRows([
      toRow({ n: 10, "nDCG@10": 0.2, "R@5": 0 }),
      toRow({ n: 90, "nDCG@10": 0.6, "R@5": 1 }),
    ]);

    deepEqual([mean?.set, mean?.lang, mean?.n], ["mean", "2 rows", 100]);
    deepEqual([mean?.["nDCG@10"], mean?.["R@5"]], [0.4, 0.5]);
    deepEqual(more, []);
  });

  it("meanRows() adds the mean over the open rows of each mode that has all of them", () => {
    const saturated = toRow({ set: "zh-cmrc", lang: "zh", "nDCG@10": 1 });
    const keyword = OPEN_ROWS.map((name) => openRow(name, "keyword"));
    const vector = OPEN_ROWS.slice(1).map((name) => openRow(name, "vector"));

    const means = meanRows([saturated, ...keyword, ...vector]);

    deepEqual(means.map(({ mode, lang, n }) => [mode, lang, n]), [
      ["keyword", "12 rows", 310],
      ["keyword", "11 open rows", 110],
      ["vector", "10 rows", 100],
    ]);
    equal(means[1]?.["nDCG@10"].toFixed(9), "0.200000000");
    equal(means[1]?.["R@5"].toFixed(9), "0.400000000");
  });
});
