import { ok, strictEqual as equal } from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import { untilStill } from "./until_still.ts";

describe("untilStill()", () => {
  it("returns after nothing has changed any more, by value", async () => {
    const changes = 5;
    let reads = 0;

    await untilStill({
      read: () => Promise.resolve({ seen: Math.min(++reads, changes) }),
      stillMs: 20,
    });

    ok(reads > changes);
  });

  it("does not wait out what cannot be read", async () => {
    let failure: unknown;

    await untilStill({ read: () => Promise.reject(new Error("gone")), stillMs: 20 })
      .catch((error) => failure = error.message);

    equal(failure, "gone");
  });
});
