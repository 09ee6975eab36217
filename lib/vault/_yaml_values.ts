/** Comparing values of a frontmatter, with a bound on their depth. */
import { FrontmatterNotEditable } from "@/lib/errors.ts";
import type { FrontmatterValue } from "./frontmatter.ts";

/** As deep as a block is read. */
const MAX_DEPTH = 64;

export function isList(
  value: FrontmatterValue | undefined,
): value is readonly FrontmatterValue[] {
  return Array.isArray(value);
}

/**
 * The order of keys does not count: that of keys that are numbers is lost in reading.
 *
 * @throws {FrontmatterNotEditable} As `identify()`.
 */
export function sameValue(a: FrontmatterValue, b: FrontmatterValue): boolean {
  return identify(a) === identify(b);
}

/**
 * Returns a text that two values share if, and only if, they are the same. The empty text is
 * `null`, as it is read so.
 *
 * @throws {FrontmatterNotEditable} If the value is deeper than a block may be, or holds itself.
 */
export function identify(value: FrontmatterValue): string {
  return JSON.stringify(simplify(value, MAX_DEPTH));
}

function simplify(value: FrontmatterValue, depth: number): unknown {
  if (value === null || value === "") return null;
  if (typeof value === "string") return value;
  if (depth === 0) {
    throw new FrontmatterNotEditable(
      `Cannot write the frontmatter: a value is nested more than ${MAX_DEPTH} levels deep; ` +
        "flatten it",
    );
  }
  if (isList(value)) return value.map((item) => simplify(item, depth - 1));
  const pairs = [...value].sort(([a], [b]) => a < b ? -1 : 1);
  return { pairs: pairs.map(([key, inner]) => [key, simplify(inner, depth - 1)]) };
}
