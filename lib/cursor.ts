/**
 * Cursors: the text by which a client asks for what follows. It means something to the server
 * alone; one that was made up, or for another question, is refused in words.
 */
import { invalidField, type InvalidRequest } from "./errors.ts";
import { shortHash } from "./short_hash.ts";

const DIGEST_CHARS = 12;

/** Where an answer ended, as plain values. */
export type CursorPlace = readonly (string | number)[];

/** Writes and reads the cursors of one question. */
export interface Cursors {
  format(place: CursorPlace): string;
  /** @throws {InvalidRequest} If it is none of ours, or belongs to another question. */
  parse(cursor: string): CursorPlace;
}

/**
 * Returns the cursors of one question.
 *
 * @param question What was asked for, as plain values: a cursor of another question is refused.
 *
 * @example
 * ```ts
 * import { cursorsOf } from "@/lib/cursor.ts";
 * import { deepEqual } from "node:assert/strict";
 *
 * const cursors = cursorsOf({ query: "zebra" });
 * deepEqual(cursors.parse(cursors.format([10])), [10]);
 * ```
 */
export function cursorsOf(question: unknown): Cursors {
  const digest = hash(question);
  return {
    format: (place) => encode([digest, ...place]),
    parse: (cursor) => {
      const [of, ...place] = decode(cursor);
      if (typeof of !== "string") throw refusedCursor();
      if (of !== digest) {
        throw refusedCursor("belongs to a call with other arguments: repeat those");
      }
      return place;
    },
  };
}

function encode(values: CursorPlace): string {
  const bytes = new TextEncoder().encode(JSON.stringify(values));
  return bytes.toBase64({ alphabet: "base64url", omitPadding: true });
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
  return invalidField("Cannot go on from here", { field: "cursor", message });
}

function hash(question: unknown): string {
  return shortHash(JSON.stringify(question), DIGEST_CHARS);
}
