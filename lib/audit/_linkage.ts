/** Clusters by average linkage: members are alike on average, so that no chain of pairs is one. */

/** Likenesses of pairs, each both ways; a pair that is missing has 0. */
export type Neighbours = readonly ReadonlyMap<number, number>[];

/** A cluster that was there for a while. */
export interface Cluster {
  readonly items: readonly number[];
  /** How alike it was to the one that it was merged with; `undefined` if it was with none. */
  readonly mergedAt: number | undefined;
}

/**
 * Merges what is alike until no two clusters are by `least` on average.
 *
 * Follows nearest neighbours until two are each other's, which for averages leads to the same
 * clusters as always merging the nearest two of all.
 *
 * @returns In steps, all clusters that there ever were, single items too.
 */
export function* linkByAverage(
  neighbours: Neighbours,
  least: number,
): Generator<void, Cluster[]> {
  const clusters = new Clusters(neighbours, least);
  for (let start = 0; start < neighbours.length; start++) {
    let chain = clusters.has(start) ? [start] : [];
    while (chain.length > 0) {
      yield;
      const [tip = 0, before] = [chain.at(-1), chain.at(-2)];
      const next = clusters.nearest(tip, before);
      if (next === undefined) chain = chain.slice(0, -1);
      else if (next !== before) chain.push(next);
      else {
        clusters.merge(before, tip);
        chain = chain.slice(0, -2);
        if (chain.length === 0) chain = [before];
      }
    }
  }
  return clusters.list();
}

class Clusters {
  /** By cluster, its sums of likenesses with others. */
  readonly #sums = new Map<number, Map<number, number>>();
  readonly #members = new Map<number, readonly number[]>();
  readonly #merged: Cluster[] = [];
  readonly #least: number;

  constructor(neighbours: Neighbours, least: number) {
    this.#least = least;
    neighbours.forEach((near, item) => {
      this.#sums.set(item, new Map(near));
      this.#members.set(item, [item]);
    });
  }

  has(cluster: number): boolean {
    return this.#members.has(cluster);
  }

  list(): Cluster[] {
    const last = [...this.#members.values()].map((items) => ({ items, mergedAt: undefined }));
    return [...this.#merged, ...last];
  }

  /** @param preferred Taken where several are equally near, so that a chain comes to its end. */
  nearest(cluster: number, preferred: number | undefined): number | undefined {
    const own = this.#sizeOf(cluster);
    let best: number | undefined;
    let most = this.#least;
    for (const [other, sum] of this.#sums.get(cluster) ?? []) {
      const average = sum / (own * this.#sizeOf(other));
      if (average > most || average === most && (best === undefined || other === preferred)) {
        [best, most] = [other, average];
      }
    }
    return best;
  }

  merge(into: number, from: number): void {
    const sums = this.#sums.get(into) ?? new Map<number, number>();
    const mergedAt = (sums.get(from) ?? 0) / (this.#sizeOf(into) * this.#sizeOf(from));
    const [items = [], others = []] = [this.#members.get(into), this.#members.get(from)];
    this.#merged.push({ items, mergedAt }, { items: others, mergedAt });
    for (const [other, sum] of this.#sums.get(from) ?? []) {
      const theirs = this.#sums.get(other);
      theirs?.delete(from);
      if (other === into) continue;
      const together = (sums.get(other) ?? 0) + sum;
      sums.set(other, together);
      theirs?.set(into, together);
    }
    sums.delete(from);
    this.#members.set(into, [...items, ...others]);
    this.#sums.delete(from);
    this.#members.delete(from);
  }

  #sizeOf(cluster: number): number {
    return this.#members.get(cluster)?.length ?? 1;
  }
}
