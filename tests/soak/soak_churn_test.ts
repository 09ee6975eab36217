import { deepStrictEqual as deepEqual } from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import { churnHere, soakChurn } from "./soak_churn.ts";

describe("soakChurn()", () => {
  it("soakChurn() finds the rankings of a fresh index after many updates", async () => {
    const settings = { notes: 20, updates: 200, queries: 20, seed: 5, batch: 25 };

    const { differing } = await soakChurn(settings, churnHere);

    deepEqual([...differing], [["keyword", 0], ["vector", 0], ["hybrid", 0]]);
  });
});
