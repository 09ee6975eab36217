/** Pitfalls that are one problem told again, whoever told it and in which language. */
import { createTokenizer } from "@/lib/index/tokenizer.ts";
import { Slicer } from "@/lib/seams.ts";
import { findErrorCodes } from "./_error_codes.ts";
import { type Likeness, openLikeness } from "./_likeness.ts";
import { type Cluster, linkByAverage, type Neighbours } from "./_linkage.ts";
import type { MeaningDeps } from "./_meaning.ts";

export interface PitfallGroup {
  /** Indexes of the texts, at least three, in ascending order. */
  readonly members: readonly number[];
  /** How alike they are, 0..1; .5 is what just makes a group. */
  readonly score: number;
  /** Error codes that at least two of them share, as written first. */
  readonly codes: readonly string[];
}

const MIN_MEMBERS = 3;

/** What two texts of one group have on average, in standard deviations above unrelated ones. */
const GROUP_LIKENESS = 2.9;
/** How much more a likeness counts with an error code in common; a code alone counts nothing. */
const CODE_BONUS = .1;

/** So many texts that are likest to one are compared with it in full. */
const MAX_NEIGHBOURS = 20;
/** Who fits worse than this part of what is usual in its group is none of it. */
const LEAST_FIT = .75;
/** Pairs below it are as good as unrelated. */
const LEAST_DEVIATION = .5;
/** Texts that are the same but for case and punctuation. */
const SAME_LIKENESS = 4 * GROUP_LIKENESS;

/**
 * Finds at least three pitfalls with the same cause or mistake, for a person to judge.
 *
 * Works in slices, so that other work gets the event loop in between.
 *
 * @returns Groups without a member in common, best first.
 * @throws The reason of `signal` if it aborts, and what the embedder throws.
 */
export async function groupPitfalls(
  deps: MeaningDeps,
  texts: readonly string[],
  signal?: AbortSignal,
): Promise<PitfallGroup[]> {
  signal?.throwIfAborted();
  const tellings = foldSame(texts);
  const distinct = [...tellings.keys()];
  const slicer = new Slicer(deps.clock);
  const codes = await slicer.run(findAllCodes(distinct), signal);
  const options = { isThorough: true, tokenizer: createTokenizer(), signal };
  const likeness = await openLikeness(deps, distinct, options);
  const neighbours = await slicer.run(compareAll(codes, likeness), signal);
  const clusters = await slicer.run(linkByAverage(neighbours, GROUP_LIKENESS), signal);
  const told: Told = { indexes: [...tellings.values()], neighbours, texts };
  const candidates = await slicer.run(measureAll(clusters, told), signal);
  const chosen = chooseApart(candidates).map(({ items }) => withoutStrangers(items, told));
  return chosen.map(({ items, likeness }) => toGroup(items, likeness, told))
    .sort((a, b) => b.score - a.score || (a.members[0] ?? 0) - (b.members[0] ?? 0));
}

/** Large clusters are measured item by item, as each within them is measured too. */
function* measureAll(clusters: readonly Cluster[], told: Told): Generator<void, Candidate[]> {
  const candidates: Candidate[] = [];
  for (const { items, mergedAt = GROUP_LIKENESS } of clusters) {
    const members = countMembers(items, told);
    if (members < MIN_MEMBERS) continue;
    const likeness = yield* averageOf(items, told);
    candidates.push({ items, likeness, excess: (likeness - mergedAt) * members });
  }
  return candidates;
}

interface Candidate {
  /** What is compared: a text, however often it was told. */
  readonly items: readonly number[];
  /** Of its members, on average. */
  readonly likeness: number;
  /** How much more alike its members are to each other than to what comes next, in sum. */
  readonly excess: number;
}

/**
 * Chooses among clusters and those within them, by the excess of mass: so a group is neither all of a
 * topic nor just its nearest three, however many texts there are.
 */
function chooseApart(candidates: readonly Candidate[]): Candidate[] {
  const taken = new Set<number>();
  return candidates.toSorted((a, b) => b.excess - a.excess).filter(({ items }) => {
    if (items.some((item) => taken.has(item))) return false;
    items.forEach((item) => taken.add(item));
    return true;
  });
}

/**
 * Leaves out, one after another, those that fit much worse than the others do, as long as enough are
 * left: what is near to a group is not yet one of it.
 */
function withoutStrangers(
  items: readonly number[],
  told: Told,
): Pick<Candidate, "items" | "likeness"> {
  let left = [...items];
  for (;;) {
    const fits = left.map((item) => ({ item, fit: fitOf(item, left, told) }));
    const likeness = fits.reduce((sum, { fit }) => sum + fit, 0) / fits.length;
    const worst = fits.reduce((least, each) => each.fit < least.fit ? each : least);
    const rest = left.filter((item) => item !== worst.item);
    const isStranger = worst.fit < LEAST_FIT * likeness;
    if (!isStranger || countMembers(rest, told) < MIN_MEMBERS) return { items: left, likeness };
    left = rest;
  }
}

/** How alike a text is to the others of a group, on average. */
function fitOf(item: number, items: readonly number[], told: Told): number {
  const mean = new PairMean(items, told);
  mean.add(item, 1);
  return mean.value;
}

/** Returns the indexes of the texts that are the same, by the first of them. */
function foldSame(texts: readonly string[]): Map<string, readonly number[]> {
  const fold = (text: string) =>
    text.normalize("NFKC").toLowerCase().replace(/[\s\p{P}]+/gu, " ").trim();
  const byFolded = Map.groupBy(texts.keys(), (index) => fold(texts[index] ?? ""));
  byFolded.delete("");
  return new Map(
    [...byFolded.values()].map((indexes) => [texts[indexes[0] ?? 0] ?? "", indexes]),
  );
}

function* findAllCodes(texts: readonly string[]): Generator<void, ReadonlySet<string>[]> {
  const codes: ReadonlySet<string>[] = [];
  for (const text of texts) {
    codes.push(new Set(findErrorCodes(text).keys()));
    yield;
  }
  return codes;
}

function* compareAll(
  codes: readonly ReadonlySet<string>[],
  likeness: Likeness,
): Generator<void, Neighbours> {
  const neighbours = codes.map(() => new Map<number, number>());
  for (const [one, own] of codes.entries()) {
    const near = likeness.nearest(one, { least: LEAST_DEVIATION, most: MAX_NEIGHBOURS });
    yield;
    for (const other of near) {
      if (neighbours[one]?.has(other)) continue;
      const isCodeShared = codes[other]?.isDisjointFrom(own) === false;
      const value = likeness.between(one, other) * (isCodeShared ? 1 + CODE_BONUS : 1);
      neighbours[one]?.set(other, value);
      neighbours[other]?.set(one, value);
      yield;
    }
  }
  return neighbours;
}

interface Told {
  /** By item of a cluster, the texts that say the same. */
  readonly indexes: readonly (readonly number[])[];
  readonly neighbours: Neighbours;
  readonly texts: readonly string[];
}

function countMembers(items: readonly number[], { indexes }: Told): number {
  return items.reduce((count, item) => count + (indexes[item]?.length ?? 0), 0);
}

function* averageOf(items: readonly number[], told: Told): Generator<void, number> {
  const mean = new PairMean(items, told);
  for (const item of items) {
    mean.add(item, timesOf(item, told));
    yield;
  }
  return mean.value;
}

/** How alike texts of a group are on average, pair by pair. */
class PairMean {
  readonly #items: readonly number[];
  readonly #told: Told;
  #sum = 0;
  #pairs = 0;

  constructor(items: readonly number[], told: Told) {
    this.#items = items;
    this.#told = told;
  }

  /** Adds the pairs that so many tellings of an item are in, with its other tellings too. */
  add(item: number, tellings: number): void {
    const again = timesOf(item, this.#told) - 1;
    this.#sum += SAME_LIKENESS * tellings * again;
    this.#pairs += tellings * again;
    for (const other of this.#items) {
      if (other === item) continue;
      const pairs = tellings * timesOf(other, this.#told);
      this.#sum += (this.#told.neighbours[item]?.get(other) ?? 0) * pairs;
      this.#pairs += pairs;
    }
  }

  /** 0 without any pair. */
  get value(): number {
    return this.#sum / Math.max(1, this.#pairs);
  }
}

function timesOf(item: number, { indexes }: Told): number {
  return indexes[item]?.length ?? 1;
}

function toGroup(
  items: readonly number[],
  likeness: number,
  { indexes, texts }: Told,
): PitfallGroup {
  const members = items.flatMap((item) => indexes[item] ?? []).sort((a, b) => a - b);
  return {
    members,
    score: likeness / (likeness + GROUP_LIKENESS),
    codes: sharedCodes(members.map((index) => texts[index] ?? "")),
  };
}

function sharedCodes(texts: readonly string[]): string[] {
  const found = new Map<string, { readonly code: string; count: number }>();
  for (const text of texts) {
    for (const [key, code] of findErrorCodes(text)) {
      const known = found.get(key);
      if (known) known.count++;
      else found.set(key, { code, count: 1 });
    }
  }
  return [...found.values()].filter(({ count }) => count > 1).map(({ code }) => code);
}
