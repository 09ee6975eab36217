import { deepStrictEqual as deepEqual, strictEqual as equal } from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import { halfOf, type LabelledPitfall, takeHalf } from "./labels.ts";
import { measureGroups } from "./measure_groups.ts";
import { measurePairs } from "./measure_pairs.ts";

const toPitfalls = (labels: readonly (string | null)[]): LabelledPitfall[] =>
  labels.map((group, index) => ({ id: `p${index}`, text: "", group }));

const toScored = (label: string, score: number, lang = "en") => ({
  pair: { id: `${label}${score}`, section: "other", lang, a: "", b: "", label },
  score,
});

describe("measureGroups()", () => {
  const pitfalls = toPitfalls(["g1", "g1", "g1", "g1", "g2", "g2", "g2", "d1", "d1", null]);

  it("measureGroups() takes three of one label for right, if they are two thirds", () => {
    const { firstPrecision, precision, recall } = measureGroups(pitfalls, [
      [0, 1, 2, 9],
      [4, 5, 6, 7, 8],
    ]);

    deepEqual({ firstPrecision, precision, recall }, {
      firstPrecision: .5,
      precision: .5,
      recall: .5,
    });
  });

  it("measureGroups() counts a label once, and two thirds of its members by themselves", () => {
    const { reported, recall, thirdsRecall } = measureGroups(pitfalls, [[0, 1, 2], [3, 4, 5]]);

    deepEqual({ reported, recall, thirdsRecall }, { reported: 2, recall: .5, thirdsRecall: 1 });
  });

  it("measureGroups() expects no group of what was told twice", () => {
    deepEqual(measureGroups(toPitfalls(["d1", "d1", null]), [[0, 1, 2]]), {
      reported: 1,
      firstPrecision: 0,
      precision: 0,
      recall: 0,
      thirdsRecall: 0,
    });
  });
});

describe("measurePairs()", () => {
  it("measurePairs() takes only what was reported for an answer", () => {
    const scored = [
      toScored("conflict", .9),
      toScored("same", .8),
      toScored("conflict", .7, "zh"),
      toScored("conflict", 0),
    ];

    const { precision, recall, averagePrecision } = measurePairs(scored);

    deepEqual({ precision, recall }, { precision: 2 / 3, recall: 2 / 3 });
    equal(averagePrecision, (1 + 2 / 3 + 3 / 4) / 3);
    deepEqual([measurePairs(scored, "zh").pairs, measurePairs(scored, "en").pairs], [1, 3]);
  });
});

describe("takeHalf()", () => {
  it("takeHalf() keeps groups together and loses nothing", () => {
    const pitfalls = toPitfalls(["g1", "g1", "g2", "g2", null, null, null, null]);

    const halves = [
      takeHalf({ pitfalls, pairs: [] }, "tuning"),
      takeHalf({ pitfalls, pairs: [] }, "other"),
    ];

    equal(halves.flatMap((half) => half.pitfalls).length, pitfalls.length);
    for (const { group } of pitfalls) {
      const holders = halves.filter((half) => half.pitfalls.some((it) => it.group === group));
      if (group !== null) equal(holders.length, 1);
    }
    equal(halfOf("p1"), halfOf("p1"));
  });
});
