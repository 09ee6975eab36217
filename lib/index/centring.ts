/**
 * Takes out of vectors what only tells their language. Many models put texts of one language so near
 * each other that a question finds those before any answer in another one. The mean of many texts of
 * a language is what they have in common: without it they are compared by what they are about. A
 * small transformer found Chinese answers to English questions with an nDCG of .88 instead of .41
 * then, and lost up to .05 within a language (docs/measurements.md).
 */
import type { EmbedKind } from "@/lib/embed/embedder.ts";
import type { Frozen, SnapshotReader } from "./_snapshot_stream.ts";

/** Of texts, as far as they are told apart: with or without much Chinese. */
export type Language = "latin" | "han";
export const LANGUAGES = ["latin", "han"] as const;

/** In the middle between a note that has next to no Chinese and one that has much. */
const HAN_FROM = 0.2;
/** A vector that is hardly more than the mean says nothing of its own. */
const MIN_LENGTH = 1e-3;

/** One vector a language. */
export type Means = Readonly<Record<Language, Float32Array<ArrayBuffer>>>;
/** By what the texts are: a model may treat questions otherwise than what answers them. */
export type Centring = Readonly<Record<EmbedKind, Means>>;

/** A vector of any length, and how much of its text is Chinese, 0..1. */
export interface LanguageVector {
  readonly vector: Float32Array | Int8Array;
  readonly hanShare: number;
}

/** A question as rows are compared with it. */
export interface CentredQuery {
  readonly vector: Float32Array;
  /** By the language of a row: what its mean adds to the dot product with the question. */
  readonly offsets: Readonly<Record<Language, number>>;
}

/** Returns the language of a text by the share of it that is Chinese. */
export function languageOf(hanShare: number): Language {
  return hanShare < HAN_FROM ? "latin" : "han";
}

/**
 * Returns the mean vector of each language, every text counting alike; `undefined` if one of them
 * has fewer texts than are asked for.
 *
 * @param least How many texts of a language are enough to tell what it has in common.
 */
export function* learnMeans(
  texts: Iterable<LanguageVector>,
  dimensions: number,
  least: number,
): Generator<void, Means | undefined> {
  const sums = { latin: new Float32Array(dimensions), han: new Float32Array(dimensions) };
  const counts = { latin: 0, han: 0 };
  for (const { vector, hanShare } of texts) {
    yield;
    const length = lengthOf(vector);
    if (length === 0) continue;
    const language = languageOf(hanShare);
    const sum = sums[language];
    for (let i = 0; i < dimensions; i++) sum[i] = (sum[i] ?? 0) + (vector[i] ?? 0) / length;
    counts[language]++;
  }
  if (LANGUAGES.some((language) => counts[language] < least)) return undefined;
  for (const language of LANGUAGES) {
    const sum = sums[language];
    for (let i = 0; i < dimensions; i++) sum[i] = (sum[i] ?? 0) / counts[language];
  }
  return sums;
}

/** Returns how much nearer texts of one language are to each other than to those of the other. */
export function measureFavour({ query, passage }: Centring): number {
  return (dot(query.latin, passage.latin) - dot(query.latin, passage.han) +
    dot(query.han, passage.han) - dot(query.han, passage.latin)) / 2;
}

/** Returns a question without what its language has in common. */
export function centreQuery(
  { vector, hanShare }: LanguageVector,
  { query, passage }: Centring,
): CentredQuery {
  const length = lengthOf(vector) || 1;
  const mean = query[languageOf(hanShare)];
  const centred = Float32Array.from(vector, (value, i) => value / length - (mean[i] ?? 0));
  const centredLength = lengthOf(centred);
  if (centredLength < MIN_LENGTH) return { vector: centred.fill(0), offsets: { latin: 0, han: 0 } };
  for (let i = 0; i < centred.length; i++) centred[i] = (centred[i] ?? 0) / centredLength;
  return {
    vector: centred,
    offsets: { latin: dot(centred, passage.latin), han: dot(centred, passage.han) },
  };
}

/**
 * Returns 1 / the length that a row has without the mean of its language, when its own is 1; 0 if it
 * has next to none, so that its cosines are 0.
 */
export function stretchOf(row: Int8Array, mean: Float32Array): number {
  const length = lengthOf(row);
  if (length === 0) return 0;
  const left = 1 - 2 * dot(row, mean) / length + dot(mean, mean);
  return left < MIN_LENGTH ** 2 ? 0 : 1 / Math.sqrt(left);
}

/** Takes down means, to be saved. */
export function freezeCentring({ query, passage }: Centring): Frozen {
  const means = [query.latin, query.han, passage.latin, passage.han].map((mean) => mean.slice());
  return {
    async save(writer) {
      for (const mean of means) await writer.writeArray(mean);
    },
  };
}

/** Reads what `freezeCentring()` saved. */
export async function restoreCentring(
  reader: SnapshotReader,
  dimensions: number,
): Promise<Centring> {
  const read = () => reader.readArray(Float32Array, dimensions);
  return {
    query: { latin: await read(), han: await read() },
    passage: { latin: await read(), han: await read() },
  };
}

function dot(a: Float32Array | Int8Array, b: Float32Array): number {
  let sum = 0;
  for (let i = 0; i < b.length; i++) sum += (a[i] ?? 0) * (b[i] ?? 0);
  return sum;
}

function lengthOf(vector: Float32Array | Int8Array): number {
  let squares = 0;
  for (const value of vector) squares += value * value;
  return Math.sqrt(squares);
}
