/** Keeps a model that fails or is slow from holding anything up. */
import { describeFailure } from "@/lib/errors.ts";
import type { Clock, Logger } from "@/lib/seams.ts";
import { type Embedder, type Embedding, EmbeddingUnavailable, type EmbedKind } from "./embedder.ts";

/** Someone waits for the answer to a query. */
export const QUERY_LIMIT_MS = 1_000;
/** Nobody waits for passages that come later. */
export const PASSAGES_LIMIT_MS = 30_000;
/** A model that runs here is slow only when its file cannot be read. */
export const LOCAL_LIMIT_MS = 10_000;
/** After a failure the model is left alone for so long. */
export const EMBED_REST_MS = 30_000;

export interface EmbedderGuardOptions {
  readonly embedder: Embedder;
  /**
   * What it is asked for. Each kind has a guard of its own: what makes passages fail, such as one
   * that the model refuses, must not stand in the way of queries.
   */
  readonly kind: EmbedKind;
  readonly clock: Clock;
  readonly logger: Logger;
}

/**
 * Lets calls through to a model until one fails or takes too long; from then on they fail at once.
 * When the model has rested, the next call goes through again. Only a query to a distant model is not
 * made to wait for what may fail once more: it is tried in the background, and opens the way if it
 * succeeds.
 */
export class EmbedderGuard {
  readonly #options: EmbedderGuardOptions;
  readonly #limitMs: number;
  #failure: { readonly reason: string; readonly atMs: number } | undefined;
  #isTrying = false;

  constructor(options: EmbedderGuardOptions) {
    const { embedder, kind } = options;
    this.#options = options;
    const usual = kind === "query" ? QUERY_LIMIT_MS : PASSAGES_LIMIT_MS;
    this.#limitMs = embedder.limitMs ?? (embedder.isLocal ? LOCAL_LIMIT_MS : usual);
  }

  /** Why the model is left alone; `undefined` = it works, as far as is known. */
  get failure(): string | undefined {
    return this.#failure?.reason;
  }

  /** True if a call may go through. */
  get isOpen(): boolean {
    const { clock } = this.#options;
    return !this.#failure || clock.monotonicMs() - this.#failure.atMs >= EMBED_REST_MS;
  }

  /**
   * Returns one embedding a text, in their order.
   *
   * @throws {EmbeddingUnavailable} If the model fails, is slow, or rests after it did.
   * @throws The reason of `signal` if it aborts; that does not count against the model.
   */
  async embed(texts: readonly string[], signal?: AbortSignal): Promise<readonly Embedding[]> {
    const { embedder, kind } = this.#options;
    const mayWait = kind === "passage" || embedder.isLocal;
    if (!this.#failure || mayWait && this.isOpen) return await this.#call(texts, signal);
    const { reason } = this.#failure;
    if (this.isOpen && !this.#isTrying) this.#tryAgain(texts);
    throw new EmbeddingUnavailable(reason);
  }

  async #tryAgain(texts: readonly string[]): Promise<void> {
    this.#isTrying = true;
    try {
      await this.#call(texts, undefined);
    } catch {
      // Noted by the call itself.
    } finally {
      this.#isTrying = false;
    }
  }

  async #call(
    texts: readonly string[],
    signal: AbortSignal | undefined,
  ): Promise<readonly Embedding[]> {
    const { embedder, kind, logger } = this.#options;
    try {
      const work = (limited: AbortSignal) => embedder.embed(texts, kind, limited);
      const answer = await withinLimit(work, { limitMs: this.#limitMs, signal });
      const embeddings = checked(answer, texts.length, embedder.dimensions);
      if (this.#failure) logger.info("embedding-back", { kind });
      this.#failure = undefined;
      return embeddings;
    } catch (error) {
      signal?.throwIfAborted();
      throw new EmbeddingUnavailable(this.#noteFailure(error));
    }
  }

  #noteFailure(error: unknown): string {
    const { clock, kind, logger } = this.#options;
    const reason = error instanceof EmbeddingUnavailable
      ? error.message
      : `The embedding failed (${describeFailure(error).cause})`;
    this.#failure = { reason, atMs: clock.monotonicMs() };
    logger.warn("embedding-failed", { kind, reason });
    return reason;
  }
}

/** Does not count on the work to heed its signal. */
async function withinLimit<T>(
  work: (signal: AbortSignal) => Promise<T>,
  { limitMs, signal }: { readonly limitMs: number; readonly signal: AbortSignal | undefined },
): Promise<T> {
  signal?.throwIfAborted();
  const limit = new AbortController();
  const { promise: tooLong, reject } = Promise.withResolvers<never>();
  const giveUp = () => reject(signal?.reason);
  const timer = setTimeout(() => {
    limit.abort();
    reject(new EmbeddingUnavailable("The embedding took too long"));
  }, limitMs);
  signal?.addEventListener("abort", giveUp);
  try {
    const both = signal ? AbortSignal.any([signal, limit.signal]) : limit.signal;
    return await Promise.race([work(both), tooLong]);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener("abort", giveUp);
  }
}

function checked(
  embeddings: readonly Embedding[],
  count: number,
  dimensions: number,
): readonly Embedding[] {
  const isRight = embeddings.length === count &&
    embeddings.every((embedding) =>
      embedding === undefined ||
      embedding.length === dimensions && embedding.every(Number.isFinite)
    );
  if (!isRight) throw new EmbeddingUnavailable("The embedding gave an answer of another form");
  return embeddings;
}
