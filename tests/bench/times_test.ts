import { deepStrictEqual as deepEqual, strictEqual as equal } from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import { timeWays } from "./times.ts";

describe("timeWays()", () => {
  it("asks each query of each way after the warm-up, and never one of two ways at a time", async () => {
    const queries = Array.from({ length: 50 }, (_, index) => index);
    const asked = { one: [] as number[], other: [] as number[] };
    const ways = new Map<string, (query: number) => unknown>([
      ["one", (query: number) => asked.one.push(query)],
      ["other", (query: number) => Promise.resolve(asked.other.push(query))],
    ]);
    const none: readonly number[] = [];
    const classes = { "3 mid": queries, "8 raw": none, "question zh": none, "question en": none };

    await timeWays(classes, ways);

    equal(asked.one.length, 20 + 50);
    deepEqual(asked.one.slice(-50).toSorted((a, b) => a - b), queries);
    deepEqual(asked.other.slice(-50).toSorted((a, b) => a - b), queries);
    deepEqual(asked.one.filter((query, turn) => asked.other[turn] === query), []);
  });
});
