/** How alike two texts are in what they mean and in their words, in one number. */
import type { Tokenizer } from "@/lib/index/tokenizer.ts";
import { Slicer } from "@/lib/seams.ts";
import { withoutErrorCodes } from "./_error_codes.ts";
import { type Concepts, readConcepts } from "./_failure_concepts.ts";
import { Meaning, type MeaningDeps, type MeaningOptions } from "./_meaning.ts";
import { type RareWords, readRareWords } from "./_rare_words.ts";

/** What words count that are the same throughout, beside the likeness of meaning. */
const WORDS_WEIGHT = 3;
/** What they count where there is no meaning to be had. */
const WORDS_ALONE_WEIGHT = 35;

/** What concepts of failures count that both name, by their rarity. */
const CONCEPTS_WEIGHT = .35;

/** Texts to compare; made by `openLikeness()`. */
export interface Likeness {
  /**
   * Returns the texts that are likest to one at first sight, the likest first.
   *
   * @param limits The least likeness, and how many.
   */
  nearest(text: number, limits: { readonly least: number; readonly most: number }): number[];
  /** Returns how much more alike two texts are than unrelated ones, in standard deviations. */
  between(first: number, second: number): number;
}

export interface LikenessOptions extends MeaningOptions {
  /** Made once for all comparisons, as its tables take a while. */
  readonly tokenizer: Pick<Tokenizer, "terms">;
}

/**
 * Has texts embedded, unless there is no embedder, and reads their words, in slices.
 *
 * @throws The reason of the signal if it aborts, and what the embedder throws.
 */
export async function openLikeness(
  deps: MeaningDeps,
  texts: readonly string[],
  options: LikenessOptions,
): Promise<Likeness> {
  const { isThorough, tokenizer, signal } = options;
  const slicer = new Slicer(deps.clock);
  // Codes are a matter of their own: else who shares one would be alike in it alone.
  const plain = isThorough ? await slicer.run(withoutCodes(texts), signal) : texts;
  const meaning = await Meaning.open(deps, { texts, plain }, options);
  const words = await slicer.run(readRareWords(plain, tokenizer), signal);
  const concepts = isThorough ? await slicer.run(readConcepts(texts), signal) : undefined;
  return new MixedLikeness({ count: texts.length, words, concepts, meaning });
}

function* withoutCodes(texts: readonly string[]): Generator<void, string[]> {
  const plain: string[] = [];
  for (const text of texts) {
    plain.push(withoutErrorCodes(text));
    yield;
  }
  return plain;
}

interface Measured {
  readonly count: number;
  readonly words: RareWords;
  readonly concepts: Concepts | undefined;
  readonly meaning: Meaning | undefined;
}

class MixedLikeness implements Likeness {
  readonly #count: number;
  readonly #words: RareWords;
  readonly #meaning: Meaning | undefined;
  readonly #concepts: Concepts | undefined;
  /** Of the text that was asked for last, as it is asked for with many others in turn. */
  #row: { readonly text: number; readonly words: Float32Array } | undefined;

  constructor({ count, words, concepts, meaning }: Measured) {
    this.#count = count;
    this.#words = words;
    this.#concepts = concepts;
    this.#meaning = meaning;
  }

  nearest(text: number, { least, most }: { least: number; most: number }): number[] {
    const deviations = this.#meaning?.deviationsFrom(text);
    const near: { other: number; likeness: number }[] = [];
    for (let other = 0; other < this.#count; other++) {
      const likeness = this.#mix(text, other, deviations?.[other]);
      if (other !== text && likeness >= least) near.push({ other, likeness });
    }
    near.sort((a, b) => b.likeness - a.likeness);
    return near.slice(0, most).map(({ other }) => other);
  }

  between(first: number, second: number): number {
    return this.#mix(first, second, this.#meaning?.likeness(first, second));
  }

  #mix(first: number, second: number, meaning: number | undefined): number {
    return withWords(meaning, this.#wordsOf(first)[second] ?? 0) +
      CONCEPTS_WEIGHT * (this.#concepts?.shared(first, second) ?? 0);
  }

  #wordsOf(text: number): Float32Array {
    if (this.#row?.text !== text) this.#row = { text, words: this.#words.likenessTo(text) };
    return this.#row.words;
  }
}

/** @param meaning `undefined` or NaN if there is none. */
function withWords(meaning: number | undefined, words: number): number {
  if (meaning === undefined || Number.isNaN(meaning)) return WORDS_ALONE_WEIGHT * words;
  return meaning + WORDS_WEIGHT * words;
}
