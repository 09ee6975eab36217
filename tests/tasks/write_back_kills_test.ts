import { deepStrictEqual as deepEqual, ok } from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import { randomSource } from "../_support/random.ts";
import { tempVault } from "../_support/temp_vault.ts";
import { crashWriteBacks } from "../_support/write_back_kills.ts";

const KILLS = 20;

describe("a process that is killed while it writes back", () => {
  it("leaves all files of a write-back as they were, or all as they should be", async () => {
    await using folder = await tempVault({});

    const { kills, written, wrongs } = await crashWriteBacks(folder.root, KILLS, randomSource(5));

    deepEqual([kills, wrongs], [KILLS, []]);
    ok(written > 0, "no write-back was done before a kill");
  });
});
