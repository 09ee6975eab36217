import { deepStrictEqual as deepEqual, strictEqual as equal } from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import type { Query } from "./data_sets.ts";
import { drawEvenly, takeByLang } from "./hint_queries.ts";
import { toQuery } from "./temp_data.ts";

const textsOf = (queries: readonly Query[]) => queries.map(({ query }) => query);
const queriesOf = (name: string, count: number, lang = "en") =>
  Array.from({ length: count }, (_, index) => toQuery(`${name}${index}`, [], lang));

describe("takeByLang()", () => {
  it("takeByLang() takes the first queries of each language", () => {
    const queries = [
      ...queriesOf("a", 2),
      ...queriesOf("b", 3, "zh>en"),
      ...queriesOf("c", 1, "zh"),
      ...queriesOf("d", 2),
    ];

    deepEqual(textsOf(takeByLang(queries, 2)), ["a0", "a1", "b0", "b1", "c0"]);
  });
});

describe("drawEvenly()", () => {
  const sets = [queriesOf("a", 4), queriesOf("b", 4)];
  const cases: [string, Query[][], { count: number; turn: number }, string[]][] = [
    ["as many of each set", sets, { count: 4, turn: 0 }, ["a0", "b0", "a1", "b1"]],
    ["one more of the first for an odd count", sets, { count: 3, turn: 0 }, ["a0", "b0", "a1"]],
    ["others in the next turn", sets, { count: 4, turn: 1 }, ["a2", "b2", "a3", "b3"]],
    ["the first again after the last", sets, { count: 4, turn: 2 }, ["a0", "b0", "a1", "b1"]],
    [
      "as many of each language",
      [[...queriesOf("a", 2), ...queriesOf("z", 2, "zh")]],
      { count: 4, turn: 0 },
      ["a0", "z0", "a1", "z1"],
    ],
    [
      "more of the others where a set has too few",
      [queriesOf("a", 1), queriesOf("b", 4)],
      { count: 4, turn: 0 },
      ["a0", "b0", "b1", "b2"],
    ],
    ["nothing of a set without queries", [[], queriesOf("b", 1)], { count: 4, turn: 3 }, ["b0"]],
    ["nothing without sets", [], { count: 4, turn: 0 }, []],
  ];
  for (const [name, from, amount, expected] of cases) {
    it(`drawEvenly() takes ${name}`, () => {
      deepEqual(textsOf(drawEvenly(from, amount)), expected);
    });
  }

  it("drawEvenly() takes no query twice", () => {
    const drawn = textsOf(drawEvenly([queriesOf("a", 3), queriesOf("b", 50)], {
      count: 40,
      turn: 2,
    }));

    equal(new Set(drawn).size, 40);
  });
});
