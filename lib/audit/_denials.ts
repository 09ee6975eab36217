/** How nearly one entry denies what the other affirms. */
import type { DenseScale, Embedder, Embedding } from "@/lib/embed/embedder.ts";
import { clamp } from "./_clamp.ts";
import { dot } from "./_dot.ts";
import type { EntryFacts } from "./_entry_facts.ts";

/** By clause, what the model makes of it. */
export type ClauseVectors = ReadonlyMap<string, Embedding>;

/** A cosine so far up the range of a model is as good as the same clause. */
const SAME_CLAUSE = .5;

/**
 * Has the clauses of entries embedded that deny or are denied.
 *
 * @throws What the embedder throws.
 */
export async function embedClauses(
  embedder: Embedder,
  facts: readonly EntryFacts[],
  signal?: AbortSignal,
): Promise<ClauseVectors> {
  const clauses = [...new Set(facts.flatMap(({ denied, affirmed }) => [...denied, ...affirmed]))];
  const vectors = await embedder.embed(clauses, "passage", signal);
  return new Map(clauses.map((clause, index) => [clause, vectors[index]]));
}

/** Returns how near what one entry denies is to what the other affirms, 0..1. */
export function measureDenial(
  [a, b]: readonly [EntryFacts, EntryFacts],
  vectors: ClauseVectors,
  { floor, ceiling }: Pick<DenseScale, "floor" | "ceiling">,
): number {
  const nearest = Math.max(nearestOf(a, b, vectors), nearestOf(b, a, vectors));
  return clamp((nearest - floor) / (SAME_CLAUSE * (ceiling - floor)));
}

function nearestOf(denying: EntryFacts, affirming: EntryFacts, vectors: ClauseVectors): number {
  let nearest = 0;
  for (const denied of denying.denied) {
    for (const affirmed of affirming.affirmed) {
      const [one, other] = [vectors.get(denied), vectors.get(affirmed)];
      if (one && other) nearest = Math.max(nearest, dot(one, other));
    }
  }
  return nearest;
}
