/** Measures what search by meaning costs beside search by words: ranking, on vectors in memory. */
import { STATIC_DIMENSIONS } from "@/lib/embed/static_embedder.ts";
import { Corpus } from "./corpus.ts";
import { type DenseBenchQuery, toDenseQueries } from "./dense_queries.ts";
import { chunksOf, toEngineNote } from "./engine.ts";
import { StockHybridOrama } from "./engine_rivals.ts";
import { openEmbedder, openEmbeddingEngine } from "./engine_vectors.ts";
import type { BenchQueries } from "./queries.ts";
import { timeWays, type WayTimes } from "./times.ts";

export interface HybridTask {
  readonly notes: number;
  readonly queries: BenchQueries;
}

/** What our index is asked: to rank in each mode, and no more than to compare the vectors. */
export type RankingWay = "keyword" | "vector" | "hybrid" | "scan";
export type RankingResult = WayTimes<RankingWay>;

/** Of each class; each takes a fifth of a second. */
export const STOCK_HYBRID_QUERIES = 40;

export async function measureRanking({ notes, queries }: HybridTask): Promise<RankingResult> {
  const engine = await openEmbeddingEngine();
  const corpus = new Corpus();
  for (let number = 0; number < notes; number++) {
    await engine.insert(toEngineNote(corpus.noteAt(number)));
  }
  await engine.finish();
  const ways = new Map<RankingWay, (query: DenseBenchQuery) => void>([
    ["keyword", ({ parsed }) => engine.rank({ parsed })],
    ["vector", ({ dense }) => engine.rank({ dense })],
    ["hybrid", ({ parsed, dense }) => engine.rank({ parsed, dense })],
    ["scan", ({ dense }) => engine.scan(dense.vector)],
  ]);
  return await timeWays(await toDenseQueries(queries, await openEmbedder()), ways);
}

export type StockHybridResult = WayTimes<"hybrid">;

/** The same vectors of the same chunks; as it keeps no note's, those of metadata are left out. */
export async function measureStockHybrid(
  { notes, queries }: HybridTask,
): Promise<StockHybridResult> {
  const engine = new StockHybridOrama(STATIC_DIMENSIONS);
  const embedder = await openEmbedder();
  const model = await embedder.load();
  const corpus = new Corpus();
  for (let number = 0; number < notes; number++) {
    for (const text of chunksOf(corpus.noteAt(number))) engine.insert(text, model.embed(text));
  }
  const asked = await toDenseQueries(queries, embedder, STOCK_HYBRID_QUERIES);
  const search = ({ parsed, dense }: DenseBenchQuery) => engine.search(parsed, dense.vector);
  return await timeWays(asked, new Map([["hybrid", search]]));
}
