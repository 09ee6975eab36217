import { deepStrictEqual as deepEqual, strictEqual as equal } from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import { PostingPool } from "@/lib/index/_posting_pool.ts";
import { randomSource } from "../_support/random.ts";
import { saveAndRestore } from "../_support/snapshots.ts";

/** Lists that end where a block ends, and one beside it, in blocks that grow and in those that do not. */
const LENGTHS = [0, 1, 2, 3, 5, 6, 7, 14, 15, 2_045, 2_046, 2_047, 3_070, 3_071, 70_000];

function poolOf(lengths: readonly number[]): PostingPool {
  const pool = new PostingPool();
  // in turns, so that the blocks of all lists lie among each other
  for (let i = 0; i < Math.max(...lengths); i++) {
    lengths.forEach((length, list) => i < length && pool.append(list, list * 100_000 + i));
  }
  return pool;
}

function numbersOf(list: number, length: number): number[] {
  return Array.from({ length }, (_, i) => list * 100_000 + i);
}

describe("PostingPool", () => {
  it("numbersOf() and visit() give back what was appended, in its order", () => {
    const pool = poolOf(LENGTHS);

    for (const [list, length] of LENGTHS.entries()) {
      const visited: number[] = [];
      pool.visit(list, (page, from, to) => visited.push(...page.subarray(from, to)));
      deepEqual(pool.numbersOf(list), numbersOf(list, length));
      deepEqual(visited, numbersOf(list, length));
    }
    deepEqual(pool.numbersOf(99_999), []);
  });

  it("restore() has the lists as they were at the cut, and each goes on where it was", async () => {
    const pool = poolOf(LENGTHS);

    const frozen = pool.freeze();
    const random = randomSource(5);
    const appendMore = () => {
      for (let i = 0; i < 40_000; i++) pool.append(random(LENGTHS.length * 200), i);
    };
    const restored = await saveAndRestore(frozen, PostingPool.restore, appendMore);

    for (const [list, length] of LENGTHS.entries()) {
      equal(restored.countOf(list), length);
      deepEqual(restored.numbersOf(list), numbersOf(list, length));
    }
    for (let i = 0; i < 2_100; i++) {
      LENGTHS.forEach((length, list) => restored.append(list, list * 100_000 + length + i));
    }
    for (const [list, length] of LENGTHS.entries()) {
      deepEqual(restored.numbersOf(list), numbersOf(list, length + 2_100));
    }
    equal(restored.countOf(LENGTHS.length * 150), 0);
  });

  it("restore() of a pool without lists can be filled", async () => {
    const restored = await saveAndRestore(new PostingPool().freeze(), PostingPool.restore);

    restored.append(5_000, 7);

    deepEqual(restored.numbersOf(5_000), [7]);
    deepEqual(restored.numbersOf(0), []);
  });
});
