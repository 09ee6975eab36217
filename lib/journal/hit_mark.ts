/**
 * Hit marks: the day on which an entry was last really used, as a comment behind it
 * (`<!-- 最后命中：2026-05-14 -->`) or, where a person likes it better, as a line of its own. Both
 * languages and both colons are read, whatever the file's language is.
 */
import type { JournalLanguage } from "./journal_names.ts";

/** What stands in a template where a date belongs. */
export const NO_DAY = "YYYY-MM-DD";

const WORDS = "(?:最后命中|最後命中|last[ -]hit|last used)";
const DAY = String.raw`\d{4}-\d{2}(?:-\d{2})?|YYYY-MM-DD`;
const AS_COMMENT = new RegExp(`<!--\\s*${WORDS}\\s*[：:]\\s*(${DAY})\\s*-->`, "iu");
const AS_LINE = new RegExp(`^\\s*${WORDS}\\s*[：:]\\s*(${DAY})\\s*$`, "iu");
const ALL_COMMENTS = new RegExp(`[ \\t]{0,8}${AS_COMMENT.source}`, "giu");

/** Where a mark's day stands in a line. */
export interface FoundMark {
  /** `undefined` = none yet: the template's placeholder. */
  readonly day: string | undefined;
  /** Columns, from 0. */
  readonly from: number;
  readonly to: number;
}

/** Finds the mark of a line. */
export function findHitMark(line: string): FoundMark | undefined {
  const found = AS_COMMENT.exec(line) ?? AS_LINE.exec(line);
  const [whole, day] = found ?? [];
  if (found === null || whole === undefined || day === undefined) return undefined;
  const from = found.index + whole.lastIndexOf(day);
  return { day: day === NO_DAY ? undefined : day, from, to: from + day.length };
}

/** Tells whether a line is nothing but a mark. */
export function isMarkLine(line: string): boolean {
  return AS_LINE.test(line);
}

/** Returns a line without its marks. */
export function withoutHitMarks(line: string): string {
  return line.includes("<!--") ? line.replace(ALL_COMMENTS, "") : line;
}

/** Writes a mark. */
export function formatHitMark(day: string, language: JournalLanguage): string {
  return language === "zh" ? `<!-- 最后命中：${day} -->` : `<!-- last hit: ${day} -->`;
}
