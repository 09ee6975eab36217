import {
  deepStrictEqual as deepEqual,
  ok,
  rejects,
  strictEqual as equal,
} from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import { findDataSets } from "./data_sets.ts";
import { evaluateApart, evaluateTogether, type EvaluationOptions } from "./evaluate.ts";
import { tempData, toQuery } from "./temp_data.ts";

const options: EvaluationOptions = { modes: ["keyword"], limit: Infinity, embedding: "none" };

/** Both sets have a note of the same path; the one among fish answers the birds' query better. */
const sets = {
  birds: {
    notes: { "nest.md": "The wren builds its nest in a hedge.", "duck.md": "A duck swims." },
    queries: { "queries.jsonl": [toQuery("wren nest", ["nest.md"])] },
  },
  fish: {
    notes: { "nest.md": "wren nest", "pike.md": "A pike waits in the reed." },
    queries: { "queries.jsonl": [toQuery("pike reed", ["pike.md"])] },
  },
};

describe("evaluateApart()", () => {
  it("evaluateApart() asks each vault the queries of its set, in each mode", async () => {
    await using data = await tempData(sets);
    const modes = ["keyword", "grep"] as const;

    const results = await evaluateApart(findDataSets(data.root), { ...options, modes });

    deepEqual(results.map(({ set, mode }) => [set, mode]), [
      ["birds", "keyword"],
      ["birds", "grep"],
      ["fish", "keyword"],
      ["fish", "grep"],
    ]);
    deepEqual(results.map(({ ndcg }) => ndcg), [1, 0, 1, 0]);
    ok(results.every(({ error }) => error === undefined));
  });

  it("evaluateApart() tells when another mode answered", async () => {
    await using data = await tempData(sets);
    const modes = ["keyword", "vector"] as const;

    const results = await evaluateApart(findDataSets(data.pathOf("fish")), { ...options, modes });

    deepEqual(results.map(({ mode, fellBack }) => [mode, fellBack]), [
      ["keyword", false],
      ["vector", true],
    ]);
  });

  it("evaluateApart() says why a query failed, and scores it 0", async () => {
    const queries = { "queries.jsonl": [toQuery(" ", ["duck.md"])] };
    await using data = await tempData({ birds: { ...sets.birds, queries } });

    const [result] = await evaluateApart(findDataSets(data.root), options);

    equal(result?.ndcg, 0);
    ok(result?.error?.includes("must not be empty"));
  });

  it("evaluateApart() hands the embedding on to the program", async () => {
    await using data = await tempData(sets);

    await rejects(evaluateApart(findDataSets(data.root), { ...options, embedding: "magic" }), {
      name: "ConfigError",
      message: /--embedding/,
    });
  });
});

describe("evaluateTogether()", () => {
  it("evaluateTogether() lets notes of other sets stand in the way", async () => {
    await using data = await tempData(sets);

    const results = await evaluateTogether(data.root, findDataSets(data.root), options);

    deepEqual(results.map(({ set, reciprocalRank }) => [set, reciprocalRank]), [
      ["birds", 1 / 2],
      ["fish", 1],
    ]);
    // Only notes of the set itself are known: the first hit of the birds' query is none.
    deepEqual(results.map(({ known }) => known), [1, 1]);
  });

  it("evaluateTogether() asks the queries of the chosen sets only, in the whole vault", async () => {
    await using data = await tempData(sets);
    const birds = findDataSets(data.root).filter(({ name }) => name === "birds");

    const results = await evaluateTogether(data.root, birds, options);

    deepEqual(results.map(({ set, reciprocalRank }) => [set, reciprocalRank]), [["birds", 1 / 2]]);
  });
});
