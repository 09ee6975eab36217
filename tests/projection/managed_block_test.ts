import { deepStrictEqual as deepEqual, ok, strictEqual as equal, throws } from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import fc from "fast-check";
import { AppError } from "@/lib/errors.ts";
import { BLOCK_END, BLOCK_START, removeFrom, renderInto } from "@/lib/projection/managed_block.ts";
import { runAtOnce } from "@/lib/seams.ts";
import { anyText } from "../_support/any_text.ts";

const LINES = ["## Memory", "", "- m1 | Name | What it says"];
const bytesOf = (text: string) => new TextEncoder().encode(text);
const textOf = (bytes: Uint8Array) => new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes);
const render = (before: Uint8Array, lines: readonly string[] = LINES) =>
  runAtOnce(renderInto(before, lines));
const remove = (bytes: Uint8Array, separator = "") =>
  runAtOnce(removeFrom(bytes, separator))?.bytes;
const block = (newLine = "\n", lines: readonly string[] = LINES) =>
  [BLOCK_START, ...lines, BLOCK_END].join(newLine);

/** Returns what a text becomes, or the reason why it is left alone. */
function rendered(text: string, lines?: readonly string[]): string {
  try {
    return textOf(render(bytesOf(text), lines).bytes);
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    equal(error.code, "not-writable");
    return error.message;
  }
}

describe("renderInto()", () => {
  const TABLE: readonly (readonly [name: string, before: string, after: string])[] = [
    ["an empty file", "", `${block()}\n`],
    ["a text", "# A\n\ntext\n", `# A\n\ntext\n\n${block()}\n`],
    ["no line end at the end", "text", `text\n\n${block()}\n`],
    ["an empty line at the end", "text\n\n", `text\n\n${block()}\n`],
    ["nothing but a line end", "\n", `\n${block()}\n`],
    ["CRLF", "a\r\nb\r\n", `a\r\nb\r\n\r\n${block("\r\n")}\r\n`],
    ["more CRLF than LF", "a\r\nb\r\nc\n", `a\r\nb\r\nc\n\r\n${block("\r\n")}\r\n`],
    ["more LF than CRLF", "a\r\nb\nc\n", `a\r\nb\nc\n\n${block()}\n`],
    ["a byte order mark", "\ufefftext\n", `\ufefftext\n\n${block()}\n`],
    ["a byte order mark alone", "\ufeff", `\ufeff${block()}\n`],
    ["an older block", `a\n\n${block("\n", ["old"])}\nb\n`, `a\n\n${block()}\nb\n`],
    ["an older block in CRLF", `a\r\n${block("\r\n", ["x"])}\r\n`, `a\r\n${block("\r\n")}\r\n`],
    ["an older block without lines", `${BLOCK_START}\n${BLOCK_END}`, block()],
    ["blanks behind the comments", `${BLOCK_START}  \nx\n${BLOCK_END}\t\nb\n`, `${block()}\nb\n`],
    ["an edited block", `${BLOCK_START}\n- mine\n\n# Mine\n${BLOCK_END}\n`, `${block()}\n`],
    [
      "comments in a code fence",
      `\`\`\`\n${block()}\n\`\`\`\n`,
      `\`\`\`\n${block()}\n\`\`\`\n\n${block()}\n`,
    ],
    [
      "comments in indented code",
      `text\n\n    ${BLOCK_START}\n    ${BLOCK_END}\n`,
      `text\n\n    ${BLOCK_START}\n    ${BLOCK_END}\n\n${block()}\n`,
    ],
    ["a comment within a line", `see ${BLOCK_START}\n`, `see ${BLOCK_START}\n\n${block()}\n`],
    [
      "a block and comments in code",
      `${block("\n", ["old"])}\n\n~~~\n${BLOCK_END}\n~~~\n`,
      `${block()}\n\n~~~\n${BLOCK_END}\n~~~\n`,
    ],
    ["frontmatter", "---\nalwaysApply: true\n---\n", `---\nalwaysApply: true\n---\n\n${block()}\n`],
  ];
  for (const [name, before, after] of TABLE) {
    it(`renderInto() takes ${name}`, () => {
      equal(rendered(before), after);
    });
  }

  const REFUSED: readonly (readonly [name: string, before: string, reason: RegExp])[] = [
    ["two blocks", `${block()}\n\n${block()}\n`, /several blocks/],
    ["two beginnings", `${BLOCK_START}\n${block()}\n`, /several blocks/],
    ["a beginning without an end", `a\n${BLOCK_START}\nb\n`, /half a block.*memory:start/],
    ["an end without a beginning", `a\n${BLOCK_END}\nb\n`, /half a block.*memory:end/],
    ["an end before its beginning", `${BLOCK_END}\n\n${BLOCK_START}\n`, /half a block/],
    ["an end inside of code", `${BLOCK_START}\n\`\`\`\n${BLOCK_END}\n\`\`\`\n`, /half a block/],
    ["a code fence that nothing closes", "```\ntext\n", /nothing closes/],
    ["a comment that nothing closes", "<!-- a\n", /nothing closes/],
  ];
  for (const [name, before, reason] of REFUSED) {
    it(`renderInto() refuses ${name}`, () => {
      ok(reason.test(rendered(before)), rendered(before));
    });
  }

  it("renderInto() refuses what is no UTF-8", () => {
    for (const bytes of [[0x61, 0xff], [0xff, 0xfe, 0x61, 0x00], [0xc3]]) {
      throws(() => render(new Uint8Array(bytes)), /no text in UTF-8/);
    }
  });

  it("renderInto() twice is the same as once, whatever stands around", () => {
    fc.assert(fc.property(anyAround, (text) => {
      const once = tryRender(text);
      if (once === undefined) return;

      const twice = render(once.bytes);

      deepEqual(textOf(twice.bytes), textOf(once.bytes));
      equal(twice.oldBlock, once.block);
    }));
  });

  it("renderInto() changes no byte around the block that is there", () => {
    fc.assert(fc.property(anyAround, anyAround, (above, below) => {
      const text = `${above}\n${block("\n", ["old"])}\n${below}`.toWellFormed();
      const after = tryRender(text);
      if (after === undefined) return;
      if (after.oldBlock === undefined) return;

      const [top, rest] = textOf(after.bytes).split(after.block);

      equal(`${top}${after.oldBlock}${rest}`, text);
    }));
  });
});

/** Texts as people write them around a block, and others. */
const anyAround: fc.Arbitrary<string> = fc.oneof(
  anyText,
  fc.array(
    fc.constantFrom(
      "text",
      "\n",
      "\r\n",
      "\r",
      "\n\n",
      "- item",
      "# A",
      "```",
      "    code",
      "> q",
      "<div>",
      "<!-- x -->",
      "<!--",
      "-->",
      "$$",
      "%%",
      "---",
      "\ufeff",
      "中文",
      "🎉",
      "\0",
    ),
    { maxLength: 12 },
  ).map((parts) => parts.join("")),
).map((text) => text.toWellFormed());

function tryRender(text: string): ReturnType<typeof render> | undefined {
  try {
    return render(bytesOf(text));
  } catch (error) {
    if (error instanceof AppError) return undefined;
    throw error;
  }
}

describe("removeFrom()", () => {
  it("removeFrom() gives back the very bytes, whatever stood there", () => {
    fc.assert(
      fc.property(anyAround, (text) => {
        const before = bytesOf(text);
        const after = tryRender(text);
        if (after === undefined) return;

        deepEqual(remove(after.bytes, after.separator), before);
      }),
      { numRuns: 500 },
    );
  });

  it("removeFrom() gives back the very bytes after other blocks were rendered there", () => {
    for (const before of ["a", "a\r\n", "", "\ufeff", "a\n\n\n"]) {
      const first = render(bytesOf(before), ["one"]);
      const second = render(first.bytes, ["two", "three"]);

      equal(textOf(remove(second.bytes, first.separator) ?? new Uint8Array()), before);
    }
  });

  it("removeFrom() keeps two texts apart when somebody has written behind the block", () => {
    const { bytes, separator } = render(bytesOf("above"));
    const edited = bytesOf(`${textOf(bytes)}below\n`);

    equal(textOf(remove(edited, separator) ?? new Uint8Array()), "above\n\nbelow\n");
  });

  it("removeFrom() keeps what was changed above the block", () => {
    const { bytes, separator } = render(bytesOf("above\n"));
    const edited = bytesOf(textOf(bytes).replace("above", "changed"));

    equal(textOf(remove(edited, separator) ?? new Uint8Array()), "changed\n");
  });

  it("removeFrom() takes its own empty line away whatever line ends the file has got", () => {
    for (const text of ["above", "above\n", "above\n\n", "a\nb"]) {
      const { bytes, separator } = render(bytesOf(text));
      const converted = bytesOf(textOf(bytes).replaceAll("\n", "\r\n"));

      equal(
        textOf(remove(converted, separator) ?? new Uint8Array()),
        text.replaceAll("\n", "\r\n"),
      );
    }
  });

  it("removeFrom() finds no block where there is none", () => {
    equal(remove(bytesOf(`text\n\`\`\`\n${block()}\n\`\`\`\n`)), undefined);
  });

  it("removeFrom() refuses half a block", () => {
    throws(() => remove(bytesOf(`a\n${BLOCK_START}\n`)), /half a block/);
  });
});
