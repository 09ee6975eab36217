/** What texts of one language have in common tells nothing of any of them: it is taken off. */
import type { Embedding } from "@/lib/embed/embedder.ts";
import { dot } from "./_dot.ts";

/** So many texts that have nothing in common are assumed beside those that are there. */
const OTHER_TEXTS = 20;

/**
 * Takes the mean of its language off each vector. A few texts say little of a language, and keep
 * most of what they are.
 *
 * @param isChinese Of each vector's text.
 * @returns Of unit length, in the same order; in steps.
 */
export function* centre(
  vectors: readonly Embedding[],
  isChinese: readonly boolean[],
): Generator<void, Embedding[]> {
  const ofLanguage = (language: boolean) =>
    vectors.filter((vector, index) => vector !== undefined && isChinese[index] === language);
  const chinese = yield* meanOf(ofLanguage(IN_CHINESE));
  const others = yield* meanOf(ofLanguage(!IN_CHINESE));
  const centred: Embedding[] = [];
  for (const [index, vector] of vectors.entries()) {
    const mean = isChinese[index] ? chinese : others;
    centred.push(vector && mean ? apart(vector, mean) : vector);
    yield;
  }
  return centred;
}

const IN_CHINESE = true;

function apart(vector: Float32Array, mean: Float32Array): Embedding {
  const rest = vector.map((value, at) => value - (mean[at] ?? 0));
  const length = Math.sqrt(dot(rest, rest));
  return length === 0 ? undefined : rest.map((value) => value / length);
}

function* meanOf(vectors: readonly Embedding[]): Generator<void, Float32Array | undefined> {
  const [first] = vectors;
  if (first === undefined) return undefined;
  const sum = new Float32Array(first.length);
  for (const vector of vectors) {
    vector?.forEach((value, at) => sum[at] = (sum[at] ?? 0) + value);
    yield;
  }
  return sum.map((value) => value / (vectors.length + OTHER_TEXTS));
}
