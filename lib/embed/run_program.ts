/** Other programs, run for the one line that they print. */
import { unlessAborted } from "./_pause.ts";

/** A program to run without a shell, with nothing on its standard input. */
export interface ProgramRun {
  readonly path: string;
  readonly args: readonly string[];
  /** All that it gets to see of the environment. */
  readonly env: Readonly<Record<string, string>>;
  readonly limitMs: number;
}

export interface ProgramResult {
  readonly code: number;
  readonly stdout: string;
}

/** Returns `undefined` if the program could not be started, or did not end in time. */
export type RunProgram = (run: ProgramRun) => Promise<ProgramResult | undefined>;

/** Runs a program of this machine; it is killed when its time is up. What it complains of is dropped. */
export async function runProgram(
  { path, args, env, limitMs }: ProgramRun,
): Promise<ProgramResult | undefined> {
  const limit = new AbortController();
  const timer = setTimeout(() => limit.abort(), limitMs);
  try {
    const command = new Deno.Command(path, {
      args: [...args],
      clearEnv: true,
      env: { ...env },
      stdin: "null",
      stdout: "piped",
      stderr: "null",
      signal: limit.signal,
    });
    // Not left to the end of the output: a child of its own may hold the pipe open.
    const { code, stdout } = await unlessAborted(command.output(), limit.signal);
    return { code, stdout: new TextDecoder().decode(stdout) };
  } catch {
    // Gone, forbidden, or no room for one more process: told by the return value.
    return undefined;
  } finally {
    clearTimeout(timer);
  }
}
