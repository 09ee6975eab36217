/** Waiting for work that nobody tells the end of. */
import { delay } from "./bench_vault.ts";

const POLL_MS = 100;
const PATIENCE_MS = 120_000;

export interface StillOptions {
  /** What is looked at; compared as JSON. */
  readonly read: () => Promise<unknown>;
  readonly stillMs: number;
}

/**
 * Returns when something has been the same for a while.
 *
 * @throws {Error} If it does not come to rest within two minutes.
 */
export async function untilStill({ read, stillMs }: StillOptions): Promise<void> {
  const startMs = performance.now();
  let seen = JSON.stringify(await read());
  let sinceMs = startMs;
  while (performance.now() - sinceMs < stillMs) {
    await delay(Math.min(POLL_MS, stillMs));
    const now = JSON.stringify(await read());
    if (now !== seen) [seen, sinceMs] = [now, performance.now()];
    if (performance.now() - startMs > PATIENCE_MS) throw new Error("It does not come to rest");
  }
}
