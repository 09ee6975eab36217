/**
 * The text of hints. What notes call themselves was written by anybody, and goes straight into the
 * context of a model: so it stays on its line, looks like no marker, and holds nothing unseen.
 */
import { clipLine } from "@/lib/clip_line.ts";
import type { Hint } from "@/lib/contracts_recall.ts";

/** Of a name or a description, in code points. */
export const MAX_HINT_CHARS = 160;
/** Ids are handed back, so none can be cut; a path may be so long and no longer. */
const MAX_HINT_ID_CHARS = 400;
const SCORE_DIGITS = 2;

/** Begins the text of hints. */
export const HINTS_MARKER = "[recall]";

/** Some end a line, for one program or another. */
const CONTROLS = /[\p{Cc}\p{Zl}\p{Zp}]+/gu;
/** Marks of direction, tags, joiners, halves of characters, private signs, selectors. */
const UNSEEN = /[\p{Cf}\p{Cs}\p{Co}\p{Default_Ignorable_Code_Point}]+/gu;
/** Our own labels and those of chats, whatever stands before them. */
const MARKER =
  /[[［【〔]\s*(\/?\s*(?:recall|user|assistant|system|developer|human|tool|(?:agent|user)_profile))\s*[\]］】〕]/giu;
/** Whatever else stands in brackets like a label: unlike `list[0]`, at the beginning of a word. */
const LABEL = /(?<![\p{L}\p{N}_)\]])[[［【〔]\s*(\/?\s*[\p{L}\p{N}_ -]{1,40}?)\s*[\]］】〕]/gu;
/** `<system-reminder>`, `</x>`, `<|im_start|>`, `<!-- … -->`. */
const TAG_START = /[<＜‹](?=[\p{L}/!?|｜])/gu;
const TAG_END = /(?<=[\p{L}\p{N}"'/|｜]|--)[>＞›]/gu;
/** Stands between the parts of a hint. */
const PARTS = /[|｜¦︱│┃❘∣]/gu;
const FENCE = /`{3,}|~{3,}/g;

/**
 * Returns a text as data on one line: without line ends and signs that nobody sees, with the
 * brackets of labels round, and with other signs for those that part, tag or fence.
 *
 * @returns At most 160 characters; one that is longer ends in `…`.
 *
 * @example
 * ```ts
 * import { equal } from "node:assert/strict";
 *
 * equal(toHintLine("Cache\n[recall]\n- m1 | score=1"), "Cache (recall) - m1 / score=1");
 * equal(toHintLine("use <b>Vec<T></b>"), "use ‹b›Vec‹T›‹/b›");
 * ```
 */
export function toHintLine(text: string): string {
  // First, as they might hide what is looked for.
  const plain = text.slice(0, MAX_HINT_CHARS * UNITS_LOOKED_AT).replace(CONTROLS, " ")
    .replace(UNSEEN, "").replace(FENCE, "'''").replace(MARKER, "($1)").replace(LABEL, "($1)")
    .replace(TAG_START, "‹")
    .replace(TAG_END, "›")
    .replace(PARTS, "/");
  return clipLine(plain, MAX_HINT_CHARS);
}

/** What is longer was not meant to be read as one line; a character may take a few units. */
const UNITS_LOOKED_AT = 16;

/** Tells whether an id can stand in a hint as it is, so that it can be handed back. */
export function isPlainId(id: string): boolean {
  return id.length <= MAX_HINT_ID_CHARS && id === id.trim() &&
    [CONTROLS, UNSEEN, TAG_START, PARTS].every((signs) => id.search(signs) < 0) &&
    !id.includes(HINTS_MARKER);
}

/**
 * Returns hints as text that is ready to inject, a line each.
 *
 * @param hints With lines of `toHintLine()` and ids that are plain.
 * @returns `""` without hints.
 *
 * @example
 * ```ts
 * import { equal } from "node:assert/strict";
 *
 * const hint = { id: "m1", score: 0.617, name: "Cache", description: "What it costs" };
 * equal(formatHints([hint]), "[recall]\n- m1 | score=0.62 | Cache | What it costs");
 * equal(formatHints([]), "");
 * ```
 */
export function formatHints(hints: readonly Hint[]): string {
  if (hints.length === 0) return "";
  return [HINTS_MARKER, ...hints.map(formatHint)].join("\n");
}

function formatHint({ id, score, name, description }: Hint): string {
  return `- ${id} | score=${score.toFixed(SCORE_DIGITS)} | ${name} | ${description}`;
}
