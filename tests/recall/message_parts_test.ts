import { deepStrictEqual as deepEqual, ok, strictEqual as equal } from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import fc from "fast-check";
import type { Trigger } from "@/lib/contracts_recall.ts";
import { MAX_PARTS, splitMessage } from "@/lib/recall/_message_parts.ts";
import { anyText } from "@/tests/_support/any_text.ts";

const countTerms = (text: string) => text.split(/[\s，。]+/).filter((word) => word !== "").length;
const split = (text: string, trigger: Trigger = "user") =>
  splitMessage(text, { trigger, countTerms });
const textsOf = (text: string, trigger?: Trigger) => split(text, trigger).map((part) => part.text);

const LONG = "the quick brown fox jumps over it ".repeat(20).trim();

describe("splitMessage()", () => {
  const cases: readonly [name: string, text: string, expected: readonly string[]][] = [
    ["nothing of a blank message", " \n\t", []],
    ["a sentence as it is", " One two three four five. ", ["One two three four five."]],
    ["a short word as it is", "deploy", ["deploy"]],
    [
      "a short message and its sentences",
      "One two three four. Five six seven eight?",
      [
        "One two three four. Five six seven eight?",
        "One two three four.",
        "Five six seven eight?",
      ],
    ],
    [
      "lines, and Chinese sentences without blanks",
      "甲 乙 丙 丁。戊 己 庚 辛！\r\none two three four",
      [
        "甲 乙 丙 丁。戊 己 庚 辛！\r\none two three four",
        "甲 乙 丙 丁。",
        "戊 己 庚 辛！",
        "one two three four",
      ],
    ],
    [
      "no sentence of few words beside others",
      "Done.\nOne two three four five\nok",
      ["Done.\nOne two three four five\nok", "One two three four five"],
    ],
    ["a sentence that is said twice once", "a b c d\na b c d", ["a b c d\na b c d"]],
    ["colours away", "\u001b[1;31mone two\u001b[0m three four", ["one two three four"]],
    ["versions and paths whole", "see v1.2.3 in a/b.ts now", ["see v1.2.3 in a/b.ts now"]],
    [
      "what tells of trouble first",
      "one two three four\nfive six seven eight\nError: nine ten eleven",
      [
        "one two three four\nfive six seven eight\nError: nine ten eleven",
        "Error: nine ten eleven",
        "one two three four",
        "five six seven eight",
      ],
    ],
  ];
  for (const [name, text, expected] of cases) {
    it(`splitMessage() takes ${name}`, () => deepEqual(textsOf(text), expected));
  }

  it("splitMessage() joins neighbours where no sentence says enough", () => {
    const lines = Array.from({ length: 200 }, (_, index) => `bullet ${index}`);

    const parts = textsOf(lines.join("\n"));

    deepEqual(parts.slice(0, 2), ["bullet 0\nbullet 1", "bullet 2\nbullet 3"]);
    deepEqual(textsOf(`${"x".repeat(500)}`), ["x".repeat(400), "x".repeat(100)].slice(1));
  });

  it("splitMessage() begins with the end of an output, with the beginning of a message", () => {
    const lines = Array.from({ length: 40 }, (_, index) => `line ${index} says little more`);

    const ofUser = textsOf(lines.join("\n"), "user");
    const ofAgent = textsOf(lines.join("\n"), "assistant");

    equal(ofUser.length, MAX_PARTS);
    deepEqual(ofUser, lines.slice(0, MAX_PARTS));
    deepEqual(ofAgent, lines.slice(-MAX_PARTS).reverse());
  });

  it("splitMessage() tells a part of many from the whole", () => {
    const [whole, ...parts] = split("One two three four. Five six seven eight.");

    ok(!whole?.isPart);
    ok(parts.length === 2 && parts.every(({ isPart }) => isPart));
    ok(split(LONG).every(({ isPart }) => isPart));
  });

  it("splitMessage() leaves encoded data out", () => {
    deepEqual(
      textsOf(`${"QUJD".repeat(1_000)}\none two three four\n${LONG}`).at(0),
      "one two three four",
    );
  });

  it("splitMessage() looks at beginning and end of a message that is very long", () => {
    const text = `first words of all this\n${"x y z w v.\n".repeat(500_000)}last words of all this`;

    ok(textsOf(text, "user").includes("first words of all this"));
    ok(textsOf(text, "assistant").includes("last words of all this"));
  });

  it("splitMessage() gives a bounded number of bounded parts of the text, whatever it is", () => {
    fc.assert(fc.property(anyText, fc.nat(60), fc.boolean(), (text, times, isUser) => {
      const message = text.repeat(times);

      const parts = split(message, isUser ? "user" : "assistant");

      ok(parts.length <= MAX_PARTS);
      for (const part of parts) {
        ok(part.text.length <= 400 && part.text.trim() !== "");
        ok(part.text.split("\n").every((line) => message.includes(line)));
      }
    }));
  });
});
