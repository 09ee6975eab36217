/** How much room a text takes in an agent's mind, as the memory protocol estimates it. */
import { unitsAt } from "@/lib/code_points.ts";

/**
 * Letters and syllables, and the marks and wide forms that go with them: many of these, such as the
 * long vowel `ー` and `㈱`, belong to no script of their own.
 */
const CJK =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Bopomofo}\u2e80-\u33ff\ufe30-\ufe4f\uff00-\uffef]/u;
/** Nothing before it is CJK. */
const FIRST_CJK = "\u02ea";
/** Of characters that are not CJK. */
const CHARS_A_TOKEN = 4;

/** Characters and estimated tokens of a text; tokens are counted in quarters, to add up exactly. */
export interface TextSize {
  readonly chars: number;
  readonly quarterTokens: number;
}

/** Returns what one Unicode character costs, in quarters of a token. */
export function quarterTokensOf(char: string): number {
  return char >= FIRST_CJK && CJK.test(char) ? CHARS_A_TOKEN : 1;
}

/** Counts the Unicode characters of a text and what they cost. */
export function measureText(text: string): TextSize {
  let [chars, quarterTokens] = [0, 0];
  for (let at = 0; at < text.length;) {
    const end = at + unitsAt(text, at);
    chars++;
    quarterTokens += quarterTokensOf(text.slice(at, end));
    at = end;
  }
  return { chars, quarterTokens };
}

/**
 * Estimates the tokens of a text: CJK characters × 1 + others ÷ 4.
 *
 * @example
 * ```ts
 * import { equal } from "node:assert/strict";
 * import { estimatedTokens } from "@/lib/access/estimated_tokens.ts";
 *
 * equal(estimatedTokens("记忆 note"), 3.25);
 * ```
 */
export function estimatedTokens(text: string): number {
  return measureText(text).quarterTokens / CHARS_A_TOKEN;
}
