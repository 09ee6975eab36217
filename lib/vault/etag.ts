/** What tells the content of a file from any other. */
import { createHash, hash } from "node:crypto";

/** Stands for the etag of a file that must not be there yet. */
export const ABSENT = "absent";

const STEP_BYTES = 1024 * 1024;

/** Returns the SHA-256 of some bytes in hex. */
export function* hashBytes(bytes: Uint8Array): Generator<void, string> {
  if (bytes.length <= STEP_BYTES) return hash("sha256", bytes);
  const sum = createHash("sha256");
  for (let at = 0; at < bytes.length; at += STEP_BYTES) {
    sum.update(bytes.subarray(at, at + STEP_BYTES));
    yield;
  }
  return sum.digest("hex");
}
