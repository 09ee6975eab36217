import { deepStrictEqual as deepEqual, strictEqual as equal } from "node:assert/strict";
import { join } from "node:path";
import { describe, it } from "@std/testing/bdd";
import { coldRoundsOf, listFiles } from "./measure_scale.ts";

describe("coldRoundsOf()", () => {
  const cases: readonly (readonly [notes: number, rounds: number, coldRounds: number])[] = [
    [10_000, 3, 3],
    [10_001, 3, 2],
    [50_000, 1, 1],
  ];
  for (const [notes, rounds, coldRounds] of cases) {
    it(`is ${coldRounds} for ${notes} notes and ${rounds} rounds`, () => {
      equal(coldRoundsOf({ notes, rounds }), coldRounds);
    });
  }
});

describe("listFiles()", () => {
  it("names files at any depth that hold something, the largest first", async () => {
    await using stack = new AsyncDisposableStack();
    const folder = await Deno.makeTempDir({ prefix: "bench-" });
    stack.defer(() => Deno.remove(folder, { recursive: true }));
    await Deno.mkdir(join(folder, "inner"));
    await Deno.writeTextFile(join(folder, "small"), "1");
    await Deno.writeTextFile(join(folder, "empty"), "");
    await Deno.writeTextFile(join(folder, "inner", "large"), "123");

    const files = await listFiles(folder);

    deepEqual(files, [{ name: "inner/large", bytes: 3 }, { name: "small", bytes: 1 }]);
  });
});
