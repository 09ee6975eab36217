/** The queries of the bench with what a search by meaning needs of them. */
import type { StaticEmbedder } from "@/lib/embed/static_embedder.ts";
import { runAtOnce } from "@/lib/seams.ts";
import { measureHanShare } from "@/lib/index/han_share.ts";
import type { DenseQuestion } from "@/lib/index/ranking.ts";
import { type BenchQueries, type BenchQuery, QUERY_CLASSES, type QueryClass } from "./queries.ts";

export interface DenseBenchQuery extends BenchQuery {
  readonly dense: DenseQuestion;
}

export type DenseBenchQueries = Readonly<Record<QueryClass, readonly DenseBenchQuery[]>>;

/**
 * Embeds the first queries of each class.
 *
 * @throws {Error} If the model knows nothing in one of them.
 */
export async function toDenseQueries(
  queries: BenchQueries,
  embedder: StaticEmbedder,
  count = Infinity,
): Promise<DenseBenchQueries> {
  const model = await embedder.load();
  const toDense = (query: BenchQuery): DenseBenchQuery => {
    const vector = model.embed(query.text);
    if (!vector) throw new Error("Cannot embed a query of the bench");
    const hanShare = runAtOnce(measureHanShare([query.text]));
    return { ...query, dense: { vector, scale: embedder.scale, hanShare } };
  };
  const all: Partial<Record<QueryClass, readonly DenseBenchQuery[]>> = {};
  for (const name of QUERY_CLASSES) all[name] = queries[name].slice(0, count).map(toDense);
  return { "3 mid": [], "8 raw": [], "question zh": [], "question en": [], ...all };
}
