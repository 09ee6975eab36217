/**
 * Bounds on JSON before it is parsed. No honest body holds many values, and what checks them takes
 * far longer than it took to send them: 4 MiB may hold two million.
 */
import { InvalidRequest } from "@/lib/errors.ts";

const MAX_VALUES = 1_000;
const MAX_DEPTH = 32;
const [QUOTE, BACKSLASH, COMMA] = [0x22, 0x5c, 0x2c];
const [OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT] = [0x5b, 0x5d, 0x7b, 0x7d];
const BLANKS = [0x20, 0x09, 0x0a, 0x0d];

/**
 * Looks at the marks of a text; whether it is JSON is for the parser to say.
 *
 * @throws {InvalidRequest} If it holds more than 1 000 values, those in lists and objects counted, or
 * nests them more than 32 deep.
 */
export function requireModest(text: string): void {
  let depth = 0;
  let values = 1;
  let isJustOpened = false;
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    const isOpening = unit === OPEN_LIST || unit === OPEN_OBJECT;
    // The first value inside; each further one has a comma.
    if (isOpening || unit === COMMA) values++;
    if (isOpening) depth++;
    else if (unit === QUOTE) at = stringEnd(text, at);
    else if (unit === CLOSE_LIST || unit === CLOSE_OBJECT) {
      depth--;
      if (isJustOpened) values--;
    }
    if (isOpening || !BLANKS.includes(unit)) isJustOpened = isOpening;
    // One more, as a list that was just opened may be empty.
    if (values > MAX_VALUES + 1 || depth > MAX_DEPTH) throw tooMuch();
  }
  if (values > MAX_VALUES) throw tooMuch();
}

/** Returns where the string that begins at a place ends; the end of the text if it does not. */
function stringEnd(text: string, start: number): number {
  for (let at = start + 1;;) {
    const end = text.indexOf('"', at);
    if (end < 0) return text.length;
    let slashes = 0;
    while (text.charCodeAt(end - 1 - slashes) === BACKSLASH) slashes++;
    if (slashes % 2 === 0) return end;
    at = end + 1;
  }
}

function tooMuch(): InvalidRequest {
  return new InvalidRequest(
    `The body holds too much: at most ${MAX_VALUES} values, nested ${MAX_DEPTH} deep, are taken`,
  );
}
