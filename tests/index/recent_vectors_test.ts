import { deepStrictEqual as deepEqual, strictEqual as equal } from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import { RecentVectors } from "@/lib/index/_recent_vectors.ts";

describe("RecentVectors", () => {
  it("find() knows what was kept, also that there is no vector", () => {
    const recent = new RecentVectors();
    const vector = Float32Array.of(1);
    recent.keep("a", vector);
    recent.keep("b", undefined);

    equal(recent.find("a")?.vector, vector);
    deepEqual(recent.find("b"), { vector: undefined });
    equal(recent.find("c"), undefined);
  });

  it("keep() forgets what was not asked for longest", () => {
    const recent = new RecentVectors();
    for (let i = 0; i < 256; i++) recent.keep(`${i}`, Float32Array.of(i));
    recent.find("0");

    recent.keep("one more", undefined);

    equal(recent.find("1"), undefined);
    equal(recent.find("0")?.vector?.[0], 0);
  });

  it("keep() takes no text that is long", () => {
    const recent = new RecentVectors();
    recent.keep("x".repeat(2_001), undefined);

    equal(recent.find("x".repeat(2_001)), undefined);
  });
});
