/** `rules.md`: what an audit found three times and the person confirmed. Nothing else writes it. */
import { allEntries } from "./all_entries.ts";
import type { Entry } from "./entries.ts";
import type { JournalDocument } from "./journal_document.ts";
import type { JournalEdit } from "./journal_edit.ts";
import { RULES_SECTION } from "./journal_names.ts";
import { lineEndingOf } from "./line_edits.ts";

/** Ids of entries in `rules.md` begin with it, those that have no number of their own. */
export const RULES_PREFIX = "r";

export interface Rule {
  readonly entry: Entry;
  /** `R001`; `undefined` if it has none. */
  readonly number: string | undefined;
  /** What it says, without number and source. */
  readonly text: string;
}

/** A rule that was confirmed. */
export interface NewRule {
  readonly text: string;
  /** The pitfalls that it comes from: where they stand, and when they happened. */
  readonly sources: readonly { readonly path: string; readonly day: string }[];
}

const NUMBER = /^\[?(R\d{1,6})\]?[\s:：.、-]*/i;
const SOURCE = /(?:^|\s+)(?:来源|來源|source)\s*[：:].*$/iu;
const DIGITS = 3;
/** Of the files, and of the days, that a rule names. */
const MAX_SOURCES = 8;

/** Reads the rules of a file; what stands outside of the list counts as well. */
export function readRules(document: JournalDocument): Rule[] {
  return allEntries(document, RULES_PREFIX)
    .filter(({ isPlaceholder }) => !isPlaceholder)
    .map((entry) => {
      const number = NUMBER.exec(entry.text)?.[1]?.toUpperCase();
      const text = entry.text.replace(NUMBER, "").replace(SOURCE, "");
      return { entry, number, text };
    });
}

/**
 * Returns the ids by which rules are known: their numbers, as long as no two have the same, else what
 * follows from their words.
 */
export function ruleIds(rules: readonly Rule[]): ReadonlyMap<string, Rule> {
  return new Map(rules.map((rule) => {
    const { number } = rule;
    const isOnly = rules.filter((other) => other.number === number).length === 1;
    return [number !== undefined && isOnly ? number : rule.entry.id, rule];
  }));
}

/**
 * Adds rules behind the others, each with the next number.
 *
 * @returns Their numbers.
 * @throws {JournalNotUnderstood} If there are two lists.
 */
export function addRules(edit: JournalEdit, rules: readonly NewRule[]): string[] {
  const { document, day, language } = edit;
  const section = document.find(RULES_SECTION);
  const taken = readRules(document).map(({ number = "R0" }) => Number(number.slice(1)));
  const start = Math.max(0, ...taken);
  const numbers = rules.map((_, index) => `R${String(start + index + 1).padStart(DIGITS, "0")}`);
  const texts = rules.map(({ text, sources }, index) => {
    const source = formatSource(sources, language);
    const mark = language === "zh" ? `最后命中：${day}` : `Last hit: ${day}`;
    return [`[${numbers[index]}] ${text}`, `  ${source}`, `  ${mark}`];
  });
  const items = texts.map((lines) => lines.join(lineEndingOf(document.note)));
  if (section === undefined) {
    edit.addSection(RULES_SECTION, items, { afterLine: edit.endOfContent });
  } else edit.addItems(section, items);
  return numbers;
}

function formatSource(sources: NewRule["sources"], language: JournalEdit["language"]): string {
  const paths = [...new Set(sources.map(({ path }) => path))];
  const days = sources.map(({ day }) => day).filter((day) => day !== "").sort();
  const isZh = language === "zh";
  const when = days.length === 0
    ? ""
    : `${isZh ? "，" : ", "}${days.slice(0, MAX_SOURCES).join(" / ")}`;
  const shown = paths.slice(0, MAX_SOURCES).join(isZh ? "、" : ", ");
  const where = paths.length > MAX_SOURCES ? shown + (isZh ? " 等" : " and more") : shown;
  return isZh
    ? `来源：${where} 踩坑记录${when} ${chineseCount(sources.length)}次同类问题`
    : `Source: pitfalls in ${where}${when}, the same problem ${sources.length} times`;
}

const CHINESE_NUMBERS = ["零", "一", "两", "三", "四", "五", "六", "七", "八", "九", "十"];

function chineseCount(count: number): string {
  return CHINESE_NUMBERS[count] ?? `${count} `;
}
