/** Files that people have made their own: what is shown of them, and what a write-back changes. */
import { ok, strictEqual as equal } from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import { goldenPath, journalFixtures, makeGolden } from "../_support/journal_golden.ts";

describe("fixtures of the journal", () => {
  for (const name of journalFixtures()) {
    it(`${name} comes out as its golden text says (update_goldens.ts makes it anew)`, async () => {
      equal(await makeGolden(name), await Deno.readTextFile(goldenPath(name)));
    });
  }

  it("are many", () => {
    ok(journalFixtures().length >= 14);
  });
});
