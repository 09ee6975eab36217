import { deepStrictEqual as deepEqual } from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import { compareRows, parseExpectations } from "./compare.ts";
import { findFailures, findFallbacks, findStrangers, findUncompared } from "./complaints.ts";
import { toResult, toRow } from "./temp_data.ts";

describe("findFailures()", () => {
  it("findFailures() says how many queries failed and why the first did", () => {
    const results = [toResult({}), toResult({ error: "no disk" }), toResult({ error: "other" })];

    deepEqual(findFailures(results), ["birds keyword: 2 queries failed, first: no disk"]);
  });

  it("findFailures() says when another mode answered every query", () => {
    const fellBack = toResult({ mode: "vector", fellBack: true });

    deepEqual(findFailures([fellBack, toResult({ mode: "vector" })]), []);
    deepEqual(findFailures([toResult({}), fellBack, fellBack]), [
      "birds vector: every query was answered by another mode, so that these are its numbers",
    ]);
  });
});

describe("findFallbacks()", () => {
  it("findFallbacks() says how many queries another mode answered, be they few", () => {
    const results = [toResult({ mode: "hybrid" }), toResult({ mode: "hybrid", fellBack: true })];

    deepEqual(findFallbacks(results), ["birds hybrid: 1 queries were answered by another mode"]);
    deepEqual(findFallbacks(results.slice(0, 1)), []);
  });
});

describe("findStrangers()", () => {
  it("findStrangers() says when no hit is a note of the set, unless queries failed", () => {
    const stranger = toResult({ known: 0 });

    deepEqual(findStrangers([stranger, toResult({ known: 2 })]), []);
    deepEqual(findStrangers([stranger, toResult({ known: 0, error: "no" })]), []);
    deepEqual(findStrangers([stranger]), ["birds keyword: no hit is a note of the vault"]);
  });
});

describe("findUncompared()", () => {
  it("findUncompared() says of which modes nothing was compared", () => {
    const expectations = parseExpectations({ keyword: { "birds en": 0.5 }, vector: { "x y": 1 } });
    const rows = [toRow({}), toRow({ mode: "vector" })];
    const comparisons = compareRows(rows, expectations);

    const complaints = findUncompared(["keyword", "vector"], expectations, comparisons);

    deepEqual(complaints, [
      "vector: nothing was compared, as the expectations name none of these rows",
    ]);
    deepEqual(findUncompared(["keyword", "vector"], undefined, []), []);
  });
});
