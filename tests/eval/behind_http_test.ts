import { deepStrictEqual as deepEqual } from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import { evaluateBehindHttp } from "./behind_http.ts";
import { findDataSets } from "./data_sets.ts";
import { tempData, toQuery } from "./temp_data.ts";

describe("evaluateBehindHttp()", () => {
  it("asks each vault by meaning both ways, as soon as it can be", async () => {
    const sets = {
      birds: {
        notes: { "nest.md": "The wren builds its nest in a hedge.", "duck.md": "A duck swims." },
        queries: { "queries.jsonl": [toQuery("wren nest", ["nest.md"])] },
      },
      fish: {
        notes: { "pike.md": "A pike waits in the reed.", "carp.md": "A carp lies in the mud." },
        queries: { "queries.jsonl": [toQuery("pike reed", ["pike.md"])] },
      },
    };
    await using data = await tempData(sets);
    const options = { limit: Infinity, weight: 0.4 };

    const { builtIn, behindHttp } = await evaluateBehindHttp(findDataSets(data.root), options);

    const found = [["birds", "hybrid", false, 1], ["fish", "hybrid", false, 1]];
    for (const results of [builtIn, behindHttp]) {
      deepEqual(results.map(({ set, mode, fellBack, ndcg }) => [set, mode, fellBack, ndcg]), found);
    }
  });
});
