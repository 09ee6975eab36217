import { ok, rejects } from "node:assert/strict";
import { EmbeddingUnavailable } from "@/lib/embed/embedder.ts";
import { RemoteEmbedder, type RemoteEmbedderOptions } from "@/lib/embed/remote_embedder.ts";
import type { RemoteModel } from "@/lib/remote_model.ts";
import { createLogger, systemClock } from "@/lib/seams.ts";
import {
  type EmbeddingProvider,
  type EmbeddingProviderOptions,
  startEmbeddingProvider,
} from "../_support/embedding_provider.ts";
import { remoteModel } from "../_support/remote_model.ts";

export interface RemoteWorld extends AsyncDisposable {
  readonly provider: EmbeddingProvider;
  readonly embedder: RemoteEmbedder;
  readonly logs: string[];
}

/** What a test wants otherwise than usual. */
export interface RemoteWorldOptions {
  readonly provider?: Partial<EmbeddingProviderOptions>;
  readonly model?: Partial<RemoteModel>;
  readonly embedder?: Partial<RemoteEmbedderOptions>;
}

/** A provider, and an embedder that waits as little as it may between attempts. */
export function openRemoteWorld(options: RemoteWorldOptions = {}): RemoteWorld {
  const provider = startEmbeddingProvider({ dimensions: 16, ...options.provider });
  const logs: string[] = [];
  const write = (line: string) => void logs.push(line);
  const logger = createLogger({ level: "debug", clock: systemClock, pretty: false, write });
  const embedder = new RemoteEmbedder({
    model: remoteModel({ baseUrl: provider.baseUrl, ...options.model }),
    readCredential: undefined,
    clock: systemClock,
    logger,
    random: () => 0,
    ...options.embedder,
  });
  return { provider, embedder, logs, [Symbol.asyncDispose]: () => provider.stop() };
}

/** Returns what a failure says, after it is sure that it says nothing that it must not. */
export async function unavailable(work: Promise<unknown>): Promise<EmbeddingUnavailable> {
  let failure: EmbeddingUnavailable | undefined;
  await rejects(work, (error) => {
    ok(error instanceof EmbeddingUnavailable, String(error));
    failure = error;
    return true;
  });
  ok(failure);
  ok(!/sk-|confidential|Your key/.test(failure.message), failure.message);
  return failure;
}
