/** The last parameter of an address, where it takes all that follows, slashes too. */
import { InvalidRequest } from "@/lib/errors.ts";
import { show } from "@/lib/parse_input.ts";
import { decodePart, rawPathOf } from "./request_target.ts";

/** `/api/notes/` in segments. */
const SEGMENTS_BEFORE = 3;

/**
 * Decodes what follows `/api/<resource>/` once. An encoded slash counts as a slash: no name of a
 * file can hold one, and clients encode whole paths; where it becomes a path of the vault, what
 * comes out is checked as a whole.
 *
 * @param name What the parameter is called.
 * @throws {InvalidRequest} If an escape is broken, or the bytes are no UTF-8.
 */
export function readPathParameter(url: string, name: string): string {
  const segments = rawPathOf(url).split("/").slice(SEGMENTS_BEFORE);
  return segments.map((segment) => {
    const text = decodePart(segment);
    if (text !== undefined) return text;
    const message = "must be valid percent-encoded UTF-8";
    throw new InvalidRequest(`Cannot use the request: ${name} ${message}`, [
      { field: name, value: show(segment), message },
    ]);
  }).join("/");
}
