import { deepStrictEqual as deepEqual, ok } from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import fc from "fast-check";
import { splitBatches } from "@/lib/embed/batches.ts";

describe("batches", () => {
  const long = "x".repeat(50);
  const rows: readonly [string, string[], { texts: number; bytes: number }, string[][]][] = [
    ["nothing", [], { texts: 2, bytes: 10 }, []],
    ["by count", ["a", "b", "c"], { texts: 2, bytes: 10 }, [["a", "b"], ["c"]]],
    ["by bytes, up to the last", ["aaaa", "bbbb", "cc"], { texts: 9, bytes: 10 }, [
      ["aaaa", "bbbb", "cc"],
    ]],
    ["by bytes, not one more", ["aaaa", "bbbb", "ccc"], { texts: 9, bytes: 10 }, [
      ["aaaa", "bbbb"],
      ["ccc"],
    ]],
    ["bytes, not characters", ["缓存", "缓存"], { texts: 9, bytes: 10 }, [["缓存"], ["缓存"]]],
    ["a long text alone", ["a", long, "b"], { texts: 9, bytes: 10 }, [["a"], [long], ["b"]]],
    ["empty texts too", ["", ""], { texts: 1, bytes: 10 }, [[""], [""]]],
  ];
  for (const [name, texts, limits, batches] of rows) {
    it(`splitBatches() splits ${name}`, () => {
      deepEqual(splitBatches(texts, limits), batches);
    });
  }

  it("splitBatches() keeps all texts, their order and the limits, whatever they are", () => {
    const limit = fc.record({ texts: fc.integer({ min: 1, max: 5 }), bytes: fc.nat(40) });
    fc.assert(fc.property(fc.array(fc.string({ unit: "grapheme" })), limit, (texts, limits) => {
      const batches = splitBatches(texts, limits);

      deepEqual(batches.flat(), texts);
      for (const batch of batches) {
        const bytes = new TextEncoder().encode(batch.join("")).length;
        ok(batch.length > 0 && batch.length <= limits.texts);
        ok(batch.length === 1 || bytes <= limits.bytes);
      }
    }));
  });
});
