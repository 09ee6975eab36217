import {
  deepStrictEqual as deepEqual,
  notStrictEqual as notEqual,
  ok,
  strictEqual as equal,
} from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import { findDataSets } from "./data_sets.ts";
import { type HintOptions, measureHints } from "./hints.ts";
import { toRawScore } from "./thresholds.ts";
import { tempData, toQuery } from "./temp_data.ts";

const options: HintOptions = {
  modes: ["keyword"],
  limit: 2,
  hintAt: new Map(),
  embedding: "none",
};

const sets = {
  birds: {
    notes: { "wren.md": "The wren sings.", "duck.md": "A duck swims and swims." },
    queries: {
      "queries.jsonl": [
        toQuery("wren", ["./wren.md"]),
        toQuery("swims", ["wren.md"]),
        toQuery("sings", ["wren.md"]),
        toQuery("鸭子", ["duck.md"], "zh"),
      ],
    },
  },
  fish: {
    // The same path as among birds, whose query it does not answer all the same.
    notes: { "wren.md": "A wren in the reed.", "pike.md": "A pike waits." },
    queries: { "queries.jsonl": [toQuery("pike", ["pike.md"])] },
  },
};

describe("measureHints()", () => {
  it("measureHints() asks each vault its own queries and those of the others", async () => {
    await using data = await tempData(sets);

    const results = await measureHints(findDataSets(data.root), options);

    deepEqual(
      results.map(({ set, lang, isRelevant, isRight, score }) => [
        `${set} ${lang}`,
        { isRelevant, isRight, isFound: score > 0 },
      ]),
      [
        ["birds en", { isRelevant: true, isRight: true, isFound: true }],
        ["birds en", { isRelevant: true, isRight: false, isFound: true }],
        ["birds zh", { isRelevant: true, isRight: false, isFound: false }],
        ["birds en", { isRelevant: false, isRight: false, isFound: false }],
        ["fish en", { isRelevant: true, isRight: true, isFound: true }],
        // The second turn begins further on: not with "wren", which is found.
        ["fish en", { isRelevant: false, isRight: false, isFound: false }],
        ["fish en", { isRelevant: false, isRight: false, isFound: false }],
      ],
    );
  });

  it("measureHints() calls no note right for a query of another set", async () => {
    const notes = { "wren.md": "The wren sings." };
    const queries = { "queries.jsonl": [toQuery("wren", ["wren.md"])] };
    await using data = await tempData({ one: { notes, queries }, two: { notes, queries } });

    const results = await measureHints(findDataSets(data.root), options);

    ok(results.every(({ score }) => score > 0));
    deepEqual(results.map(({ isRelevant, isRight }) => [isRelevant, isRight]), [
      [true, true],
      [false, false],
      [true, true],
      [false, false],
    ]);
  });

  it("measureHints() brings shown scores back to what they were", async () => {
    await using data = await tempData(sets);
    const found = findDataSets(data.root);

    const [shown] = await measureHints(found, options);
    const [raw] = await measureHints(found, { ...options, hintAt: new Map([["keyword", 0.25]]) });

    ok(shown && raw);
    notEqual(shown.score, raw.score);
    equal(raw.score, toRawScore(shown.score, 0.25));
  });
});
