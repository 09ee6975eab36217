import { strictEqual as equal } from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import { LineEdits, lineEndingOf } from "@/lib/journal/line_edits.ts";
import { documentOf } from "../_support/journal_text.ts";

describe("LineEdits", () => {
  const cases: readonly (readonly [
    what: string,
    before: string,
    change: (edits: LineEdits) => void,
    after: string,
  ])[] = [
    ["nothing", "a\nb\n", () => {}, "a\nb\n"],
    ["a line", "a\nb\nc\n", (it) => it.replaceLine(2, "B"), "a\nB\nc\n"],
    ["a part", "a bc d\n", (it) => it.replacePart(1, { from: 2, to: 4 }, "xyz"), "a xyz d\n"],
    ["the last line without its end", "a\nb", (it) => it.replaceLine(2, "B"), "a\nB"],
    ["what comes first", "a\n", (it) => it.insertAfter(0, ["x", "y"]), "x\ny\na\n"],
    ["what comes between", "a\nb\n", (it) => it.insertAfter(1, ["x"]), "a\nx\nb\n"],
    ["what comes last", "a\nb\n", (it) => it.insertAfter(2, ["x"]), "a\nb\nx\n"],
    ["what comes behind an open end", "a\nb", (it) => it.insertAfter(2, ["x", "y"]), "a\nb\nx\ny"],
    ["an empty text", "", (it) => it.insertAfter(0, ["x"]), "x\n"],
    [
      "lines with CR LF",
      "a\r\nb\r\n",
      (it) => it.insertAfter(1, ["x", "y"]),
      "a\r\nx\r\ny\r\nb\r\n",
    ],
    ["lines with CR", "a\rb\r", (it) => it.insertAfter(1, ["x"]), "a\rx\rb\r"],
    ["mixed line ends", "a\r\nb\nc\n", (it) => it.replaceLine(2, "B"), "a\r\nB\nc\n"],
    ["a byte order mark", "\ufeffa\nb\n", (it) => it.replaceLine(1, "A"), "\ufeffA\nb\n"],
    ["removed lines", "a\nb\nc\nd\n", (it) => it.removeLines(2, 3), "a\nd\n"],
    ["the removed last line", "a\nb", (it) => it.removeLines(2, 2), "a\n"],
    ["all lines removed", "a\nb\n", (it) => it.removeLines(1, 2), ""],
    ["nothing to insert", "a\n", (it) => it.insertAfter(1, []), "a\n"],
    ["several at one place, in their order", "a\nb\n", (it) => {
      it.insertAfter(1, ["x"]);
      it.insertAfter(1, ["y"]);
      it.removeLines(2, 2);
    }, "a\nx\ny\n"],
    ["a change in lines that go", "a\nb\nc\n", (it) => {
      it.replacePart(2, { from: 0, to: 1 }, "B");
      it.removeLines(2, 2);
    }, "a\nc\n"],
    ["lines in place of an open end", "a\nb", (it) => {
      it.insertAfter(2, ["x"]);
      it.insertAfter(2, ["y"]);
      it.removeLines(2, 2);
    }, "a\nx\ny"],
  ];
  for (const [what, before, change, after] of cases) {
    it(`changes ${what}`, () => {
      const edits = new LineEdits(documentOf(before).note);

      change(edits);

      equal(edits.apply(), after);
    });
  }

  it("puts new lines before the line that is changed behind them, whichever came first", () => {
    const edits = new LineEdits(documentOf("a\nb\n").note);

    edits.replaceLine(2, "B");
    edits.insertAfter(1, ["x"]);

    equal(edits.apply(), "a\nx\nB\n");
  });

  it("puts what is added to an open last line on that line, whichever came first", () => {
    const edits = new LineEdits(documentOf("a\nb").note);

    edits.insertAfter(2, ["x"]);
    edits.replacePart(2, { from: 1, to: 1 }, "!");

    equal(edits.apply(), "a\nb!\nx");
  });

  it("knows whether there is any change", () => {
    const edits = new LineEdits(documentOf("a\n").note);

    equal(String(edits.isEmpty), "true");
    edits.replaceLine(1, "b");
    equal(String(edits.isEmpty), "false");
  });
});

describe("lineEndingOf()", () => {
  it("goes by the first line", () => {
    for (
      const [text, eol] of [["a\r\nb\n", "\r\n"], ["a\rb", "\r"], ["a\n", "\n"], [
        "a",
        "\n",
      ]] as const
    ) {
      equal(lineEndingOf(documentOf(text).note), eol);
    }
  });
});
