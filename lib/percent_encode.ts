/**
 * Writes a text as the bytes of its UTF-8, each as `%XX`: unlike `encodeURIComponent()` it leaves
 * nothing out, and half a surrogate pair is U+FFFD to it, no error.
 *
 * @example
 * ```ts
 * import { equal } from "node:assert/strict";
 *
 * equal(percentEncode("(é"), "%28%C3%A9");
 * ```
 */
export function percentEncode(text: string): string {
  return new TextEncoder().encode(text).toHex().toUpperCase().replace(/../g, "%$&");
}
