/** Maps that forget. */

/**
 * Puts an entry behind all others; the first one, which was put longest ago, goes if there are too
 * many then.
 *
 * @example
 * ```ts
 * import { deepEqual } from "node:assert/strict";
 *
 * const map = new Map([["a", 1], ["b", 2]]);
 * putLast(map, ["a", 3], 2);
 * putLast(map, ["c", 4], 2);
 * deepEqual([...map], [["a", 3], ["c", 4]]);
 * ```
 */
export function putLast<K, V>(
  map: Map<K, V>,
  [key, value]: readonly [K, V],
  maxSize: number,
): void {
  map.delete(key);
  map.set(key, value);
  for (const oldest of map.keys()) {
    if (map.size <= maxSize) return;
    map.delete(oldest);
  }
}
