import { deepStrictEqual as deepEqual, rejects, strictEqual as equal } from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import { openTerminal, type Terminal } from "@/lib/cli/terminal.ts";

interface Written {
  readonly terminal: Terminal;
  readonly written: string[];
}

function terminalOf(input: string | Uint8Array[], { isTerminal = true } = {}): Written {
  const written: string[] = [];
  const chunks = typeof input === "string" ? [new TextEncoder().encode(input)] : input;
  const terminal = openTerminal({
    input: () => ReadableStream.from(chunks.map((chunk) => new Uint8Array(chunk))),
    write: (text) => void written.push(text),
    writeError: () => undefined,
    isTerminal,
    hasColor: false,
  });
  return { terminal, written };
}

async function readAll({ terminal }: Written): Promise<string[]> {
  const lines: string[] = [];
  for (;;) {
    const line = await terminal.ask("");
    if (line === undefined) return lines;
    lines.push(line);
  }
}

describe("openTerminal()", () => {
  it("ask() returns line by line, whatever ends a line", async () => {
    const cases: [string, string[]][] = [
      ["", []],
      ["y\nn\n", ["y", "n"]],
      ["y\r\nn\r\n", ["y", "n"]],
      ["y\nlast", ["y", "last"]],
      ["\n\ny\n", ["", "", "y"]],
      ["\ufeff全部执行\n", ["全部执行"]],
    ];
    for (const [input, lines] of cases) {
      deepEqual(await readAll(terminalOf(input)), lines, JSON.stringify(input));
    }
  });

  it("ask() puts together what comes in pieces, characters too", async () => {
    const bytes = new TextEncoder().encode("逐条确认\n是\n");
    const pieces = Array.from(bytes, (byte) => new Uint8Array([byte]));

    deepEqual(await readAll(terminalOf(pieces)), ["逐条确认", "是"]);
  });

  it("ask() goes on to say that input has ended", async () => {
    const { terminal } = terminalOf("");

    equal(await terminal.ask(""), undefined);
    equal(await terminal.ask(""), undefined);
  });

  it("ask() shows what a script answers, as a person's keys show by themselves", async () => {
    const script = terminalOf("y\n", { isTerminal: false });
    const person = terminalOf("y\n");

    for (const { terminal } of [script, person]) {
      await terminal.ask("Sure? ");
      await terminal.ask("Sure? ");
    }

    deepEqual(script.written, ["Sure? ", "y\n", "Sure? ", "\n"]);
    deepEqual(person.written, ["Sure? ", "Sure? ", "\n"]);
  });

  it("ask() refuses a line without an end", async () => {
    const { terminal } = terminalOf("y".repeat(1_000_000));

    await rejects(terminal.ask(""), { name: "InvalidRequest" });
  });

  it("openTerminal() reads nothing before a question", () => {
    let reads = 0;
    openTerminal({
      input: () => {
        reads++;
        return ReadableStream.from([]);
      },
      write: () => undefined,
      writeError: () => undefined,
      isTerminal: false,
      hasColor: false,
    });

    equal(reads, 0);
  });
});
