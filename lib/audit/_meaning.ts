/**
 * How alike texts are in what they mean, measured against texts that have nothing to do with each
 * other. Cosines of two languages are lower than those within one, and differ from model to model:
 * so each is told in standard deviations above what two unrelated texts of these languages have.
 */
import type { Embedding, ScaledEmbedder } from "@/lib/embed/embedder.ts";
import { quantize, VectorMatrix } from "@/lib/index/vector_matrix.ts";
import { type Clock, Slicer } from "@/lib/seams.ts";
import { align, type Part } from "./_align.ts";
import { type Bell, fitBell, samplePairs } from "./_bell.ts";
import { centre } from "./_centre.ts";
import { splitClauses } from "./_clauses.ts";
import { dot } from "./_dot.ts";
import { embedWords } from "./_embed_words.ts";
import { isChinese } from "./_is_chinese.ts";

export interface MeaningDeps {
  readonly clock: Clock;
  readonly embedder: ScaledEmbedder | undefined;
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
type PairKind = 0 | 1 | 2;

interface Side {
  readonly isChinese: boolean;
  readonly vector: Embedding;
  /** Of equal weight. */
  readonly clauses: readonly Part[];
  /** `undefined` unless texts are compared thoroughly. */
  readonly centred: Embedding;
  /** None unless texts are compared thoroughly. */
  readonly words: readonly Part[];
}

/** Texts to compare. */
export interface ComparedTexts {
  readonly texts: readonly string[];
  /** As they are compared as a whole: thoroughly, that is without their error codes. */
  readonly plain: readonly string[];
}

/** How texts are compared. */
export interface MeaningOptions {
  /** True for texts that tell one thing in many ways: word by word too, without what is usual. */
  readonly isThorough: boolean;
  readonly signal?: AbortSignal | undefined;
}

/** A way to compare two texts. */
interface Way {
  /** Returns NaN where there is nothing to compare. */
  readonly compare: (a: Side, b: Side) => number;
  /** What is known of unrelated texts without looking at any. */
  readonly prior: Bell;
}

/** A way to compare two texts, with what unrelated ones have by it. */
interface Measure extends Pick<Way, "compare"> {
  /** By the kind of the pair. */
  readonly bells: readonly Bell[];
}

/** What a model makes of some texts. */
export class Meaning {
  readonly #sides: readonly Side[];
  readonly #matrix: VectorMatrix;
  /** The first is the cosine of the texts as a whole. */
  readonly #measures: Measure[] = [];

  private constructor(sides: readonly Side[], dimensions: number) {
    this.#sides = sides;
    this.#matrix = new VectorMatrix(dimensions);
  }

  /**
   * Has texts and, by a model that runs here, their clauses embedded.
   *
   * @returns `undefined` without an embedder.
   * @throws The reason of the signal if it aborts, and what the embedder throws.
   */
  static async open(
    { clock, embedder }: MeaningDeps,
    { texts, plain }: ComparedTexts,
    { isThorough, signal }: MeaningOptions,
  ): Promise<Meaning | undefined> {
    if (embedder === undefined) return undefined;
    const vectors = await embedder.embed(plain, "passage", signal);
    // Clauses keep their codes: there one makes only its own part alike.
    const clauses = texts.map((text) => embedder.isLocal ? splitClauses(text) : []);
    const embedded = embedder.isLocal
      ? await embedder.embed(clauses.flat(), "passage", signal)
      : [];
    const languages = texts.map(isChinese);
    const slicer = new Slicer(clock);
    const centred = isThorough ? await slicer.run(centre(vectors, languages), signal) : [];
    const words = isThorough && embedder.isLocal
      ? await embedWords({ clock, embedder }, plain, signal)
      : [];
    let at = 0;
    const nextPart = () => toParts(embedded[at++]);
    const sides = texts.map((_, index): Side => ({
      isChinese: languages[index] ?? false,
      vector: vectors[index],
      clauses: (clauses[index] ?? []).flatMap(nextPart),
      centred: centred[index],
      words: words[index] ?? [],
    }));
    const meaning = new Meaning(sides, embedder.dimensions);
    await slicer.run(meaning.#prepare(waysOf(embedder, isThorough)), signal);
    return meaning;
  }

  /** Returns how far the cosine of a text with each is above the usual; NaN where there is none. */
  deviationsFrom(index: number): Float32Array {
    const { vector, isChinese } = this.#sides[index] ?? {};
    const deviations = new Float32Array(this.#sides.length).fill(NaN);
    if (vector === undefined) return deviations;
    const cosines = this.#matrix.cosines(vector);
    const bells = this.#measures[0]?.bells;
    for (let other = 0; other < deviations.length; other++) {
      const kind = kindOf(isChinese, this.#sides[other]?.isChinese);
      deviations[other] = deviate(cosines[other] ?? NaN, bells?.[kind]);
    }
    return deviations;
  }

  /**
   * Returns how much more alike two texts are than unrelated ones, in standard deviations, as a
   * whole and in parts; `undefined` if the model knows nothing in one of them.
   */
  likeness(first: number, second: number): number | undefined {
    const [a, b] = [this.#sides[first], this.#sides[second]];
    if (a?.vector === undefined || b?.vector === undefined) return undefined;
    const kind = kindOf(a.isChinese, b.isChinese);
    const known = this.#measures
      .map(({ compare, bells }) => deviate(compare(a, b), bells[kind]))
      .filter((value) => !Number.isNaN(value));
    const sum = known.reduce((total, value) => total + value, 0);
    // What agrees in many ways is surer than each of them says.
    return sum / known.length * (this.#measures.length > 2 ? THOROUGH_GAIN : 1);
  }

  *#prepare(ways: readonly Way[]): Generator<void, void> {
    for (const { vector } of this.#sides) {
      this.#matrix.append(vector && quantize(vector) || new Int8Array(this.#matrix.dimensions));
      yield;
    }
    for (const way of ways) {
      this.#measures.push({ compare: way.compare, bells: yield* this.#bells(way) });
    }
  }

  *#bells({ compare, prior }: Way): Generator<void, Bell[]> {
    const values: number[][] = [[], [], []];
    for (const [first, second] of samplePairs(this.#sides.length)) {
      const [a, b] = [this.#sides[first], this.#sides[second]];
      if (a && b) values[kindOf(a.isChinese, b.isChinese)]?.push(compare(a, b));
      yield;
    }
    return values.map((them) => fitBell(them.filter((value) => !Number.isNaN(value)), prior));
  }
}

/** Four measures together spread less than two. */
const THOROUGH_GAIN = 1.35;

/** Returns the ways to compare texts by a model, in the order in which they are summed up. */
function waysOf({ scale, isLocal }: ScaledEmbedder, isThorough: boolean): Way[] {
  const { floor, ceiling } = scale;
  const range = ceiling - floor;
  const cosine: Way = {
    compare: (a, b) => cosineOf(a.vector, b.vector),
    prior: { mean: floor, spread: COSINE_SPREAD * range },
  };
  const clauses: Way = {
    compare: (a, b) => align(a.clauses, b.clauses),
    prior: { mean: floor, spread: CLAUSE_SPREAD * range },
  };
  const centred: Way = {
    compare: (a, b) => cosineOf(a.centred, b.centred),
    prior: { mean: 0, spread: CENTRED_SPREAD * range },
  };
  const words: Way = {
    compare: (a, b) => align(a.words, b.words),
    prior: { mean: WORD_MEAN * range, spread: WORD_SPREAD * range },
  };
  return [
    cosine,
    ...(isLocal ? [clauses] : []),
    ...(isThorough ? [centred] : []),
    ...(isThorough && isLocal ? [words] : []),
  ];
}

function cosineOf(a: Embedding, b: Embedding): number {
  return a && b ? dot(a, b) : NaN;
}

function toParts(vector: Embedding): Part[] {
  return vector === undefined ? [] : [{ vector, weight: 1 }];
}

function kindOf(first = false, second = false): PairKind {
  return first !== second ? 2 : first ? 0 : 1;
}

function deviate(value: number, bell: Bell | undefined): number {
  return bell === undefined ? NaN : (value - bell.mean) / bell.spread;
}
