/** A program that is killed in the midst of what it does. */
import { fileURLToPath } from "node:url";

const CONFIG = fileURLToPath(new URL("../config.json", import.meta.url));

export interface Life {
  /** How long it goes on once it has begun, which is when it says its first line. */
  readonly lifeMs: number;
  /** Is told each line that it says, the first one too. */
  readonly hear: (line: string) => void;
  /** Looks at what is there when it has begun; its life counts from then. */
  readonly begun?: () => Promise<void>;
}

/**
 * Runs a program of the tests with these arguments, and returns when it has been killed and all that
 * it said was heard.
 *
 * @throws {Error} If it ends by itself.
 */
export async function runAndKill(
  programAndArgs: readonly [program: string, ...args: string[]],
  { lifeMs, hear, begun }: Life,
): Promise<void> {
  const child = new Deno.Command(Deno.execPath(), {
    args: ["run", "--config", CONFIG, "--no-prompt", "-A", ...programAndArgs],
    stdin: "null",
    stdout: "piped",
  }).spawn();
  const end = async () => {
    await begun?.();
    await new Promise((resolve) => setTimeout(resolve, lifeMs));
    child.kill("SIGKILL");
  };
  let ending: Promise<void> | undefined;
  let rest = "";
  for await (const text of child.stdout.pipeThrough(new TextDecoderStream())) {
    const lines = (rest + text).split("\n");
    rest = lines.pop() ?? "";
    if (lines.length > 0) ending ??= end();
    for (const line of lines) hear(line);
  }
  await ending;
  const { signal, code } = await child.status;
  if (signal !== "SIGKILL") throw new Error(`The writing process ended by itself: ${code}`);
}
