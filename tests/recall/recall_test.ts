import { deepStrictEqual as deepEqual, ok, strictEqual as equal } from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import { type Caller, SEARCH_MODES, SearchParams } from "@/lib/contracts.ts";
import { RecallResult } from "@/lib/contracts_tools.ts";
import { recall, type RecallInput } from "@/lib/recall/recall.ts";
import { searchNotes } from "@/lib/recall/search_notes.ts";
import { impatientClock } from "@/tests/_support/impatient_clock.ts";
import { testServices } from "../_support/services.ts";

const caller: Caller = { kind: "agent", loopback: true };

const VAULT = {
  "memories/order.md": "---\nid: mem_1\nname: Cache order\ndescription: What comes first\n" +
    "updated_at: 2026-01-05T10:00:00.000Z\n---\nStable zebra\nbefore what changes\n",
  "notes/deploy.md": "# Deploy\n\nBlue-green zebra.\n",
  "notes/other.md": "zebra zebra and much else besides, in many more words than the others\n",
};

const DEFAULTS: RecallInput = { query: "zebra", scope: "all", mode: "keyword", limit: 10 };

describe("recall()", () => {
  it("recall() gives of each hit its id, passage, score, place and time", async () => {
    await using world = await testServices(VAULT);
    await world.ready();

    const answer = await recall(world, caller, { ...DEFAULTS, query: "stable zebra", limit: 1 });

    deepEqual(RecallResult.parse(answer), answer);
    const [first] = answer.results;
    ok(first);
    ok(first.score > 0 && first.score < 1);
    deepEqual({ ...answer, results: [{ ...first, score: 0 }] }, {
      mode: "keyword",
      total: 3,
      results: [{
        id: "mem_1",
        text: "Stable zebra before what changes",
        score: 0,
        source: "memories/order.md:7-8",
        time: "2026-01-05T10:00:00.000Z",
      }],
    });
  });

  it("recall() names one line where one line matched", async () => {
    await using world = await testServices(VAULT);
    await world.ready();

    const { results } = await recall(world, caller, { ...DEFAULTS, mode: "grep", scope: "global" });

    deepEqual(results.map(({ source, text }) => [source, text]), [
      ["memories/order.md:7", "Stable zebra"],
    ]);
  });

  for (const mode of SEARCH_MODES) {
    it(`recall() by ${mode} finds what the search finds, and says as much of it`, async () => {
      await using world = await testServices(VAULT);
      await world.ready();
      const params = SearchParams.parse({ q: "zebra", mode, limit: "2" });

      for (const offset of [0, 2]) {
        const searched = await searchNotes(world, caller, { ...params, offset });
        const recalled = await recall(world, caller, { ...DEFAULTS, mode, limit: 2, offset });

        deepEqual(recalled.results.map(({ id }) => id), searched.results.map(({ id }) => id));
        equal(recalled.mode, searched.mode);
        equal(recalled.total, 3);
        deepEqual(recalled.fallback, searched.fallback);
      }
    });
  }

  it("recall() says that the vault is still being read", async () => {
    await using world = await testServices(VAULT, {}, { clock: impatientClock() });
    world.start();

    const { indexing, freshness } = await recall(world, caller, DEFAULTS);
    await world.ready();

    deepEqual([indexing, freshness], [{ done: 0, total: 0 }, { verified: false, ageMs: null }]);
  });
});
