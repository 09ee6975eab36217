/**
 * Makes text fit to be shown. What stands in notes may come from anybody: signs that steer a terminal
 * or turn text round would let it show something else than what is about to be written.
 */
import type { Terminal } from "./terminal.ts";

// deno-lint-ignore no-control-regex
const STEERING = /(?![\t\n])[\u0000-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g;

const ESCAPE = "\x1b[";
const RESET = `${ESCAPE}0m`;
/** By the mark that a line begins with. */
const COLORS: readonly (readonly [mark: string, code: string])[] = [
  ["⚠️", "33"],
  ["✅", "32"],
  ["🔁", "36"],
  ["→", "36"],
  ["💤", "2"],
  ["──", "2"],
  ["📋", "1"],
];

/** Writes a text and a line break, each line coloured by its mark where there are colours. */
export function showText(
  { hasColor, write }: Pick<Terminal, "hasColor" | "write">,
  text: string,
): void {
  const lines = toPlain(text).split("\n");
  write(`${(hasColor ? lines.map(paint) : lines).join("\n")}\n`);
}

/** Writes a value as JSON, in which such signs are escaped too. */
export function showJson({ write }: Pick<Terminal, "write">, value: unknown): void {
  write(`${toPlain(JSON.stringify(value, null, 2))}\n`);
}

/**
 * Returns a text in which signs that steer are written out as `\u001b`; line breaks stay.
 *
 * @example
 * ```ts
 * import { toPlain } from "@/lib/cli/show_text.ts";
 * import { equal } from "node:assert/strict";
 *
 * equal(toPlain("red: \u001b[31m"), "red: \\u001b[31m");
 * ```
 */
export function toPlain(text: string): string {
  return text.replace(
    STEERING,
    (sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

function paint(line: string): string {
  const start = line.trimStart();
  const code = COLORS.find(([mark]) => start.startsWith(mark))?.[1];
  return code === undefined ? line : `${ESCAPE}${code}m${line}${RESET}`;
}
