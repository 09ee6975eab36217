/** A program of ours in a process of its own, which takes its task and gives its result as JSON. */

export interface JsonChildOptions {
  /** Where the program lies; it reads its task from stdin and writes its result to stdout. */
  readonly file: string;
  readonly permissions: readonly string[];
  /** Names the work in the error if it fails. */
  readonly what: string;
  /** Ends the process. */
  readonly signal?: AbortSignal;
}

/**
 * Runs the program, with the garbage collector within its reach.
 *
 * @throws {Error} If it ends with another code than 0.
 */
export async function runJsonChild<T>(task: unknown, options: JsonChildOptions): Promise<T> {
  const { file, permissions, signal, what } = options;
  const child = new Deno.Command(Deno.execPath(), {
    args: ["run", "--v8-flags=--expose-gc", ...permissions, file],
    stdin: "piped",
    stdout: "piped",
    stderr: "inherit",
    ...(signal ? { signal } : {}),
  }).spawn();
  const writer = child.stdin.getWriter();
  await writer.write(new TextEncoder().encode(JSON.stringify(task)));
  await writer.close();
  const { success, stdout } = await child.output();
  if (!success) throw new Error(`${what} failed; its own message stands above`);
  return JSON.parse(new TextDecoder().decode(stdout));
}
