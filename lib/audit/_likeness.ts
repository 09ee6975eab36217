/** How alike two texts are in what they mean and in their words, in one number. */
import { withoutErrorCodes } from "./_error_codes.ts";
import { type Concepts, readConcepts } from "./_failure_concepts.ts";
import { Meaning, type MeaningDeps, type MeaningOptions } from "./_meaning.ts";
import { type RareWords, readRareWords } from "./_rare_words.ts";

/** What words count that are the same throughout, beside the likeness of meaning. */
export const WORDS_WEIGHT = 3;
/** What they count where there is no meaning to be had. */
export const WORDS_ALONE_WEIGHT = 35;

/** What concepts of failures count that both name, by their rarity. */
export const CONCEPTS_WEIGHT = .35;

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

/**
 * Has texts embedded, unless there is no embedder, and reads their words.
 *
 * @returns In steps, after the embedder has answered.
 * @throws What the embedder throws.
 */
export async function openLikeness(
  deps: MeaningDeps,
  texts: readonly string[],
  options: MeaningOptions & { readonly signal?: AbortSignal | undefined },
): Promise<Generator<void, Likeness>> {
  const meaning = await Meaning.open(deps, texts, options);
  return readAll(texts, meaning, options);
}

function* readAll(
  texts: readonly string[],
  meaning: Meaning | undefined,
  { isThorough }: MeaningOptions,
): Generator<void, Likeness> {
  const plain: string[] = [];
  for (const text of texts) {
    // Codes are a matter of their own: else who shares one would be alike in it alone.
    plain.push(isThorough ? withoutErrorCodes(text) : text);
    yield;
  }
  const words = yield* readRareWords(plain);
  const concepts = isThorough ? yield* readConcepts(texts) : undefined;
  return new MixedLikeness({ count: texts.length, words, concepts, meaning });
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
    const words = this.#wordsOf(text);
    const near: { other: number; likeness: number }[] = [];
    for (let other = 0; other < this.#count; other++) {
      const likeness = mix(deviations?.[other], words[other] ?? 0) +
        CONCEPTS_WEIGHT * (this.#concepts?.shared(text, other) ?? 0);
      if (other !== text && likeness >= least) near.push({ other, likeness });
    }
    near.sort((a, b) => b.likeness - a.likeness);
    return near.slice(0, most).map(({ other }) => other);
  }

  between(first: number, second: number): number {
    const meaning = this.#meaning?.likeness(first, second);
    return mix(meaning, this.#wordsOf(first)[second] ?? 0) +
      CONCEPTS_WEIGHT * (this.#concepts?.shared(first, second) ?? 0);
  }

  #wordsOf(text: number): Float32Array {
    if (this.#row?.text !== text) this.#row = { text, words: this.#words.likenessTo(text) };
    return this.#row.words;
  }
}

/** @param meaning `undefined` or NaN if there is none. */
function mix(meaning: number | undefined, words: number): number {
  if (meaning === undefined || Number.isNaN(meaning)) return WORDS_ALONE_WEIGHT * words;
  return meaning + WORDS_WEIGHT * words;
}
