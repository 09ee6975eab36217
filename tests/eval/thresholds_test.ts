import { deepStrictEqual as deepEqual, ok, strictEqual as equal } from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import { findQuietThreshold, THRESHOLDS, toRawScore, toThresholdRow } from "./thresholds.ts";

function assertClose(actual: number, expected: number): void {
  ok(Math.abs(actual - expected) < 1e-12, `${actual} is not ${expected}`);
}

const right = (score: number) => ({ score, isRight: true });
const wrong = (score: number) => ({ score, isRight: false });
const wrongs = (count: number, score: number) => Array.from({ length: count }, () => wrong(score));

describe("toThresholdRow()", () => {
  const relevant = [right(0.8), right(0.4), wrong(0.6), wrong(0)];
  const irrelevant = [...wrongs(1, 0.5), ...wrongs(4, 0.1)];
  // Threshold, recall, shown, precision, precision if half of the queries were irrelevant.
  const cases: [number, number, number, number, number][] = [
    [0.2, 2 / 4, 1 / 5, 2 / 3, 0.5 / (0.75 + 0.2)],
    [0.4, 2 / 4, 1 / 5, 2 / 3, 0.5 / (0.75 + 0.2)],
    [0.41, 1 / 4, 1 / 5, 1 / 2, 0.25 / (0.5 + 0.2)],
    [0.55, 1 / 4, 0, 1 / 2, 1 / 2],
    [0.7, 1 / 4, 0, 1, 1],
  ];
  for (const [threshold, recall, shown, precision, precisionOfHalf] of cases) {
    it(`toThresholdRow() counts who reaches ${threshold}`, () => {
      const row = toThresholdRow(threshold, { relevant, irrelevant });

      equal(row.threshold, threshold);
      assertClose(row.recall, recall);
      assertClose(row.shown, shown);
      assertClose(row.precision, precision);
      assertClose(row.precisionOfHalf, precisionOfHalf);
    });
  }

  it("toThresholdRow() has no precision when nothing is shown", () => {
    const row = toThresholdRow(0.9, { relevant, irrelevant });

    deepEqual(row, { threshold: 0.9, recall: 0, shown: 0, precision: NaN, precisionOfHalf: NaN });
  });

  it("toThresholdRow() shows a score that was computed back to the threshold", () => {
    // .5 is shown for .35; computed back, some scores miss it by a rounding.
    const almost = right(0.35 - 1e-16);

    equal(toThresholdRow(0.35, { relevant: [almost], irrelevant: [] }).recall, 1);
  });
});

describe("THRESHOLDS", () => {
  it("THRESHOLDS go from .20 to .70 by .05", () => {
    deepEqual(THRESHOLDS, [0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.55, 0.6, 0.65, 0.7]);
  });
});

describe("toRawScore()", () => {
  const cases: [shown: number, hintAt: number, raw: number][] = [
    [0, 0.4, 0],
    [0.25, 0.4, 0.2],
    [0.5, 0.4, 0.4],
    [0.75, 0.4, 0.7],
    [1, 0.4, 1],
    [0.3, 0.5, 0.3],
    [0.8, 0.5, 0.8],
  ];
  for (const [shown, hintAt, raw] of cases) {
    it(`toRawScore() gives ${raw} for ${shown} where ${hintAt} is shown as .5`, () => {
      assertClose(toRawScore(shown, hintAt), raw);
    });
  }
});

describe("findQuietThreshold()", () => {
  it("findQuietThreshold() finds the first hundredth that 3 % or fewer reach", () => {
    const irrelevant = [...wrongs(3, 0.9), ...wrongs(1, 0.345), ...wrongs(96, 0)];

    equal(findQuietThreshold(irrelevant), 0.35);
  });

  it("findQuietThreshold() goes beyond a score that 4 % reach exactly", () => {
    const irrelevant = [...wrongs(4, 0.34), ...wrongs(96, 0)];

    equal(findQuietThreshold(irrelevant), 0.35);
  });

  it("findQuietThreshold() gives the first hundredth when nothing is found", () => {
    equal(findQuietThreshold(wrongs(10, 0)), 0.01);
  });

  it("findQuietThreshold() gives undefined when too many have the highest score", () => {
    equal(findQuietThreshold([...wrongs(1, 1), ...wrongs(9, 0)]), undefined);
  });
});
