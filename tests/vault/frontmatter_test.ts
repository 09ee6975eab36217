import { deepStrictEqual as deepEqual, ok, strictEqual as equal } from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import { runAtOnce } from "@/lib/seams.ts";
import {
  findKeyLine,
  type Frontmatter,
  type FrontmatterValue,
  readFrontmatter,
} from "@/lib/vault/frontmatter.ts";
import { decodeNote, type NoteText } from "@/lib/vault/note_text.ts";

function decode(text: string): NoteText {
  const note = runAtOnce(decodeNote(new TextEncoder().encode(text)));
  ok(note);
  return note;
}

const read = (text: string): Frontmatter => runAtOnce(readFrontmatter(decode(text)));
const readBlock = (yaml: string): Frontmatter => read(`---\n${yaml}\n---\nbody\n`);

/** Maps as lists of pairs, so that a key such as `__proto__` shows. */
function toPairs(value: FrontmatterValue): unknown {
  if (value instanceof Map) return [...value].map(([key, inner]) => [key, toPairs(inner)]);
  return Array.isArray(value) ? value.map(toPairs) : value;
}

describe("readFrontmatter()", () => {
  const fences: [string, Partial<Record<keyof Frontmatter, unknown>>][] = [
    ["", { startLine: 0, endLine: 0, bodyStartLine: null, raw: "" }],
    ["text", { startLine: 0, endLine: 0, bodyStartLine: 1 }],
    ["---\na: 1\n---\nx", { startLine: 1, endLine: 3, bodyStartLine: 4, raw: "a: 1\n" }],
    ["---\na: 1\n---", { endLine: 3, bodyStartLine: null }],
    ["---\na: 1\n---\n", { endLine: 3, bodyStartLine: null }],
    ["---\na: 1\n---\n\n", { endLine: 3, bodyStartLine: 4 }],
    ["--- \t\r\na: 1\r\n...\t\r\nx", { endLine: 3, bodyStartLine: 4, raw: "a: 1\r\n" }],
    ["---\r\ra: 1\r---\rx", { endLine: 4, bodyStartLine: 5 }],
    ["---\n---\nx", { endLine: 2, bodyStartLine: 3, raw: "" }],
    ["---\na: |\n  ---\n  ...\nb: 1\n---", { endLine: 6 }],
    ["---\na: 1\n----\n---", { endLine: 4 }],
  ];
  for (const [text, expected] of fences) {
    it(`readFrontmatter() finds the fences of ${JSON.stringify(text)}`, () => {
      const frontmatter = read(text);

      for (const [key, value] of Object.entries(expected)) {
        equal(frontmatter[key as keyof Frontmatter], value, key);
      }
    });
  }

  const noBlock: [string, Frontmatter["state"]][] = [
    ["text", { state: "none" }],
    ["\n---\na: 1\n---\n", { state: "none" }],
    [" ---\na: 1\n---\n", { state: "none" }],
    ["----\na: 1\n----\n", { state: "none" }],
    ["--- a: 1\n---\n", { state: "none" }],
    ["+++\na = 1\n+++\n", { state: "none", reason: "toml", line: 1 }],
    ['{\n"a": 1\n}\n', { state: "none", reason: "json", line: 1 }],
    ["{{title}}\n", { state: "none" }],
    ["---\na: 1\n", { state: "invalid", reason: "unclosed", line: 1 }],
    ["---", { state: "invalid", reason: "unclosed", line: 1 }],
    ["---\na: 1\n ---\n", { state: "invalid", reason: "unclosed", line: 1 }],
  ];
  for (const [text, state] of noBlock) {
    it(`readFrontmatter() says ${state.reason ?? state.state} of ${JSON.stringify(text)}`, () => {
      const frontmatter = read(text);

      deepEqual(frontmatter.state, state);
      equal(frontmatter.bodyStartLine, 1);
      equal(frontmatter.fields.size, 0);
    });
  }

  const values: [string, unknown][] = [
    ["v: 007", [["v", "007"]]],
    ["v: 22.10", [["v", "22.10"]]],
    ["v: 1e3", [["v", "1e3"]]],
    ["v: 0x10", [["v", "0x10"]]],
    ["v: no", [["v", "no"]]],
    ["v: 2024-05-01", [["v", "2024-05-01"]]],
    ["v: 20240218230452123456", [["v", "20240218230452123456"]]],
    ["v: true # why", [["v", "true"]]],
    ["v: a#b", [["v", "a#b"]]],
    ["v:\ttab", [["v", "tab"]]],
    ["v: C:\\a\\b", [["v", "C:\\a\\b"]]],
    ['v: "\\u4e2d"', [["v", "中"]]],
    ["v: >-\n  one\n  two", [["v", "one two"]]],
    ["v: |\n  # one\n   ---\n", [["v", "# one\n ---\n"]]],
    ["v: a\n  b", [["v", "a b"]]],
    ["v: [\n  a,\n  b\n]", [["v", ["a", "b"]]]],
    ["v: hello !important", [["v", "hello !important"]]],
    ["v: one\n  !two", [["v", "one !two"]]],
    ["v: '*'", [["v", "*"]]],
    ["v: !!str 5", [["v", "5"]]],
    ["v: [[Note]]", [["v", [["Note"]]]]],
    ["v:", [["v", null]]],
    ["v: ''", [["v", null]]],
    ["v: ~", [["v", null]]],
    ["v: null", [["v", null]]],
    ["v: 'null'", [["v", "null"]]],
    ["v: [null, 'null', ~, nulls]", [["v", [null, "null", null, "nulls"]]]],
    ["v:\n- \n- a\n-", [["v", [null, "a", null]]]],
    ["v: a\x07b", [["v", "a\ufffdb"]]],
    ["v: a\u2028b", [["v", "a\u2028b"]]],
    ["a: &x one\nb: *x", [["a", "one"], ["b", "one"]]],
    ["<<: {a: 1}", [["<<", [["a", "1"]]]]],
    ["__proto__: {a: 1}\nconstructor: 2", [["__proto__", [["a", "1"]]], ["constructor", "2"]]],
    ["标题: 缓存\nwith blank: 1\n? complex\n: 2", [
      ["标题", "缓存"],
      ["with blank", "1"],
      ["complex", "2"],
    ]],
    ["# only a comment", []],
    ["", []],
  ];
  for (const [yaml, pairs] of values) {
    it(`readFrontmatter() reads ${JSON.stringify(yaml)} as it is written`, () => {
      const frontmatter = readBlock(yaml);

      deepEqual(frontmatter.state, { state: "ok" });
      deepEqual(toPairs(frontmatter.fields), pairs);
    });
  }

  const invalid: [string, string, number?][] = [
    ["- a", "not-a-mapping", 2],
    ["just text", "not-a-mapping", 2],
    ["标题：缓存", "not-a-mapping", 2],
    ["null", "not-a-mapping", 2],
    ["a: 1\nb: 2\na: 3", "duplicate-key", 4],
    ['a: 1\n"a": 2', "duplicate-key", 3],
    ["n:\n  a: 1\n  a: 2", "duplicate-key", 4],
    ["tags:\n\t- a", "tab-indent", 3],
    ["a: 1\nm:\n\tk: v", "tab-indent", 4],
    ["tags:\n  - a\n\t- b", "tab-indent", 4],
    ["title: Fix: it", "bad-yaml", 2],
    ["a: 1\nb: @home", "bad-yaml", 3],
    ["a: [1", "bad-yaml"],
    ['a: "x "y" z"', "bad-yaml", 2],
    ["t:\n- [[x]]y", "bad-yaml", 3],
    ["t: *bold*", "bad-yaml"],
    ["a: 1\nb: !custom x", "bad-yaml", 3],
    ["a: !!python/object:os.system x", "bad-yaml", 2],
    ["a: !!binary aGk=\nb: !!set {c}", "bad-yaml"],
    ["a: &a [*a]", "bad-yaml"],
    ["a: 1\n--- b\nc: 1", "bad-yaml", 3],
    ["%TAG ! x\na: 1", "bad-yaml"],
    [`a: ${"[".repeat(200)}${"]".repeat(200)}`, "bad-yaml"],
    [`a: ${"[".repeat(3000)}`, "bad-yaml"],
    [`l: &l [${"x,".repeat(200)}]\nm: [${"*l,".repeat(60)}]`, "alias-limit"],
    [`k: &k ${"x".repeat(60_000)}\nm: [${"*k,".repeat(20)}]`, "alias-limit"],
    [`k: &k v\nm: [${"*k,".repeat(1500)}]`, "alias-limit"],
    [`a: ${"x".repeat(300_000)}`, "too-large"],
    ["k: v\n".repeat(5_000), "too-large"],
  ];
  for (const [yaml, reason, line] of invalid) {
    it(`readFrontmatter() says ${reason} of ${JSON.stringify(yaml.slice(0, 40))}`, () => {
      const frontmatter = readBlock(yaml);

      const { state } = frontmatter;
      equal(state.state, "invalid");
      equal(state.reason, reason);
      if (line !== undefined) equal(state.line, line);
      equal(frontmatter.fields.size, 0);
      equal(frontmatter.raw, `${yaml}\n`);
      equal(frontmatter.bodyStartLine, frontmatter.endLine + 1);
    });
  }

  it("readFrontmatter() takes hundreds of links for what they are", () => {
    const links = Array.from({ length: 700 }, (_, i) => `  - "[[Note ${i}, or so]]"`);

    const frontmatter = readBlock(`related:\n${links.join("\n")}`);

    const related = frontmatter.fields.get("related");
    equal(Array.isArray(related) && related.length, 700);
  });

  it("readFrontmatter() prints nothing, whatever it warns of", async () => {
    const url = new URL("../../lib/vault/", import.meta.url);
    const script = `
      import { readFrontmatter } from "${url}frontmatter.ts";
      import { decodeNote } from "${url}note_text.ts";
      import { runAtOnce } from "${new URL("../seams.ts", url)}";
      for (const yaml of ["a: {{date}}", "a: [\\n  b\\n]", "a: !x y", "? [a]\\n: b", "%FOO\\n---\\na: 1"]) {
        const bytes = new TextEncoder().encode("---\\n" + yaml + "\\n---\\n");
        runAtOnce(readFrontmatter(runAtOnce(decodeNote(bytes))));
      }`;
    const file = await Deno.makeTempFile({ suffix: ".ts" });
    const config = new URL("../../deno.json", import.meta.url).pathname;

    try {
      await Deno.writeTextFile(file, script);
      const { code, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
        args: ["run", "--quiet", "--no-check", "--allow-env", "--config", config, file],
      }).output();

      deepEqual([code, stdout.length, new TextDecoder().decode(stderr)], [0, 0, ""]);
    } finally {
      await Deno.remove(file);
    }
  });

  it("readFrontmatter() pauses while it looks for the end of a block", () => {
    const note = decode(`---\n${"\n".repeat(100_000)}`);

    let pauses = 0;
    for (const _ of readFrontmatter(note)) pauses++;

    ok(pauses >= 20, `only ${pauses} pauses`);
  });
});

describe("findKeyLine()", () => {
  it("findKeyLine() finds plain and quoted keys at the top level", () => {
    const note = decode('---\na: 1\nn:\n  id: 2\n"id" : 3\ntitle.x: 4\n---\nid: 5\n');
    const frontmatter = runAtOnce(readFrontmatter(note));

    deepEqual(
      ["a", "id", "title.x", "titlexx", "missing"].map((key) =>
        findKeyLine(note, frontmatter, key)
      ),
      [2, 5, 6, 1, 1],
    );
  });
});
