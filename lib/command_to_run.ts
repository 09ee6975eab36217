/** A program with its arguments, as it is started without a shell. */
export interface CommandToRun {
  readonly command: string;
  readonly args: readonly string[];
}

/**
 * Quotes a word for `sh`, unless it is plain.
 *
 * @example
 * ```ts
 * import { equal } from "node:assert/strict";
 *
 * equal(quoteForShell("/usr/bin/deno"), "/usr/bin/deno");
 * equal(quoteForShell("it's"), `'it'\\''s'`);
 * ```
 */
export function quoteForShell(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
