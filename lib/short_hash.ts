/** Short names for long texts. */
import { createHash } from "node:crypto";

/**
 * Returns the first hex digits of the SHA-256 of a text, from which the text cannot be read.
 *
 * @param digits At most 64; of 12, two among 20 million texts are equal with a chance of one half.
 *
 * @example
 * ```ts
 * import { equal } from "node:assert/strict";
 *
 * equal(shortHash("abc", 12), "ba7816bf8f01");
 * ```
 */
export function shortHash(text: string, digits: number): string {
  return createHash("sha256").update(text).digest("hex").slice(0, digits);
}
