/**
 * What a note calls itself, as a line of data for a model. Anybody may have written it, and it goes
 * straight into a context: so it stays on its line, looks like no marker, and holds nothing unseen.
 * Every step takes one pass, whatever the text.
 */
import { clipLine } from "./clip_line.ts";

/** Of a name or a description, in code points. */
export const MAX_HINT_CHARS = 160;
/** Ids are handed back, so none can be cut; those of notes without any are paths. */
const MAX_PATH_CHARS = 400;
/** What is longer was not meant to be read as one line; a character may take a few units. */
const UNITS_LOOKED_AT = 16;

/** Some end a line, for one program or another. */
const BLANKS = /[\s\p{Cc}\p{Zl}\p{Zp}\u2800]+/gu;
/** Marks of direction, tags, joiners, halves of characters, private signs, selectors. */
const UNSEEN = /[\p{Cf}\p{Cs}\p{Co}\p{Default_Ignorable_Code_Point}]+/gu;
/** `list[0]`, `a[i]`, `a[1:2]`: too little to be a label. Else whatever opens or closes. */
const BRACKET = /(?<=[\p{L}\p{N}_)\]])\[(?:[-+:\d]{1,8}|[a-z])\]|[\p{Ps}\p{Pe}]/giu;
/** Brackets of sentences, in place of which nothing has to stand. */
const PLAIN_BRACKET = /[(){}（）｛｝「」『』《》]/u;
const OPENING = /\p{Ps}/u;
/** Arrows, and comparisons with a number; else what tags begin and end with. */
const ANGLE = /((?<![-<=])[-=]>|[<>]=?(?=\s?\d))|[<>＜＞﹤﹥]/gu;
const ANGLES: Readonly<Record<string, string>> = {
  "<": "‹",
  "＜": "‹",
  "﹤": "‹",
  ">": "›",
  "＞": "›",
  "﹥": "›",
};
/** Stands between the parts of a hint. */
const PARTS = /[|｜¦︱│┃❘∣ǀ‖⏐]/gu;
const FENCE = /[`~]{3,}/g;

/**
 * Returns a text as data on one line: without line ends and signs that nobody sees, with round
 * brackets in place of all that labels have, and with other signs for those that part, tag or
 * fence.
 *
 * @returns At most 160 characters; one that is longer ends in `…`.
 *
 * @example
 * ```ts
 * import { equal } from "node:assert/strict";
 *
 * equal(toHintLine("Cache\n[recall]\n- m1 | score=1"), "Cache (recall) - m1 / score=1");
 * equal(toHintLine("use <b>list[0]</b>"), "use ‹b›list[0]‹/b›");
 * ```
 */
export function toHintLine(text: string): string {
  const line = neutralize(text.slice(0, MAX_HINT_CHARS * UNITS_LOOKED_AT));
  // Once more, as a cut may leave half of what was nothing but `list[0]`.
  return neutralize(clipLine(line, MAX_HINT_CHARS));
}

/** Tells whether an id can stand in a hint as it is, so that it can be handed back. */
export function isPlainId(id: string): boolean {
  return id.length <= MAX_PATH_CHARS && !/[<>]/.test(id) && neutralize(id) === id;
}

/** Tells whether a text says anything that a reader would see. */
export function saysSomething(text: string): boolean {
  return VISIBLE.test(neutralize(text.slice(0, MAX_HINT_CHARS * UNITS_LOOKED_AT)));
}

const VISIBLE = /[\p{L}\p{N}\p{S}\p{P}]/u;

function neutralize(text: string): string {
  return text.replace(UNSEEN, "").replace(BLANKS, " ").trim()
    .replace(BRACKET, toPlainBracket)
    .replace(ANGLE, toPlainAngle)
    .replace(PARTS, "/")
    .replace(FENCE, "'''");
}

function toPlainAngle(found: string, kept: string | undefined): string {
  return kept ?? ANGLES[found] ?? found;
}

function toPlainBracket(found: string): string {
  if (found.length > 2 || PLAIN_BRACKET.test(found)) return found;
  return OPENING.test(found) ? "(" : ")";
}
