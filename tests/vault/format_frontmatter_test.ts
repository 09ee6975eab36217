import { deepStrictEqual as deepEqual, ok, strictEqual as equal, throws } from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import { FrontmatterNotEditable } from "@/lib/errors.ts";
import { runAtOnce } from "@/lib/seams.ts";
import { formatFrontmatter } from "@/lib/vault/format_frontmatter.ts";
import { type FrontmatterValue, readFrontmatter } from "@/lib/vault/frontmatter.ts";
import { decodeNote } from "@/lib/vault/note_text.ts";

type Pairs = [string, FrontmatterValue][];

function readBack(text: string): unknown {
  const note = runAtOnce(decodeNote(new TextEncoder().encode(`${text}body\n`)));
  ok(note);
  const { state, fields, bodyStartLine } = runAtOnce(readFrontmatter(note));
  equal(state.state, "ok");
  equal(bodyStartLine, note.lineCount);
  return fields;
}

describe("formatFrontmatter()", () => {
  const plain = [
    "text",
    "Fix it, now",
    "缓存 策略",
    "📌 pinned",
    "mem_01HX",
    "a#b",
    "a:b",
    "https://x.test/a?b=c&d#e",
    "C:\\a\\b",
    "don't",
    'say "x"',
    "a - b",
    "a [b] {c}",
    "a, b",
    "nope",
    "v1.2",
    "1.2.3",
    "555-1234",
    "12 items",
    "1e3x",
    "~/notes",
    "title：全角",
    "2026-05-14",
    "2026-05-14T10:30",
    "2026-05-14T10:30:00.000Z",
    "2026-05-14T10:30:00+08:00",
    "2026-05-14 is a date",
    "a\u00a0b",
    "\ufffd",
  ];
  for (const text of plain) {
    it(`formatFrontmatter() writes ${JSON.stringify(text)} plain`, () => {
      const written = formatFrontmatter(new Map([["k", text]]));

      equal(written, `---\nk: ${text}\n---\n`);
      deepEqual(readBack(written), new Map([["k", text]]));
    });
  }

  const quoted = [
    ...["a: b", "a:", ":", ": a", "a #b", "#a", "- a", "-", "-a", "--- a", "? a", "?"],
    ...[", a", "[a]", "]", "{a}", "}", "&a", "*a", "!a", "| a", "> a", "'a'", "%a", "@a", "`a`"],
    ...["[[Note]]", "{{date}}", "<<", "=", "~", "null", "Null", "NULL", "...", "... a"],
    ...["true", "False", "yes", "No", "on", "OFF", "y", "N"],
    ...["7", "007", "-1", "+1", "22.10", "1e3", "E9", ".5", "5.", "0x10", "0o17", "0b11", "1_000"],
    ...[".inf", "-.INF", ".NaN", "12:30", "190:20:30"],
    ...["2026-5-4", "2026-05-14 10:30:00", "2026-05-14T10:30:00 +8"],
    ...[" a", "a ", "\u00a0a", ""],
  ];
  const escaped: [string, string][] = [
    ['"a" b', '"\\"a\\" b"'],
    ["one\ntwo\n", '"one\\ntwo\\n"'],
    ["---\na: 1\n---", '"---\\na: 1\\n---"'],
    ["a\r\nb\tc\\d", '"a\\r\\nb\\tc\\\\d"'],
    ["a\tb", '"a\\tb"'],
    ["\0\x07\x1b\x7f\x9f", '"\\u0000\\u0007\\u001b\\u007f\\u009f"'],
    ["a\u0085b\u2028c\u2029d", '"a\\u0085b\\u2028c\\u2029d"'],
    ["\ufeffa\ufffe\uffff", '"\\ufeffa\\ufffe\\uffff"'],
    ["📌\ud83d", '"📌\\ud83d"'],
  ];
  const inQuotes = [...quoted.map((text): [string, string] => [text, `"${text}"`]), ...escaped];
  for (const [text, yaml] of inQuotes) {
    it(`formatFrontmatter() writes ${JSON.stringify(text)} in quotes`, () => {
      const written = formatFrontmatter(new Map([["k", text]]));

      equal(written, `---\nk: ${yaml}\n---\n`);
      deepEqual(readBack(written), new Map([["k", text || null]]));
    });
  }

  const blocks: [string, Pairs, string][] = [
    ["no fields", [], ""],
    ["fields in the given order", [["name", "缓存"], ["id", "x"]], "name: 缓存\nid: x\n"],
    ["a list", [["tags", ["a", "b: c", "7"]]], 'tags:\n  - a\n  - "b: c"\n  - "7"\n'],
    ["an empty list", [["tags", []]], "tags: []\n"],
    ["an empty value", [["k", null]], "k:\n"],
    ["an empty item", [["tags", [null, "a"]]], "tags:\n  -\n  - a\n"],
    [
      "a mapping",
      [["m", new Map([["type", "user"], ["actor", "x"]])]],
      "m:\n  type: user\n  actor: x\n",
    ],
    ["an empty mapping", [["m", new Map()]], "m: {}\n"],
    ["lists in lists", [["l", [["a", ["b"]], []]]], "l:\n  - - a\n    - - b\n  - []\n"],
    [
      "mappings in lists",
      [["l", [new Map<string, FrontmatterValue>([["k", ["a"]], ["m", new Map([["n", null]])]])]]],
      'l:\n  - k:\n      - a\n    m:\n      "n":\n',
    ],
    [
      "odd keys",
      [["a: b", "1"], ["- c", "x"], ["", "x"], ["true", "x"], ["a b", "x"], ["键", "x"], [
        "#",
        "x",
      ]],
      '"a: b": "1"\n"- c": x\n"": x\n"true": x\na b: x\n键: x\n"#": x\n',
    ],
    [
      "names of object internals",
      [["__proto__", "a"], ["constructor", "b"]],
      "__proto__: a\nconstructor: b\n",
    ],
    ["keys that are numbers", [["b", "x"], ["7", "y z"]], 'b: x\n"7": y z\n'],
  ];
  for (const [about, pairs, block] of blocks) {
    it(`formatFrontmatter() writes ${about}`, () => {
      const fields = new Map(pairs);

      const written = formatFrontmatter(fields);

      equal(written, `---\n${block}---\n`);
      deepEqual(readBack(written), fields);
    });
  }

  const nested = (depth: number): FrontmatterValue =>
    Array.from({ length: depth }).reduce<FrontmatterValue>((inner) => [inner], "x");
  const circle: FrontmatterValue[] = [];
  circle.push(circle);
  const refused: [string, Pairs][] = [
    ["a value that is too deep", [["k", nested(64)]]],
    ["a value that holds itself", [["k", circle]]],
    ["a key that is too long", [["k".repeat(1_100), "x"]]],
    ["a block that is too large", [["k", "x".repeat(140_000)]]],
    ["a list that is too long", [["k", Array.from({ length: 5_000 }, () => "x")]]],
  ];
  for (const [about, pairs] of refused) {
    it(`formatFrontmatter() refuses ${about}`, () => {
      throws(() => formatFrontmatter(new Map(pairs)), FrontmatterNotEditable);
    });
  }

  it("formatFrontmatter() writes what is just deep enough", () => {
    const fields = new Map([["k", nested(63)]]);

    deepEqual(readBack(formatFrontmatter(fields)), fields);
  });
});
