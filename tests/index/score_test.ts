import { ok, strictEqual as equal } from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import {
  denseSignal,
  higherCosine,
  isForeignTo,
  mixSignals,
  type NoteSignals,
  scoreNote,
  shownScore,
} from "@/lib/index/score.ts";

const SCALE = { floor: 0.1, ceiling: 0.8, weight: 0.4 };
const NONE = NaN;
const HOME = { isForeign: false };
const ABROAD = { isForeign: true };

function near(actual: number, expected: number): void {
  ok(Math.abs(actual - expected) < 1e-9, `${actual} is not ${expected}`);
}

describe("denseSignal()", () => {
  const rows: readonly [string, number, number, number][] = [
    ["takes the better of both cosines", 0.45, 0.2, 0.5],
    ["takes the better of both, the other way round", 0.2, 0.45, 0.5],
    ["is 0 at the floor", 0.1, 0.1, 0],
    ["is 0 below the floor, not negative", -0.3, -0.9, 0],
    ["is 1 at the ceiling", 0.8, 0, 1],
    ["is 1 above the ceiling", 0.95, 0.3, 1],
    ["is the metadata's where there is no body", 0.45, NONE, 0.5],
    ["is the body's where there is no metadata", NONE, 0.45, 0.5],
  ];
  for (const [what, metadata, body, expected] of rows) {
    it(`denseSignal() ${what}`, () =>
      near(denseSignal(higherCosine({ metadata, body }), SCALE), expected));
  }

  it("denseSignal() cannot speak without any vector", () => {
    ok(Number.isNaN(denseSignal(higherCosine({ metadata: NONE, body: NONE }), SCALE)));
  });
});

describe("scoreNote()", () => {
  const rows: readonly [string, NoteSignals & { isForeign: boolean }, number][] = [
    ["mixes .4 dense and .6 keyword", { keyword: 0.5, metadata: 0.45, body: 0.1, ...HOME }, 0.5],
    ["counts words that stayed silent as 0", { keyword: 0, metadata: 0.8, body: 0, ...HOME }, 0.4],
    ["counts meaning that stayed silent as 0", { keyword: 1, metadata: 0, body: 0, ...HOME }, 0.6],
    ["leaves meaning out of a note without vectors", {
      keyword: 0.7,
      metadata: NONE,
      body: NONE,
      ...HOME,
    }, 0.7],
    ["leaves words out of a query without terms", {
      keyword: NONE,
      metadata: NONE,
      body: 0.45,
      ...HOME,
    }, 0.5],
    ["is 0 when nothing can speak", { keyword: NONE, metadata: NONE, body: NONE, ...HOME }, 0],
    ["does not press a note in another language down for words that it cannot have", {
      keyword: 0,
      metadata: 0.8,
      body: 0.2,
      ...ABROAD,
    }, 1],
    ["lets words lift a note in another language", {
      keyword: 0.9,
      metadata: 0.45,
      body: 0,
      ...ABROAD,
    }, 0.74],
    ["keeps the words of a note in another language that has no vectors", {
      keyword: 0.3,
      metadata: NONE,
      body: NONE,
      ...ABROAD,
    }, 0.3],
    ["is 1 at the most", { keyword: 1, metadata: 1, body: 1, ...HOME }, 1],
  ];
  for (const [what, signals, expected] of rows) {
    it(`scoreNote() ${what}`, () => near(scoreNote(signals, SCALE), expected));
  }

  it("scoreNote() never falls when one signal rises", () => {
    const steps = Array.from({ length: 21 }, (_, i) => i / 20);
    for (const isForeign of [true, false]) {
      for (const fixed of steps) {
        let byKeyword = 0;
        let byDense = 0;
        for (const risen of steps) {
          const keyword = mixSignals({ keyword: risen, dense: fixed, isForeign }, 0.4);
          const dense = mixSignals({ keyword: fixed, dense: risen, isForeign }, 0.4);
          ok(keyword >= byKeyword && dense >= byDense);
          [byKeyword, byDense] = [keyword, dense];
        }
      }
    }
  });

  it("scoreNote() follows the words alone at weight 0 and meaning alone at weight 1", () => {
    const signals = { keyword: 0.3, metadata: 0.45, body: 0, ...HOME };

    near(scoreNote(signals, { ...SCALE, weight: 0 }), 0.3);
    near(scoreNote(signals, { ...SCALE, weight: 1 }), 0.5);
  });
});

describe("isForeignTo()", () => {
  const rows: readonly [string, number, number, boolean][] = [
    ["English against Chinese", 0, 0.9, true],
    ["Chinese against English", 0.9, 0, true],
    ["English against English", 0, 0.05, false],
    ["Chinese against Chinese", 0.8, 0.9, false],
    ["English against mixed", 0, 0.2, false],
    ["mixed against Chinese", 0.2, 0.9, false],
    ["English against just enough Chinese", 0.09, 0.31, true],
    ["English against not quite enough Chinese", 0.09, 0.3, false],
    ["a query with a tenth of Chinese", 0.1, 0.9, false],
  ];
  for (const [what, query, note, expected] of rows) {
    it(`isForeignTo() tells ${what} ${expected ? "apart" : "not apart"}`, () => {
      equal(isForeignTo(query, note), expected);
    });
  }
});

describe("shownScore()", () => {
  const rows: readonly [number, number, number][] = [
    [0, 0.4, 0],
    [0.2, 0.4, 0.25],
    [0.4, 0.4, 0.5],
    [0.7, 0.4, 0.75],
    [1, 0.4, 1],
    [0.25, 0.25, 0.5],
    [0.625, 0.25, 0.75],
  ];
  for (const [score, hintAt, expected] of rows) {
    it(`shownScore() shows ${score} as ${expected} when ${hintAt} is worth a hint`, () => {
      near(shownScore(score, hintAt), expected);
    });
  }
});
