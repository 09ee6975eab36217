import { deepStrictEqual as deepEqual, ok, strictEqual as equal } from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import { findPrograms } from "./programs.ts";
import { neededPrograms, soakEdits } from "./soak_edits.ts";

const silent = () => {};

describe("soakEdits()", () => {
  for (
    const { by, seed, freshness } of [
      { by: "self", seed: 7, freshness: "scan" },
      { by: "both", seed: 8, freshness: "auto" },
    ] as const
  ) {
    it(`soakEdits() finds every answer right after edits by ${by} in mode ${freshness}`, async () => {
      const programs = await findPrograms(neededPrograms());

      const ledger = await soakEdits(
        { edits: 40, seed, by, notes: 30, freshness, programs },
        silent,
      );

      deepEqual(ledger.told, []);
      ok(ledger.edits.size > 15);
      ok(ledger.asked > 80);
      equal(ledger.freshComparisons, 1);
    });
  }
});
