import { deepStrictEqual as deepEqual, ok, strictEqual as equal } from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import { findDataSets } from "./data_sets.ts";
import { measureRecall, type RecallResult, TEXT_ALONE, toRecallRows } from "./recall_hints.ts";
import { tempData, toQuery } from "./temp_data.ts";

const memory = (id: string, text: string) => `---\nid: ${id}\ndescription: ${text}\n---\n${text}\n`;

describe("measureRecall()", () => {
  it("measureRecall() sends each vault with memories the queries of all sets", async () => {
    await using data = await tempData({
      birds: {
        notes: { "wren.md": memory("m1", "The wren sings"), "duck.md": memory("m2", "Ducks swim") },
        queries: { "queries.jsonl": [toQuery("wren sings", ["./wren.md"]), toQuery("owl eyes")] },
      },
      // No memories, so that nobody can be hinted at them.
      fish: {
        notes: { "pike.md": "A pike waits." },
        queries: { "queries.jsonl": [toQuery("duck")] },
      },
    });

    const results = await measureRecall(findDataSets(data.root), {
      minScores: [0.5],
      limit: Infinity,
      embedding: "none",
    });

    const of = (from: string, hints: number, right: number) => ({ from, hints, right });
    const expected = [of("birds", 1, 1), of("birds", 0, 0), of("fish", 1, 0)];
    deepEqual(
      results.map(({ set, trigger, from, hints, right }) => ({ set, trigger, from, hints, right })),
      ["user", "assistant"].flatMap((trigger) =>
        expected.map((result) => ({ set: "birds", trigger, ...result }))
      ),
    );
  });
});

describe("measureRecall() among other text", () => {
  it("measureRecall() sends a vault its own queries among lines of others, and these alone", async () => {
    await using data = await tempData({
      birds: {
        notes: { "wren.md": memory("m1", "The wren sings") },
        queries: { "queries.jsonl": [toQuery("the wren sings loudly in spring", ["wren.md"])] },
      },
      fish: {
        notes: { "pike.md": "A pike waits in the reed.\n".repeat(50) },
        queries: { "queries.jsonl": [toQuery("pike")] },
      },
    });

    const results = await measureRecall(findDataSets(data.root), {
      minScores: [0.1],
      limit: Infinity,
      embedding: "none",
      among: 500,
    });

    deepEqual(results.map(({ set, from, hints, right }) => [set, from, hints, right]), [
      ["birds", "birds", 1, 1],
      ["birds", TEXT_ALONE, 0, 0],
      ["birds", "birds", 1, 1],
      ["birds", TEXT_ALONE, 0, 0],
    ]);
  });
});

describe("toRecallRows()", () => {
  const toResult = (given: Partial<RecallResult>): RecallResult => ({
    set: "birds",
    from: "birds",
    trigger: "user",
    minScore: 0.5,
    hints: 0,
    right: 0,
    ...given,
  });

  it("toRecallRows() counts queries with the right hint, right hints, and hints of others", () => {
    const [row, ...more] = toRecallRows([
      toResult({ hints: 3, right: 1 }),
      toResult({ hints: 1 }),
      toResult({}),
      toResult({ hints: 2, right: 2 }),
      toResult({ from: "fish", hints: 1 }),
      toResult({ from: "fish" }),
    ]);

    equal(more.length, 0);
    deepEqual(row, {
      set: "birds",
      trigger: "user",
      minScore: 0.5,
      n: 4,
      recall: 0.5,
      right: 0.5,
      hints: 1.5,
      others: { fish: 0.5 },
    });
  });

  it("toRecallRows() keeps vaults, triggers and thresholds apart", () => {
    const rows = toRecallRows([
      toResult({}),
      toResult({ trigger: "assistant" }),
      toResult({ minScore: 0.6 }),
      toResult({ set: "fish", from: "fish", hints: 1 }),
    ]);

    equal(rows.length, 4);
    ok(rows.every(({ n }) => n === 1));
  });
});
