/** Compares rows with what is expected of them, and hybrid search with its parts. */
import { SEARCH_MODES } from "@/lib/contracts.ts";
import { nameOf, type ReportRow } from "./report.ts";

/** A result below its expectation by more than this is a loss; fewer queries say less. */
const TOLERANCE = 0.01;
const TOLERANCE_OF_FEW = 0.02;
const FEW_QUERIES = 150;
/** Hybrid search may lose so much against the better of its parts. */
const TOLERANCE_OF_HYBRID = 0.02;
/** The model that is part of the program may lose so much where it has to be asked over HTTP. */
const TOLERANCE_BEHIND_HTTP = 0.02;
/** Keeps a difference of exactly the tolerance from failing by rounding. */
const ROUNDING = 1e-9;

/** Expected nDCG@10 by mode, then by the name of the row. */
export type Expectations = ReadonlyMap<string, ReadonlyMap<string, number>>;

/** A row beside what was expected of it. */
export interface Comparison {
  readonly row: ReportRow;
  readonly expected: number;
  readonly difference: number;
  readonly isLower: boolean;
}

/**
 * Reads expectations from `{mode: {"set lang": nDCG@10}}`.
 *
 * @throws {TypeError} If the value has another shape or names no mode.
 */
export function parseExpectations(value: unknown): Expectations {
  return new Map(
    entriesOf(value).map(([mode, rows]) => {
      if (!SEARCH_MODES.some((known) => known === mode)) {
        throw new TypeError(`"${mode}" is none of the modes ${SEARCH_MODES.join(", ")}`);
      }
      return [
        mode,
        new Map(entriesOf(rows).map(([name, number]) => [name, requireNumber(number)])),
      ];
    }),
  );
}

function entriesOf(value: unknown): [string, unknown][] {
  if (typeof value === "object" && value !== null) return Object.entries(value);
  throw new TypeError('it needs numbers by mode and "set lang"');
}

function requireNumber(value: unknown): number {
  if (typeof value === "number") return value;
  throw new TypeError(`${JSON.stringify(value)} is no number`);
}

/** Returns the comparison of every row of which something is expected in its mode. */
export function compareRows(
  rows: readonly ReportRow[],
  expectations: Expectations,
): Comparison[] {
  return rows.flatMap((row) => {
    const expected = expectations.get(row.mode)?.get(nameOf(row));
    if (expected === undefined) return [];
    const difference = row["nDCG@10"] - expected;
    const tolerance = row.n < FEW_QUERIES ? TOLERANCE_OF_FEW : TOLERANCE;
    return [{ row, expected, difference, isLower: difference < -tolerance - ROUNDING }];
  });
}

/** Hybrid search beside the searches that it is made of; the numbers are nDCG@10. */
export interface HybridComparison {
  readonly name: string;
  readonly keyword: number;
  readonly vector: number;
  readonly hybrid: number;
  /** To the better of the two. */
  readonly difference: number;
  readonly isLower: boolean;
}

/** Returns the comparison of every row that was measured in all three modes. */
export function compareHybrid(rows: readonly ReportRow[]): HybridComparison[] {
  return [...Map.groupBy(rows, nameOf)].flatMap(([name, group]) => {
    const [keyword, vector, hybrid] = ["keyword", "vector", "hybrid"].map((mode) =>
      group.find((row) => row.mode === mode)?.["nDCG@10"]
    );
    if (keyword === undefined || vector === undefined || hybrid === undefined) return [];
    const difference = hybrid - Math.max(keyword, vector);
    const isLower = difference < -TOLERANCE_OF_HYBRID - ROUNDING;
    return [{ name, keyword, vector, hybrid, difference, isLower }];
  });
}

/** A search with a model that is asked over HTTP beside the same with it built in: nDCG@10. */
export interface HttpComparison {
  readonly name: string;
  readonly n: number;
  readonly builtIn: number;
  readonly behindHttp: number;
  readonly difference: number;
  readonly isLower: boolean;
}

/** Returns the comparison of every row that was measured both ways. */
export function compareBehindHttp(
  builtIn: readonly ReportRow[],
  behindHttp: readonly ReportRow[],
): HttpComparison[] {
  const others = new Map(behindHttp.map((row) => [nameOf(row), row["nDCG@10"]]));
  return builtIn.flatMap((row) => {
    const [usual, other] = [row["nDCG@10"], others.get(nameOf(row))];
    if (other === undefined) return [];
    const difference = other - usual;
    const isLower = difference < -TOLERANCE_BEHIND_HTTP - ROUNDING;
    return [{
      name: nameOf(row),
      n: row.n,
      builtIn: usual,
      behindHttp: other,
      difference,
      isLower,
    }];
  });
}
