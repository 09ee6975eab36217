import { deepStrictEqual as deepEqual, strictEqual as equal } from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import { showJson, showText, toPlain } from "@/lib/cli/show_text.ts";
import { fakeTerminal } from "./_fake_terminal.ts";

describe("toPlain()", () => {
  it("toPlain() writes out what would steer a terminal or turn text round", () => {
    const cases: [string, string][] = [
      ["a\tb\nc", "a\tb\nc"],
      ["记忆 ✅ é", "记忆 ✅ é"],
      ["\x1b[2J", "\\u001b[2J"],
      ["\r", "\\u000d"],
      ["\x9b31m", "\\u009b31m"],
      ["\x7f\x00", "\\u007f\\u0000"],
      ["\u202eabc\u2066", "\\u202eabc\\u2066"],
    ];
    for (const [text, plain] of cases) {
      equal(toPlain(text), plain, JSON.stringify(text));
    }
  });
});

describe("showText()", () => {
  const text = "📋 Title\n⚠️ warning\n✅ well\n🔁 again\n  → proposal\nplain";

  it("showText() colours lines by their marks where there are colours", () => {
    const terminal = fakeTerminal([], { hasColor: true });

    showText(terminal, text);

    deepEqual(terminal.output.split("\n"), [
      "\x1b[1m📋 Title\x1b[0m",
      "\x1b[33m⚠️ warning\x1b[0m",
      "\x1b[32m✅ well\x1b[0m",
      "\x1b[36m🔁 again\x1b[0m",
      "\x1b[36m  → proposal\x1b[0m",
      "plain",
      "",
    ]);
  });

  it("showText() writes the text as it is where there are none", () => {
    const terminal = fakeTerminal();

    showText(terminal, text);

    equal(terminal.output, `${text}\n`);
  });
});

describe("showJson()", () => {
  it("showJson() writes what parses to the same value, without signs that steer", () => {
    const terminal = fakeTerminal();
    const value = { text: "a\nb\x1b[31m\x9b\u202e", list: [1] };

    showJson(terminal, value);

    deepEqual(JSON.parse(terminal.output), value);
    equal(toPlain(terminal.output), terminal.output);
  });
});
