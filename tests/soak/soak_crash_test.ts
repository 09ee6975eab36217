import { deepStrictEqual as deepEqual, ok } from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import { soakCrash } from "./soak_crash.ts";

describe("soakCrash()", () => {
  it("soakCrash() finds every answer right after a server was killed", async () => {
    const ledger = await soakCrash(
      { rounds: 2, seed: 3, notes: 30, freshness: "auto", maxLifeMs: 1_500 },
      () => {},
    );

    deepEqual(ledger.told, []);
    ok(ledger.asked > 40);
  });
});
