/** Entries of a profile that may contradict each other: the same matter, another value. */
import type { ScaledEmbedder } from "@/lib/embed/embedder.ts";
import { createTokenizer } from "@/lib/index/tokenizer.ts";
import { Slicer } from "@/lib/seams.ts";
import { clamp } from "./_clamp.ts";
import { type ClauseVectors, embedClauses, measureDenial } from "./_denials.ts";
import { type EntryFacts, readFacts } from "./_entry_facts.ts";
import { isChinese } from "./_is_chinese.ts";
import { type Likeness, type LikenessOptions, openLikeness } from "./_likeness.ts";
import type { MeaningDeps } from "./_meaning.ts";
import { compareValues } from "./_opposites.ts";

export interface ProfileEntry {
  readonly section: string;
  readonly text: string;
}

export interface ConflictCandidate {
  /** Indexes of two entries of one section, the lower one first. */
  readonly first: number;
  readonly second: number;
  /** How much speaks for a contradiction, 0..1; no probability. */
  readonly score: number;
}

/** Pairs below it are not reported. */
const LEAST_CONFLICT = .3;
/** So many standard deviations above unrelated entries are as good as the same matter. */
const SAME_MATTER = 4;
/** What the same matter counts beside another value. */
const MATTER_WEIGHT = .3;
/** What another value counts where the matter does not seem to be the same. */
const STRAY_VALUE = .4;
/** Another name is weaker evidence than an opposite: both may hold, each in its place. */
const NAMES_WEIGHT = .8;
/** What it adds that one entry leaves no room for others: "always", 一律. */
const ABSOLUTE_BONUS = .15;
/** What it takes that one makes an exception, or both hold in some case only. */
const LIMITED_MALUS = .3;

/** So many of a section that are likest to an entry are compared with it. */
const MAX_COMPARED = 200;

/**
 * Finds pairs of entries of one section that may contradict each other, for a person to judge.
 *
 * Works in slices, so that other work gets the event loop in between.
 *
 * @returns The likeliest first. What is said twice in the same words is not among them.
 * @throws The reason of `signal` if it aborts, and what the embedder throws.
 */
export async function findConflicts(
  deps: MeaningDeps,
  entries: readonly ProfileEntry[],
  signal?: AbortSignal,
): Promise<ConflictCandidate[]> {
  signal?.throwIfAborted();
  const options = { isThorough: false, tokenizer: createTokenizer(), signal };
  const sections = Map.groupBy(entries.keys(), (index) => entries[index]?.section ?? "");
  const found: ConflictCandidate[] = [];
  for (const indexes of sections.values()) {
    const texts = indexes.map((index) => entries[index]?.text ?? "");
    for (const { first, second, score } of await compareSection(deps, texts, options)) {
      found.push({ first: indexes[first] ?? 0, second: indexes[second] ?? 0, score });
    }
  }
  return found.sort((a, b) => b.score - a.score || a.first - b.first || a.second - b.second);
}

/** How the entries of a section are compared. */
interface Comparison {
  readonly embedder: ScaledEmbedder | undefined;
  readonly facts: readonly EntryFacts[];
  readonly clauses: ClauseVectors | undefined;
  /** Of the entries as they are. */
  readonly whole: Likeness;
  /** Of the entries without their values. */
  readonly matters: Likeness;
}

async function compareSection(
  deps: MeaningDeps,
  texts: readonly string[],
  options: LikenessOptions,
): Promise<ConflictCandidate[]> {
  if (texts.length < 2) return [];
  const { embedder, clock } = deps;
  const { signal } = options;
  const slicer = new Slicer(clock);
  const facts = await slicer.run(readAllFacts(texts), signal);
  const matters = facts.map(({ text, matter }) => matter || text);
  const comparison: Comparison = {
    embedder,
    facts,
    clauses: embedder && await embedClauses(embedder, facts, signal),
    whole: await openLikeness(deps, texts, options),
    matters: await openLikeness(deps, matters, options),
  };
  return await slicer.run(comparePairs(comparison), signal);
}

function* readAllFacts(texts: readonly string[]): Generator<void, EntryFacts[]> {
  const facts: EntryFacts[] = [];
  for (const text of texts) {
    facts.push(readFacts(text, isChinese(text)));
    yield;
  }
  return facts;
}

function* comparePairs(comparison: Comparison): Generator<void, ConflictCandidate[]> {
  const found: ConflictCandidate[] = [];
  const limits = { least: -Infinity, most: MAX_COMPARED };
  const compared = comparison.facts.map(() => new Set<number>());
  for (const [one, done] of compared.entries()) {
    for (const other of comparison.whole.nearest(one, limits)) {
      if (compared[other]?.has(one)) continue;
      done.add(other);
      const score = scorePair(comparison, one, other);
      const [first, second] = [Math.min(one, other), Math.max(one, other)];
      if (score >= LEAST_CONFLICT) found.push({ first, second, score });
      yield;
    }
  }
  return found;
}

function scorePair(comparison: Comparison, first: number, second: number): number {
  const { facts, whole, matters } = comparison;
  const [a, b] = [facts[first], facts[second]];
  if (!a || !b || a.folded === b.folded) return 0;
  const asWhole = clamp(whole.between(first, second) / SAME_MATTER);
  const asMatter = clamp(matters.between(first, second) / SAME_MATTER);
  const matter = (asWhole + asMatter) / 2;
  const values = compareValues(a.values, b.values);
  const value = Math.max(
    values === "own" ? weighValue((1 + matter) / 2) : 0,
    values === "any" || differInQuantity(a, b) ? weighValue(matter) : 0,
    // They are the matter themselves where the rest is of another.
    values !== "same" && differInName(a, b)
      ? NAMES_WEIGHT * weighValue(Math.min(asWhole, asMatter))
      : 0,
    denialOf(comparison, [a, b], matter) * weighValue(matter),
  );
  const isAbsolute = a.isAbsolute || b.isAbsolute;
  const evidence = MATTER_WEIGHT * matter + (1 - MATTER_WEIGHT) * value +
    (isAbsolute ? ABSOLUTE_BONUS : 0);
  return clamp(evidence / (1 + ABSOLUTE_BONUS) - LIMITED_MALUS * countLimits(a, b));
}

/** @param matter How sure it is that the matter is the same, 0..1. */
function weighValue(matter: number): number {
  return STRAY_VALUE + (1 - STRAY_VALUE) * matter;
}

/** Without an embedder, one that denies and one that does not, of the same matter. */
function denialOf(
  { embedder, clauses }: Comparison,
  pair: readonly [EntryFacts, EntryFacts],
  matter: number,
): number {
  if (embedder && clauses) return measureDenial(pair, clauses, embedder.scale);
  return (pair[0].denied.length > 0) !== (pair[1].denied.length > 0) ? matter : 0;
}

function differInQuantity(a: EntryFacts, b: EntryFacts): boolean {
  const pairs = a.quantities.flatMap((one) =>
    b.quantities.filter(({ unit }) => unit === one.unit).map(({ value }) => [one.value, value])
  );
  return pairs.length > 0 && pairs.every(([one, other]) => one !== other);
}

function differInName(a: EntryFacts, b: EntryFacts): boolean {
  return a.names.size > 0 && b.names.size > 0 && a.names.isDisjointFrom(b.names);
}

function countLimits(a: EntryFacts, b: EntryFacts): number {
  const isExcepted = a.isException || b.isException;
  const areApart = a.scope !== undefined && b.scope !== undefined && a.scope !== b.scope;
  return (isExcepted ? 1 : 0) + (areApart ? 1 : 0);
}
