/**
 * Writes single texts as YAML, so that every reader takes them for the same text: Obsidian and
 * others know numbers, booleans and dates, and more of them than each other.
 */

/** `flow` = between the brackets of `[…]` or `{…}`. */
export type ScalarPlace = "block" | "flow";

/** What no YAML file may hold as it is, or what some readers take for a line end. */
// deno-lint-ignore no-control-regex
const ESCAPED = /[\x00-\x1f\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]|\p{Surrogate}/u;
/** What of these `JSON.stringify()` leaves as it is. */
const ESCAPED_BEYOND_JSON = /[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]/g;

const LEADING_MARK = /^(?:[-?:,[\]{}#&*!|>'"%@`]|\.\.\.)/;
const BLANK_AT_AN_END = /^\s|\s$/;
const COLON_OR_COMMENT = /:(?:\s|$)|\s#/;
const FLOW_MARK = /[,[\]{}]/;

const NEVER_PLAIN = /^(?:~|null|<<|=|)$/i;
const BOOLEAN = /^(?:y|n|yes|no|on|off|true|false)$/i;
const NUMBERS = [
  /^[-+]?(?:0b[01_]+|0o[0-7_]+|0x[\da-f_]+|\d[\d_]*)$/i,
  /^[-+]?(?:\d[\d_]*)?\.[\d_]*(?:e[-+]?\d+)?$/i,
  /^[-+]?(?:\d[\d_]*)?e[-+]?\d+$/i,
  /^[-+]?\d[\d_]*(?::[0-5]?\d)+(?:\.[\d_]*)?$/, // YAML 1.1 counts minutes in sixties
  /^(?:[-+]?\.inf|\.nan)$/i,
];
/** Texts for us, dates for Obsidian, the same moment for both. */
const ISO_TIME = /^\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[-+]\d\d:?\d\d)?)?$/;
const OTHER_TIME =
  /^\d{4}-\d\d?-\d\d?(?:(?:[Tt]|\s+)\d\d?:\d\d:\d\d(?:\.\d*)?\s*(?:Z|[-+]\d\d?(?::?\d\d)?)?)?$/;

/**
 * Writes a text as it would be written by hand: plain where every reader takes it for this text,
 * else in double quotes.
 *
 * @param style.like The YAML of the value that stood there: its quotes are kept where they can
 * hold the text, and a plain number may follow a plain number.
 */
export function formatScalar(
  text: string,
  { place, like = "" }: { place: ScalarPlace; like?: string | undefined },
): string {
  if (like.startsWith('"')) return quoteDouble(text);
  if (like.startsWith("'")) {
    return ESCAPED.test(text) ? quoteDouble(text) : `'${text.replaceAll("'", "''")}'`;
  }
  return canBePlain(text, place) && isTypedLike(text, like) ? text : quoteDouble(text);
}

function canBePlain(text: string, place: ScalarPlace): boolean {
  return !NEVER_PLAIN.test(text) && !LEADING_MARK.test(text) && !BLANK_AT_AN_END.test(text) &&
    !COLON_OR_COMMENT.test(text) && !ESCAPED.test(text) &&
    !(place === "flow" && FLOW_MARK.test(text));
}

function isTypedLike(text: string, like: string): boolean {
  const type = typeOf(text);
  return type === "text" || type === typeOf(like);
}

function typeOf(text: string): "text" | "boolean" | "number" | "time" {
  if (BOOLEAN.test(text)) return "boolean";
  if (NUMBERS.some((pattern) => pattern.test(text))) return "number";
  return OTHER_TIME.test(text) && !ISO_TIME.test(text) ? "time" : "text";
}

/** All escapes of JSON mean the same in YAML. */
function quoteDouble(text: string): string {
  return JSON.stringify(text).replace(
    ESCAPED_BEYOND_JSON,
    (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}
