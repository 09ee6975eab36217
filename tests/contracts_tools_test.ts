import { deepStrictEqual as deepEqual } from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import { HitShape } from "@/lib/contracts.ts";
import { SearchNotesResult } from "@/lib/contracts_tools.ts";

describe("SearchNotesResult", () => {
  it("SearchNotesResult has hits of the fields that HTTP has", () => {
    const { shape } = SearchNotesResult.shape.results.element;

    deepEqual(Object.keys(shape), Object.keys(HitShape.shape));
  });
});
