/** The program of the other process: does what it is told on stdin, and says when it is done. */
import { applyOp } from "./disk_op.ts";
import { linesOf, type Order, type OrderDone } from "./editor.ts";

async function main(): Promise<void> {
  for await (const line of linesOf(Deno.stdin.readable)) {
    const done = carryOut(JSON.parse(line));
    await Deno.stdout.write(new TextEncoder().encode(`${JSON.stringify(done)}\n`));
  }
}

function carryOut({ base, ops }: Order): OrderDone {
  try {
    for (const op of ops) applyOp(base, op);
    return {};
  } catch (error) {
    return { error: error instanceof Error ? error.message : String(error) };
  }
}

if (import.meta.main) main();
