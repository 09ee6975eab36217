import { deepStrictEqual as deepEqual, ok, strictEqual as equal } from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import { runAtOnce } from "@/lib/seams.ts";
import { type ParsedNote, parseNote } from "@/lib/vault/note.ts";

function parse(text: string | Uint8Array, path = "folder/file name.md"): ParsedNote {
  const bytes = typeof text === "string" ? new TextEncoder().encode(text) : text;
  const note = runAtOnce(parseNote(path, bytes));
  ok(note);
  return note;
}

describe("parseNote()", () => {
  it("parseNote() reads what a memory says of itself", () => {
    const note = parse(
      "---\nid: 007\nname: Cache order\ndescription: >\n  Why the order\n  matters.\n" +
        "tags: [cache, '#缓存']\nstatus: active\ncreated_at: 2026-05-14\n" +
        "updated_at: 2026-05-15T10:00:00+08:00\nmetadata:\n  type: user\n  actor: codex\n---\n" +
        "# Heading\n\nBody #inline.\n",
    );

    const { id, name, nameFrom, description, status, actor, createdAt, updatedAt } = note;
    deepEqual({ id, name, nameFrom, description, status, actor, createdAt, updatedAt }, {
      id: "007",
      name: "Cache order",
      nameFrom: "frontmatter",
      description: "Why the order matters.",
      status: "active",
      actor: "codex",
      createdAt: "2026-05-14",
      updatedAt: "2026-05-15T10:00:00+08:00",
    });
    deepEqual(note.tags, ["cache", "缓存"]);
    deepEqual(note.inlineTags, ["inline"]);
    equal(note.bodyStartLine, 15);
    deepEqual(note.headings, [{ level: 1, text: "Heading", line: 15 }]);
    deepEqual(note.problems, []);
  });

  it("parseNote() leaves out what a note does not say", () => {
    const note = parse("Just text.");

    for (const key of ["id", "status", "actor", "createdAt", "updatedAt"]) {
      ok(!(key in note), key);
    }
    equal(note.description, "");
    deepEqual(note.tags, []);
  });

  const names: [string, string, string][] = [
    ["---\nname: N\ntitle: T\n---\n# H", "N", "frontmatter"],
    ["---\nname: ' '\ntitle: T\n---\n# H", "T", "frontmatter"],
    ["---\nname: [N]\ntitle: T\n---\n# H", "T", "frontmatter"],
    ["---\ntitle: 2024-05-01\n---\n", "2024-05-01", "frontmatter"],
    ["---\ntitle: |\n  two\n   lines\n---\n", "two lines", "frontmatter"],
    ["---\ntitle: null\n---\n# H", "H", "heading"],
    ["---\ntitle: Fix: it\n---\n# H", "H", "heading"],
    ["## Two\n\n#\n\n# **One** `x`\n", "One x", "heading"],
    ["One\n===\n", "One", "heading"],
    ["## Two\n\n> # quoted\n\n- # listed\n", "file name", "file"],
    ["# ![](pic.png)\n", "file name", "file"],
    ["", "file name", "file"],
  ];
  for (const [text, name, nameFrom] of names) {
    it(`parseNote() names ${JSON.stringify(text)} ${JSON.stringify(name)}`, () => {
      const note = parse(text);

      deepEqual([note.name, note.nameFrom], [name, nameFrom]);
    });
  }

  it("parseNote() takes a file name without its ending, in NFC", () => {
    equal(parse("", "a/release.notes.v1.2.md").name, "release.notes.v1.2");
    equal(parse("", "cafe\u0301.markdown").name, "caf\u00e9");
  });

  const problems: [string, [string, number | undefined][]][] = [
    ["---\na: 1\n", [["frontmatter-unclosed", 1]]],
    ["---\n- a\n---\n", [["frontmatter-not-a-mapping", 2]]],
    ["---\na: 1\na: 2\n---\n", [["frontmatter-duplicate-key", 3]]],
    ["---\na:\n\tb: 2\n---\n", [["frontmatter-tab-indent", 3]]],
    ["---\na: b: c\n---\n", [["frontmatter-bad-yaml", 2]]],
    [`---\na: ${"x".repeat(300_000)}\n---\n`, [["too-large", undefined]]],
    ["+++\na = 1\n+++\n", [["frontmatter-toml", 1]]],
    ['{\n"a": 1\n}\n', [["frontmatter-json", 1]]],
    ["---\nx: 1\nid: {a: b}\nname: [c]\n---\n", [["wrong-type", 4], ["wrong-type", 3]]],
    ["---\ntags:\n- [a]\ndescription: {a: b}\n---\n", [["wrong-type", 4], ["wrong-type", 2]]],
    ["---\nmetadata:\n  actor: [a]\n---\n", [["wrong-type", 2]]],
    ["---\nmetadata: text\nother: [1]\n---\n", []],
  ];
  for (const [text, expected] of problems) {
    it(`parseNote() reports what is wrong with ${JSON.stringify(text.slice(0, 60))}`, () => {
      const found = parse(text).problems.map(({ reason, line }) => [reason, line]);

      deepEqual(found, expected);
    });
  }

  it("parseNote() tells in a problem nothing of the note", () => {
    const secret = "swordfish";
    const blocks = [
      `${secret}: [${secret}`,
      `${secret}: 1\n${secret}: 2`,
      `id: [${secret}]\ntags: [[${secret}]]\nmetadata: {actor: {${secret}: 1}}`,
      `a: *${secret}`,
      `a: !${secret} b`,
      `a:\n\t${secret}: 1`,
    ];

    const messages = blocks.flatMap((yaml) => parse(`---\n${yaml}\n---\n${secret}`).problems)
      .map(({ message }) => message);

    equal(messages.length, 8);
    deepEqual(messages.filter((message) => message.includes(secret)), []);
  });

  it("parseNote() gives an invalid block no say, and keeps its text", () => {
    const note = parse("---\nid: m1\ntags: [a]\ntitle: Fix: it\n---\nBody.");

    equal(note.id, undefined);
    deepEqual(note.tags, []);
    equal(note.frontmatter.raw, "id: m1\ntags: [a]\ntitle: Fix: it\n");
    equal(note.bodyStartLine, 6);
  });

  it("parseNote() keeps a note with broken bytes and reports them", () => {
    const note = parse(Uint8Array.of(0x23, 0x20, 0x63, 0xe9));

    equal(note.name, "c\ufffd");
    deepEqual(note.problems.map(({ reason }) => reason), ["encoding-lossy"]);
  });

  it("parseNote() returns undefined for what is no text", () => {
    equal(runAtOnce(parseNote("a.md", Uint8Array.of(0xff, 0xfe, 0x61, 0))), undefined);
  });

  it("parseNote() changes no object by a key's name", () => {
    const note = parse("---\n__proto__:\n  polluted: true\nconstructor: x\n---\n");

    equal(({} as { polluted?: unknown }).polluted, undefined);
    deepEqual([...note.frontmatter.fields.keys()], ["__proto__", "constructor"]);
  });
});
