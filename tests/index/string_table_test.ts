import { deepStrictEqual as deepEqual, strictEqual as equal } from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import { StringTable } from "@/lib/index/_string_table.ts";
import { randomSource } from "../_support/random.ts";
import { saveAndRestore } from "../_support/snapshots.ts";

describe("StringTable", () => {
  it("intern() and find() agree with a map over a hundred thousand texts", () => {
    const random = randomSource(11);
    const table = new StringTable();
    const map = new Map<string, number>();
    const text = () =>
      String.fromCharCode(
        ...Array.from({ length: random(4) === 0 ? random(64) : 2 }, () => 0x4e00 + random(400)),
      );
    for (let i = 0; i < 100_000; i++) {
      const word = text();
      const number = table.intern(word);
      equal(number, map.get(word) ?? map.size);
      map.set(word, number);
    }

    equal(table.size, map.size);
    for (const [word, number] of map) {
      equal(table.find(word), number);
      equal(table.at(number), word);
    }
    for (let i = 0; i < 10_000; i++) {
      const word = text();
      equal(table.find(word), map.get(word));
    }
  });

  it("find() knows nothing of what objects inherit, nor of halves of characters", () => {
    const table = new StringTable();
    for (const text of ["constructor", "__proto__", "", "\ud83d", "𠮷"]) table.intern(text);

    equal(table.find("toString"), undefined);
    equal(table.find("\udc00"), undefined);
    equal(table.at(table.find("") ?? -1), "");
    equal(table.at(table.find("\ud83d") ?? -1), "\ud83d");
    equal(table.at(table.find("__proto__") ?? -1), "__proto__");
    equal(table.at(99), "");
  });

  for (const count of [0, 1, 1_023, 1_024, 40_000]) {
    it(`restore() has the ${count} texts that were there at the cut, and goes on with them`, async () => {
      const table = new StringTable();
      const nameOf = (number: number) => `${number}`.padStart(number % 9, "记");
      for (let number = 0; number < count; number++) table.intern(nameOf(number));

      const frozen = table.freeze();
      let next = count;
      // so many that each of its arrays is replaced while it is saved
      const internMore = () => {
        for (let i = 0; i < 1_000; i++) table.intern(nameOf(next++));
      };
      const restored = await saveAndRestore(frozen, StringTable.restore, internMore);

      equal(restored.size, count);
      equal(restored.find(nameOf(count)), undefined);
      const numbers = Array.from({ length: count + 30_000 }, (_, number) => number);
      deepEqual(numbers.map((number) => restored.intern(nameOf(number))), numbers);
      deepEqual(numbers.map((number) => restored.at(number)), numbers.map(nameOf));
      equal(table.find(nameOf(next - 1)), next - 1);
    });
  }
});
