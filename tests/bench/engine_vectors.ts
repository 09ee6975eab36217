/** Our index with the vectors of its notes, each way in which the program can come by them. */
import { readModelFile } from "@/lib/embed/model_file.ts";
import { STATIC_DIMENSIONS, STATIC_MODEL_ID, StaticEmbedder } from "@/lib/embed/static_embedder.ts";
import { createLogger, systemClock, writeStderr } from "@/lib/seams.ts";
import { openEmbeddingCache } from "@/lib/index/cache.ts";
import type { EmbeddingCache } from "@/lib/index/embedding_cache.ts";
import { OurEngine, STILL_CLOCK } from "./engine_ours.ts";

const NO_CACHE: EmbeddingCache = {
  get: () => undefined,
  put: () => undefined,
  flush: () => undefined,
  close: () => undefined,
};

/** Returns the static model, loaded. */
export async function openEmbedder(): Promise<StaticEmbedder> {
  const embedder = new StaticEmbedder({ clock: STILL_CLOCK, read: readModelFile });
  await embedder.load();
  return embedder;
}

/** Returns an engine that embeds everything. */
export async function openEmbeddingEngine(): Promise<OurEngine> {
  return new OurEngine({ embedder: await openEmbedder(), openCache: () => NO_CACHE });
}

/** Returns an engine that embeds everything and keeps it in a cache. */
export async function openCachingEngine(folder: string): Promise<OurEngine> {
  return new OurEngine({
    embedder: await openEmbedder(),
    openCache: () => openCache(folder),
  });
}

/** Returns an engine that takes everything from such a cache and fails if it is not there. */
export function openCachedEngine(folder: string): OurEngine {
  const read = () => Promise.reject(new Error("Everything should be in the cache"));
  const embedder = new StaticEmbedder({ clock: STILL_CLOCK, read });
  return new OurEngine({ embedder, openCache: () => openCache(folder) });
}

function openCache(folder: string): EmbeddingCache {
  return openEmbeddingCache({
    folder,
    modelId: STATIC_MODEL_ID,
    dimensions: STATIC_DIMENSIONS,
    logger: createLogger({ level: "warn", clock: systemClock, pretty: true, write: writeStderr }),
  });
}
