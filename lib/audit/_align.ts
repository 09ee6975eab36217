/** How well the parts of two texts, clauses or words, find each other. */
import { dot } from "./_dot.ts";

/** A part of a text, as a model knows it. */
export interface Part {
  readonly vector: Float32Array;
  /** What it counts among the parts of its text. */
  readonly weight: number;
}

/**
 * Returns how near the nearest part of the other text is, on average over the parts of both.
 *
 * @returns 0 for texts that have nothing in common, 1 for the same parts; NaN if one has none.
 */
export function align(a: readonly Part[], b: readonly Part[]): number {
  const bestOfA = new Float64Array(a.length);
  const bestOfB = new Float64Array(b.length);
  a.forEach((one, i) =>
    b.forEach((other, j) => {
      const cosine = dot(one.vector, other.vector);
      if (cosine > (bestOfA[i] ?? 0)) bestOfA[i] = cosine;
      if (cosine > (bestOfB[j] ?? 0)) bestOfB[j] = cosine;
    })
  );
  return (weigh(a, bestOfA) + weigh(b, bestOfB)) / 2;
}

/** A part that finds no match counts as much as one that does. */
function weigh(parts: readonly Part[], best: Float64Array): number {
  let sum = 0;
  let whole = 0;
  parts.forEach(({ weight }, index) => {
    sum += weight * (best[index] ?? 0);
    whole += weight;
  });
  return sum / whole;
}
