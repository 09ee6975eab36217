import { deepStrictEqual as deepEqual, ok } from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import { runAtOnce } from "@/lib/seams.ts";
import { type Block, type MarkdownBlocks, scanMarkdown } from "@/lib/vault/markdown.ts";
import { decodeNote, type NoteText } from "@/lib/vault/note_text.ts";

function decode(text: string): NoteText {
  const note = runAtOnce(decodeNote(new TextEncoder().encode(text)));
  ok(note);
  return note;
}

const scan = (text: string): MarkdownBlocks => runAtOnce(scanMarkdown(decode(text), 1));

/** `h1 1`, `code 2-4`, `item 5-6[paragraph 5, code 6]` */
function show(block: Block): string {
  const kind = block.level === undefined ? block.kind : `h${block.level}`;
  const lines = block.startLine === block.endLine
    ? `${block.startLine}`
    : `${block.startLine}-${block.endLine}`;
  return `${kind} ${lines}${block.parts ? `[${block.parts.map(show).join(", ")}]` : ""}`;
}

describe("scanMarkdown()", () => {
  const blocks: [string, string][] = [
    // headings
    ["# a\n## b ##\n###### f", "h1 1, h2 2, h6 3"],
    ["   # a", "h1 1"],
    ["#\ttab\n#", "h1 1, h1 2"],
    ["#none\n####### none", "paragraph 1-2"],
    ["\\# none", "paragraph 1"],
    ["    # code", "code 1"],
    ["text\n# a\nmore", "paragraph 1, h1 2, paragraph 3"],
    ["a\n===\nb\n---", "h1 1-2, h2 3-4"],
    ["a\nb\n  ---  ", "h2 1-3"],
    ["a\n\n---\nb\n- - -", "paragraph 1, rule 3, paragraph 4, rule 5"],
    ["===", "paragraph 1"],
    ["- a\n---", "item 1[paragraph 1], rule 2"],
    ["> a\n===", "quote 1-2[paragraph 1-2]"],
    ["[^1]: a footnote\n---", "paragraph 1, rule 2"],
    ["[x]: /url\nTitle\n===", "paragraph 1, h1 2-3"],
    // fences
    ["```\n# a\n```\nb", "code 1-3, paragraph 4"],
    ["````\n```\n# a\n````", "code 1-4"],
    ["~~~\n```\n---\n~~~\n# b", "code 1-4, h1 5"],
    ["```\n~~~\n# a", "code 1-3"],
    ["```js title\na\n``` x\n```", "code 1-4"],
    ["``` a`b\n# c", "paragraph 1, h1 2"],
    ["~~~ a`b\n# c", "code 1-2"],
    ["   ```\n# a\n   ```", "code 1-3"],
    ["    ```\n# a", "code 1, h1 2"],
    ["```\na\n    ```\n# b", "code 1-4"],
    ["text\n```\na\n```", "paragraph 1, code 2-4"],
    ["```\n\n\n", "code 1"],
    // indented code
    ["    a\n\n    b\nc", "code 1-3, paragraph 4"],
    ["a\n    b", "paragraph 1-2"],
    ["\ta", "code 1"],
    // lists and quotes
    ["- a\n  - b\n- c", "item 1-2[paragraph 1, paragraph 2], item 3[paragraph 3]"],
    ["- a\n\n  # b\n\nc", "item 1-3[paragraph 1, h1 3], paragraph 5"],
    ["- a\nlazy\n# b", "item 1-2[paragraph 1-2], h1 3"],
    ["- ```\n  # a\n  ```\n# b", "item 1-3[code 1-3], h1 4"],
    ["- ```\n# a", "item 1[code 1], h1 2"],
    ["1. a\n2) b", "item 1[paragraph 1], item 2[paragraph 2]"],
    ["a\n2. b", "paragraph 1-2"],
    ["a\n1. b", "paragraph 1, item 2[paragraph 2]"],
    ["a\n-", "h2 1-2"],
    ["-\n\n  a", "item 1[], paragraph 3"],
    ["-\n  a", "item 1-2[paragraph 2]"],
    ["-     a", "item 1[code 1]"],
    ["-\ta\n\n\tb", "item 1-3[paragraph 1, paragraph 3]"],
    ["> # a\n> b\nlazy\n\nc", "quote 1-3[h1 1, paragraph 2-3], paragraph 5"],
    ["> [!note] T\n> # a", "quote 1-2[paragraph 1, h1 2]"],
    ["> ```\n> # a\n# b", "quote 1-2[code 1-2], h1 3"],
    [">\n# a", "quote 1[], h1 2"],
    // HTML and comments
    ["<!-- # a -->\n# b", "comment 1, h1 2"],
    ["<!--\n# a\n\n# b\n-->\n# c", "comment 1-5, h1 6"],
    ["<!--\n# a", "comment 1-2"],
    ["text\n<!--\n# a\n-->", "paragraph 1, comment 2-4"],
    ["%%\n# a\n\n%%\n# b", "comment 1-4, h1 5"],
    ["%% a %%\n# b", "comment 1, h1 2"],
    ["%% a %% b\n# c", "paragraph 1, h1 2"],
    ["%% open\n# a\nend %% b\n# c", "comment 1-3, h1 4"],
    ["100%% sure\n# a", "paragraph 1, h1 2"],
    ["<div>\n# a\n\n# b", "html 1-2, h1 4"],
    ["<pre>\n\n# a\n</pre>\n# b", "code 1-4, h1 5"],
    ["<style>\na { color: red }\n</style>", "code 1-3"],
    ["<b>\n# a", "html 1-2"],
    ["text\n<b>\n# a", "paragraph 1-2, h1 3"],
    // what Obsidian adds
    ["$$\n# a\n$$\n# b", "math 1-3, h1 4"],
    ["$$ a $$\nb", "math 1, paragraph 2"],
    ["$$ a\n# b", "paragraph 1, h1 2"],
    ["| a | b |\n|---|:-:|\n| 1 | 2 |\nc", "table 1-4"],
    ["text\na | b\n--- | ---\n1 | 2\n\nc", "paragraph 1, table 2-4, paragraph 6"],
    ["a | b\n|---|\nc", "paragraph 1-3"],
    ["| a |\n| --- |\n# b", "table 1-2, h1 3"],
    ["> | a |\n> | - |\n> | 1 |", "quote 1-3[table 1-3]"],
    // blanks
    ["", ""],
    [" \n\t\n", ""],
    ["\u3000", "paragraph 1"],
    ["a\r\n\r\n# b\rc", "paragraph 1, h1 3, paragraph 4"],
  ];
  for (const [text, expected] of blocks) {
    it(`scanMarkdown() finds the blocks of ${JSON.stringify(text)}`, () => {
      deepEqual(scan(text).blocks.map(show).join(", "), expected);
    });
  }

  const headings: [string, [number, string, number][]][] = [
    ["# T\n\n````md\n```\n# no\n```\n# no2\n````\n\nSub\n---\ntext\n<!-- # no3 -->\n", [
      [1, "T", 1],
      [2, "Sub", 10],
    ]],
    ["# a #b\n# c # \n# d\\#\n# #", [
      [1, "a #b", 1],
      [1, "c", 2],
      [1, "d#", 3],
      [1, "", 4],
    ]],
    ["one\n  two  \n===", [[1, "one two", 1]]],
    ["> # a\n\n- # b\n\n    # c\n\n# d", [[1, "d", 7]]],
    ["## **b** [[n|c]]", [[2, "b c", 1]]],
  ];
  for (const [text, expected] of headings) {
    it(`scanMarkdown() finds the headings of ${JSON.stringify(text)}`, () => {
      const found = scan(text).headings.map(({ level, text, line }) => [level, text, line]);

      deepEqual(found, expected);
    });
  }

  it("scanMarkdown() begins at the line that it is given", () => {
    const note = decode("---\n# a: comment\n---\n# b\n");

    const { headings } = runAtOnce(scanMarkdown(note, 4));

    deepEqual(headings, [{ level: 1, text: "b", line: 4 }]);
  });

  it("scanMarkdown() reads a long line to its end", () => {
    const filler = "x".repeat(100_000);

    const shown = scan(`<!-- ${filler} -->\n# a\n\n${" ".repeat(100_000)}b\n# c`).blocks.map(show);

    deepEqual(shown, ["comment 1", "h1 2", "code 4", "h1 5"]);
  });

  it("scanMarkdown() takes nesting without end as text", () => {
    const { blocks } = scan(`${">".repeat(50_000)} deep\n\n# a`);

    deepEqual(blocks.map(show), ["quote 1[paragraph 1]", "h1 3"]);
  });

  it("scanMarkdown() pauses often, on many lines and on long ones", () => {
    for (const text of ["# a\n".repeat(100_000), `${"x".repeat(40_000)}\n`.repeat(50)]) {
      let pauses = 0;
      for (const _ of scanMarkdown(decode(text), 1)) pauses++;

      ok(pauses >= 45, `only ${pauses} pauses`);
    }
  });
});
