/** From the words of a query to what the postings look for. */
import type { Clause, Match, Postings } from "./postings.ts";
import { MIN_TYPO_LETTERS } from "./term_dictionary.ts";
import type { QueryWeights } from "./snippets.ts";
import type { ParsedQuery, QueryTerm } from "./parse_query.ts";

/** What the end of a word that is being typed counts at the most, against the word itself. */
export const PREFIX_WEIGHT = 0.5;
/** What a word counts that one slip parts from the one asked for. */
export const TYPO_WEIGHT = 0.5;

/** How many words may stand for one of the query; the most frequent ones do. */
export const MAX_EXPANSIONS = 64;
/** So many unknown words are looked at for slips: each costs a pass over the dictionary. */
const MAX_TYPO_TERMS = 4;
/** More lone characters than these are no words to look for, and each one costs a lot. */
const MAX_SINGLES = 16;
/** A lone character says little about where in a note to look. */
const SINGLE_WEIGHT = 1;

export interface QueryPlan {
  readonly clauses: readonly Clause[];
  /** Numbers of the terms that a note must hold. */
  readonly required: readonly number[];
  /** A required term is in no note: nothing can match. */
  readonly impossible: boolean;
}

export interface PlanOptions {
  /** Also accept words that one slip of the keyboard parts from those asked for. */
  readonly withTypos: boolean;
}

/** Returns the clauses of a query, one for each of its terms. */
export function planQuery(query: ParsedQuery, postings: Postings, options: PlanOptions): QueryPlan {
  const { dictionary } = postings;
  const context: PlanContext = { postings, typoTerms: options.withTypos ? MAX_TYPO_TERMS : 0 };
  const singles = query.terms.filter((term) => term.single).slice(MAX_SINGLES);
  const dropped = new Set(singles.map((term) => term.text));
  const clauses = query.terms.filter((term) => !dropped.has(term.text))
    .map((term) => clauseFor(term, query, context));
  const mustHave = new Set(query.required);
  const required = query.terms.filter((term) => mustHave.has(term.text) && !term.single)
    .map((term) => dictionary.numberOf(term.text));
  return {
    clauses,
    required: [...new Set(required.filter((number) => number !== undefined))],
    impossible: required.includes(undefined),
  };
}

interface PlanContext {
  readonly postings: Postings;
  /** How many more terms may be looked at for slips. */
  typoTerms: number;
}

function clauseFor(
  term: QueryTerm,
  query: ParsedQuery,
  context: PlanContext,
): Clause {
  const { postings } = context;
  const { dictionary } = postings;
  if (term.single) return { kind: "inside", ...dictionary.around(term.text) };
  const number = dictionary.numberOf(term.text);
  const matches: Match[] = number === undefined ? [] : [{ number, weight: 1 }];
  if (term.text === query.prefix) {
    matches.push(...expand(dictionary.withPrefix(term.text), PREFIX_WEIGHT, postings));
  }
  if (context.typoTerms > 0 && term.text.length >= MIN_TYPO_LETTERS) {
    context.typoTerms--;
    matches.push(...expand(dictionary.nearTo(term.text), TYPO_WEIGHT, postings));
  }
  return { kind: "best", matches, term: number };
}

/** Only words that a note holds, and the same ones whenever they came in. */
function expand(numbers: readonly number[], weight: number, postings: Postings): Match[] {
  return numbers.map((number) => ({ number, frequency: postings.documentFrequency(number) }))
    .filter(({ frequency }) => frequency > 0)
    .sort((a, b) => b.frequency - a.frequency || compareTerms(a.number, b.number, postings))
    .slice(0, MAX_EXPANSIONS)
    .map(({ number }) => ({ number, weight }));
}

function compareTerms(a: number, b: number, { dictionary }: Postings): number {
  return dictionary.termOf(a) < dictionary.termOf(b) ? -1 : 1;
}

/** Returns how much each way to meet the query weighs in a passage. */
export function weighQuery(
  query: ParsedQuery,
  plan: QueryPlan,
  postings: Postings,
): QueryWeights {
  const terms = new Map<string, number>();
  for (const clause of plan.clauses) {
    if (clause.kind !== "best") continue;
    for (const { number, weight } of clause.matches) {
      const idf = postings.idf(postings.documentFrequency(number));
      const term = postings.dictionary.termOf(number);
      terms.set(term, Math.max(weight * idf, terms.get(term) ?? 0));
    }
  }
  const singles = query.terms.filter((term) => term.single).map((term) => term.text);
  return { terms, singles: new Map(singles.map((char) => [char, SINGLE_WEIGHT])) };
}
