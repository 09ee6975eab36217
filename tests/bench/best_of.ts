/** What is kept of a measurement that ran several times. */

/** Returns the least of each number in results of one shape: the one that was least disturbed. */
export function bestOf<T>(results: readonly T[]): T {
  return results.reduce((best, other) => leastOf(best, other));
}

function leastOf<T>(one: T, other: T): T;
function leastOf(one: unknown, other: unknown): unknown {
  if (typeof one === "number" && typeof other === "number") return Math.min(one, other);
  if (!isRecord(one) || !isRecord(other)) return one;
  return Object.fromEntries(
    Object.entries(one).map(([key, value]) => [key, leastOf(value, other[key])]),
  );
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null;
}
