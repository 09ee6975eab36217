import { ok, strictEqual as equal, throws } from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import fc from "fast-check";
import { isUlid, newUlid } from "@/lib/ulid.ts";

const zeros = new Uint8Array(10);
const ones = new Uint8Array(10).fill(255);
const anyTime = fc.integer({ min: 0, max: 2 ** 48 - 1 });
const anyBytes = fc.uint8Array({ minLength: 10, maxLength: 10 });

describe("newUlid()", () => {
  const cases: [number, Uint8Array, string][] = [
    [0, zeros, "00000000000000000000000000"],
    [0, ones, "0000000000ZZZZZZZZZZZZZZZZ"],
    [1, zeros, "00000000010000000000000000"],
    [2 ** 48 - 1, ones, "7ZZZZZZZZZZZZZZZZZZZZZZZZZ"],
    [1_469_918_176_385, zeros, "01ARYZ6S410000000000000000"],
    [0, new Uint8Array([0, 0, 0, 0, 0, 0, 0, 0, 0, 31]), "0000000000000000000000000Z"],
    [0, new Uint8Array([0, 0, 0, 0, 0, 0, 0, 0, 0, 32]), "00000000000000000000000010"],
    [0, new Uint8Array([8, 0, 0, 0, 0, 0, 0, 0, 0, 0]), "00000000001000000000000000"],
  ];
  for (const [nowMs, random, expected] of cases) {
    it(`newUlid() makes ${expected} of ${nowMs} and ${random.toHex()}`, () => {
      equal(newUlid(nowMs, random), expected);
    });
  }

  it("newUlid() refuses times and bytes that do not fit", () => {
    for (const nowMs of [-1, 2 ** 48, 1.5, NaN, Infinity]) {
      throws(() => newUlid(nowMs, zeros), RangeError, String(nowMs));
    }
    for (const length of [0, 9, 11]) {
      throws(() => newUlid(0, new Uint8Array(length)), RangeError, String(length));
    }
  });

  it("newUlid() makes ids that isUlid() knows and that sort as their times do", () => {
    fc.assert(fc.property(anyTime, anyTime, anyBytes, anyBytes, (a, b, random, other) => {
      fc.pre(a < b);
      const [first, second] = [newUlid(a, random), newUlid(b, other)];

      ok(first < second);
      ok(isUlid(second));
      ok(isUlid(second.toLowerCase()));
    }));
  });
});

describe("isUlid()", () => {
  const cases: [string, boolean][] = [
    ["01ARYZ6S41TSV4RRFFQ69G5FAV", true],
    ["01aryz6s41tsv4rrffq69g5fav", true],
    ["7ZZZZZZZZZZZZZZZZZZZZZZZZZ", true],
    ["00000000000000000000000001", true],
    ["00000000000000000000000000", false],
    ["8ZZZZZZZZZZZZZZZZZZZZZZZZZ", false],
    ["01ARYZ6S41TSV4RRFFQ69G5FA", false],
    ["01ARYZ6S41TSV4RRFFQ69G5FAVX", false],
    ["01ARYZ6S41TSV4RRFFQ69G5FAV\n", false],
    ["01ARYZ6S41TSV4RRFFQ69G5FAI", false],
    ["01ARYZ6S41TSV4RRFFQ69G5FAL", false],
    ["01ARYZ6S41TSV4RRFFQ69G5FAO", false],
    ["01ARYZ6S41TSV4RRFFQ69G5FAU", false],
    ["01ARYZ6S41-SV4RRFFQ69G5FAV", false],
    ["", false],
  ];
  for (const [text, expected] of cases) {
    it(`isUlid() says ${expected} to ${JSON.stringify(text)}`, () => {
      equal(isUlid(text), expected);
    });
  }
});
