import { match, ok, strictEqual as equal } from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import { chunkNote } from "@/lib/index/chunker.ts";
import { toChunkTable } from "@/lib/index/indexed_note.ts";
import { findPassage, MAX_SNIPPET_CHARS, type Passage } from "@/lib/index/snippets.ts";
import { createTokenizer } from "@/lib/index/tokenizer.ts";
import { runAtOnce } from "@/lib/seams.ts";
import { parseNote } from "@/lib/vault/note.ts";

const tokenizer = createTokenizer();

function passageOf(markdown: string, query: Record<string, number>, singles: string[] = []) {
  const note = runAtOnce(parseNote("n.md", new TextEncoder().encode(markdown)));
  ok(note);
  const chunks = toChunkTable(runAtOnce(chunkNote(note)));
  const weights = {
    terms: new Map(Object.entries(query)),
    singles: new Map(singles.map((char) => [char, 1])),
  };
  return runAtOnce(findPassage({ text: note.text.text, chunks, weights, tokenizer }));
}

function lineOf(passage: Passage | undefined): number | undefined {
  return passage?.chunk.startLine;
}

const FILLER = "nothing to see here ".repeat(60);

describe("findPassage()", () => {
  it("findPassage() picks the chunk with most of the query, with its heading and lines", () => {
    const markdown = `# Ops\n\n${FILLER}\n\n## Deploy\n\nzebra alpha\n\n## Other\n\nzebra\n`;

    const passage = passageOf(markdown, { zebra: 1, alpha: 2 });

    equal(passage?.chunk.heading, "Ops > Deploy");
    match(passage?.snippet ?? "", /zebra alpha/);
  });

  it("findPassage() shows the matched words of a long line", () => {
    const markdown = `${"数据库连接池耗尽时先看日志。".repeat(60)}关键在于回收连接。${
      "其余的不重要。".repeat(60)
    }`;

    const passage = passageOf(markdown, { 回收: 3, 收连: 3 });

    match(passage?.snippet ?? "", /回收连接/);
    ok((passage?.snippet.length ?? 0) <= MAX_SNIPPET_CHARS + 4);
  });

  it("findPassage() finds the last word of a note of 200 kB", () => {
    const markdown = `# Long\n\n${`${FILLER}\n\n`.repeat(170)}needle-tail-7\n`;

    const passage = passageOf(markdown, { "needle-tail-7": 5, needle: 2 });

    match(passage?.snippet ?? "", /needle-tail-7/);
    equal(passage?.chunk.endLine, markdown.split("\n").length - 1);
  });

  it("findPassage() takes a word for itself only, not for a part of others", () => {
    const others = "# Support\n\nsupport\n\n# Report\n\nreport\n\n# Import\n\nimport\n\n";
    const tail = "# Network\n\nlistens on port 8787\n";

    for (const repeats of [1, 100]) {
      const passage = passageOf(others.repeat(repeats) + tail, { port: 3 });

      equal(passage?.chunk.heading, "Network");
    }
  });

  it("findPassage() finds what is spelt in traditional characters, late in a long note", () => {
    const markdown = `${`# 甲\n\nlogin blog ${FILLER}\n\n`.repeat(80)}# 末\n\n記憶系統的 log\n`;

    const passage = passageOf(markdown, { log: 1, 系统: 3 });

    equal(passage?.chunk.heading, "末");
  });

  it("findPassage() matches a character inside bigrams", () => {
    const passage = passageOf(`甲乙\n\n${FILLER}\n\n# H\n\n笔记\n`, {}, ["记"]);

    match(passage?.snippet ?? "", /笔记/);
  });

  it("findPassage() shows the first chunk when only the metadata matched", () => {
    equal(lineOf(passageOf("# A\n\nfirst\n\n# B\n\nsecond\n", { zebra: 1 })), 1);
  });

  it("findPassage() has nothing to show of an empty note", () => {
    equal(passageOf("", { zebra: 1 }), undefined);
  });

  it("findPassage() never cuts a character in two", () => {
    const passage = passageOf("𠮷".repeat(3_000), { 𠮷𠮷: 1 });

    ok(passage?.snippet.isWellFormed());
  });
});
