import { deepEqual, match, throws } from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import { formatCursor, parseCursor } from "@/lib/cursor.ts";
import { InvalidRequest } from "@/lib/errors.ts";

const QUESTION = { query: "zebra" };

const encode = (text: string) => new TextEncoder().encode(text).toBase64({ alphabet: "base64url" });

describe("parseCursor()", () => {
  it("parseCursor() gives back the place, whatever is in it", () => {
    const places = [[10], [0, "a/b 中文 \ud83d.md"], [1.5, ""], []];

    for (const place of places) {
      deepEqual(parseCursor(QUESTION, formatCursor(QUESTION, place)), place);
    }
  });

  it("formatCursor() needs no escapes in a URL", () => {
    match(formatCursor(QUESTION, ["?&=/ 中"]), /^[\w-]+$/);
  });

  it("parseCursor() refuses the cursor of another question", () => {
    const cursor = formatCursor({ query: "lion" }, [10]);

    throws(() => parseCursor(QUESTION, cursor), /belongs to a call with other arguments/);
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
    formatCursor(QUESTION, [1]).slice(1),
  ];
  for (const cursor of forged) {
    it(`parseCursor() refuses ${JSON.stringify(cursor)}`, () => {
      throws(() => parseCursor(QUESTION, cursor), InvalidRequest);
    });
  }
});
