/** What may become an entry of the journal: a sentence or two that will matter again. */
import { type FieldProblem, InvalidRequest } from "@/lib/errors.ts";
import { countChars } from "./count_words.ts";
import { MAX_STATUS_CHARS } from "./journal_templates.ts";

/** Of one entry, in characters; longer ones are outputs. */
export const MAX_ENTRY_CHARS = 500;
export const MAX_SUMMARY_CHARS = 200;
export const MAX_TYPE_CHARS = 30;
/** A model may break a sentence into a few lines. */
const MAX_LINES = 4;

const MARKDOWN_BLOCK = /^[ \t]{0,12}(?:```|~~~|\|.*\||#{1,6}\s)/m;
const RULE_NUMBER = /^\s*\[R\d+\]/i;
const WITHOUT_CONTENT = /^[\s\p{P}\p{S}]*$/u;
const EMPTY_WORDS =
  /^(?:无|無|没有|暂无|none|n\/?a|null|nothing|todo|tbd|略|\.{2,}|…+)[\s。.]{0,5}$/iu;

const OUTPUT = "is a whole output, and no memory: say in a sentence or two what will matter again";
const MAX_LOOKED_AT_CHARS = 4_000;

/** The most that a field may hold, in characters. */
const LIMITS: ReadonlyMap<string, number> = new Map([
  ["status", MAX_STATUS_CHARS],
  ["summary", MAX_SUMMARY_CHARS],
  ["type", MAX_TYPE_CHARS],
]);

/**
 * Checks texts that are to be entries.
 *
 * @param fields By name; that of an item of a list ends in its number.
 * @returns The same on one line each.
 * @throws {InvalidRequest} If one is empty, too long or a whole output, or is a rule.
 */
export function requireEntries(
  fields: ReadonlyMap<string, string>,
): ReadonlyMap<string, string> {
  const problems: FieldProblem[] = [];
  const checked = new Map<string, string>();
  for (const [field, text] of fields) {
    const message = findFault(field.replace(/\[.*$/, ""), text);
    if (message !== undefined) problems.push({ field, message });
    checked.set(field, toLine(text));
  }
  if (problems.length === 0) return checked;
  const words = problems.slice(0, 5).map(({ field, message }) => `${field} ${message}`).join("; ");
  throw new InvalidRequest(`Nothing was written: ${words}`, problems);
}

/** Tells whether a text could be an entry. */
export function isEntry(text: string): boolean {
  return findFault("", text) === undefined;
}

function findFault(name: string, text: string): string | undefined {
  // Before anything looks through it.
  if (text.length > MAX_LOOKED_AT_CHARS) return OUTPUT;
  const line = toLine(text);
  if (WITHOUT_CONTENT.test(line) || EMPTY_WORDS.test(line)) {
    return "is empty: leave out what there is nothing to say of";
  }
  const isBlock = MARKDOWN_BLOCK.test(text) || MARKDOWN_BLOCK.test(line);
  const isOutput = isBlock || text.trim().split(/\r\n|[\r\n]/).length > MAX_LINES;
  if (isOutput) {
    return OUTPUT;
  }
  const most = LIMITS.get(name) ?? MAX_ENTRY_CHARS;
  const length = countChars(line);
  if (length > most) {
    return `has ${length} characters of ${most}: say in a sentence or two what will matter again`;
  }
  if (RULE_NUMBER.test(line)) {
    return "is a rule: those come from an audit that the person has confirmed. Write a pitfall";
  }
  return undefined;
}

/** Comments would hide what follows, and a mark of ours is not for others to write. */
function toLine(text: string): string {
  const line = text.replace(/<!--|-->|%%/g, " ").replace(/[\s\p{Cc}\u2028\u2029]+/gu, " ").trim();
  // The bullet is for the file to give, and an id that was copied with an entry is none of its words.
  return line.replace(/^(?:(?:[-*+]|\d{1,9}[.)])\s+)+/, "").replace(
    /(?<=\S)\s\^[A-Za-z0-9-]+$/,
    "",
  );
}
