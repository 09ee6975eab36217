import { randomFractions } from "../bench/corpus.ts";

/** Draws from a seed; always the same for the same one, and without a period that a run reaches. */
export class Random {
  readonly #next: () => number;

  constructor(seed: number) {
    this.#next = randomFractions(seed);
  }

  /** Returns a whole number from 0 to below a limit. */
  below(limit: number): number {
    return Math.floor(this.#next() * limit);
  }

  /** Returns true so many times in a hundred. */
  chance(percent: number): boolean {
    return this.below(100) < percent;
  }

  /** @returns `undefined` if there is nothing to pick from. */
  pick<T>(items: readonly T[]): T | undefined {
    return items[this.below(items.length)];
  }

  /** Returns some of the items, each at most once, in an order of its own. */
  sample<T>(items: readonly T[], count: number): T[] {
    const left = [...items];
    const taken: T[] = [];
    while (taken.length < count && left.length > 0) {
      taken.push(...left.splice(this.below(left.length), 1));
    }
    return taken;
  }
}
