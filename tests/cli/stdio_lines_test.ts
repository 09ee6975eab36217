import { deepStrictEqual as deepEqual, ok } from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import { readLines } from "@/lib/cli/stdio_lines.ts";
import { StdioOutput } from "@/lib/cli/stdio_output.ts";

const bytes = (text: string) => new TextEncoder().encode(text);

async function linesOf(
  pieces: readonly Uint8Array[],
  maxBytes = 1_000,
): Promise<(string | undefined)[]> {
  return await Array.fromAsync(readLines(ReadableStream.from(pieces), maxBytes));
}

describe("readLines()", () => {
  it("cuts at line feeds, wherever the pieces end", async () => {
    const text = '{"a":"记忆 🦓"}\n\n{"b":1}\r\n  \n{"c":"\u2028"}\n{"last":1}';
    const whole = bytes(text);
    const expected = ['{"a":"记忆 🦓"}', '{"b":1}', '{"c":"\u2028"}', '{"last":1}'];

    for (const size of [1, 2, 3, 7, 1_000]) {
      const pieces = Array.from(
        { length: Math.ceil(whole.length / size) },
        (_, at) => whole.subarray(at * size, (at + 1) * size),
      );
      deepEqual(await linesOf(pieces), expected, `pieces of ${size}`);
    }
  });

  it("says that a line was too long, keeps none of it, and goes on", async () => {
    const long = "x".repeat(11);

    deepEqual(await linesOf([bytes(`a\n${long}`), bytes(`${long}\nb\n${long}`)], 10), [
      "a",
      undefined,
      "b",
      undefined,
    ]);
    deepEqual(await linesOf([bytes(`${"x".repeat(10)}\n`)], 10), ["x".repeat(10)]);
  });

  it("ends with the stream", async () => {
    deepEqual(await linesOf([]), []);
    deepEqual(await linesOf([bytes("\n\n")]), []);
  });
});

describe("StdioOutput", () => {
  it("writes each message in whole, on one line, in the order of the calls", async () => {
    const written: string[] = [];
    const stream = new WritableStream<Uint8Array>({
      write: (chunk) => void written.push(new TextDecoder().decode(chunk)),
    });
    const output = new StdioOutput(stream, () => {});

    void output.write('{"a":\r\n1}');
    void output.write('{"b":"\\n"}');
    await output.flush();

    deepEqual(written, ['{"a": 1}\n', '{"b":"\\n"}\n']);
  });

  it("has who writes wait until the client reads, and nobody else", async () => {
    const reading = Promise.withResolvers<void>();
    const output = new StdioOutput(new WritableStream({ write: () => reading.promise }), () => {});
    const done: string[] = [];

    const first = output.write("1").then(() => done.push("first"));
    const second = output.write("2").then(() => done.push("second"));
    await new Promise((resolve) => setTimeout(resolve, 20));
    deepEqual(done, []);
    reading.resolve();
    await Promise.all([first, second]);

    deepEqual(done, ["first", "second"]);
  });

  it("says that the client has gone, and then drops what is written", async () => {
    let gone = 0;
    const stream = new WritableStream({ write: () => Promise.reject(new Error("EPIPE")) });
    const output = new StdioOutput(stream, () => gone++);

    await output.write("1");
    await output.write("2");
    await output.flush();

    ok(gone > 0);
  });
});
