/** What the command lines of benches have in common. */
import { writeStderr } from "@/lib/seams.ts";

const EXIT_MISUSED = 2;

/** The command line cannot be followed. */
export class UsageError extends Error {
  override name = "UsageError";
}

/**
 * Parses a command line.
 *
 * @param usage Told with what is wrong.
 * @throws {UsageError} If `parse` throws.
 */
export function parseOrExplain<T>(parse: () => T, usage: string): T {
  try {
    return parse();
  } catch (error) {
    throw new UsageError(`${error instanceof Error ? error.message : error}\n\n${usage}`);
  }
}

/** @throws {UsageError} If it is no whole number from 1. */
export function parseCount(flag: string, text: string): number {
  if (!/^[1-9]\d*$/.test(text)) throw new UsageError(`--${flag} must be a whole number from 1`);
  return Number(text);
}

/** Runs a bench as the program that this process is and exits with what it returns. */
export async function runAsProgram(main: (args: string[]) => Promise<number>): Promise<never> {
  try {
    return Deno.exit(await main(Deno.args));
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    writeStderr(error.message);
    return Deno.exit(EXIT_MISUSED);
  }
}
