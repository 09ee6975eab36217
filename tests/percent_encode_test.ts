import { strictEqual as equal } from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import fc from "fast-check";
import { percentEncode } from "@/lib/percent_encode.ts";

describe("percentEncode()", () => {
  it("percentEncode() encodes every byte", () => {
    equal(percentEncode(""), "");
    equal(percentEncode("a (\n"), "%61%20%28%0A");
    equal(percentEncode("缓𠮷"), "%E7%BC%93%F0%A0%AE%B7");
    equal(percentEncode("\ud800"), "%EF%BF%BD");
  });

  it("percentEncode() is undone by decodeURIComponent()", () => {
    fc.assert(fc.property(fc.string({ unit: "binary" }), (text) => {
      equal(decodeURIComponent(percentEncode(text)), text);
    }));
  });
});
