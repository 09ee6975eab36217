/** Has labelled texts judged by the audit, and measures the outcome. */
import { groupPitfalls } from "@/lib/audit/pitfall_groups.ts";
import { findConflicts } from "@/lib/audit/profile_conflicts.ts";
import type { ScaledEmbedder } from "@/lib/embed/embedder.ts";
import { systemClock as clock } from "@/lib/seams.ts";
import type { LabelledPair, LabelledPitfall } from "./labels.ts";
import { type GroupFigures, measureGroups } from "./measure_groups.ts";
import { measurePairs, type PairFigures, type ScoredPair } from "./measure_pairs.ts";

const LANGS = ["all", "zh", "en", "mixed"];

export interface PairReport {
  readonly byLang: readonly PairFigures[];
  /** Pairs that were reported too, of entries that stand in no labelled pair together. */
  readonly unlabelled: number;
}

/** Groups all pitfalls together. */
export async function judgePitfalls(
  pitfalls: readonly LabelledPitfall[],
  embedder: ScaledEmbedder | undefined,
): Promise<GroupFigures> {
  const groups = await groupPitfalls({ clock, embedder }, pitfalls.map(({ text }) => text));
  return measureGroups(pitfalls, groups.map(({ members }) => members));
}

/** Has all entries of all pairs compared within their sections. */
export async function judgePairs(
  pairs: readonly LabelledPair[],
  embedder: ScaledEmbedder | undefined,
): Promise<PairReport> {
  const entries = pairs.flatMap(({ section, a, b }) => [
    { section, text: a },
    { section, text: b },
  ]);
  const found = await findConflicts({ clock, embedder }, entries);
  const scores = new Map(found.map(({ first, second, score }) => [`${first} ${second}`, score]));
  const scored = pairs.map((pair, index): ScoredPair => ({
    pair,
    score: scores.get(`${2 * index} ${2 * index + 1}`) ?? 0,
  }));
  const labelled = scored.filter(({ score }) => score > 0).length;
  return {
    byLang: LANGS.map((lang) => measurePairs(scored, lang)),
    unlabelled: found.length - labelled,
  };
}
