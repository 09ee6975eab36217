import { deepStrictEqual as deepEqual, match, throws } from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import { cursorsOf } from "@/lib/cursor.ts";
import { InvalidRequest } from "@/lib/errors.ts";

const cursors = cursorsOf({ query: "zebra" });

const encode = (text: string) => new TextEncoder().encode(text).toBase64({ alphabet: "base64url" });

describe("cursorsOf()", () => {
  it("parse() gives back the place, whatever is in it", () => {
    const places = [[10], [0, "a/b 中文 \ud83d.md"], [1.5, ""], []];

    for (const place of places) {
      deepEqual(cursors.parse(cursors.format(place)), place);
    }
  });

  it("format() needs no escapes in a URL", () => {
    match(cursors.format(["?&=/ 中"]), /^[\w-]+$/);
  });

  it("parse() refuses the cursor of another question", () => {
    const cursor = cursorsOf({ query: "lion" }).format([10]);

    throws(() => cursors.parse(cursor), /belongs to a call with other arguments/);
  });

  const forged = [
    "",
    "x",
    "10",
    "!!",
    "null",
    encode("null"),
    encode("{}"),
    encode("[[1]]"),
    encode('["x", null]'),
    encode("[1,"),
    encode("\u0000"),
    cursors.format([1]).slice(1),
  ];
  for (const cursor of forged) {
    it(`parse() refuses ${JSON.stringify(cursor)}`, () => {
      throws(() => cursors.parse(cursor), InvalidRequest);
    });
  }
});
