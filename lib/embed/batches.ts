/** Texts of passages in calls that a provider takes. */
import { Buffer } from "node:buffer";
import type { BatchLimits } from "./embedder.ts";

/**
 * Splits texts into batches, in their order; a text over the limit of bytes is alone in its own.
 *
 * @returns No batch is empty; one after the other they hold all texts.
 *
 * @example
 * ```ts
 * import { deepEqual } from "node:assert/strict";
 *
 * deepEqual(splitBatches(["a", "b", "c"], { texts: 2, bytes: 100 }), [["a", "b"], ["c"]]);
 * ```
 */
export function splitBatches(
  texts: readonly string[],
  limits: Pick<BatchLimits, "texts" | "bytes">,
): string[][] {
  const batches: string[][] = [];
  let batch: string[] = [];
  let room = limits.bytes;
  for (const text of texts) {
    const bytes = Buffer.byteLength(text);
    if (batch.length > 0 && (batch.length >= limits.texts || bytes > room)) {
      batches.push(batch);
      batch = [];
      room = limits.bytes;
    }
    batch.push(text);
    room -= bytes;
  }
  return batch.length === 0 ? batches : [...batches, batch];
}
