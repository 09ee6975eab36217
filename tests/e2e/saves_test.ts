import { deepStrictEqual as deepEqual, ok, strictEqual as equal } from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import { Random } from "../soak/random.ts";
import { crashChild } from "../soak/saves_child_crash.ts";
import { crashServer } from "../soak/saves_crash.ts";
import { soakRivals } from "../soak/saves_rivals.ts";
import { soakSeen } from "../soak/saves_seen.ts";
import { makeBase } from "../soak/saves_server.ts";

describe("saving, killed at any moment", () => {
  it("a server leaves every note old or new, and its next start clears up", async () => {
    await using made = await makeBase();

    const { wrongs, kills, saves } = await crashServer(made.base, 6, new Random(11));

    deepEqual(wrongs, []);
    equal(kills, 6);
    ok(saves > 6);
  });

  it("a process that only writes leaves every note old or new", async () => {
    await using made = await makeBase();

    const { wrongs, kills, saves } = await crashChild(made.base, 12, new Random(12));

    deepEqual(wrongs, []);
    equal(kills, 12);
    ok(saves > 12);
  });
});

describe("saving, by two servers and editors on one vault", () => {
  it("no save is lost, and each with an old state is refused", async () => {
    await using made = await makeBase();

    const counts = await soakRivals(made.base, 200, new Random(13));

    deepEqual(counts.wrongs, []);
    equal(counts.attempts, 200);
    ok(counts.saves > 20 && counts.conflicts > 20 && counts.staleAttempts > 5);
    ok(counts.editorWrites > 5);
    ok(counts.conflictCopies > 0);
  });
});

describe("saving, and asking right after", () => {
  for (const freshness of ["auto", "scan"] as const) {
    it(`every way to ask finds what any way has saved, in freshness ${freshness}`, async () => {
      await using made = await makeBase();

      const { wrongs, pairs } = await soakSeen(made.base, { looks: 30, freshness });

      deepEqual(wrongs, []);
      equal(pairs, 30);
    });
  }
});
