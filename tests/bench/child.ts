/** Each measurement runs in a process of its own, so that none pays for another's garbage. */
import { fileURLToPath } from "node:url";
import { runJsonChild } from "./json_child.ts";
import { type EngineResult, type EngineTask, measureEngine } from "./measure_engine.ts";
import {
  type HybridTask,
  measureRanking,
  measureStockHybrid,
  type RankingResult,
  type StockHybridResult,
} from "./measure_hybrid.ts";
import {
  type HybridFilesResult,
  type HybridFilesTask,
  measureHybridFiles,
} from "./measure_hybrid_files.ts";
import { measureModel, type ModelResult, type ModelTask } from "./measure_model.ts";
import { measureProduct, type ProductResult, type ProductTask } from "./measure_product.ts";
import { measureStalls, type StallsResult, type StallsTask } from "./measure_stalls.ts";

/** What a process of its own can be asked for. */
export type Task =
  | ({ readonly kind: "engine" } & EngineTask)
  | ({ readonly kind: "product" } & ProductTask)
  | ({ readonly kind: "ranking" } & HybridTask)
  | ({ readonly kind: "stock hybrid" } & HybridTask)
  | ({ readonly kind: "hybrid files" } & HybridFilesTask)
  | ({ readonly kind: "model" } & ModelTask)
  | ({ readonly kind: "stalls" } & StallsTask);

interface ResultOf {
  "engine": EngineResult;
  "product": ProductResult;
  "ranking": RankingResult;
  "stock hybrid": StockHybridResult;
  "hybrid files": HybridFilesResult;
  "model": ModelResult;
  "stalls": StallsResult;
}

/** The kinds of access that `deno task start` names too. */
export const PERMISSIONS: readonly string[] = [
  "--allow-read",
  "--allow-write",
  "--allow-net",
  "--allow-env",
  "--allow-run",
];

/** Runs one measurement in a new process. */
export function runChild<K extends Task["kind"]>(
  task: Task & { readonly kind: K },
): Promise<ResultOf[K]> {
  return runJsonChild(task, {
    file: fileURLToPath(import.meta.url),
    permissions: [...PERMISSIONS, "--allow-sys"],
    what: `Measuring "${task.kind}"`,
  });
}

async function main(): Promise<void> {
  const task: Task = JSON.parse(await new Response(Deno.stdin.readable).text());
  const result = await measure(task);
  Deno.stdout.writeSync(new TextEncoder().encode(JSON.stringify(result)));
}

function measure(task: Task): Promise<ResultOf[Task["kind"]]> {
  switch (task.kind) {
    case "engine":
      return measureEngine(task);
    case "product":
      return measureProduct(task);
    case "ranking":
      return measureRanking(task);
    case "stock hybrid":
      return measureStockHybrid(task);
    case "hybrid files":
      return measureHybridFiles(task);
    case "model":
      return measureModel(task);
    case "stalls":
      return measureStalls(task);
  }
}

if (import.meta.main) main();
