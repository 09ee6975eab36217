/** ULIDs: ids that sort by the time they were made at, in 26 letters and digits. */

const ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
const BITS_A_CHARACTER = 5n;
const RANDOM_BYTES = 10;
const RANDOM_BITS = 80n;
const ULID_CHARS = 26;
const MAX_TIME_MS = 2 ** 48 - 1;

// 26 characters would hold 130 bits: the first is at most 7.
const ULID = /^[0-7][0-9a-hjkmnp-tv-z]{25}$/i;
const ALL_ZEROS = "0".repeat(ULID_CHARS);

/**
 * Writes a time and 80 random bits as a ULID, in upper case.
 *
 * @throws {RangeError} If the time is no whole number of 48 bits, or the bytes are not ten.
 *
 * @example
 * ```ts
 * import { equal } from "node:assert/strict";
 *
 * equal(newUlid(1_469_918_176_385, new Uint8Array(10)), "01ARYZ6S410000000000000000");
 * ```
 */
export function newUlid(nowMs: number, random: Uint8Array): string {
  if (!Number.isInteger(nowMs) || nowMs < 0 || nowMs > MAX_TIME_MS) {
    throw new RangeError(`Cannot make a ULID of the time ${nowMs}: it is no whole 48-bit number`);
  }
  if (random.length !== RANDOM_BYTES) {
    throw new RangeError(`Cannot make a ULID of ${random.length} random bytes: it takes ten`);
  }
  let bits = BigInt(nowMs) << RANDOM_BITS | BigInt(`0x${random.toHex()}`);
  let text = "";
  while (text.length < ULID_CHARS) {
    text = ALPHABET.charAt(Number(bits & 31n)) + text;
    bits >>= BITS_A_CHARACTER;
  }
  return text;
}

/** Tells a ULID, in any case; 26 zeros are none, as they stand for the global scope. */
export function isUlid(text: string): boolean {
  return ULID.test(text) && text !== ALL_ZEROS;
}
