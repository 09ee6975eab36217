/**
 * Takes user names, passwords and tokens of URLs out of what is told or logged. People and agents
 * put URLs where they do not belong, and no slip may show what stands before the `@` in one.
 */

/** So much of a text from outside can be read in a message. */
export const MAX_SHOWN_CHARS = 100;
/** Enough to see the end of any user and password that begin among the characters shown. */
const MAX_MASKED_CHARS = 4_000;

/** `://`, escaped or not, once or more often. */
const SCHEME_END = /(?::|%(?:25)*3a)(?:\/|%(?:25)*2f){2}/gi;
const AT = /@|%(?:25)*40/gi;
/** `user:password@` without a scheme, as in `user:password@host:path`. */
const BARE_USERINFO = /[^\s:@]{1,200}:\S{0,2000}@/g;

/**
 * Returns a text in which `***` stands for each user and password before an `@`.
 *
 * @param text Bounded by the caller: what is to be shown is short.
 *
 * @example
 * ```ts
 * import { equal } from "node:assert/strict";
 *
 * equal(maskUserinfo("see https://ada:secret@example.org/x"), "see https://***@example.org/x");
 * equal(maskUserinfo("people/@ada.md"), "people/@ada.md");
 * ```
 */
export function maskUserinfo(text: string): string {
  const start = text.matchAll(SCHEME_END).next().value;
  const last = start && text.matchAll(AT).toArray().at(-1);
  if (start === undefined || last === undefined) return text.replace(BARE_USERINFO, "***@");
  const from = start.index + start[0].length;
  const before = text.slice(0, start.index).replace(BARE_USERINFO, "***@");
  // Whatever is between: a password may hold blanks, slashes and more of the same.
  const isBehind = last.index >= from;
  return before + text.slice(start.index, from) +
    (isBehind ? `***${text.slice(last.index)}` : text.slice(from));
}

/** Cuts a text of any length to `MAX_SHOWN_CHARS`, without the users and passwords in it. */
export function cutMasked(text: string): string {
  return maskUserinfo(text.slice(0, MAX_MASKED_CHARS)).slice(0, MAX_SHOWN_CHARS);
}
