/** The queries of the bench, made from the notes they are asked of. */
import { type ParsedQuery, parseQuery } from "@/lib/index/parse_query.ts";
import { createTokenizer, type Tokenizer } from "@/lib/index/tokenizer.ts";
import { type Corpus, randomFractions } from "./corpus.ts";
import { chunksOf } from "./engine.ts";

export const QUERY_CLASSES = ["3 mid", "8 raw", "question zh", "question en"] as const;
export type QueryClass = (typeof QUERY_CLASSES)[number];

export interface BenchQuery {
  /** As somebody would type it. */
  readonly text: string;
  /** What every engine looks for. */
  readonly parsed: ParsedQuery;
}

export type BenchQueries = Readonly<Record<QueryClass, readonly BenchQuery[]>>;

/** Terms in more chunks than this share are too common for the class "mid". */
const MID_SHARE = 0.1;
/** Of so many notes one is read to learn how common terms are. */
const SAMPLE_EVERY = 10;

const QUESTIONS: Readonly<Record<"zh" | "en", readonly ((topic: () => string) => string)[]>> = {
  zh: [
    (topic) => `如何解决${topic()}在${topic()}中的${topic()}问题？`,
    (topic) => `为什么${topic()}的时候${topic()}会超时？`,
    (topic) => `部署${topic()}需要哪些${topic()}配置，${topic()}怎么设置？`,
  ],
  en: [
    (topic) => `How do I fix the ${topic()} error when ${topic()} fails to ${topic()} the server?`,
    (topic) => `What should we set ${topic()} to if the ${topic()} of ${topic()} is not there?`,
    (topic) => `Why does ${topic()} time out while the ${topic()} cache is used by ${topic()}?`,
  ],
};

/** Returns so many queries of each class. */
export function makeQueries(corpus: Corpus, notes: number, count: number): BenchQueries {
  const tokenizer = createTokenizer();
  const random = randomFractions(2);
  const maker = new QueryMaker(corpus, notes, tokenizer);
  const many = (make: () => BenchQuery) => Array.from({ length: count }, make);
  return {
    "3 mid": many(() => asWords(maker.midTerms(3, random), tokenizer)),
    "8 raw": many(() => asWords(maker.rawTerms(8, random), tokenizer)),
    "question zh": many(() => asSentence(maker.question("zh", random), tokenizer)),
    "question en": many(() => asSentence(maker.question("en", random), tokenizer)),
  };
}

/** No word is dropped, however common: all engines get the same work. */
function asWords(terms: readonly string[], tokenizer: Tokenizer): BenchQuery {
  const text = terms.join(" ");
  const parsed = parseQuery(text, tokenizer);
  return {
    text,
    parsed: { ...parsed, terms: terms.map((term) => ({ text: term, single: false })) },
  };
}

function asSentence(text: string, tokenizer: Tokenizer): BenchQuery {
  return { text, parsed: parseQuery(text, tokenizer) };
}

class QueryMaker {
  readonly #corpus: Corpus;
  readonly #notes: number;
  readonly #tokenizer: Tokenizer;
  readonly #frequencies = new Map<string, number>();
  #chunks = 0;

  constructor(corpus: Corpus, notes: number, tokenizer: Tokenizer) {
    this.#corpus = corpus;
    this.#notes = notes;
    this.#tokenizer = tokenizer;
    for (let number = 0; number < notes; number += SAMPLE_EVERY) this.#learn(number);
  }

  midTerms(count: number, random: () => number): string[] {
    const isMid = (term: string) => (this.#frequencies.get(term) ?? 0) < MID_SHARE * this.#chunks;
    return this.#draw(count, random, isMid);
  }

  rawTerms(count: number, random: () => number): string[] {
    return this.#draw(count, random, () => true);
  }

  question(language: "zh" | "en", random: () => number): string {
    const questions = QUESTIONS[language];
    const ask = questions[Math.floor(random() * questions.length)];
    return ask?.(() => this.#corpus.words(language, 1, random)) ?? "";
  }

  #learn(number: number): void {
    for (const chunk of chunksOf(this.#corpus.noteAt(number))) {
      this.#chunks++;
      for (const term of new Set(this.#tokenizer.terms(chunk))) {
        this.#frequencies.set(term, (this.#frequencies.get(term) ?? 0) + 1);
      }
    }
  }

  /** Draws different terms from one chunk; all of them stay themselves when they are parsed. */
  #draw(count: number, random: () => number, isWanted: (term: string) => boolean): string[] {
    for (;;) {
      const chunks = chunksOf(this.#corpus.noteAt(Math.floor(random() * this.#notes)));
      const chunk = chunks[Math.floor(random() * chunks.length)] ?? "";
      const terms = [...new Set(this.#tokenizer.terms(chunk))].filter((term) =>
        isWanted(term) && this.#tokenizer.terms(term).join() === term && [...term].length > 1
      );
      if (terms.length < count) continue;
      const drawn = new Set<string>();
      while (drawn.size < count) drawn.add(terms[Math.floor(random() * terms.length)] ?? "");
      return [...drawn];
    }
  }
}
