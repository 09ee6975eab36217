import { strictEqual as equal } from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import { didYouMean, nearestName } from "@/lib/nearest_name.ts";

describe("nearestName()", () => {
  it("nearestName() forgives a slip in three letters and no more", () => {
    const known = ["limit", "mode", "q", "scope", "memories-folder"];
    const cases: [string, string | undefined][] = [
      ["limit", "limit"],
      ["limti", "limit"],
      ["lmit", "limit"],
      ["limits", "limit"],
      ["LIMIT", "limit"],
      ["memories_folder", "memories-folder"],
      ["memory-folder", "memories-folder"],
      ["moode", "mode"],
      ["node", "mode"],
      ["noed", undefined],
      ["sc", undefined],
      ["x", undefined],
      ["xy", undefined],
      ["", undefined],
      ["constructor", undefined],
    ];
    for (const [wanted, expected] of cases) {
      equal(nearestName(wanted, known), expected, wanted);
    }
  });

  it("nearestName() answers with the nearest of several, the first of equals", () => {
    equal(nearestName("tag", ["tap", "tags", "tag"]), "tag");
    equal(nearestName("tag", ["tap", "tan"]), "tap");
    equal(nearestName("tag", []), undefined);
  });

  it("nearestName() copes with a text of any length", () => {
    equal(nearestName("a".repeat(1_000_000), ["limit"]), undefined);
  });
});

describe("didYouMean()", () => {
  it("didYouMean() says nothing when nothing comes near", () => {
    equal(didYouMean("prot", ["port"]), "; did you mean port?");
    equal(didYouMean("zebra", ["port"]), "");
  });
});
