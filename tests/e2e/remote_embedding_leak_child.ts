/** Prints how many bytes of heap each of many calls leaves behind; run with `--expose-gc`. */
import { EmbedderGuard } from "@/lib/embed/embedder_guard.ts";
import { RemoteEmbedder } from "@/lib/embed/remote_embedder.ts";
import { systemClock } from "@/lib/seams.ts";
import { remoteModel } from "../_support/remote_model.ts";
import { silentLogger } from "../_support/silent_logger.ts";

const CALLS = 3_000;
const answer = JSON.stringify({ data: [{ index: 0, embedding: new Array(16).fill(1) }] });

function heapBytes(): number {
  const { gc } = globalThis as { gc?: () => void };
  gc?.();
  return Deno.memoryUsage().heapUsed;
}

async function main(): Promise<void> {
  const embedder = new RemoteEmbedder({
    model: remoteModel(),
    readCredential: undefined,
    clock: systemClock,
    logger: silentLogger(),
    fetch: () => Promise.resolve(new Response(answer)),
  });
  const guard = new EmbedderGuard({
    embedder,
    kind: "passage",
    clock: systemClock,
    logger: silentLogger(),
  });
  // Lives as long as the server, as that of `Embeddings` does.
  const stop = new AbortController();
  const embedMany = async () => {
    for (let call = 0; call < CALLS; call++) await guard.embed([`text ${call}`], stop.signal);
  };
  await embedMany();
  const before = heapBytes();
  await embedMany();
  await Deno.stdout.write(
    new TextEncoder().encode(`${Math.round((heapBytes() - before) / CALLS)}\n`),
  );
}

if (import.meta.main) void main();
