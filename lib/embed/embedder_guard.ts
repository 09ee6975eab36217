/** Keeps a model that fails or is slow from holding anything up. */
import { describeFailure } from "@/lib/errors.ts";
import type { Clock, Logger } from "@/lib/seams.ts";
import { followSignal } from "./_follow_signal.ts";
import { type Embedder, type Embedding, EmbeddingUnavailable, type EmbedKind } from "./embedder.ts";

/** Someone waits for the answer to a query. */
export const QUERY_LIMIT_MS = 1_000;
/** Nobody waits for passages that come later. */
export const PASSAGES_LIMIT_MS = 30_000;
/** A model that runs here is slow only when its file cannot be read. */
export const LOCAL_LIMIT_MS = 10_000;
/** So long a distant model may go on with a query that nobody waits for any more. */
export const LATE_QUERY_LIMIT_MS = 30_000;
/** After a failure the model is left alone for so long, unless it asks for more. */
export const EMBED_REST_MS = 30_000;
/** It is left alone so long, and asked again after so long, whatever it said. */
const MIN_REST_MS = 1_000;
const MAX_REST_MS = 3_600_000;

export interface EmbedderGuardOptions {
  readonly embedder: Embedder;
  /**
   * What it is asked for. Each kind has a guard of its own: what makes passages fail, such as one
   * that the model refuses, must not stand in the way of queries.
   */
  readonly kind: EmbedKind;
  /** Whether nobody waits for it; without it that is so for passages. */
  readonly isBackground?: boolean;
  readonly clock: Clock;
  readonly logger: Logger;
}

/**
 * Lets calls through to a model until one fails or takes too long; from then on they fail at once.
 * When the model has rested, the next call goes through again. Only a query to a distant model is not
 * made to wait for what may fail once more: it is tried in the background, and opens the way if it
 * succeeds. So does one that was too slow for who waited, such as the first one of a model that has
 * to be loaded.
 */
export class EmbedderGuard {
  readonly #options: EmbedderGuardOptions;
  readonly #limitMs: number;
  readonly #isBackground: boolean;
  #failure: { readonly reason: string; readonly restUntilMs: number } | undefined;
  #isTrying = false;

  constructor(options: EmbedderGuardOptions) {
    const { embedder, kind, isBackground = kind === "passage" } = options;
    this.#options = options;
    this.#isBackground = isBackground;
    const usual = isBackground ? PASSAGES_LIMIT_MS : QUERY_LIMIT_MS;
    this.#limitMs = embedder.limitsMs?.[isBackground ? "passage" : "query"] ??
      (embedder.isLocal ? LOCAL_LIMIT_MS : usual);
  }

  /** Why the model is left alone; `undefined` = it works, as far as is known. */
  get failure(): string | undefined {
    return this.#failure?.reason;
  }

  /** True if a call may go through. */
  get isOpen(): boolean {
    return this.restMs === 0;
  }

  /** How long the model is still left alone, in milliseconds. */
  get restMs(): number {
    const { restUntilMs = 0 } = this.#failure ?? {};
    return Math.max(0, restUntilMs - this.#options.clock.monotonicMs());
  }

  /**
   * Returns one embedding a text, in their order.
   *
   * @throws {EmbeddingUnavailable} If the model fails, is slow, or rests after it did. Its cause is
   * what the model threw, if that was it.
   * @throws The reason of `signal` if it aborts; that does not count against the model.
   */
  async embed(texts: readonly string[], signal?: AbortSignal): Promise<readonly Embedding[]> {
    const { embedder } = this.#options;
    const mayWait = this.#isBackground || embedder.isLocal;
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
      const work = async (limited: AbortSignal) => {
        const answer = await (this.#isBackground && embedder.embedPatiently
          ? embedder.embedPatiently(texts, kind, limited)
          : embedder.embed(texts, kind, limited));
        const embeddings = checked(answer, texts.length, embedder.dimensions);
        if (this.#failure) {
          logger.info("embedding-back", { kind });
        }
        this.#failure = undefined;
        return embeddings;
      };
      const goesOn = !this.#isBackground && !embedder.isLocal;
      const limitMs = goesOn ? Math.max(this.#limitMs, LATE_QUERY_LIMIT_MS) : this.#limitMs;
      return await withinLimit(work, { waitMs: this.#limitMs, limitMs, signal });
    } catch (error) {
      signal?.throwIfAborted();
      throw new EmbeddingUnavailable(this.#noteFailure(error), { cause: error });
    }
  }

  #noteFailure(error: unknown): string {
    const { clock, kind, logger } = this.#options;
    const reason = error instanceof EmbeddingUnavailable || error instanceof TookTooLong
      ? error.message
      : `The embedding failed (${describeFailure(error).cause})`;
    // Who says how long it has to be is believed, be it shorter than usual.
    const { restMs = EMBED_REST_MS } = error instanceof EmbeddingUnavailable ? error : {};
    const rest = Math.min(Math.max(restMs, MIN_REST_MS), MAX_REST_MS);
    this.#failure = { reason, restUntilMs: clock.monotonicMs() + rest };
    logger.warn("embedding-failed", { kind, reason });
    return reason;
  }
}

class TookTooLong extends Error {
  override message = "The embedding took too long";
}

interface Limits {
  /** How long the work is waited for. */
  readonly waitMs: number;
  /** How long it may go on. */
  readonly limitMs: number;
  readonly signal: AbortSignal | undefined;
}

/** Does not count on the work to heed its signal. */
async function withinLimit<T>(
  work: (signal: AbortSignal) => Promise<T>,
  { waitMs, limitMs, signal }: Limits,
): Promise<T> {
  signal?.throwIfAborted();
  const limit = new AbortController();
  const { promise: tooLong, reject } = Promise.withResolvers<never>();
  const giveUp = () => reject(signal?.reason);
  const refuse = () => reject(new TookTooLong());
  const waiting = setTimeout(refuse, waitMs);
  const going = setTimeout(() => limit.abort(), limitMs);
  Deno.unrefTimer(going);
  signal?.addEventListener("abort", giveUp);
  const unfollow = followSignal(limit, signal);
  const answer = work(limit.signal).finally(() => {
    clearTimeout(going);
    unfollow();
  });
  try {
    return await Promise.race([answer, tooLong]);
  } finally {
    clearTimeout(waiting);
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
      embedding.length === dimensions && isAllFinite(embedding)
    );
  if (!isRight) throw new EmbeddingUnavailable("The embedding gave an answer of another form");
  return embeddings;
}

/** A plain loop: it sees every number of every answer. */
function isAllFinite(embedding: Float32Array): boolean {
  for (let at = 0; at < embedding.length; at++) {
    if (!Number.isFinite(embedding[at])) return false;
  }
  return true;
}
