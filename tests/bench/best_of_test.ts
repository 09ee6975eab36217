import { deepStrictEqual as deepEqual } from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import { bestOf } from "./best_of.ts";

describe("bestOf()", () => {
  it("keeps the least of each number, at any depth, and the first of all else", () => {
    const one = { p50: 3, name: "a", inner: { p99: 7, missing: undefined } };
    const other = { p50: 4, name: "b", inner: { p99: 6, missing: undefined } };

    const best = bestOf([one, other]);

    deepEqual(best, { p50: 3, name: "a", inner: { p99: 6, missing: undefined } });
  });
});
