/** Who carries out edits: this process, or another one that lives as long as the run. */
import { fileURLToPath } from "node:url";
import { applyOp, type DiskOp } from "./disk_op.ts";

const OTHER = fileURLToPath(new URL("./other_process.ts", import.meta.url));

/** What the other process is told, one line of JSON each. */
export interface Order {
  readonly base: string;
  readonly ops: readonly DiskOp[];
}

/** What it answers, one line of JSON each, when all is done. */
export interface OrderDone {
  readonly error?: string;
}

export interface Editor extends AsyncDisposable {
  /**
   * Does all acts in order and returns when they are done.
   *
   * @throws {Error} If one of them failed.
   */
  apply(ops: readonly DiskOp[]): Promise<void>;
}

/**
 * Returns an editor that works in this process.
 *
 * @param isHasty True to let nothing else happen between the acts of an edit.
 */
export function ownEditor(base: string, isHasty: () => boolean): Editor {
  return {
    async apply(ops) {
      const hasty = isHasty();
      for (const op of ops) {
        applyOp(base, op);
        if (!hasty) await nextTurn();
      }
    },
    [Symbol.asyncDispose]: () => Promise.resolve(),
  };
}

/** Starts another process that edits; use it with `await using`. */
export function otherEditor(base: string): Editor {
  const child = new Deno.Command(Deno.execPath(), {
    args: ["run", "--allow-read", "--allow-write", "--allow-run", "--allow-env", OTHER],
    stdin: "piped",
    stdout: "piped",
    stderr: "inherit",
  }).spawn();
  const writer = child.stdin.getWriter();
  const answers = linesOf(child.stdout);
  return {
    async apply(ops) {
      const order: Order = { base, ops };
      await writer.write(new TextEncoder().encode(`${JSON.stringify(order)}\n`));
      const { value, done } = await answers.next();
      if (done) throw new Error("The other process ended; its own message stands above");
      const { error }: OrderDone = JSON.parse(value);
      if (error !== undefined) throw new Error(error);
    },
    [Symbol.asyncDispose]: async () => {
      await writer.close();
      await child.status;
      await answers.return(undefined);
    },
  };
}

/** Returns the lines of a stream as they come, without their ends. */
export async function* linesOf(stream: ReadableStream<Uint8Array>): AsyncGenerator<string, void> {
  let rest = "";
  const decoder = new TextDecoder();
  for await (const bytes of stream) {
    const lines = (rest + decoder.decode(bytes, { stream: true })).split("\n");
    rest = lines.pop() ?? "";
    yield* lines;
  }
}

function nextTurn(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 0));
}
