/** Words that texts share, the rarer the weightier: cosines of tf-idf over these texts alone. */
import type { Tokenizer } from "@/lib/index/tokenizer.ts";
import { ENGLISH_FUNCTION_WORDS } from "./_function_words.ts";

interface Posting {
  readonly text: number;
  readonly weight: number;
}

/** Terms that so many texts have tell nothing, and would cost the most. */
const COMMON_SHARE = .25;
/** In a few texts every word is common. */
const COMMON_COUNT = 20;

/** The rare words of some texts; made by `readRareWords()`. */
export interface RareWords {
  /** Returns how alike a text is to each in its words, 0..1; valid until the next call. */
  likenessTo(text: number): Float32Array;
}

/** Reads the words of texts, in steps. */
export function* readRareWords(
  texts: readonly string[],
  tokenizer: Pick<Tokenizer, "terms">,
): Generator<void, RareWords> {
  const termsOf: string[][] = [];
  const frequency = new Map<string, number>();
  for (const text of texts) {
    const terms = [...new Set(tokenizer.terms(text))].filter((term) =>
      !ENGLISH_FUNCTION_WORDS.has(term)
    );
    termsOf.push(terms);
    for (const term of terms) frequency.set(term, (frequency.get(term) ?? 0) + 1);
    yield;
  }
  const weights = new Map(
    [...frequency].map(([term, count]) => [term, weigh(count, texts.length)]),
  );
  const postings = new Map<string, Posting[]>();
  for (const [text, terms] of termsOf.entries()) {
    addPostings(postings, { text, terms, weights });
    yield;
  }
  return new TermTable(termsOf, postings);
}

class TermTable implements RareWords {
  readonly #termsOf: readonly (readonly string[])[];
  readonly #postings: ReadonlyMap<string, readonly Posting[]>;
  readonly #row: Float32Array;

  constructor(
    termsOf: readonly (readonly string[])[],
    postings: ReadonlyMap<string, readonly Posting[]>,
  ) {
    this.#termsOf = termsOf;
    this.#postings = postings;
    this.#row = new Float32Array(termsOf.length);
  }

  likenessTo(text: number): Float32Array {
    this.#row.fill(0);
    const most = Math.max(COMMON_COUNT, COMMON_SHARE * this.#termsOf.length);
    for (const term of this.#termsOf[text] ?? []) {
      const postings = this.#postings.get(term) ?? [];
      if (postings.length > most) continue;
      const own = postings.find((posting) => posting.text === text)?.weight ?? 0;
      for (const { text: other, weight } of postings) {
        this.#row[other] = (this.#row[other] ?? 0) + own * weight;
      }
    }
    return this.#row;
  }
}

function weigh(count: number, total: number): number {
  return Math.log(1 + (total - count + .5) / (count + .5));
}

/** The weights of a text are of length 1 together. */
function addPostings(
  postings: Map<string, Posting[]>,
  { text, terms, weights }: {
    readonly text: number;
    readonly terms: readonly string[];
    readonly weights: ReadonlyMap<string, number>;
  },
): void {
  const length = Math.hypot(...terms.map((term) => weights.get(term) ?? 0)) || 1;
  for (const term of terms) {
    const weight = (weights.get(term) ?? 0) / length;
    const list = postings.get(term);
    if (list) list.push({ text, weight });
    else postings.set(term, [{ text, weight }]);
  }
}
