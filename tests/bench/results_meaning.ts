/** Runs the parts of the bench that concern meaning: hybrid search, and the model by itself. */
import { bestOf } from "./best_of.ts";
import { runChild } from "./child.ts";
import type { RankingResult, StockHybridResult } from "./measure_hybrid.ts";
import type { HybridFilesResult } from "./measure_hybrid_files.ts";
import type { ModelResult } from "./measure_model.ts";
import type { BenchQueries } from "./queries.ts";
import type { BenchOptions } from "./results.ts";

export interface HybridResult {
  readonly ranking: RankingResult;
  readonly stock: StockHybridResult;
  readonly files: HybridFilesResult;
}

/** The model where it is, and a process that is the same but for it. */
export interface ModelResults {
  readonly loaded: ModelResult;
  readonly absent: ModelResult;
}

/** Those that are compared take turns, so that a busy moment of the machine does not hit one alone. */
export async function runHybrid(
  { notes, rounds, say }: BenchOptions,
  vault: string,
  queries: BenchQueries,
): Promise<HybridResult> {
  const results: HybridResult[] = [];
  for (let round = 1; round <= rounds; round++) {
    say(`round ${round} of ${rounds}: hybrid ranking`);
    const ranking = await runChild({ kind: "ranking", notes, queries });
    say(`round ${round} of ${rounds}: stock Orama's hybrid search`);
    const stock = await runChild({ kind: "stock hybrid", notes, queries });
    say(`round ${round} of ${rounds}: hybrid search of files`);
    const files = await runChild({ kind: "hybrid files", vault, queries });
    results.push({ ranking, stock, files });
  }
  return bestOf(results);
}

export async function runModel({ rounds, say }: BenchOptions): Promise<ModelResults> {
  const results: ModelResults[] = [];
  for (let round = 1; round <= rounds; round++) {
    say(`round ${round} of ${rounds}: model`);
    const absent = await runChild({ kind: "model", loaded: false });
    results.push({ absent, loaded: await runChild({ kind: "model", loaded: true }) });
  }
  return bestOf(results);
}
