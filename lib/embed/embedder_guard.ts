/** Keeps a model that fails or is slow from holding anything up. */
import type { Clock, Logger } from "@/lib/seams.ts";
import type { Embedder, Embedding, EmbedKind } from "./embedder.ts";

/** A model that is not here gets so much time for one call. */
export const EMBED_LIMIT_MS = 1_000;
/** After a failure it is left alone for so long. */
export const EMBED_REST_MS = 30_000;

/** The model cannot be used now; the message says why, in words without any text of the vault. */
export class EmbeddingUnavailable extends Error {
  override name = "EmbeddingUnavailable";
}

export interface EmbedderGuardOptions {
  readonly embedder: Embedder;
  readonly clock: Clock;
  readonly logger: Logger;
  /** How long a call may take, in milliseconds; `EMBED_LIMIT_MS` without it. */
  readonly limitMs?: number;
}

/**
 * Lets calls through to a model until one fails or takes too long. From then on every call fails at
 * once; when the model has rested, one of these is tried in the background, and its success opens
 * the way again.
 */
export class EmbedderGuard {
  readonly #options: EmbedderGuardOptions;
  #failure: { readonly reason: string; readonly atMs: number } | undefined;
  #isTrying = false;

  constructor(options: EmbedderGuardOptions) {
    this.#options = options;
  }

  /** Why the model is left alone; `undefined` = it works, as far as is known. */
  get failure(): string | undefined {
    return this.#failure?.reason;
  }

  /** True if a call may find the model well again. */
  get hasRested(): boolean {
    const { clock } = this.#options;
    return !this.#failure || clock.monotonicMs() - this.#failure.atMs >= EMBED_REST_MS;
  }

  /**
   * Returns one embedding a text, in their order.
   *
   * @throws {EmbeddingUnavailable} If the model fails, is slow, or rests after it did.
   * @throws The reason of `signal` if it aborts; that does not count against the model.
   */
  async embed(
    texts: readonly string[],
    kind: EmbedKind,
    signal?: AbortSignal,
  ): Promise<readonly Embedding[]> {
    if (!this.#failure) return await this.#call(texts, kind, signal);
    const { reason } = this.#failure;
    if (this.hasRested && !this.#isTrying) this.#tryAgain(texts, kind);
    throw new EmbeddingUnavailable(reason);
  }

  async #tryAgain(texts: readonly string[], kind: EmbedKind): Promise<void> {
    this.#isTrying = true;
    try {
      await this.#call(texts, kind, undefined);
      this.#failure = undefined;
      this.#options.logger.info("embedding-back");
    } catch {
      // Noted by the call itself.
    } finally {
      this.#isTrying = false;
    }
  }

  async #call(
    texts: readonly string[],
    kind: EmbedKind,
    signal: AbortSignal | undefined,
  ): Promise<readonly Embedding[]> {
    const { embedder, limitMs = EMBED_LIMIT_MS } = this.#options;
    try {
      const work = embedder.isLocal
        ? embedder.embed(texts, kind, signal)
        : withinLimit((limited) => embedder.embed(texts, kind, limited), { limitMs, signal });
      return checked(await work, texts.length, embedder.dimensions);
    } catch (error) {
      signal?.throwIfAborted();
      throw new EmbeddingUnavailable(this.#noteFailure(error));
    }
  }

  #noteFailure(error: unknown): string {
    const { clock, logger } = this.#options;
    const cause = error instanceof Error ? error.name : typeof error;
    const reason = error instanceof EmbeddingUnavailable
      ? error.message
      : `The embedding failed (${cause})`;
    this.#failure = { reason, atMs: clock.monotonicMs() };
    logger.warn("embedding-failed", { cause });
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
