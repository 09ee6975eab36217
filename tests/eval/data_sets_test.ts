import { deepStrictEqual as deepEqual, ok } from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import { join } from "node:path";
import { findDataSets, readQuestions } from "./data_sets.ts";
import { tempData, toQuery } from "./temp_data.ts";

const birds = {
  notes: { "wren.md": "A wren.", "water/duck.md": "A duck." },
  queries: {
    "queries.jsonl": [toQuery("small", ["wren.md"]), toQuery("wet", ["./water/duck.md"])],
    "queries.zh.jsonl": [toQuery("小", ["wren.md"], "zh")],
  },
};

describe("findDataSets()", () => {
  it("findDataSets() finds the folders with a vault and queries", async () => {
    await using data = await tempData({
      birds,
      bare: { notes: { "a.md": "a" }, queries: {} },
      ants: { notes: { "a.md": "a" }, queries: { "queries.jsonl": [] } },
    });
    data.write("README.md", "About.");

    const sets = findDataSets(data.root);
    const only = findDataSets(data.root, "queries.zh.jsonl");

    deepEqual(sets.map(({ name, queryFiles }) => [name, queryFiles.length]), [
      ["ants", 1],
      ["birds", 2],
    ]);
    deepEqual(only.map(({ name, queryFiles }) => [name, queryFiles.length]), [["birds", 1]]);
  });

  it("findDataSets() takes a folder that is a data set for the only one", async () => {
    await using data = await tempData({ birds });

    const [set, ...more] = findDataSets(data.pathOf("birds"));

    deepEqual([set?.name, set?.vault, more], ["birds", data.pathOf("birds/vault"), []]);
  });
});

describe("readQuestions()", () => {
  // What is searched, relative to the folder of data sets, and how it spells the paths.
  const cases: [root: string, prefix: string][] = [
    ["birds/vault", ""],
    ["birds", "vault/"],
    ["", "birds/vault/"],
  ];
  for (const [root, prefix] of cases) {
    it(`readQuestions() spells paths as "${prefix}…" in ${root || "all of it"}`, async () => {
      await using data = await tempData({ birds });
      const limit = Infinity;

      const [questions] = findDataSets(data.root)
        .map((set) => readQuestions(set, { limit, root: join(data.root, root) }));

      deepEqual(questions?.queries.map(({ relevant }) => relevant), [
        [`${prefix}wren.md`],
        [`${prefix}water/duck.md`],
        [`${prefix}wren.md`],
      ]);
      deepEqual(
        [...questions?.notes ?? []].sort(),
        [`${prefix}water/duck.md`, `${prefix}wren.md`],
      );
    });
  }

  it("readQuestions() takes the first queries of each file", async () => {
    await using data = await tempData({ birds });
    const [set] = findDataSets(data.root);
    ok(set);

    const { queries } = readQuestions(set, { limit: 1, root: data.root });

    deepEqual(queries.map(({ query }) => query), ["small", "小"]);
  });
});
