/**
 * The words of texts as a model knows them, the rarer the weightier: two tellings of one mistake name
 * the same things with other words, in other languages too.
 */
import type { Embedder } from "@/lib/embed/embedder.ts";
import { type Clock, Slicer } from "@/lib/seams.ts";
import type { Part } from "./_align.ts";
import { centre } from "./_centre.ts";
import { CHINESE_FUNCTION_WORDS, ENGLISH_FUNCTION_WORDS } from "./_function_words.ts";
import { isChinese } from "./_is_chinese.ts";
import { rarity } from "./_rarity.ts";

/** Of one text, the rarest: so that a long one takes no longer than a few sentences. */
const MAX_WORDS = 30;

/**
 * Has the words of texts embedded, each once.
 *
 * @returns Of each text, the rarest of its words that the model knows.
 * @throws The reason of `signal` if it aborts, and what the embedder throws.
 */
export async function embedWords(
  { clock, embedder }: { readonly clock: Clock; readonly embedder: Embedder },
  texts: readonly string[],
  signal?: AbortSignal,
): Promise<Part[][]> {
  const slicer = new Slicer(clock);
  const spoken = await slicer.run(splitAll(texts), signal);
  const frequency = new Map<string, number>();
  for (const word of spoken.flat()) frequency.set(word, (frequency.get(word) ?? 0) + 1);
  const words = [...frequency.keys()];
  const embedded = await embedder.embed(words, "passage", signal);
  const vectors = await slicer.run(centre(embedded, words.map(isChinese)), signal);
  const table = new Map(words.map((word, index): [string, Part | undefined] => {
    const vector = vectors[index];
    const weight = rarity(frequency.get(word) ?? 0, texts.length);
    return [word, vector && { vector, weight }];
  }));
  return await slicer.run(chooseWords(spoken, table), signal);
}

function* splitAll(texts: readonly string[]): Generator<void, string[][]> {
  const segmenter = new Intl.Segmenter("zh", { granularity: "word" });
  const spoken: string[][] = [];
  for (const text of texts) {
    spoken.push(splitWords(segmenter, text));
    yield;
  }
  return spoken;
}

/** Takes of each text the words that a model knows, the rarest. */
function* chooseWords(
  spoken: readonly (readonly string[])[],
  table: ReadonlyMap<string, Part | undefined>,
): Generator<void, Part[][]> {
  const chosen: Part[][] = [];
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
