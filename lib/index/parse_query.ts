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
  /** Texts in double quotes, as terms: a note must hold all of them. */
  readonly phrases: readonly (readonly string[])[];
  /** The last word, if its end may be missing: it is being typed. */
  readonly prefix: string | undefined;
}

const PREFIX_WORD = /^\p{Script=Latin}{3,}$/u;
const ENDS_IN_LETTER = /\p{L}$/u;
const QUOTED = /"([^"]+)"|“([^”]+)”/g;

/** Parses a query; any text is one, and one without words has no terms. */
export function parseQuery(text: string, tokenizer: Tokenizer): ParsedQuery {
  const phrases = [...text.matchAll(QUOTED)]
    .map(([, straight, curly]) => [...new Set(tokenizer.terms(straight ?? curly ?? ""))])
    .filter((phrase) => phrase.length > 0);
  const terms = [...new Set([...phrases.flat(), ...meaningfulTerms(text, tokenizer)])];
  const last = terms.at(-1) ?? "";
  return {
    terms: terms.map((term) => ({ text: term, single: isSingleCjk(term) })),
    phrases,
    prefix: PREFIX_WORD.test(last) && ENDS_IN_LETTER.test(text) ? last : undefined,
  };
}

function meaningfulTerms(text: string, tokenizer: Tokenizer): string[] {
  const simple = tokenizer.simplify(text);
  const kept = tokenizer.terms(simple.replace(CHINESE_FILLERS, " "))
    .filter((term) => !STOP_WORDS.has(term));
  return kept.length > 0 ? kept : tokenizer.terms(simple);
}

function isSingleCjk(term: string): boolean {
  return [...term].length === 1 && CJK_CHAR.test(term);
}
