import { deepStrictEqual as deepEqual, ok, strictEqual as equal } from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import { mean, normalizePath, percentile, scoreRanking } from "./measures.ts";

function assertClose(actual: number, expected: number): void {
  ok(Math.abs(actual - expected) < 1e-12, `${actual} is not ${expected}`);
}

const fillers = (count: number) =>
  Array.from({ length: count }, (_, index) => `filler ${index}.md`);

describe("scoreRanking()", () => {
  // 1/log2(3) = .63093 and 1/log2(4) = .5, worked out by hand.
  const half = 1 / Math.log2(3);
  const cases: [string, string[], string[], [number, number, number]][] = [
    ["the only relevant note first", ["a", "b"], ["a"], [1, 1, 1]],
    ["the only relevant note second", ["b", "a"], ["a"], [half, 1, 1 / 2]],
    ["two relevant notes first and third", ["a", "x", "b"], ["a", "b"], [
      (1 + 0.5) / (1 + half),
      1,
      1,
    ]],
    ["one of two relevant notes", ["x", "a"], ["a", "b"], [half / (1 + half), 0.5, 0.5]],
    ["rank five", [...fillers(4), "a"], ["a"], [1 / Math.log2(6), 1, 1 / 5]],
    ["rank six", [...fillers(5), "a"], ["a"], [1 / Math.log2(7), 0, 1 / 6]],
    ["rank ten", [...fillers(9), "a"], ["a"], [1 / Math.log2(11), 0, 1 / 10]],
    ["rank eleven", [...fillers(10), "a"], ["a"], [0, 0, 0]],
    ["nothing found", [], ["a"], [0, 0, 0]],
    ["nothing relevant", ["a"], [], [0, 0, 0]],
  ];
  for (const [name, ranked, relevant, [ndcg, recall, reciprocalRank]] of cases) {
    it(`scoreRanking() scores ${name}`, () => {
      const score = scoreRanking(ranked, relevant);

      assertClose(score.ndcg, ndcg);
      assertClose(score.recall, recall);
      assertClose(score.reciprocalRank, reciprocalRank);
    });
  }

  it("scoreRanking() counts a note once, where it stands first", () => {
    const twice = scoreRanking(["x", "x", "a", "a", "b"], ["a", "b"]);

    deepEqual(twice, scoreRanking(["x", "a", "b"], ["a", "b"]));
  });

  it("scoreRanking() counts a relevant note once that is listed twice", () => {
    const score = scoreRanking(["a"], ["a", "./a"]);

    deepEqual(score, { ndcg: 1, recall: 1, reciprocalRank: 1 });
  });

  it("scoreRanking() takes the first ten of more relevant notes as the best possible", () => {
    const relevant = fillers(12);

    const score = scoreRanking(relevant, relevant);

    assertClose(score.ndcg, 1);
    assertClose(score.recall, 5 / 12);
  });

  it("scoreRanking() does not depend on the order of the relevant notes", () => {
    const ranked = ["x", "b", "a"];

    deepEqual(scoreRanking(ranked, ["a", "b"]), scoreRanking(ranked, ["b", "a"]));
  });
});

describe("normalizePath()", () => {
  const cases: [string, string][] = [
    ["a/b.md", "a/b.md"],
    ["./a/b.md", "a/b.md"],
    ["/a/b.md", "a/b.md"],
    ["././/a.md", "a.md"],
    ["a\\b.md", "a/b.md"],
    ["cafe\u0301.md", "caf\u00e9.md"],
    [".hidden.md", ".hidden.md"],
  ];
  for (const [path, expected] of cases) {
    it(`normalizePath() gives ${expected} for ${path}`, () => {
      equal(normalizePath(path), expected);
    });
  }
});

describe("percentile()", () => {
  const cases: [number[], number, number][] = [
    [[], 50, 0],
    [[7], 0, 7],
    [[7], 99, 7],
    [[3, 1, 2], 50, 2],
    [[4, 3, 2, 1], 50, 2],
    [[10, 9, 1], 99, 10],
    [Array.from({ length: 100 }, (_, index) => index + 1), 99, 99],
    [Array.from({ length: 101 }, (_, index) => index + 1), 99, 100],
    [[5, 5, 5], 50, 5],
  ];
  for (const [values, percent, expected] of cases) {
    it(`percentile() gives ${expected} at ${percent} % of ${values.length} values`, () => {
      equal(percentile(values, percent), expected);
    });
  }

  it("percentile() leaves the values as they are", () => {
    const values = [3, 1, 2];

    percentile(values, 50);

    deepEqual(values, [3, 1, 2]);
  });
});

describe("mean()", () => {
  it("mean() gives 0 of nothing", () => {
    equal(mean([]), 0);
  });

  it("mean() gives the sum over the count", () => {
    equal(mean([1, 2, 6]), 3);
  });
});
