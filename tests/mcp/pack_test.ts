import { deepStrictEqual as deepEqual, ok, strictEqual as equal } from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import { clip, countChars, fitText, MAX_ANSWER_CHARS, packListing } from "@/lib/mcp/pack.ts";
import { randomSource } from "@/tests/_support/random.ts";

const pack = (items: readonly unknown[], total = items.length) =>
  packListing({
    head: { total },
    key: "results",
    items,
    endAfter: (count) => count < total ? { nextCursor: `at-${count}` } : {},
  });

describe("packListing()", () => {
  it("packListing() shows all that fits, without a cursor at the end", () => {
    deepEqual(pack(["a", "b"]), { total: 2, results: ["a", "b"] });
    deepEqual(pack([]), { total: 0, results: [] });
  });

  it("packListing() keeps the cursor when more follows what it was given", () => {
    deepEqual(pack(["a", "b"], 5), { total: 5, results: ["a", "b"], nextCursor: "at-2" });
  });

  it("packListing() stays within its bound, and its pages together hold every item once", () => {
    const random = randomSource(7);
    const alphabet = ["a", "中", '"', "\\", "\n", "\u0001", "😀"];
    const items = Array.from({ length: 300 }, (_, number) => ({
      number,
      text: (alphabet[random(alphabet.length)] ?? "").repeat(random(900)),
    }));

    const seen: unknown[] = [];
    let pages = 0;
    for (let from = 0; from < items.length;) {
      const answer = packListing({
        head: { total: items.length },
        key: "results",
        items: items.slice(from, from + 100),
        endAfter: (count) =>
          from + count < items.length ? { nextCursor: String(from + count) } : {},
      });
      ok(countChars(answer) <= MAX_ANSWER_CHARS);
      const { results, nextCursor } = answer;
      ok(Array.isArray(results) && results.length > 0);
      seen.push(...results);
      pages++;
      from = Number(nextCursor ?? items.length);
    }

    deepEqual(seen, items);
    ok(pages > 10 && pages < 100);
  });

  it("packListing() leaves out what can never fit, says so, and goes on behind it", () => {
    const huge = "x".repeat(MAX_ANSWER_CHARS);

    deepEqual(pack(["a", huge, "b"]), { total: 3, results: ["a", "b"], leftOut: 1 });
    deepEqual(pack([huge], 2), { total: 2, results: [], leftOut: 1, nextCursor: "at-1" });
  });

  it("packListing() counts what it says of the page too: what is left out, and a long cursor", () => {
    const huge = "x".repeat(MAX_ANSWER_CHARS);
    for (let filler = MAX_ANSWER_CHARS - 200; filler < MAX_ANSWER_CHARS; filler++) {
      const answer = packListing({
        head: {},
        key: "results",
        items: ["x".repeat(filler), huge, huge, "end"],
        endAfter: (count) => count === 4 ? {} : { nextCursor: "c".repeat(count * 60) },
      });

      ok(countChars(answer) <= MAX_ANSWER_CHARS, `${filler}`);
    }
  });
});

describe("fitText()", () => {
  it("fitText() takes a text whole when it fits as JSON", () => {
    equal(fitText("abc", 5), 3);
    equal(fitText("", 100), 0);
    equal(fitText('a"b', 6), 3);
  });

  it("fitText() ends behind a line where it can", () => {
    equal(fitText("one\ntwo\nthree", 12), 8);
  });

  it("fitText() counts escapes, and splits no pair of surrogates", () => {
    const texts = ["\u0001".repeat(50), '"'.repeat(50), "😀".repeat(50), "中".repeat(50)];

    for (const text of texts) {
      for (let room = 16; room < 60; room++) {
        const end = fitText(text, room);
        ok(end > 0 && countChars(text.slice(0, end)) <= room, `${text[0]} ${room}`);
        ok(text.slice(0, end).isWellFormed(), `${text[0]} ${room}`);
      }
    }
  });

  it("fitText() always takes something, so that pages end", () => {
    ok(fitText("abc", 0) > 0);
  });
});

describe("clip()", () => {
  it("clip() shows that something is missing", () => {
    equal(clip("abcdef", 6), "abcdef");
    equal(clip("abcdef", 4), "abc…");
    equal(clip("a😀b", 3), "a…");
  });
});
