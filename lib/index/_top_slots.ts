/** Picks the best few of many scored notes without sorting them all. */

/** Returns the `limit`-th largest score, or 0 if there are not so many. */
export function scoreAtRank(slots: readonly number[], scores: Float64Array, limit: number): number {
  if (slots.length <= limit) return 0;
  const heap = new Float64Array(limit);
  for (const slot of slots) {
    const score = scores[slot] ?? 0;
    if (score > (heap[0] ?? 0)) replaceLeast(heap, score);
  }
  return heap[0] ?? 0;
}

/** The least stands at 0, each parent at `i` is at most its children at `2i + 1` and `2i + 2`. */
function replaceLeast(heap: Float64Array, score: number): void {
  let at = 0;
  for (;;) {
    const left = 2 * at + 1;
    if (left >= heap.length) break;
    const right = left + 1;
    const leftScore = heap[left] ?? 0;
    const rightScore = right < heap.length ? heap[right] ?? 0 : Infinity;
    const [child, least] = rightScore < leftScore ? [right, rightScore] : [left, leftScore];
    if (least >= score) break;
    heap[at] = least;
    at = child;
  }
  heap[at] = score;
}

export interface Ranked {
  readonly slot: number;
  readonly score: number;
}

/**
 * Returns the best slots, best first; equal scores in the order that `compare` gives, so that the
 * order does not depend on when a note was indexed.
 */
export function topSlots(
  slots: readonly number[],
  scores: Float64Array,
  options: { readonly limit: number; readonly compare: (a: number, b: number) => number },
): Ranked[] {
  if (options.limit < 1) return [];
  const threshold = scoreAtRank(slots, scores, options.limit);
  return slots.filter((slot) => (scores[slot] ?? 0) >= threshold)
    .map((slot) => ({ slot, score: scores[slot] ?? 0 }))
    .sort((a, b) => b.score - a.score || options.compare(a.slot, b.slot))
    .slice(0, options.limit);
}
