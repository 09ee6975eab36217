import { deepStrictEqual as deepEqual, strictEqual as equal } from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import { Postings } from "@/lib/index/postings.ts";
import { TermCounter } from "@/lib/index/term_counter.ts";

describe("TermCounter", () => {
  it("take() starts anew, and reset() forgets what was counted", () => {
    const counter = new TermCounter(new Postings());
    counter.add("a");
    counter.add("a");
    counter.add("b");

    const first = counter.take();
    counter.add("c");
    counter.reset();
    const second = counter.take();

    deepEqual([...first.counts], [2, 1]);
    equal(first.length, 3);
    equal(second.length, 0);
    equal(second.numbers.length, 0);
  });
});
