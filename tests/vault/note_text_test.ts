import { deepStrictEqual as deepEqual, ok, strictEqual as equal } from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import { runAtOnce } from "@/lib/seams.ts";
import {
  decodeNote,
  lineAt,
  lineEnd,
  linesText,
  lineText,
  type NoteText,
  withoutControls,
} from "@/lib/vault/note_text.ts";

const encode = (text: string): Uint8Array => new TextEncoder().encode(text);

function decode(bytes: Uint8Array | string): NoteText {
  const note = runAtOnce(decodeNote(typeof bytes === "string" ? encode(bytes) : bytes));
  ok(note);
  return note;
}

function utf16(text: string, mark: readonly number[]): Uint8Array {
  const units = Array.from(text, (char) => char.charCodeAt(0));
  const bytes = mark[0] === 0xfe
    ? units.flatMap((unit) => [unit >> 8, unit & 0xff])
    : units.flatMap((unit) => [unit & 0xff, unit >> 8]);
  return Uint8Array.from([...mark, ...bytes]);
}

describe("decodeNote()", () => {
  const lines: [string, string[]][] = [
    ["", []],
    ["\n", [""]],
    ["a", ["a"]],
    ["a\n", ["a"]],
    ["a\nb", ["a", "b"]],
    ["a\r\nb\r\n", ["a", "b"]],
    ["a\rb\r", ["a", "b"]],
    ["a\n\r\nb\r\rc", ["a", "", "b", "", "c"]],
    ["\r\n\r\n", ["", ""]],
    ["a\u2028b\u0085c\u000bd\nx", ["a\u2028b\u0085c\u000bd", "x"]],
    [" \n\t\n", [" ", "\t"]],
  ];
  for (const [text, expected] of lines) {
    it(`decodeNote() finds the lines of ${JSON.stringify(text)}`, () => {
      const note = decode(text);

      equal(note.lineCount, expected.length);
      deepEqual(expected.map((_, index) => lineText(note, index + 1)), expected);
      equal(note.lineStarts.length, expected.length);
    });
  }

  it("decodeNote() drops one byte order mark and says so", () => {
    const marked = decode(Uint8Array.of(0xef, 0xbb, 0xbf, 0x61));
    const plain = decode("a");

    deepEqual([marked.text, marked.bom, marked.lossy], ["a", true, false]);
    deepEqual([plain.text, plain.bom, plain.lossy], ["a", false, false]);
  });

  it("decodeNote() keeps a note with broken bytes and says so", () => {
    const note = decode(Uint8Array.of(0x63, 0xe9, 0x20, 0xff, 0x0a, 0x78));

    deepEqual([note.text, note.lossy], ["c\ufffd \ufffd\nx", true]);
  });

  it("decodeNote() does not take a written U+FFFD for a broken byte", () => {
    ok(!decode("a\ufffdb").lossy);
  });

  it("decodeNote() sees a character that the file cuts off", () => {
    const note = decode(Uint8Array.of(0x61, 0xe4, 0xb8));

    deepEqual([note.text, note.lossy], ["a\ufffd", true]);
  });

  it("decodeNote() puts characters together across its slices", () => {
    const text = "中\r\n".repeat(150_000);

    const note = decode(text);

    equal(note.text, text);
    equal(note.lineCount, 150_000);
    equal(lineText(note, 150_000), "中");
  });

  const unreadable: [string, Uint8Array][] = [
    ["UTF-16 LE with its mark", utf16("text", [0xff, 0xfe])],
    ["UTF-16 BE with its mark", utf16("text", [0xfe, 0xff])],
    ["UTF-16 without a mark", utf16("# Title\r\n\r\nText.\r\n", [])],
    ["UTF-32 BE with its mark", Uint8Array.of(0, 0, 0xfe, 0xff, 0, 0, 0, 0x61)],
    ["NULs alone", new Uint8Array(4096)],
    ["a binary", Uint8Array.from({ length: 4096 }, (_, i) => (i * 167 + (i >> 3)) & 0xff)],
  ];
  for (const [name, bytes] of unreadable) {
    it(`decodeNote() refuses ${name}`, () => {
      equal(runAtOnce(decodeNote(bytes)), undefined);
    });
  }

  it("decodeNote() keeps good text with a stray NUL, or NULs after it", () => {
    equal(decode("a\0").text, "a\0");
    ok(!decode("a stray\0 one, and\0 another in a text of some length").lossy);
    equal(decode(`text${"\0".repeat(5000)}`).text.length, 5004);
  });

  it("decodeNote() pauses often on a large note", () => {
    const bytes = encode("x".repeat(2 * 1024 * 1024));

    let pauses = 0;
    for (const _ of decodeNote(bytes)) pauses++;

    ok(pauses >= 32, `only ${pauses} pauses`);
  });
});

describe("linesText()", () => {
  const note = decode("one\r\ntwo\n\nfour\n");

  it("linesText() returns lines with the line ends between them", () => {
    equal(linesText(note, 1, 2), "one\r\ntwo");
    equal(linesText(note, 2, 4), "two\n\nfour");
  });

  it("linesText() returns what there is of a range that reaches too far", () => {
    equal(linesText(note, 4, 99), "four");
    equal(linesText(note, 5, 99), "");
    equal(linesText(note, 0, 1), "");
    equal(linesText(note, 3, 2), "");
  });

  it("lineEnd() leaves the line end out", () => {
    deepEqual([1, 2, 3, 4].map((line) => lineEnd(note, line)), [3, 8, 9, 14]);
  });
});

describe("lineAt()", () => {
  it("lineAt() is the inverse of lineStarts", () => {
    const note = decode("one\r\ntwo\n\nfour");

    const lines = Array.from(note.text, (_, offset) => lineAt(note, offset));

    deepEqual(lines, [1, 1, 1, 1, 1, 2, 2, 2, 2, 3, 4, 4, 4, 4]);
    equal(lineAt(note, 999), 4);
  });
});

describe("withoutControls()", () => {
  it("withoutControls() blanks out controls and terminal codes, and keeps the length", () => {
    const text = "a\x07b \x1b[1;31mred\x1b[0m c\0d\u0090e\tf\ng";

    const clean = withoutControls(text);

    equal(clean, "a b        red     c d e\tf\ng");
    equal(clean.length, text.length);
  });
});
