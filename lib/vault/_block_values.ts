/** From the values that a YAML library returns to our own, with bounds on depth and size. */
import type { FrontmatterReason, FrontmatterValue } from "./frontmatter.ts";

const MAX_DEPTH = 64;
/** A long text counts as several values, so that aliases cannot multiply it either. */
const CHARS_A_VALUE = 64;

/** Why a block cannot be used; `line` counts from 1 in the text between the fences. */
export class BlockProblem extends Error {
  override name = "BlockProblem";

  constructor(readonly reason: FrontmatterReason, readonly line?: number | undefined) {
    super(reason);
  }
}

/** Turns what the library returns into values of our own, each shared one once. */
export class Conversion {
  readonly #limit: number;
  readonly #done = new Map<object, FrontmatterValue>();
  /** How many values each converted one stands for with its aliases written out. */
  readonly #sizes = new Map<object, number>();
  readonly #open = new Set<object>();
  #size = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  /**
   * @param resolved The same value with types, or `undefined`.
   * @throws {BlockProblem} If the value is one that no text of ours gives, holds itself, or is too
   * large once written out.
   */
  convert(written: unknown, resolved: unknown): FrontmatterValue {
    this.#count(1);
    if (written === null || written === "" || written === undefined) return null;
    if (typeof written === "string") {
      this.#count(written.length / CHARS_A_VALUE);
      return resolved === null ? null : written;
    }
    if (typeof written !== "object") throw new BlockProblem("bad-yaml");
    return this.#convertObject(written, resolved);
  }

  #convertObject(written: object, resolved: unknown): FrontmatterValue {
    const known = this.#done.get(written);
    if (known !== undefined) {
      this.#count(this.#sizes.get(written) ?? 0);
      return known;
    }
    if (this.#open.has(written) || this.#open.size >= MAX_DEPTH) throw new BlockProblem("bad-yaml");
    this.#open.add(written);
    const before = this.#size;
    const value = Array.isArray(written)
      ? written.map((item, index) => this.convert(item, propertyOf(resolved, index)))
      : this.#convertMapping(written, resolved);
    this.#open.delete(written);
    this.#done.set(written, value);
    this.#sizes.set(written, this.#size - before);
    return value;
  }

  #convertMapping(written: object, resolved: unknown): FrontmatterValue {
    if (Object.getPrototypeOf(written) !== Object.prototype) throw new BlockProblem("bad-yaml");
    return new Map(
      Object.entries(written).map(([key, value]) => [
        key,
        this.convert(value, propertyOf(resolved, key)),
      ]),
    );
  }

  #count(values: number): void {
    this.#size += values;
    if (this.#size > this.#limit) throw new BlockProblem("alias-limit");
  }
}

function propertyOf(container: unknown, key: string | number): unknown {
  if (typeof container !== "object" || container === null) return undefined;
  return Object.getOwnPropertyDescriptor(container, key)?.value;
}
