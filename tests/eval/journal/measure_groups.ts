/** How right reported groups of pitfalls are: pure. */
import type { LabelledPitfall } from "./labels.ts";

/** What a report begins with, and a person surely reads. */
export const FIRST = 10;
const MIN_MEMBERS = 3;
const MIN_SHARE = 2 / 3;

export interface GroupFigures {
  readonly reported: number;
  /** Share of the first ten that are right. */
  readonly firstPrecision: number;
  readonly precision: number;
  /** Share of the labelled groups of which a right one holds three members. */
  readonly recall: number;
  /** The same, but two thirds of its members. */
  readonly thirdsRecall: number;
}

/**
 * Measures groups, best first. One is right if three of its members or more, and two thirds of them,
 * have one label.
 */
export function measureGroups(
  pitfalls: readonly LabelledPitfall[],
  groups: readonly (readonly number[])[],
): GroupFigures {
  const sizes = countLabels(pitfalls.keys(), pitfalls);
  const found = new Set<string>();
  const foundByThirds = new Set<string>();
  const rights = groups.map((members) => {
    const [label, count] = mostFrequent(countLabels(members, pitfalls));
    const isPure = count >= MIN_SHARE * members.length;
    if (isPure && count >= MIN_SHARE * (sizes.get(label) ?? Infinity)) foundByThirds.add(label);
    const isRight = isPure && count >= MIN_MEMBERS;
    if (isRight) found.add(label);
    return isRight;
  });
  return {
    reported: groups.length,
    firstPrecision: shareOf(rights.slice(0, FIRST)),
    precision: shareOf(rights),
    recall: found.size / Math.max(1, sizes.size),
    thirdsRecall: foundByThirds.size / Math.max(1, sizes.size),
  };
}

/** Counts the labels of groups that ought to be reported. */
function countLabels(
  indexes: Iterable<number>,
  pitfalls: readonly LabelledPitfall[],
): Map<string, number> {
  const counts = new Map<string, number>();
  for (const index of indexes) {
    const label = pitfalls[index]?.group;
    if (label?.startsWith("g")) counts.set(label, (counts.get(label) ?? 0) + 1);
  }
  return counts;
}

function mostFrequent(counts: ReadonlyMap<string, number>): readonly [string, number] {
  return [...counts].sort(([, a], [, b]) => b - a)[0] ?? ["", 0];
}

/** Returns the share of what is true, 0 of nothing. */
export function shareOf(values: readonly boolean[]): number {
  return values.filter(Boolean).length / Math.max(1, values.length);
}
