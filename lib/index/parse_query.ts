/** From what a person or an agent typed to the terms to look for. */
import { CHINESE_FILLERS, STOP_WORDS } from "./_stop_words.ts";
import { CJK_CHAR, type Tokenizer } from "./tokenizer.ts";

/** One term of a query. */
export interface QueryTerm {
  readonly text: string;
  /** A character that stood alone: it also matches inside bigrams. */
  readonly single: boolean;
}

export interface ParsedQuery {
  /** No repeats, and no stop words unless nothing else is left. */
  readonly terms: readonly QueryTerm[];
  /** Terms that a note must hold: all, if the whole query stands in double quotes, else none. */
  readonly required: readonly string[];
  /** True if the query has nothing but stop words: they are looked for, but say next to nothing. */
  readonly isFiller: boolean;
  /** The last word, if its end may be missing: it is being typed. */
  readonly prefix: string | undefined;
}

const PREFIX_WORD = /^\p{Script=Latin}{3,}$/u;
const ENDS_IN_LETTER = /\p{L}$/u;
const QUOTED = /"[^"]+"|“[^”]+”/;
const QUOTED_PARTS = new RegExp(QUOTED, "g");

/**
 * Parses a query; any text is one, and one without words has no terms. Quotes inside a sentence
 * require nothing: people and agents quote names and messages that a note may put otherwise.
 */
export function parseQuery(text: string, tokenizer: Tokenizer): ParsedQuery {
  const isQuoted = QUOTED.test(text) &&
    tokenizer.terms(text.replaceAll(QUOTED_PARTS, " ")).length === 0;
  const all = tokenizer.terms(text);
  const kept = isQuoted ? all : meaningfulTerms(text, tokenizer);
  const terms = [...new Set(kept.length > 0 ? kept : all)];
  const typed = all.at(-1) ?? "";
  const isUnfinished = terms.includes(typed) && PREFIX_WORD.test(typed) &&
    ENDS_IN_LETTER.test(text);
  return {
    terms: terms.map((term) => ({ text: term, single: isSingleCjk(term) })),
    required: isQuoted ? terms : [],
    isFiller: kept.length === 0,
    prefix: isUnfinished ? typed : undefined,
  };
}

/** Returns the terms that are no stop words. */
function meaningfulTerms(text: string, tokenizer: Tokenizer): string[] {
  return tokenizer.terms(tokenizer.simplify(text).replace(CHINESE_FILLERS, " "))
    .filter((term) => !STOP_WORDS.has(term));
}

function isSingleCjk(term: string): boolean {
  return [...term].length === 1 && CJK_CHAR.test(term);
}
