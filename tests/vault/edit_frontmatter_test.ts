import { deepStrictEqual as deepEqual, ok, strictEqual as equal, throws } from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import { FrontmatterNotEditable } from "@/lib/errors.ts";
import { runAtOnce } from "@/lib/seams.ts";
import { editFrontmatter, type FrontmatterEdits } from "@/lib/vault/edit_frontmatter.ts";
import { type FrontmatterValue, readFrontmatter } from "@/lib/vault/frontmatter.ts";
import { decodeNote, type NoteText } from "@/lib/vault/note_text.ts";

type Edits = Iterable<readonly [string, FrontmatterValue | undefined]>;

function decode(content: string | Uint8Array<ArrayBuffer>): NoteText {
  const bytes = typeof content === "string" ? new TextEncoder().encode(content) : content;
  const note = runAtOnce(decodeNote(bytes));
  ok(note);
  return note;
}

function edit(content: string | Uint8Array<ArrayBuffer>, edits: Edits): string {
  return runAtOnce(editFrontmatter(decode(content), new Map(edits)));
}

/** What stands between the fences, for notes that have LF at all ends of lines. */
function editBlock(block: string, edits: Edits): string {
  const edited = edit(`---\n${block}\n---\nbody\n`, edits);
  ok(edited.startsWith("---\n") && edited.endsWith("\n---\nbody\n"));
  return edited.slice("---\n".length, -"\n---\nbody\n".length);
}

function refusal(content: string | Uint8Array<ArrayBuffer>, edits: Edits): string {
  let message = "";
  throws(() => edit(content, edits), (error) => {
    ok(error instanceof FrontmatterNotEditable);
    message = error.message;
    return true;
  });
  return message;
}

type Table = readonly (readonly [about: string, block: string, edits: Edits, edited: string])[];

function itEditsBlocks(table: Table): void {
  for (const [about, block, edits, edited] of table) {
    it(`editFrontmatter() ${about}`, () => {
      equal(editBlock(block, edits), edited);
    });
  }
}

const map = (pairs: Record<string, FrontmatterValue>): FrontmatterValue =>
  new Map(Object.entries(pairs));

describe("editFrontmatter(): single values", () => {
  itEditsBlocks([
    [
      "keeps a comment and the blanks before it",
      "a: 1   # one\nb: 2",
      [["a", "x"]],
      "a: x   # one\nb: 2",
    ],
    [
      "keeps the blanks behind the colon",
      "a:   x\nb:\ty",
      [["a", "z"], ["b", "z"]],
      "a:   z\nb:\tz",
    ],
    ["keeps single quotes", "a: 'x'", [["a", "it's 7"]], "a: 'it''s 7'"],
    ["keeps double quotes", 'a: "x"', [["a", "y"]], 'a: "y"'],
    [
      "keeps a date plain",
      "d: 2026-06-29",
      [["d", "2026-05-14T10:30:00.000Z"]],
      "d: 2026-05-14T10:30:00.000Z",
    ],
    ["leaves single quotes for what they cannot hold", "a: 'x'", [["a", "y\nz"]], 'a: "y\\nz"'],
    ["puts in quotes what would be no text", "a: draft", [["a", "no"]], 'a: "no"'],
    ["writes a number plain after a plain number", "a: 6", [["a", "7"]], "a: 7"],
    ["writes a number in quotes after a text", "a: six", [["a", "007"]], 'a: "007"'],
    ["never writes the text `null` plain", "a: ~", [["a", "null"]], 'a: "null"'],
    [
      "puts in quotes what would be a comment or a mapping",
      "a: x",
      [["a", "b #c: d"]],
      'a: "b #c: d"',
    ],
    [
      "fills an empty value before its comment",
      "a:  # why\nb: 1",
      [["a", "x"]],
      "a: x  # why\nb: 1",
    ],
    ["empties a value", "a: x # why", [["a", null]], "a: # why"],
    ["empties a value to a text in its quotes", "a: 'x'", [["a", ""]], "a: ''"],
    ["leaves empty what is read as empty", "a: ''\nb: x", [["a", ""], ["b", "z"]], "a: ''\nb: z"],
    [
      "replaces a plain text of several lines",
      "a: one\n  two # c\nb: 1",
      [["a", "x"]],
      "a: x # c\nb: 1",
    ],
    [
      "replaces a quoted text of several lines",
      'a: "x: 1\n\n  # y" # c\nb: 1',
      [["a", "x"]],
      'a: "x" # c\nb: 1',
    ],
    ["replaces a block scalar", "a: | # c\n  x\n\n  # y\nb: 1", [["a", "x"]], "a: x # c\nb: 1"],
    [
      "keeps a blank line behind a block scalar",
      "a: >-\n  x\n\nb: 1",
      [["a", "z"]],
      "a: z\n\nb: 1",
    ],
    [
      "takes a text below its key for a value",
      "a:\n  one\n  two\nb: 1",
      [["a", "x"]],
      "a: x\nb: 1",
    ],
    [
      "changes what stands before a block scalar",
      "a: 1\nt: |\n  a: 2\n  # t\n",
      [["a", "3"]],
      "a: 3\nt: |\n  a: 2\n  # t\n",
    ],
    ["replaces an alias", "t: &t x\ns: *t # c", [["s", "z"]], "t: &t x\ns: z # c"],
    ["drops an anchor that nobody uses", "t: &t x # c", [["t", "z"]], "t: z # c"],
    ["drops a tag", "t: !!str 5", [["t", "six"]], "t: six"],
    [
      "does not touch a merge key",
      "b: &b {x: 1}\n<<: *b\nc: 1",
      [["c", "2"]],
      "b: &b {x: 1}\n<<: *b\nc: 2",
    ],
  ]);
});

describe("editFrontmatter(): keys", () => {
  itEditsBlocks([
    [
      "finds a key in quotes",
      `"tags": a\n'it''s' : b`,
      [["tags", "x"], ["it's", "z"]],
      `"tags": x\n'it''s' : z`,
    ],
    ["finds a key with escapes", '"t\\u0061gs": a', [["tags", "x"]], '"t\\u0061gs": x'],
    ["finds a key with blanks", "date created : a", [["date created", "x"]], "date created : x"],
    ["finds a Chinese key", "标签: a\n标签2: b", [["标签", "缓存"]], "标签: 缓存\n标签2: b"],
    ["finds a key with an anchor", "&k a: 1\nb: *k", [["a", "x"]], "&k a: x\nb: *k"],
    [
      "finds keys that are numbers",
      "b: 1\n2: x\n1: y",
      [["1", "z"], ["2", "w"]],
      "b: 1\n2: w\n1: z",
    ],
    [
      "finds `__proto__`",
      "__proto__: a\nconstructor: b",
      [["__proto__", "x"]],
      "__proto__: x\nconstructor: b",
    ],
    [
      "finds keys that are indented",
      "  a: 1\n  b: 2",
      [["a", "x"], ["c", "z"]],
      "  a: x\n  b: 2\n  c: z",
    ],
    [
      "takes no nested key for one at the top",
      "m:\n  a: 1\na: 2",
      [["a", "x"]],
      "m:\n  a: 1\na: x",
    ],
    [
      "takes no key in a text for one",
      "t: |\n  a: 1\nq: 'x\n  a: 1'\na: 2",
      [["a", "x"]],
      "t: |\n  a: 1\nq: 'x\n  a: 1'\na: x",
    ],
    [
      "adds new keys at the end, in order",
      "a: 1\n# end",
      [["c", "x"], ["b", ["y"]]],
      'a: 1\n# end\nc: x\nb:\n  - "y"',
    ],
    ["adds odd keys in quotes", "a: 1", [["b: c", "x"], ["", "y z"]], 'a: 1\n"b: c": x\n"": y z'],
    ["adds `__proto__`", "a: 1", [["__proto__", "x"]], "a: 1\n__proto__: x"],
    ["adds an empty key", "a: 1", [["b", null]], "a: 1\nb:"],
    ["adds behind a block scalar", "a: |\n  x\n", [["b", "z"]], "a: |\n  x\n\nb: z"],
    [
      "removes a key with all its lines",
      "a: 1\nt:\n- x\n- y\nb: 2",
      [["t", undefined]],
      "a: 1\nb: 2",
    ],
    [
      "leaves the comments of a key that goes",
      "a: 1 # A\nt: # T\n  - x # X\n  # own\n  - y\n# next\nb: 2",
      [["t", undefined], ["a", undefined]],
      "# A\n# T\n# X\n# own\n# next\nb: 2",
    ],
    ["does nothing for a key that is not there", "a: 1", [["b", undefined]], "a: 1"],
  ]);
});

describe("editFrontmatter(): lists in brackets", () => {
  itEditsBlocks([
    ["adds an item", "t: [a]", [["t", ["a", "b"]]], "t: [a, b]"],
    ["adds to an empty list", "t: [ ]", [["t", ["a"]]], "t: [a]"],
    [
      "keeps items as they are written",
      `t: [a, "b", 'c' ] # C`,
      [["t", ["c", "b", "d"]]],
      `t: ['c', "b", 'd'] # C`,
    ],
    ["keeps the blanks between items", "t: [ a,b ]", [["t", ["a", "b", "c"]]], "t: [ a,b,c ]"],
    ["drops a comma at the end", "t: [a, b,]", [["t", ["a", "b", "c"]]], "t: [a, b, c]"],
    ["drops the only comma", "t: [a,]", [["t", ["a", "b"]]], "t: [a, b]"],
    [
      "puts items in quotes where they need it",
      "t: [a]",
      [["t", ["a", "b, c", "[[x]]", null]]],
      't: [a, "b, c", "[[x]]", null]',
    ],
    ["is not misled by quotes and brackets", `t: [it's, "]", [x, y], {k: "#,"}]`, [["t", [
      "it's",
      "]",
      ["x", "y"],
    ]]], `t: [it's, "]", [x, y]]`],
    ["puts a list of several lines on one", "t: [a, # A\n  b, # B\n  # own\n  c] # C\nx: 1", [[
      "t",
      ["a", "c"],
    ]], "t: [a, c] # A\n  # B\n  # own\n  # C\nx: 1"],
    ["empties a list", "t: [a, b] # c", [["t", []]], "t: [] # c"],
    ["replaces a list by a text", "t: [a, b] # c", [["t", "x"]], "t: x # c"],
    [
      "replaces a mapping by a mapping",
      "t: {a: 1} # c",
      [["t", map({ a: "x", b: ["y z"] })]],
      "t: {a: x, b: [y z]} # c",
    ],
  ]);
});

describe("editFrontmatter(): lists with one item a line", () => {
  const list =
    "t: # T\n  # head\n  - a # A\n\n  - 'b'\n  # mid\n  -   c: 1\n      d: 2 # D\n  # end\nx: 1";
  const c = map({ c: "1", d: "2" });
  itEditsBlocks([
    [
      "adds an item at the end",
      list,
      [["t", ["a", "b", c, "e"]]],
      list.replace("# D", "# D\n  -   e"),
    ],
    [
      "adds an item at the start",
      list,
      [["t", ["e", "a", "b", c]]],
      list.replace("  - a", "  -   e\n  - a"),
    ],
    [
      "adds an item in between",
      list,
      [["t", ["a", "e", "b", c]]],
      list.replace("# A", "# A\n  -   e"),
    ],
    [
      "removes an item but not its comment",
      list,
      [["t", ["b", c]]],
      list.replace("  - a # A", "  # A"),
    ],
    [
      "removes an item of several lines",
      list,
      [["t", ["a", "b"]]],
      list.replace("  -   c: 1\n      d: 2 # D", "  # D"),
    ],
    [
      "replaces an item",
      list,
      [["t", ["a", "e", c]]],
      list.replace("# A\n\n  - 'b'", "# A\n  -   e\n"),
    ],
    [
      "moves lines when items change places",
      list,
      [["t", [c, "b", "a"]]],
      "t: # T\n  # head\n  -   c: 1\n      d: 2 # D\n  - 'b'\n  - a # A\n  # mid\n  # end\nx: 1",
    ],
    ["replaces all items", "t:\n- a # A\n- b", [["t", ["c"]]], "t:\n- c\n# A"],
    [
      "empties a list",
      "t: # T\n- a # A\n# own\n- b\nx: 1",
      [["t", []]],
      "t: [] # T\n# A\n# own\nx: 1",
    ],
    [
      "writes items in the style of the last",
      "t:\n    -  'a'",
      [["t", ["a", "b"]]],
      "t:\n    -  'a'\n    -  'b'",
    ],
    ["writes mappings and lists as items", "t:\n  - a", [["t", ["a", map({ k: "v", l: ["x"] }), [
      "p",
      "q",
    ]]]], "t:\n  - a\n  - k: v\n    l:\n      - x\n  - - p\n    - q"],
    [
      "keeps one of two equal items",
      "t:\n  - a # 1\n  - b\n  - a # 2",
      [["t", ["b", "a"]]],
      "t:\n  # 1\n  - b\n  - a # 2",
    ],
    [
      "handles items that are empty",
      "t:\n- \n- real\n-",
      [["t", [null, "real", "more"]]],
      "t:\n- \n- real\n- more",
    ],
    ["makes a list of a text", "t: a, b # c", [["t", ["a", "b"]]], "t: # c\n  - a\n  - b"],
    [
      "makes a list of nothing",
      "t:\n  # none yet\nx: 1",
      [["t", ["a"]]],
      "t:\n  - a\n  # none yet\nx: 1",
    ],
    [
      "keeps a comment that is indented with a tab",
      "t:\n  - a\n  \t# c\n  - b",
      [["t", "x"]],
      "t: x\n  \t# c",
    ],
  ]);
});

describe("editFrontmatter(): nested mappings", () => {
  itEditsBlocks([
    [
      "changes only the keys that differ",
      "m: # M\n    type: user # t\n    # own\n    actor: 'x'\ny: 1",
      [["m", map({ type: "agent", actor: "x", l: ["z"] })]],
      "m: # M\n    type: agent # t\n    # own\n    actor: 'x'\n    l:\n      - z\ny: 1",
    ],
    [
      "removes keys",
      "m:\n  a: 1\n  b: 2 # B\n  c: 3",
      [["m", map({ a: "1", c: "3" })]],
      "m:\n  a: 1\n  # B\n  c: 3",
    ],
    ["empties a mapping", "m: # M\n  a: 1 # A\ny: 1", [["m", new Map()]], "m: {} # M\n  # A\ny: 1"],
    [
      "adds a mapping",
      "a: 1",
      [["m", map({ k: map({ l: "v" }), o: null })]],
      "a: 1\nm:\n  k:\n    l: v\n  o:",
    ],
  ]);
});

describe("editFrontmatter(): notes", () => {
  const tag: Edits = [["tags", ["x", "new"]]];
  const notes: [string, string, Edits, string][] = [
    [
      "changes one line alone",
      '---\n# keep me\nid: m1\ndate: 2026-06-29   # plain\nquoted: "007"\ntags: [x]\nzz_unknown: {k: [1, 2]}\n---\nB\n',
      tag,
      '---\n# keep me\nid: m1\ndate: 2026-06-29   # plain\nquoted: "007"\ntags: [x, new]\nzz_unknown: {k: [1, 2]}\n---\nB\n',
    ],
    [
      "leaves a byte order mark to the caller",
      "\ufeff---\r\ntitle: T1\r\ntags: [x]\r\n---\r\nhi\r\n",
      tag,
      "---\r\ntitle: T1\r\ntags: [x, new]\r\n---\r\nhi\r\n",
    ],
    [
      "needs no line end behind the fence",
      "---\ntitle: T2\n---",
      tag,
      "---\ntitle: T2\ntags:\n  - x\n  - new\n---",
    ],
    [
      "keeps blanks behind fences, and dots as a fence",
      "--- \na: 1\n...\t\nb",
      [["a", "x"]],
      "--- \na: x\n...\t\nb",
    ],
    [
      "fills an empty block",
      "---\r\n---\r\nb",
      tag,
      "---\r\ntags:\r\n  - x\r\n  - new\r\n---\r\nb",
    ],
    ["keeps CR", "---\ra: 1\rtags:\r- x\r---\rb\r", tag, "---\ra: 1\rtags:\r- x\r- new\r---\rb\r"],
    ["takes the line end of the line that it replaces", "---\na: 1\r\nb: 2\n---\n", [["a", ["x"]], [
      "b",
      ["y z"],
    ]], "---\na:\r\n  - x\r\nb:\n  - y z\n---\n"],
    [
      "takes the line end of the line before",
      "---\na: 1\nb: 2\r\n---\n",
      [["c", "x"]],
      "---\na: 1\nb: 2\r\nc: x\r\n---\n",
    ],
    [
      "puts a block before a text",
      "# T\r\n\r\ntext",
      tag,
      "---\r\ntags:\r\n  - x\r\n  - new\r\n---\r\n# T\r\n\r\ntext",
    ],
    [
      "puts a block before a text that looks like one",
      "\n---\ntags: [x]\n---\n",
      [["a", "1"]],
      '---\na: "1"\n---\n\n---\ntags: [x]\n---\n',
    ],
    ["puts a block into an empty file", "", [["a", "b"]], "---\na: b\n---\n"],
    ["makes no block for nothing", "text", [["a", undefined]], "text"],
    ["does not touch a body that looks like a block", "---\na: 1\n---\n---\na: 1\n---\n", [[
      "a",
      "b",
    ]], "---\na: b\n---\n---\na: 1\n---\n"],
    [
      "changes nothing where all is as meant",
      "---\ntags:   [ x,\n  new ] # c\n---\n",
      tag,
      "---\ntags:   [ x,\n  new ] # c\n---\n",
    ],
    [
      "leaves tags that look like numbers",
      "---\ntags: [2026, no, 1e3, 0x10, a/b, '#c', 中文]\n---\n",
      [["tags", ["2026", "no", "1e3", "0x10", "a/b", "#c", "中文", "2027"]]],
      "---\ntags: [2026, no, 1e3, 0x10, a/b, '#c', 中文, \"2027\"]\n---\n",
    ],
    ["keeps long numbers as they are", "---\nid: 20240218230452123456\nv: 22.10\nw: 007\n---\n", [[
      "w",
      "7",
    ]], "---\nid: 20240218230452123456\nv: 22.10\nw: 7\n---\n"],
    ["keeps U+2028 and U+0085 of other keys", "---\na: x\u2028y\u0085z\nb: 1\n---\n", [[
      "b",
      "p\u2028q",
    ]], '---\na: x\u2028y\u0085z\nb: "p\\u2028q"\n---\n'],
  ];
  for (const [about, text, edits, edited] of notes) {
    it(`editFrontmatter() ${about}`, () => {
      equal(edit(text, edits), edited);
    });
  }

  it("editFrontmatter() pauses more often in a long block", () => {
    const pausesWith = (count: number): number => {
      const items = Array.from({ length: count }, (_, i) => `  - item ${i}\n`).join("");
      const note = decode(`---\ntags:\n${items}---\n`);
      return [...editFrontmatter(note, new Map([["tags", ["x"]]]))].length;
    };

    ok(pausesWith(1_800) >= pausesWith(1) + 6);
  });
});

describe("editFrontmatter(): refusals", () => {
  const refused: [string, string | Uint8Array<ArrayBuffer>, RegExp][] = [
    [
      "an invalid value",
      '---\nname: a\ndescription: "x "y" z"\n---\nbody\n',
      /line 3 .*; put the value in quotes$/,
    ],
    ["a colon in a value", "---\ntitle: Fix: it\n---\n", /line 2 .*; put the value in quotes$/],
    [
      "an alias that is none",
      "---\ntitle: *x*\n---\n",
      /line 1 begins a block .*; put the value in quotes$/,
    ],
    [
      "a foreign type",
      "---\na: 1\nwhen: !custom now\n---\n",
      /line 3 .*; put the value in quotes$/,
    ],
    ["a key that stands twice", "---\na: 1\nb: 2\na: 3\n---\n", /line 4 repeats a key; keep one/],
    ["a tab", "---\na:\n\t- b\n---\n", /line 3 is indented with a tab; indent it with blanks$/],
    ["a block without end", "---\na: 1\n", /line 1 .*; put a line `---` after its last key$/],
    ["a rule on the first line", "---\ntext\n\n---\n", /line 2 begins no `key: value` line/],
    ["a list", "---\n- a\n---\n", /line 2 begins no `key: value` line/],
    ["TOML", '+++\na = "b"\n+++\n', /line 1 begins a block in TOML; write it as YAML/],
    ["JSON", '{\n"a": 1\n}\n', /line 1 begins a block in JSON; write it as YAML/],
    [
      "a block in brackets",
      "---\n# c\n{a: 1}\n---\n",
      /line 3 begins no `key: value` line; write one key a line/,
    ],
    ["an explicit key", "---\na: 1\n? b\n: 2\n---\n", /line 3 holds an explicit key/],
    [
      "an explicit key in a mapping that changes",
      "---\ntags:\n  ? a\n  : 1\n---\n",
      /line 3 holds an explicit key/,
    ],
    ["a key that is an alias", "---\na: &a x\n*a : 1\n---\n", /line 3 has a key that is no text/],
    ["a key that is a list", "---\n[a]: 1\n---\n", /line 2 has a key that is no text/],
    ["a second document", "---\na: 1\n... # end\n---\n", /line 3 parts two YAML documents/],
    ["the start of a document", "---\n--- # start\na: 1\n---\n", /line 2 parts two YAML documents/],
    ["a type of the whole block", "---\n!!map\na: 1\n---\n", /line 2 begins no `key: value` line/],
    [
      "a key with control characters",
      "---\na\x07: 1\n---\n",
      /line 2 has a key that is not read as it is written/,
    ],
    [
      "bytes that are not UTF-8",
      Uint8Array.of(0x23, 0xff, 0xfe, 0x0a),
      /not UTF-8; save the file as UTF-8$/,
    ],
    ["two byte order marks", "\ufeff\ufeff---\na: 1\n---\n", /second byte order mark; remove it$/],
    [
      "a block that is too large",
      `---\na: ${"x".repeat(140_000)}\n---\n`,
      /line 1 .* too large to be read/,
    ],
  ];
  for (const [about, content, message] of refused) {
    it(`editFrontmatter() refuses ${about}`, () => {
      const said = refusal(content, [["tags", map({ a: "x" })]]);

      ok(message.test(said), said);
      ok(said.startsWith("Cannot edit the frontmatter of this note: line "), said);
    });
  }

  it("editFrontmatter() refuses to replace what an alias elsewhere stands for", () => {
    const said = refusal("---\na: 1\nt: &secret Anchored\ns: *secret\n---\n", [["t", "x"]]);

    ok(/line 3 \(`t`\) has an anchor .* whose value is used elsewhere; write the value/.test(said));
    ok(!/secret|Anchored/.test(said));
  });

  it("editFrontmatter() refuses an item whose anchor is used elsewhere, and adds beside it", () => {
    const note = "---\nt:\n  - &i a\n  - b\ns: *i\n---\n";

    equal(edit(note, [["t", ["a", "c"]]]), "---\nt:\n  - &i a\n  - c\ns: *i\n---\n");
    ok(/line 2 \(`t`\) has an anchor/.test(refusal(note, [["t", ["b"]]])));
  });

  it("editFrontmatter() refuses what would make a comment part of a text", () => {
    const note = "---\na: |\n  text\nt: x\n  # comment\n---\n";

    equal(edit(note, [["t", "y"]]), '---\na: |\n  text\nt: "y"\n  # comment\n---\n');
    ok(/line 4 \(`t`\) cannot be changed without/.test(refusal(note, [["t", undefined]])));
  });

  it("editFrontmatter() refuses a block that would grow too large, or too deep", () => {
    const deep = Array.from({ length: 70 }).reduce<FrontmatterValue>((inner) => [inner], "x");

    ok(/grow too large/.test(refusal("---\na: 1\n---\n", [["b", "x".repeat(140_000)]])));
    ok(/nested more than 64 levels/.test(refusal("---\na: 1\n---\n", [["b", deep]])));
    ok(/Cannot write/.test(refusal("text", [["b", "x".repeat(140_000)]])));
  });
});

describe("editFrontmatter(): odd notes", () => {
  const fixtures = new URL("../fixtures/odd-notes/", import.meta.url);
  const paths = Object.keys(
    JSON.parse(Deno.readTextFileSync(new URL("expected.json", fixtures))).notes,
  );
  const edits: FrontmatterEdits = new Map<string, FrontmatterValue>([
    ["tags", ["edited", "缓存"]],
    ["updated_at", "2026-05-14T10:30:00.000Z"],
  ]);
  const outcomes = paths.toSorted().map((path) => {
    const url = new URL(`vault/${path.split("/").map(encodeURIComponent).join("/")}`, fixtures);
    const note = runAtOnce(decodeNote(Deno.readFileSync(url)));
    if (!note) return { path, outcome: "unreadable" };
    try {
      return { path, outcome: "edited", note, edited: runAtOnce(editFrontmatter(note, edits)) };
    } catch (error) {
      ok(error instanceof FrontmatterNotEditable);
      return { path, outcome: "refused" };
    }
  });

  it("editFrontmatter() refuses what has no block that can be read", () => {
    deepEqual(outcomes.filter(({ outcome }) => outcome === "refused").map(({ path }) => path), [
      "alias-bomb.md",
      "anchors.md",
      "at-sign-item.md",
      "colon-in-title.md",
      "duplicate-key.md",
      "fullwidth-colon.md",
      "invalid-utf8.md",
      "json-block.md",
      "list-not-map.md",
      "nbsp-after-colon.md",
      "odd-keys.md",
      "rule-on-first-line.md",
      "tab-indent.md",
      "toml.md",
      "unclosed.md",
      "yaml-type-tag.md",
    ]);
  });

  for (const { path, note, edited } of outcomes) {
    if (!note || edited === undefined) continue;
    it(`editFrontmatter() changes nothing but its keys in ${path}`, () => {
      const { fields, state } = runAtOnce(readFrontmatter(decode(edited)));

      equal(state.state, "ok");
      for (const [key, value] of edits) deepEqual(fields.get(key), value);
      const hadBlock = runAtOnce(readFrontmatter(note)).startLine > 0;
      if (hadBlock) deepEqual(otherLines(edited), otherLines(note.text));
      else equal(edited, edit("", edits) + note.text); // all of these have LF
    });
  }
});

/** The lines of a block and what follows it, without those of the keys that are edited. */
function otherLines(text: string): string[] {
  const lines = text.match(/[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+$/g) ?? [];
  const end = lines.findIndex((line, i) => i > 0 && /^(?:---|\.\.\.)\s*$/.test(line));
  let isEdited = false;
  return lines.filter((line, i) => {
    if (i >= end) return true;
    if (/^[^\s-]/.test(line)) isEdited = /^(?:tags|updated_at)\s*:/.test(line);
    return !isEdited;
  });
}
