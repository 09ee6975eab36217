import { deepStrictEqual as deepEqual, ok, strictEqual as equal } from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import { CosineCounts, findHintAt, findRange as rangeOf } from "@/lib/index/calibration.ts";

/** 1 000 cosines from one to another, in a mixed order. */
function spread(from: number, to: number): number[] {
  return Array.from({ length: 1_000 }, (_, i) => from + (to - from) * ((i * 7) % 1_000) / 1_000);
}

function findRange(cosines: readonly number[]) {
  const counts = new CosineCounts();
  for (const cosine of cosines) counts.add(cosine);
  return rangeOf(counts);
}

const near = (actual: number, wanted: number) =>
  ok(Math.abs(actual - wanted) < 0.002, `${actual} is not ${wanted}`);

describe("CosineCounts", () => {
  it("quantile() is what a share of all cosines is not above", () => {
    const counts = new CosineCounts();
    for (const cosine of [0.1, 0.4, NaN, 0.2, 0.3]) counts.add(cosine);

    equal(counts.total, 4);
    near(counts.quantile(0), -1);
    near(counts.quantile(0.25), 0.1);
    near(counts.quantile(0.5), 0.2);
    near(counts.quantile(1), 0.4);
    equal(new CosineCounts().quantile(0.5), 0);
  });

  it("add() takes what is a little out of bounds by rounding", () => {
    const counts = new CosineCounts();
    counts.add(1.0000001);
    counts.add(-1.0000001);

    near(counts.quantile(0.5), -1);
    near(counts.quantile(1), 1);
  });
});

describe("findRange()", () => {
  it("findRange() begins in the middle and ends as far again beyond what few exceed", () => {
    const { floor, ceiling } = findRange(spread(0, 0.3));

    near(floor, 0.15);
    near(ceiling, 0.15 + 2 * (0.2985 - 0.15));
  });

  it("findRange() fits models whose cosines are all high", () => {
    const { floor, ceiling } = findRange(spread(0.7, 0.8));

    near(floor, 0.75);
    near(ceiling, 0.849);
  });

  it("findRange() keeps a ceiling that can be reached, and some width", () => {
    deepEqual(findRange([]), { floor: 0, ceiling: 0.98 });
    equal(findRange(spread(0, 1)).ceiling, 0.98);
    for (const cosines of [[0.5], [0.5, 0.5, 0.5], [1, 1], [-1]]) {
      const { floor, ceiling } = findRange(cosines);
      ok(ceiling > floor + 0.01, `${cosines}`);
      ok(Number.isFinite(ceiling));
    }
  });

  it("findRange() does not let one odd pair among many decide", () => {
    const plain = findRange(spread(0, 0.3));
    const odd = findRange([...spread(0, 0.3), 1, 1]);

    near(odd.ceiling, plain.ceiling);
  });
});

describe("findHintAt()", () => {
  it("findHintAt() mixes what half of the sentences find elsewhere with what words take", () => {
    near(findHintAt([0.1, 0.6, 0.9]), 0.7 * 0.6 + 0.3 * 0.3);
    near(findHintAt([0.5]), 0.44);
  });

  it("findHintAt() leaves room for hints in any vault, and keeps some from being shown", () => {
    equal(findHintAt([]), 0.2);
    equal(findHintAt([0, 0, 0]), 0.2);
    ok(findHintAt([1, 1, 1]) <= 0.8);
  });
});
