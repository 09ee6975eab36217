/**
 * How well the words of one text find a match of like meaning in another, the rarer the weightier:
 * two tellings of one mistake name the same things with other words, in other languages too.
 */
import type { Embedder } from "@/lib/embed/embedder.ts";
import { type Clock, Slicer } from "@/lib/seams.ts";
import { CHINESE_FUNCTION_WORDS, ENGLISH_FUNCTION_WORDS } from "./_function_words.ts";
import { centre } from "./_centre.ts";
import { withoutErrorCodes } from "./_error_codes.ts";
import { dot } from "./_dot.ts";
import { isChinese } from "./_is_chinese.ts";

/** Of one text, the rarest: so that a long one takes no longer than a few sentences. */
const MAX_WORDS = 30;
/** As many texts without a word as this are assumed beside those that are compared. */
const OTHER_TEXTS = 50;

interface Word {
  readonly vector: Float32Array;
  readonly weight: number;
}

/** The words of some texts as a model knows them. */
export class WordMeaning {
  readonly #wordsOf: readonly (readonly Word[])[];

  private constructor(wordsOf: readonly (readonly Word[])[]) {
    this.#wordsOf = wordsOf;
  }

  /**
   * Has the words of texts embedded, each once.
   *
   * @throws What the embedder throws.
   */
  static async open(
    { clock, embedder }: { readonly clock: Clock; readonly embedder: Embedder },
    texts: readonly string[],
    signal?: AbortSignal,
  ): Promise<WordMeaning> {
    const slicer = new Slicer(clock);
    const spoken = await slicer.run(splitAll(texts));
    const frequency = new Map<string, number>();
    for (const word of spoken.flat()) frequency.set(word, (frequency.get(word) ?? 0) + 1);
    const words = [...frequency.keys()];
    const embedded = await embedder.embed(words, "passage", signal);
    const vectors = await slicer.run(centre(embedded, words.map(isChinese)));
    const table = new Map(words.map((word, index): [string, Word | undefined] => {
      const vector = vectors[index];
      const count = frequency.get(word) ?? 0;
      const weight = Math.log((texts.length + OTHER_TEXTS) / (count + 1));
      return [word, vector && { vector, weight }];
    }));
    return new WordMeaning(await slicer.run(chooseWords(spoken, table)));
  }

  /** Returns 0 for texts that have nothing in common, 1 for the same words; NaN without any. */
  align(first: number, second: number): number {
    const [a = [], b = []] = [this.#wordsOf[first], this.#wordsOf[second]];
    const bestOfA = new Float64Array(a.length);
    const bestOfB = new Float64Array(b.length);
    for (let i = 0; i < a.length; i++) {
      for (let j = 0; j < b.length; j++) {
        const cosine = dot(a[i]?.vector ?? NOTHING, b[j]?.vector ?? NOTHING);
        if (cosine > (bestOfA[i] ?? 0)) bestOfA[i] = cosine;
        if (cosine > (bestOfB[j] ?? 0)) bestOfB[j] = cosine;
      }
    }
    return (weigh(a, bestOfA) + weigh(b, bestOfB)) / 2;
  }
}

const NOTHING = new Float32Array();

/** A word that finds no match counts as much as one that does. */
function weigh(words: readonly Word[], best: Float64Array): number {
  let sum = 0;
  let whole = 0;
  words.forEach(({ weight }, index) => {
    sum += weight * (best[index] ?? 0);
    whole += weight;
  });
  return sum / whole;
}

function* splitAll(texts: readonly string[]): Generator<void, string[][]> {
  const segmenter = new Intl.Segmenter("zh", { granularity: "word" });
  const spoken: string[][] = [];
  for (const text of texts) {
    spoken.push(splitWords(segmenter, withoutErrorCodes(text)));
    yield;
  }
  return spoken;
}

/** Takes of each text the words that a model knows, the rarest. */
function* chooseWords(
  spoken: readonly (readonly string[])[],
  table: ReadonlyMap<string, Word | undefined>,
): Generator<void, Word[][]> {
  const chosen: Word[][] = [];
  for (const words of spoken) {
    const known = words.flatMap((word) => table.get(word) ?? []);
    chosen.push(known.sort((a, b) => b.weight - a.weight).slice(0, MAX_WORDS));
    yield;
  }
  return chosen;
}

function splitWords(segmenter: Intl.Segmenter, text: string): string[] {
  const segments = segmenter.segment(text.normalize("NFKC").toLowerCase());
  const words = new Set<string>();
  for (const { segment, isWordLike } of segments) {
    const isSaying = isWordLike && !/^\d$/.test(segment) && !CHINESE_FUNCTION_WORDS.has(segment) &&
      !ENGLISH_FUNCTION_WORDS.has(segment);
    if (isSaying) words.add(segment);
  }
  return [...words];
}
