import { deepStrictEqual as deepEqual, ok, strictEqual as equal } from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import { type Chunk, chunkNote, MAX_CHUNK_CHARS, TARGET_WORDS } from "@/lib/index/chunker.ts";
import { runAtOnce } from "@/lib/seams.ts";
import { type ParsedNote, parseNote } from "@/lib/vault/note.ts";
import { lineAt } from "@/lib/vault/note_text.ts";

function parse(text: string): ParsedNote {
  const note = runAtOnce(parseNote("note.md", new TextEncoder().encode(text)));
  ok(note);
  return note;
}

const textOf = (note: ParsedNote, chunk: Chunk): string =>
  note.text.text.slice(chunk.startOffset, chunk.endOffset);

/** Chunks as `[heading, text]`. */
function chunksOf(text: string): [string, string][] {
  const note = parse(text);
  return runAtOnce(chunkNote(note)).map((chunk) => [chunk.heading, textOf(note, chunk)]);
}

/** Fails unless the chunks hold all of the body but white space, in order, each within bounds. */
function assertCovers(note: ParsedNote, chunks: readonly Chunk[]): void {
  const { text } = note.text;
  const { state, raw, endLine } = note.frontmatter;
  const isUnread = state.state === "invalid" && raw !== "";
  const fence = note.text.lineStarts[endLine - 1] ?? text.length;
  const bodyStart = note.bodyStartLine === null
    ? text.length
    : note.text.lineStarts[note.bodyStartLine - 1] ?? text.length;
  let at = isUnread ? note.text.lineStarts[1] ?? text.length : bodyStart;
  for (const chunk of chunks) {
    ok(chunk.startOffset >= at, "chunks overlap or come out of order");
    if (isUnread && at <= fence && chunk.startOffset >= bodyStart) {
      equal(text.slice(at, fence).trim(), "", "text before the fence");
      at = bodyStart;
    }
    equal(text.slice(at, chunk.startOffset).trim(), "", "text between chunks");
    const own = textOf(note, chunk);
    ok(own.length > 0 && own.length <= MAX_CHUNK_CHARS, `a chunk of ${own.length} characters`);
    equal(own, own.trim());
    ok(own.isWellFormed(), "a chunk that cuts a character");
    equal(chunk.startLine, lineAt(note.text, chunk.startOffset));
    equal(chunk.endLine, lineAt(note.text, chunk.endOffset - 1));
    at = chunk.endOffset;
  }
  const rest = isUnread && at <= fence
    ? text.slice(at, fence) + text.slice(bodyStart)
    : text.slice(at);
  equal(rest.trim(), "", "text behind the last chunk");
}

/** Numbers from 0 to 1 that are the same in every run. */
function seededRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_103_515_245 + 12_345) & 0x7fffffff;
    return (state >> 8) / (0x7fffffff >> 8);
  };
}

describe("chunkNote()", () => {
  it("chunkNote() gives each section its chunk, under the path of its headings", () => {
    const chunks = chunksOf(
      "before\n\n# A\n\na\n\n## B\n\nb\n\n### C\n\nc\n\n## D\n\nd\n\n# E\n\ne\n",
    );

    deepEqual(chunks, [
      ["", "before"],
      ["A", "# A\n\na"],
      ["A > B", "## B\n\nb"],
      ["A > B > C", "### C\n\nc"],
      ["A > D", "## D\n\nd"],
      ["E", "# E\n\ne"],
    ]);
  });

  it("chunkNote() folds headings without text into the next section", () => {
    const chunks = chunksOf("# A\n\n## B\n\n### C\ntext\n\n## Last\n");

    deepEqual(chunks, [["A > B > C", "# A\n\n## B\n\n### C\ntext"], ["A > Last", "## Last"]]);
  });

  it("chunkNote() packs blocks of a section to about the target", () => {
    const paragraph = "word ".repeat(50).trim();

    const chunks = chunksOf(`# A\n\n${Array(5).fill(paragraph).join("\n\n")}\n`);

    deepEqual(chunks.map(([, text]) => text.split(/\s+/).length), [102, 100, 50]);
  });

  it("chunkNote() counts 500 Chinese characters as the target", () => {
    const paragraph = "记忆系统".repeat(50);

    const chunks = chunksOf(Array(5).fill(paragraph).join("\n\n"));

    deepEqual(chunks.map(([, text]) => text.length), [402, 402, 200]);
  });

  it("chunkNote() keeps a block that is no paragraph whole up to the limit", () => {
    const code = "```\n" + "word ".repeat((MAX_CHUNK_CHARS - 10) / 5).trim() + "\n```";

    deepEqual(chunksOf(`a\n\n${code}\n\nb`).map(([, text]) => text), ["a", code, "b"]);
  });

  it("chunkNote() keeps a paragraph of the target whole and cuts a longer one evenly", () => {
    const sentence = "Six words make up each sentence. ";
    const wordsOf = (sentences: number) =>
      chunksOf(sentence.repeat(sentences)).map(([, text]) => text.split(" ").length);

    deepEqual(wordsOf(TARGET_WORDS / 6), [TARGET_WORDS]);
    deepEqual(wordsOf(22), [66, 66]);
    deepEqual(wordsOf(42), [90, 90, 72]);
  });

  it("chunkNote() cuts a long paragraph at sentence ends", () => {
    const english = "One sentence of seven words stands here. ".repeat(60).trim();
    const chinese = "这是一句完整的话，用来测试分句。".repeat(100);

    for (const [text, stop] of [[english, "."], [chinese, "。"]] as const) {
      const chunks = chunksOf(text);

      ok(chunks.length > 2);
      for (const [, chunk] of chunks) equal(chunk.at(-1), stop);
    }
  });

  it("chunkNote() leaves the quote mark with the sentence that it ends", () => {
    const chunks = chunksOf("他说：“记住这一点。”".repeat(200));

    for (const [, chunk] of chunks) equal(chunk.at(-1), "”");
  });

  it("chunkNote() cuts long code at line ends", () => {
    const code = Array.from({ length: 200 }, (_, i) => `const value${i} = ${i};`);

    const chunks = chunksOf(`\`\`\`js\n${code.join("\n")}\n\`\`\``);

    const lines = chunks.flatMap(([, text]) => text.split("\n"));
    deepEqual(lines, ["```js", ...code, "```"]);
  });

  it("chunkNote() keeps code in a long list whole", () => {
    const code = ["  ```", ...Array(20).fill("  some.code();"), "  ```"].join("\n");
    const item = `- ${"text ".repeat(150)}\n\n${code}\n\n  ${"more ".repeat(100)}`;

    const chunks = chunksOf(item).filter(([, text]) => text.includes("```"));

    equal(chunks.length, 1);
    ok(chunks[0]?.[1].includes(code.trim()));
  });

  it("chunkNote() does not part a heading from a block that just fits without it", () => {
    const paragraph = "Seven words and then a full stop. ".repeat(34).trim();

    const chunks = chunksOf(`# ${"Long heading ".repeat(8)}\n\n${paragraph}`);

    ok(chunks[0]?.[1].includes("Seven words"));
  });

  const bodies: [string, string, string[]][] = [
    ["a note without a body", "---\na: 1\n---\n", []],
    ["an empty file", "", []],
    ["blank lines", "\n \n\t\n", []],
    ["frontmatter that is fine", "---\na: 1\n---\nbody", ["body"]],
    ["frontmatter that is invalid", "---\na: b: c\n---\nbody", ["a: b: c", "body"]],
    ["frontmatter that is invalid, no body", "---\na: b: c\n---\n", ["a: b: c"]],
    ["frontmatter without an end", "---\na: 1\nbody", ["---\na: 1\nbody"]],
    ["TOML", "+++\na = 1\n+++\nbody", ["+++\na = 1\n+++\nbody"]],
  ];
  for (const [name, text, expected] of bodies) {
    it(`chunkNote() begins where the text begins: ${name}`, () => {
      deepEqual(chunksOf(text).map(([, chunk]) => chunk), expected);
    });
  }

  it("chunkNote() holds every word of a long note, the last one too", () => {
    const note = parse(`${"filler words ".repeat(15_000)}\n\nneedle-tail-7`);

    const chunks = runAtOnce(chunkNote(note));

    assertCovers(note, chunks);
    const last = chunks.at(-1);
    ok(last && textOf(note, last).includes("needle-tail-7"));
  });

  const hostile: [string, () => string][] = [
    ["2 MiB in one line without a blank", () => "x".repeat(2 * 1024 * 1024)],
    ["2 MiB of Chinese in one line", () => "中".repeat(700_000)],
    ["a line of emoji", () => `a${"😀".repeat(300_000)}`],
    ["100 000 headings", () => "# h\n".repeat(100_000)],
    ["50 000 nested quotes", () => `${">".repeat(50_000)} deep\n`],
    ["quotes nested ever deeper", () => nested((depth) => `${">".repeat(depth)} x`)],
    ["lists nested ever deeper", () => nested((depth) => `${"  ".repeat(depth)}- x`)],
    ["backticks alone", () => "`".repeat(1024 * 1024)],
    ["backticks after text", () => `#a ${"`b".repeat(512 * 1024)}`],
    ["blanks between two letters", () => `a${" ".repeat(1024 * 1024)}b`],
    ["200 000 empty lines", () => `a${"\n".repeat(200_000)}b`],
    ["100 000 list items", () => "- item\n".repeat(100_000)],
    ["a fence that never ends", () => `\`\`\`\n${"line\n".repeat(100_000)}`],
    ["a paragraph of 100 000 lines under which a rule stands", () => `${"a\n".repeat(100_000)}---`],
  ];
  for (const [name, make] of hostile) {
    it(`chunkNote() and parseNote() pause regularly and end with ${name}`, () => {
      const bytes = new TextEncoder().encode(make());

      let pauses = 0;
      const run = <T>(steps: Generator<void, T>): T => {
        for (;;) {
          const step = steps.next();
          if (step.done) return step.value;
          pauses++;
        }
      };
      const note = run(parseNote("note.md", bytes));
      ok(note);
      const chunks = run(chunkNote(note));

      assertCovers(note, chunks);
      // One slice of the decoder, the line table and the scanner each is more than this.
      ok(pauses >= bytes.length / (64 * 1024), `only ${pauses} pauses`);
    });
  }

  it("chunkNote() covers any soup of Markdown", () => {
    const pieces = [
      ..."# h|## 二级 ##|text|more *text*|中文句子。还有一句！|    code|\tcode|- item|1. one|2. two"
        .split("|"),
      ..."-|  - nested|> quote|>|> - > deep|```|````|~~~|```js|===|---|* * *|<div>|</div>|<!--"
        .split("|"),
      ..."-->|%%|%% a %%|$$|<pre>|</pre>|#tag `#no|[[a #b]]|a | b|--- | ---|[^1]: n|`|``|\\|&amp;"
        .split("|"),
      "| a | b |",
      "|---|---|",
      "",
      "",
      " ",
      "\u3000",
      "\u2028",
      "😀".repeat(400),
      "word ".repeat(300),
      "长句子，没有空格。".repeat(160),
      "x".repeat(1300),
    ];
    const ends = ["\n", "\n", "\r\n", "\r"];
    const random = seededRandom(42);
    const pick = (list: readonly string[]): string =>
      list[Math.floor(random() * list.length)] ?? "";

    for (let round = 0; round < 1_500; round++) {
      const lines = Array.from(
        { length: 1 + Math.floor(random() * 25) },
        () => pick(pieces) + pick(ends),
      );
      const text = (random() < 0.2 ? "---\na: 1\n---\n" : "") + lines.join("");
      const note = parse(text);

      const chunks = runAtOnce(chunkNote(note));

      try {
        assertCovers(note, chunks);
        assertBlocksInOrder(note);
      } catch (error) {
        throw new Error(`failed on ${JSON.stringify(text)}`, { cause: error });
      }
    }
  });
});

function nested(line: (depth: number) => string): string {
  return Array.from({ length: 600 }, (_, depth) => line(depth)).join("\n");
}

function assertBlocksInOrder(note: ParsedNote): void {
  let last = (note.bodyStartLine ?? 1) - 1;
  for (const { startLine, endLine, parts } of note.blocks) {
    ok(startLine > last && endLine >= startLine && endLine <= note.text.lineCount);
    let lastPart = startLine - 1;
    for (const part of parts ?? []) {
      ok(part.startLine > lastPart && part.endLine >= part.startLine && part.endLine <= endLine);
      lastPart = part.endLine;
    }
    last = endLine;
  }
}
