/** The names of memories: for people, for files and for ids, all made from what an agent wrote. */
import { clipLine } from "@/lib/clip_line.ts";
import { cutText } from "@/lib/cut_text.ts";
import { normalizeTag } from "@/lib/vault/tags.ts";
import { findSentenceEnd } from "./_sentence_end.ts";

const MAX_SLUG_CHARS = 60;
/** With the date before it and the ending behind it, far from the 255 bytes of a file name. */
const MAX_SLUG_BYTES = 150;
const MAX_ID_SLUG_CHARS = 40;
const SLUG_OF_NOTHING = "memory";

const WORD = /[\p{L}\p{N}][\p{L}\p{N}\p{M}]*/gu;
const INVISIBLE = /\p{Default_Ignorable_Code_Point}+/gu;

/**
 * Returns the part of a file name that a name gives: its letters and digits, of any script, in
 * lower case, all else one `-`. At most 60 characters and 150 bytes; `memory` if nothing is left.
 *
 * @example
 * ```ts
 * import { equal } from "node:assert/strict";
 *
 * equal(slugOf("E0308: 分号 at the End"), "e0308-分号-at-the-end");
 * equal(slugOf("…"), "memory");
 * ```
 */
export function slugOf(name: string): string {
  const plain = name.normalize("NFKC").replace(INVISIBLE, "").toLowerCase().normalize("NFKC");
  const slug = (plain.match(WORD) ?? []).join("-");
  const short = cutText(slug, { maxChars: MAX_SLUG_CHARS, maxBytes: MAX_SLUG_BYTES });
  return short.replace(/-$/, "") || SLUG_OF_NOTHING;
}

/** Returns the id of a new memory: the ULID keeps it apart, the name tells people what it is. */
export function newMemoryId({ ulid, name }: { ulid: string; name: string }): string {
  const slug = cutText(slugOf(name).replaceAll("-", "_"), { maxChars: MAX_ID_SLUG_CHARS });
  return `mem_${ulid.toLowerCase()}_${slug.replace(/_$/, "")}`;
}

const DAY = /^(\d{4})-(\d{2})-(0[1-9]|[12]\d|3[01])$/;
const DAYS_A_BUCKET = 7;

/**
 * Returns the folder for the memories of a day: the days 01-07 are `week1`, 29-31 are `week5`.
 *
 * @throws {RangeError} If it is no day as `formatDay()` gives it.
 *
 * @example
 * ```ts
 * import { equal } from "node:assert/strict";
 *
 * equal(weekBucketOf("2026-05-14"), "2026/05/week2");
 * ```
 */
export function weekBucketOf(day: string): string {
  const [, year, month, date] = DAY.exec(day) ?? [];
  if (date === undefined) throw new RangeError(`Cannot name the week of ${day}: it is no day`);
  return `${year}/${month}/week${Math.ceil(Number(date) / DAYS_A_BUCKET)}`;
}

const LINES = /[^\n\r\v\f\x85\u2028\u2029]+/g;
const FENCE = /^\s*(?:`{3}|~{3})/;
const SAYS_SOMETHING = /[\p{L}\p{N}\p{So}]/u;
// Of a heading, a quotation, a callout, a list, a task, a numbered list.
const MARKS =
  /^(?:\s|#{1,6}(?=\s)|>|\[![\w-]+\][+-]?|[-*+](?=\s)|\[[ xX]\](?=\s)|\d{1,9}(?:[.)](?=\s)|、))+/;
const EMPHASIS = /(?<![\w*])(\*{1,3})(?=[^\s*])([^*]+)(?<=\S)\1/g;

/**
 * Returns the first sentence of a Markdown text, or its first line if that ends before, without
 * the marks of a heading, quotation, list or emphasis, on one line, clipped as `clipLine()` does.
 *
 * @returns Nothing but an empty text has no first sentence.
 *
 * @example
 * ```ts
 * import { equal } from "node:assert/strict";
 *
 * equal(firstSentenceOf("# Use v1.2, e.g. here. Not v1.3.\nMore", 60), "Use v1.2, e.g. here.");
 * equal(firstSentenceOf("- 旧块要留几天。否则白屏。", 60), "旧块要留几天。");
 * ```
 */
export function firstSentenceOf(text: string, maxChars: number): string {
  for (const [line] of text.matchAll(LINES)) {
    const plain = line.replace(MARKS, "").replace(EMPHASIS, "$2");
    if (FENCE.test(line) || !SAYS_SOMETHING.test(plain)) continue;
    return clipLine(plain.slice(0, findSentenceEnd(plain)), maxChars);
  }
  return clipLine(text, maxChars);
}

/** Tags in the form in which they are saved, and those that none can be made of. */
export interface NormalizedTags {
  /** Each once, in the order given. */
  readonly tags: string[];
  /** As given: empty, or with a comma or a control character, which would end a tag in YAML. */
  readonly invalid: string[];
}

/** Brings tags into the form in which they are compared. */
export function normalizeTags(tags: readonly string[]): NormalizedTags {
  const valid = new Set<string>();
  const invalid: string[] = [];
  for (const tag of tags) {
    const normal = normalizeTag(tag);
    if (normal === undefined || /[,，\p{Cc}]/u.test(tag.trim())) invalid.push(tag);
    else valid.add(normal);
  }
  return { tags: [...valid], invalid };
}
