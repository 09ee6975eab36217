/**
 * How alike texts are in what they mean, measured against texts that have nothing to do with each
 * other. Cosines of two languages are lower than those within one, and differ from model to model:
 * so each is told in standard deviations above what two unrelated texts of these languages have.
 */
import type { Embedder, Embedding } from "@/lib/embed/embedder.ts";
import { quantize, VectorMatrix } from "@/lib/index/vector_matrix.ts";
import { type Clock, Slicer } from "@/lib/seams.ts";
import { type Bell, fitBell, samplePairs } from "./_bell.ts";
import { centre } from "./_centre.ts";
import { splitClauses } from "./_clauses.ts";
import { withoutErrorCodes } from "./_error_codes.ts";
import { dot } from "./_dot.ts";
import { isChinese } from "./_is_chinese.ts";
import { WordMeaning } from "./_word_meaning.ts";

export interface MeaningDeps {
  readonly clock: Clock;
  readonly embedder: Embedder | undefined;
}

/** Unrelated texts of a model lie around its floor, this part of its range wide. */
const COSINE_SPREAD = 1 / 9;
/** Means over clauses vary less. */
const CLAUSE_SPREAD = 1 / 17;
/** What is left of unrelated texts once that of their language is taken off, as part of the range. */
const CENTRED_SPREAD = 1 / 10;
/** Of words matched with words. */
const WORD_MEAN = 1 / 6;
const WORD_SPREAD = 1 / 22;

/** Tells the kinds of pairs apart: both Chinese, neither, one of them. */
export type PairKind = 0 | 1 | 2;

interface Side {
  readonly isChinese: boolean;
  readonly vector: Embedding;
  readonly clauses: readonly Float32Array[];
  /** Absent unless texts are compared word by word too. */
  readonly centred?: Embedding;
}

/** How texts are compared. */
export interface MeaningOptions {
  /** True for texts that tell one thing in many ways: word by word too, without what is usual. */
  readonly isThorough: boolean;
}

/** What a model makes of some texts. */
export class Meaning {
  readonly #sides: readonly Side[];
  readonly #matrix: VectorMatrix;
  #cosineBells: readonly Bell[] = [];
  #clauseBells: readonly Bell[] | undefined;
  #centredBells: readonly Bell[] | undefined;
  #wordBells: readonly Bell[] | undefined;
  readonly #words: WordMeaning | undefined;

  private constructor(
    sides: readonly Side[],
    dimensions: number,
    words: WordMeaning | undefined,
  ) {
    this.#sides = sides;
    this.#words = words;
    this.#matrix = new VectorMatrix(dimensions);
  }

  /**
   * Has texts and, by a model that runs here, their clauses embedded.
   *
   * @returns `undefined` without an embedder.
   * @throws What the embedder throws.
   */
  static async open(
    { clock, embedder }: MeaningDeps,
    texts: readonly string[],
    { isThorough, signal }: MeaningOptions & { readonly signal?: AbortSignal | undefined },
  ): Promise<Meaning | undefined> {
    if (embedder === undefined) return undefined;
    // Clauses keep their codes; as a whole, texts that share one would be alike in it alone.
    const wholes = isThorough ? texts.map(withoutErrorCodes) : texts;
    const vectors = await embedder.embed(wholes, "passage", signal);
    const clauses = texts.map((text) => embedder.isLocal ? splitClauses(text) : []);
    const embedded = embedder.isLocal
      ? await embedder.embed(clauses.flat(), "passage", signal)
      : [];
    const languages = texts.map(isChinese);
    const slicer = new Slicer(clock);
    const centred = isThorough ? await slicer.run(centre(vectors, languages)) : [];
    const words = isThorough && embedder.isLocal
      ? await WordMeaning.open({ clock, embedder }, texts, signal)
      : undefined;
    let at = 0;
    const sides = texts.map((_, index): Side => ({
      isChinese: languages[index] ?? false,
      vector: vectors[index],
      clauses: (clauses[index] ?? []).flatMap(() => embedded[at++] ?? []),
      ...(isThorough ? { centred: centred[index] } : {}),
    }));
    const meaning = new Meaning(sides, embedder.dimensions, words);
    await slicer.run(meaning.#prepare(embedder));
    return meaning;
  }

  /** Returns how far the cosine of a text with each is above the usual; NaN where there is none. */
  deviationsFrom(index: number): Float32Array {
    const { vector, isChinese } = this.#sides[index] ?? {};
    const deviations = new Float32Array(this.#sides.length).fill(NaN);
    if (vector === undefined) return deviations;
    const cosines = this.#matrix.cosines(vector);
    for (let other = 0; other < deviations.length; other++) {
      const kind = kindOf(isChinese, this.#sides[other]?.isChinese);
      deviations[other] = deviate(cosines[other] ?? NaN, this.#cosineBells[kind]);
    }
    return deviations;
  }

  /**
   * Returns how much more alike two texts are than unrelated ones, in standard deviations, as a
   * whole and clause by clause; `undefined` if the model knows nothing in one of them.
   */
  likeness(first: number, second: number): number | undefined {
    const [a, b] = [this.#sides[first], this.#sides[second]];
    if (a?.vector === undefined || b?.vector === undefined) return undefined;
    const kind = kindOf(a.isChinese, b.isChinese);
    const measures = [deviate(dot(a.vector, b.vector), this.#cosineBells[kind])];
    if (this.#clauseBells !== undefined) {
      measures.push(deviate(alignClauses(a.clauses, b.clauses), this.#clauseBells[kind]));
    }
    if (this.#centredBells !== undefined && a.centred && b.centred) {
      measures.push(deviate(dot(a.centred, b.centred), this.#centredBells[kind]));
    }
    if (this.#words !== undefined) {
      measures.push(deviate(this.#words.align(first, second), this.#wordBells?.[kind]));
    }
    const known = measures.filter((value) => !Number.isNaN(value));
    const sum = known.reduce((total, value) => total + value, 0);
    // What agrees in many ways is surer than each of them says.
    return sum / known.length * (measures.length > 2 ? THOROUGH_GAIN : 1);
  }

  *#prepare({ floor, ceiling, dimensions, isLocal }: Embedder): Generator<void, void> {
    for (const { vector } of this.#sides) {
      this.#matrix.append(vector && quantize(vector) || new Int8Array(dimensions));
      yield;
    }
    const prior = (spread: number): Bell => ({ mean: floor, spread: spread * (ceiling - floor) });
    this.#cosineBells = yield* this.#bells(
      (a, b) => a.vector && b.vector ? dot(a.vector, b.vector) : NaN,
      prior(COSINE_SPREAD),
    );
    if (this.#sides.some(({ centred }) => centred !== undefined)) {
      this.#centredBells = yield* this.#bells(
        (a, b) => a.centred && b.centred ? dot(a.centred, b.centred) : NaN,
        { mean: 0, spread: CENTRED_SPREAD * (ceiling - floor) },
      );
    }
    if (!isLocal) return;
    this.#clauseBells = yield* this.#bells(
      (a, b) => alignClauses(a.clauses, b.clauses),
      prior(CLAUSE_SPREAD),
    );
    const words = this.#words;
    if (words === undefined) return;
    this.#wordBells = yield* this.#bells((_a, _b, [first, second]) => words.align(first, second), {
      mean: WORD_MEAN * (ceiling - floor),
      spread: WORD_SPREAD * (ceiling - floor),
    });
  }

  *#bells(
    measure: (a: Side, b: Side, pair: readonly [number, number]) => number,
    prior: Bell,
  ): Generator<void, Bell[]> {
    const values: number[][] = [[], [], []];
    for (const [first, second] of samplePairs(this.#sides.length)) {
      const [a, b] = [this.#sides[first], this.#sides[second]];
      if (a && b) values[kindOf(a.isChinese, b.isChinese)]?.push(measure(a, b, [first, second]));
      yield;
    }
    return values.map((them) => fitBell(them.filter((value) => !Number.isNaN(value)), prior));
  }
}

/** Four measures together spread less than two. */
const THOROUGH_GAIN = 1.35;

function kindOf(first = false, second = false): PairKind {
  return first !== second ? 2 : first ? 0 : 1;
}

function deviate(value: number, bell: Bell | undefined): number {
  return bell === undefined ? NaN : (value - bell.mean) / bell.spread;
}

/** Mean over all clauses of how near the nearest of the other text is; NaN without any. */
function alignClauses(a: readonly Float32Array[], b: readonly Float32Array[]): number {
  const bestOfA = new Float64Array(a.length);
  const bestOfB = new Float64Array(b.length);
  a.forEach((one, i) =>
    b.forEach((other, j) => {
      const cosine = dot(one, other);
      if (cosine > (bestOfA[i] ?? 0)) bestOfA[i] = cosine;
      if (cosine > (bestOfB[j] ?? 0)) bestOfB[j] = cosine;
    })
  );
  return (mean(bestOfA) + mean(bestOfB)) / 2;
}

function mean(values: Float64Array): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}
