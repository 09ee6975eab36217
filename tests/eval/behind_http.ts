/**
 * The model that is part of the program, asked over HTTP as if it were a provider's: vectors are the
 * same, but what its cosines mean has to be found out from each vault.
 */
import { openLocalEmbedder } from "@/lib/embed/open_embedder.ts";
import { systemClock } from "@/lib/seams.ts";
import { type EmbeddingProvider, startEmbeddingProvider } from "../_support/embedding_provider.ts";
import type { DataSet } from "./data_sets.ts";
import { evaluateApart, type QueryResult } from "./evaluate.ts";

export interface BehindHttpOptions {
  /** How many queries of each file. */
  readonly limit: number;
  /** What vectors weigh beside words where the model is behind HTTP, 0..1. */
  readonly weight: number;
}

/** How each query went both ways, in the same order. */
export interface BehindHttpResults {
  readonly builtIn: readonly QueryResult[];
  readonly behindHttp: readonly QueryResult[];
}

const MODES = ["hybrid"] as const;

/** Asks each vault the queries of its set with the model built in, then with it behind HTTP. */
export async function evaluateBehindHttp(
  sets: readonly DataSet[],
  { limit, weight }: BehindHttpOptions,
): Promise<BehindHttpResults> {
  await using provider = startStaticProvider();
  const address = ["--embedding-base-url", provider.baseUrl, "--embedding-model", "m"];
  const dimensions = ["--embedding-dimensions", String(openLocalEmbedder(systemClock).dimensions)];
  const flags = [...address, ...dimensions, "--dense-weight", String(weight)];
  const builtIn: QueryResult[] = [];
  const behindHttp: QueryResult[] = [];
  for (const set of sets) {
    builtIn.push(...await evaluateApart([set], { modes: MODES, limit, embedding: "static" }));
    const remote = { modes: MODES, limit, embedding: "openai-compatible", flags };
    behindHttp.push(...await evaluateApart([set], remote));
    // They hold all texts of the vault.
    provider.requests.length = 0;
  }
  return { builtIn, behindHttp };
}

function startStaticProvider(): EmbeddingProvider {
  const embedder = openLocalEmbedder(systemClock);
  const { dimensions } = embedder;
  return startEmbeddingProvider({
    dimensions,
    embed: async (texts, kind) =>
      (await embedder.embed(texts, kind)).map((vector) =>
        vector ? [...vector] : anyway(dimensions)
      ),
  });
}

/** A provider has a vector even for what its model knows nothing of. */
function anyway(dimensions: number): number[] {
  return Array.from({ length: dimensions }, (_, at) => at % 2 === 0 ? 1 : -1);
}
