/** What became of something that may have been refused in part, for people. */
import { AppError } from "@/lib/errors.ts";
import { showText, toPlain } from "./show_text.ts";
import type { Terminal } from "./terminal.ts";

export interface Report {
  readonly lines: readonly string[];
  /** What could not be done, and why. */
  readonly refusals: readonly string[];
}

/** Shows what was done, and on stderr what was refused; returns whether nothing was. */
export function showReport(terminal: Terminal, { lines, refusals }: Report): boolean {
  if (lines.length > 0) showText(terminal, lines.join("\n"));
  for (const refusal of refusals) terminal.writeError(toPlain(refusal));
  return refusals.length === 0;
}

/** Returns what a person is told of an error; what the system refuses is an answer, too. */
export function wordsOf(error: unknown): string | undefined {
  if (error instanceof AppError) return error.message;
  return isOfTheSystem(error) ? error.message : undefined;
}

function isOfTheSystem(error: unknown): error is Error {
  return error instanceof Error && ("code" in error || error instanceof Deno.errors.NotCapable);
}
