/**
 * Adds up the rows of a text's pieces, which is most of the work of embedding it. To save half of
 * that, two dimensions are added as one double: the even one counts single, the odd one in units of
 * `LANE`. The weights are made whole numbers, small enough that the even one never reaches `LANE`;
 * then every sum is a whole number below 2^53, nothing is lost, and both can be told apart again.
 */
import type { Embedding } from "./embedder.ts";

/** Two numbers of four bits, each stored plus eight, lie in a byte. */
const STORED_PLUS = 8;
const MAX_STORED = 15;
const LANE = 2 ** 26;
/** So many rows are added in one step: the fewer, the more exact are the weights. */
const STEP_ROWS = 256;
/** So many rows are added in one turn, as reading and writing the sums costs as much as a row. */
const AT_ONCE = 4;

/** By byte of a row, its two dimensions as one double. */
const LANES = Float64Array.from({ length: 256 }, (_, byte) => (byte & 15) + (byte >> 4) * LANE);

export interface RowTable {
  readonly dimensions: number;
  /** Half a byte a number, row after row. */
  readonly rows: Uint8Array;
  /** By piece, what its row is multiplied with. */
  readonly scales: Float32Array;
}

export class RowSum {
  readonly #table: RowTable;
  /** By piece, how often it is in the text that is counted just now. */
  readonly #counts: Uint32Array;
  /** For one step: where the rows begin, their weights in whole numbers, and the sums. */
  readonly #offsets = new Int32Array(STEP_ROWS);
  readonly #weights = new Float64Array(STEP_ROWS);
  readonly #lanes: Float64Array;

  constructor(table: RowTable) {
    this.#table = table;
    this.#counts = new Uint32Array(table.scales.length);
    this.#lanes = new Float64Array(table.dimensions / 2);
  }

  /** Returns the vector of the pieces, of unit length; `undefined` when they have none. */
  *embed(pieces: readonly number[]): Generator<void, Embedding> {
    if (pieces.length === 0) return undefined;
    const weighed = this.#weigh(pieces);
    const sum = new Float32Array(this.#table.dimensions);
    for (let first = 0; first < weighed.pieces.length; first += STEP_ROWS) {
      if (first > 0) yield;
      this.#addRows(weighed, first, sum);
    }
    return normalise(sum);
  }

  /** Takes each piece once, with a weight that grows by the logarithm of its count. */
  #weigh(pieces: readonly number[]): WeighedPieces {
    const counts = this.#counts;
    const distinct: number[] = [];
    for (const piece of pieces) {
      const count = counts[piece] ?? 0;
      if (count === 0) distinct.push(piece);
      counts[piece] = count + 1;
    }
    const weights = distinct.map((piece) => {
      const weight = (1 + Math.log(counts[piece] ?? 1)) * (this.#table.scales[piece] ?? 0);
      counts[piece] = 0;
      return weight;
    });
    return { pieces: distinct, weights };
  }

  /** Adds one step's rows to `sum`. */
  #addRows({ pieces, weights }: WeighedPieces, first: number, sum: Float32Array): void {
    const count = Math.min(STEP_ROWS, pieces.length - first);
    let total = 0;
    for (let i = 0; i < count; i++) total += weights[first + i] ?? 0;
    // Rounding adds half of one to each weight at the most.
    const units = (LANE / MAX_STORED - STEP_ROWS) / total;
    let wholeTotal = 0;
    for (let i = 0; i < count; i++) {
      const weight = Math.round((weights[first + i] ?? 0) * units);
      this.#weights[i] = weight;
      this.#offsets[i] = (pieces[first + i] ?? 0) * this.#lanes.length;
      wholeTotal += weight;
    }
    this.#addLanes(count);
    this.#part(sum, { units, surplus: wholeTotal * STORED_PLUS });
  }

  /** Adds the rows of a step, several at a time; what is left over in the last turn weighs 0. */
  #addLanes(count: number): void {
    const { rows } = this.#table;
    const [lanes, offsets, weights] = [this.#lanes, this.#offsets, this.#weights];
    lanes.fill(0);
    weights.fill(0, count);
    for (let i = 0; i < count; i += AT_ONCE) {
      const [a, b] = [offsets[i] ?? 0, offsets[i + 1] ?? 0];
      const [c, d] = [offsets[i + 2] ?? 0, offsets[i + 3] ?? 0];
      const [wa, wb] = [weights[i] ?? 0, weights[i + 1] ?? 0];
      const [wc, wd] = [weights[i + 2] ?? 0, weights[i + 3] ?? 0];
      for (let at = 0; at < lanes.length; at++) {
        const both = lanesOf(rows, a + at) * wa + lanesOf(rows, b + at) * wb +
          lanesOf(rows, c + at) * wc + lanesOf(rows, d + at) * wd;
        lanes[at] = (lanes[at] ?? 0) + both;
      }
    }
  }

  /** Parts the two dimensions of each double. */
  #part(sum: Float32Array, { units, surplus }: { units: number; surplus: number }): void {
    const lanes = this.#lanes;
    const unit = 1 / units;
    for (let at = 0; at < lanes.length; at++) {
      const both = lanes[at] ?? 0;
      const odd = Math.floor(both / LANE);
      const even = both - odd * LANE;
      sum[2 * at] = (sum[2 * at] ?? 0) + (even - surplus) * unit;
      sum[2 * at + 1] = (sum[2 * at + 1] ?? 0) + (odd - surplus) * unit;
    }
  }
}

/** Each piece once. */
interface WeighedPieces {
  readonly pieces: readonly number[];
  readonly weights: readonly number[];
}

function lanesOf(rows: Uint8Array, at: number): number {
  return LANES[rows[at] ?? 0] ?? 0;
}

function normalise(sum: Float32Array): Embedding {
  let squares = 0;
  for (let i = 0; i < sum.length; i++) squares += (sum[i] ?? 0) ** 2;
  if (squares === 0) return undefined;
  const factor = 1 / Math.sqrt(squares);
  for (let i = 0; i < sum.length; i++) sum[i] = (sum[i] ?? 0) * factor;
  return sum;
}
