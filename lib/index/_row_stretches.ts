/** How long the rows of a matrix are without the mean of their language: found out once a row. */
import {
  type CentredQuery,
  type Centring,
  type Language,
  type Means,
  stretchOf,
} from "./centring.ts";
import type { VectorMatrix } from "./vector_matrix.ts";

const FIRST_ROWS = 256;

export class RowStretches {
  readonly #means: Means;
  /** By row; NaN = not known yet. */
  #stretches: Float32Array<ArrayBuffer>;

  /**
   * @param means Of what lies in the rows, by language.
   * @param stretches What is known, by row; NaN = nothing.
   */
  constructor(means: Means, stretches = new Float32Array(FIRST_ROWS).fill(NaN)) {
    this.#means = means;
    this.#stretches = stretches;
  }

  /** Returns a copy of what is known of the first rows, NaN where nothing is. */
  slice(rows: number): Float32Array<ArrayBuffer> {
    const copy = new Float32Array(rows).fill(NaN);
    copy.set(this.#stretches.subarray(0, rows));
    return copy;
  }

  /** Takes note that a row has another vector than before. */
  forget(row: number): void {
    if (row < this.#stretches.length) this.#stretches[row] = NaN;
  }

  /** Returns 1 / the centred length of a row. */
  at(matrix: VectorMatrix, row: number, language: Language): number {
    const known = this.#stretches[row] ?? NaN;
    if (!Number.isNaN(known)) return known;
    const stretch = stretchOf(matrix.rowAt(row), this.#means[language]);
    if (row >= this.#stretches.length) this.#makeRoom(row + 1);
    this.#stretches[row] = stretch;
    return stretch;
  }

  #makeRoom(rows: number): void {
    this.#stretches = this.slice(Math.max(rows, this.#stretches.length * 2));
  }
}

/** The rows of notes, as they are compared without what only tells their language. */
export interface CentredRows {
  readonly centring: Centring;
  readonly metadata: RowStretches;
  readonly chunks: RowStretches;
}

/** How vectors are compared. */
export interface VectorView {
  /** Without what only tells their language; `undefined` = as they are. */
  readonly centred: CentredRows | undefined;
}

/**
 * Returns how rows are compared by some means.
 *
 * @param known What is known of the rows, NaN where nothing is; nothing at all without it.
 */
export function toCentredRows(
  centring: Centring,
  known: Partial<Record<"metadata" | "chunks", Float32Array<ArrayBuffer>>> = {},
): CentredRows {
  const { passage } = centring;
  return {
    centring,
    metadata: new RowStretches(passage, known.metadata),
    chunks: new RowStretches(passage, known.chunks),
  };
}

/** Some rows side by side, all of one note. */
export interface RowRange {
  readonly first: number;
  readonly language: Language;
}

/**
 * Turns cosines of rows with a centred question into those of the centred rows, in place; NaN stays.
 */
export function centreCosines(
  cosines: Float32Array,
  { matrix, stretches, query }: {
    readonly matrix: VectorMatrix;
    readonly stretches: RowStretches;
    readonly query: CentredQuery;
  },
  { first, language }: RowRange,
): void {
  const offset = query.offsets[language];
  for (let i = 0; i < cosines.length; i++) {
    const cosine = cosines[i] ?? NaN;
    if (Number.isNaN(cosine)) continue;
    cosines[i] = (cosine - offset) * stretches.at(matrix, first + i, language);
  }
}
