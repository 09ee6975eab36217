/**
 * How far long work is, for clients that ask to be told. The one thing that takes long is to read
 * the vault whole, at the first start and when somebody has it read anew: a call that comes
 * meanwhile and wants to hear of progress waits for it a little, as an answer from half a vault
 * looks like one that knows nothing. Other calls are answered at once, and say how far it is.
 */
import type { ServerContext } from "@modelcontextprotocol/server";
import type { VaultIndex } from "@/lib/index/vault_index.ts";
import type { Clock } from "@/lib/seams.ts";

/** Well below the minute after which clients give up a call. */
export const INDEX_WAIT_MS = 10_000;
export const PROGRESS_EVERY_MS = 1_000;
const LOOK_EVERY_MS = 50;

/** How much of how much is done; each time more. */
export interface Progress {
  readonly progress: number;
  readonly total: number;
  readonly message: string;
}

/** Tells a client; never throws. */
export type OnProgress = (progress: Progress) => Promise<void>;

/** Returns what tells the client of a request, `undefined` if it has not asked to be told. */
export function toOnProgress(
  { _meta, notify }: Pick<ServerContext["mcpReq"], "_meta" | "notify">,
): OnProgress | undefined {
  const progressToken = _meta?.progressToken;
  if (progressToken === undefined) return undefined;
  return async (progress) => {
    const params = { ...progress, progressToken };
    // It has left meanwhile.
    await notify({ method: "notifications/progress", params }).catch(() => {});
  };
}

/** Waits until the vault has been read whole, but not for long; returns at once if it has. */
export async function awaitIndex(
  { clock, index }: { readonly clock: Clock; readonly index: Pick<VaultIndex, "indexing"> },
  onProgress: OnProgress,
  signal: AbortSignal | undefined,
): Promise<void> {
  const startMs = clock.monotonicMs();
  let told = 0;
  let toldAtMs = -Infinity;
  for (let nowMs = startMs; nowMs - startMs < INDEX_WAIT_MS; nowMs = clock.monotonicMs()) {
    const { indexing } = index;
    if (indexing === undefined || signal?.aborted) return;
    const { done, total } = indexing;
    if (done > told && nowMs - toldAtMs >= PROGRESS_EVERY_MS) {
      const message = `Reading the vault: ${done} of ${total} files`;
      await onProgress({ progress: done, total, message });
      told = done;
      toldAtMs = nowMs;
    }
    await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS));
  }
}
