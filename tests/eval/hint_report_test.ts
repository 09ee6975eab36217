import { deepStrictEqual as deepEqual, strictEqual as equal } from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import { toHintReports } from "./hint_report.ts";
import type { HintResult } from "./hints.ts";
import { THRESHOLDS } from "./thresholds.ts";

function toHint(given: Partial<HintResult>): HintResult {
  return {
    set: "birds",
    lang: "en",
    mode: "keyword",
    isRelevant: true,
    isRight: true,
    score: 0.5,
    fellBack: false,
    ...given,
  };
}

const stray = (set: string, score: number) =>
  toHint({ set, score, isRelevant: false, isRight: false, lang: "fr" });

describe("toHintReports()", () => {
  const results = [
    toHint({ score: 0.6 }),
    toHint({ score: 0.2, lang: "zh" }),
    stray("birds", 0.1),
    toHint({ set: "fish", score: 0.4, isRight: false }),
    stray("fish", 0.33),
    toHint({ mode: "vector", score: 0.9 }),
  ];

  it("toHintReports() keeps modes apart", () => {
    const reports = toHintReports(results, new Map());

    deepEqual(reports.map(({ mode, relevant, irrelevant }) => [mode, relevant, irrelevant]), [
      ["keyword", 3, 2],
      ["vector", 1, 0],
    ]);
  });

  it("toHintReports() chooses the quiet threshold and shows it among those of the table", () => {
    const [report] = toHintReports(results, new Map());

    equal(report?.quiet, 0.34);
    equal(report?.chosen, 0.34);
    deepEqual(
      report?.thresholds.map(({ threshold }) => threshold),
      [...THRESHOLDS.slice(0, 3), 0.34, ...THRESHOLDS.slice(3)],
    );
    deepEqual(report?.thresholds.find(({ threshold }) => threshold === 0.34), {
      threshold: 0.34,
      recall: 1 / 3,
      shown: 0,
      precision: 1 / 2,
      precisionOfHalf: 1 / 2,
    });
  });

  it("toHintReports() shows each language of a set beside the strays in its vault", () => {
    const [report] = toHintReports(results, new Map([["keyword", 0.3]]));

    deepEqual(
      report?.sets.map(({ set, lang, n, recall, irrelevant, shown, quiet }) => [
        `${set} ${lang}`,
        { n, recall, irrelevant, shown, quiet },
      ]),
      [
        ["birds en", { n: 1, recall: 1, irrelevant: 1, shown: 0, quiet: 0.11 }],
        ["birds zh", { n: 1, recall: 0, irrelevant: 1, shown: 0, quiet: 0.11 }],
        ["fish en", { n: 1, recall: 0, irrelevant: 1, shown: 1, quiet: 0.34 }],
      ],
    );
    equal(report?.chosen, 0.3);
    deepEqual(report?.thresholds.map(({ threshold }) => threshold), THRESHOLDS);
  });
});
