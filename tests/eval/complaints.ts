/** What is wrong with a run as a whole, so that its numbers must not be believed. */
import { type Comparison, type Expectations } from "./compare.ts";
import type { QueryResult } from "./evaluate.ts";

/** What every query tells of itself, whatever is measured. */
export interface Asked {
  readonly set: string;
  readonly mode: string;
  readonly fellBack: boolean;
  readonly error?: string;
}

/** Complains of each set and mode where queries failed or another mode answered all of them. */
export function findFailures(results: readonly Asked[]): string[] {
  return [...groupByRun(results)].flatMap(([name, group]) => {
    const errors = group.flatMap(({ error }) => error ?? []);
    if (errors.length > 0) return [`${name}: ${errors.length} queries failed, first: ${errors[0]}`];
    return group.every(({ fellBack }) => fellBack)
      ? [`${name}: every query was answered by another mode, so that these are its numbers`]
      : [];
  });
}

/** Complains of each set and mode where another mode answered a query. */
export function findFallbacks(results: readonly Asked[]): string[] {
  return [...groupByRun(results)].flatMap(([name, group]) => {
    const count = group.filter(({ fellBack }) => fellBack).length;
    return count === 0 ? [] : [`${name}: ${count} queries were answered by another mode`];
  });
}

/** Complains of each set and mode where notes were found, but none of the set's own. */
export function findStrangers(results: readonly QueryResult[]): string[] {
  return [...groupByRun(results)].flatMap(([name, group]) => {
    const hasFailed = group.some(({ error }) => error !== undefined);
    const isKnown = group.some(({ known }) => known > 0);
    return hasFailed || isKnown ? [] : [`${name}: no hit is a note of the vault`];
  });
}

/** Complains of each mode of which nothing was compared. */
export function findUncompared(
  modes: readonly string[],
  expectations: Expectations | undefined,
  comparisons: readonly Comparison[],
): string[] {
  if (!expectations) return [];
  return modes.filter((mode) => !comparisons.some(({ row }) => row.mode === mode))
    .map((mode) => `${mode}: nothing was compared, as the expectations name none of these rows`);
}

function groupByRun<T extends Asked>(results: readonly T[]): Map<string, T[]> {
  return Map.groupBy(results, ({ set, mode }) => `${set} ${mode}`);
}
