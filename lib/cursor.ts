/**
 * Cursors: the text by which a client asks for what follows. It means something to the server
 * alone; one that was made up, or for another question, is refused in words.
 */
import { createHash } from "node:crypto";
import { InvalidRequest } from "./errors.ts";

const DIGEST_CHARS = 12;

/** Where an answer ended, as plain values. */
export type CursorPlace = readonly (string | number)[];

/**
 * Writes a cursor.
 *
 * @param question What was asked for, so that the cursor is not taken for another question's.
 *
 * @example
 * ```ts
 * import { formatCursor, parseCursor } from "@/lib/cursor.ts";
 * import { deepEqual } from "node:assert/strict";
 *
 * const cursor = formatCursor({ query: "zebra" }, [10]);
 * deepEqual(parseCursor({ query: "zebra" }, cursor), [10]);
 * ```
 */
export function formatCursor(question: unknown, place: CursorPlace): string {
  const bytes = new TextEncoder().encode(JSON.stringify([digest(question), ...place]));
  return bytes.toBase64({ alphabet: "base64url", omitPadding: true });
}

/**
 * Reads a cursor.
 *
 * @throws {InvalidRequest} If it is none of ours, or belongs to another question.
 */
export function parseCursor(question: unknown, cursor: string): CursorPlace {
  const [of, ...place] = decode(cursor);
  if (of !== digest(question)) {
    throw refusedCursor("belongs to a call with other arguments: repeat those");
  }
  return place;
}

function decode(cursor: string): CursorPlace {
  try {
    const bytes = Uint8Array.fromBase64(cursor, { alphabet: "base64url" });
    const values: unknown = JSON.parse(new TextDecoder().decode(bytes));
    if (Array.isArray(values) && values.every(isPlain)) return values;
  } catch {
    // Whatever is wrong with it, the words below say what to do.
  }
  throw refusedCursor();
}

function isPlain(value: unknown): value is string | number {
  return typeof value === "string" || typeof value === "number";
}

/** Returns the error for a cursor that nobody can use. */
export function refusedCursor(why: string = "is none that this server gave"): InvalidRequest {
  const message = `${why}. Leave cursor out to begin anew`;
  return new InvalidRequest(`Cannot go on from here: cursor ${message}`, [
    { field: "cursor", message },
  ]);
}

function digest(question: unknown): string {
  return createHash("sha256").update(JSON.stringify(question)).digest("hex").slice(0, DIGEST_CHARS);
}
