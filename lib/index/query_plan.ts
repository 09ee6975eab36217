/** From the words of a query to what the postings look for. */
import type { Clause, Match, Postings } from "./postings.ts";
import type { QueryWeights } from "./snippets.ts";
import type { ParsedQuery, QueryTerm } from "./parse_query.ts";

/** What the end of a word that is being typed counts at the most, against the word itself. */
export const PREFIX_WEIGHT = 0.5;
/** What a word counts that one slip parts from the one asked for. */
export const TYPO_WEIGHT = 0.5;

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
  const clauses = query.terms.map((term) => clauseFor(term, query, { postings, ...options }));
  const required = query.terms.filter((term) => query.required.includes(term.text) && !term.single)
    .map((term) => dictionary.numberOf(term.text));
  return {
    clauses,
    required: [...new Set(required.filter((number) => number !== undefined))],
    impossible: required.includes(undefined),
  };
}

function clauseFor(
  term: QueryTerm,
  query: ParsedQuery,
  context: PlanOptions & { readonly postings: Postings },
): Clause {
  const { dictionary } = context.postings;
  if (term.single) return { kind: "inside", ...dictionary.around(term.text) };
  const number = dictionary.numberOf(term.text);
  const matches: Match[] = number === undefined ? [] : [{ number, weight: 1 }];
  if (term.text === query.prefix) {
    matches.push(...weighted(dictionary.withPrefix(term.text), PREFIX_WEIGHT));
  }
  if (context.withTypos) matches.push(...weighted(dictionary.nearTo(term.text), TYPO_WEIGHT));
  return { kind: "best", matches, term: number };
}

function weighted(numbers: readonly number[], weight: number): Match[] {
  return numbers.map((number) => ({ number, weight }));
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
      terms.set(postings.dictionary.termOf(number), weight * idf);
    }
  }
  const singles = query.terms.filter((term) => term.single).map((term) => term.text);
  return { terms, singles: new Map(singles.map((char) => [char, SINGLE_WEIGHT])) };
}
