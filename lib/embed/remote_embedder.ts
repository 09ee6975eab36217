/** A model behind an address, asked by the interface of OpenAI. */
import { EMBEDDING_PROVIDERS } from "@/lib/embedding_providers.ts";
import type { RemoteModel } from "@/lib/remote_model.ts";
import { type Clock, type Logger, Semaphore } from "@/lib/seams.ts";
import { shortHash } from "@/lib/short_hash.ts";
import { EmbeddingsEndpoint } from "./_embeddings_endpoint.ts";
import { followSignal } from "./_follow_signal.ts";
import { KeyHolder } from "./_key_holder.ts";
import { Pacer } from "./_pacer.ts";
import { pause, unlessAborted } from "./_pause.ts";
import { embedApart, isForTexts, type RefusalDeps, requireAcceptance } from "./_refused_texts.ts";
import { RequestFailure } from "./_request_failure.ts";
import { planQueryRetry, planRetry } from "./_retries.ts";
import { splitBatches } from "./batches.ts";
import type { BatchLimits, Embedder, Embedding, EmbedKind } from "./embedder.ts";

/** With all that is tried again in it. */
const PASSAGES_LIMIT_MS = 600_000;
const REQUEST_LIMIT_MS = 60_000;

export interface RemoteEmbedderOptions {
  readonly model: RemoteModel;
  /** Reads the key when it is first needed, and anew when it is not accepted. */
  readonly readCredential: (() => Promise<string>) | undefined;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly fetch?: typeof fetch;
  /** 0 up to 1. */
  readonly random?: () => number;
  /** For one request; without it a minute. */
  readonly requestLimitMs?: number;
}

/** What was used since the start. */
export interface EmbeddingUsage {
  readonly requests: number;
  /** That got an embedding. */
  readonly texts: number;
  /** As the provider counts them; `undefined` = it does not say. */
  readonly tokens: number | undefined;
}

type Texts = readonly string[];
type Vectors = readonly Float32Array[];

interface AskedTexts {
  readonly texts: Texts;
  readonly kind: EmbedKind;
  readonly signal: AbortSignal | undefined;
}

/**
 * Asks for embeddings in batches, a few at a time and as often as the provider lets it; what fails in
 * passing is tried again. A query goes past all that.
 */
export class RemoteEmbedder implements Embedder {
  readonly id: string;
  readonly dimensions: number;
  readonly isLocal = false;
  readonly scale = undefined;
  readonly limitsMs: Readonly<Record<EmbedKind, number>>;
  readonly batch: BatchLimits;
  readonly #model: RemoteModel;
  readonly #clock: Clock;
  readonly #logger: Logger;
  readonly #random: () => number;
  readonly #endpoint: EmbeddingsEndpoint;
  readonly #key: KeyHolder | undefined;
  readonly #pacer: Pacer;
  readonly #places: Semaphore;
  /** Of one batch. */
  #mostTexts: number;
  #usage: EmbeddingUsage = { requests: 0, texts: 0, tokens: undefined };

  constructor(options: RemoteEmbedderOptions) {
    const { model, clock, logger, readCredential } = options;
    this.#model = model;
    this.#clock = clock;
    this.#logger = logger;
    this.#random = options.random ?? Math.random;
    this.#endpoint = new EmbeddingsEndpoint({
      model,
      clock,
      fetch: options.fetch ?? fetch,
      limitMs: options.requestLimitMs ?? REQUEST_LIMIT_MS,
    });
    this.#key = readCredential && new KeyHolder(readCredential);
    this.#pacer = new Pacer({ clock, random: this.#random });
    this.id = idOf(model);
    this.dimensions = model.dimensions;
    this.limitsMs = { query: model.timeoutMs, passage: PASSAGES_LIMIT_MS };
    this.batch = EMBEDDING_PROVIDERS[model.provider].batch;
    this.#mostTexts = this.batch.texts;
    this.#places = new Semaphore(this.batch.atOnce);
  }

  /** What was used since the start, by all calls. */
  get usage(): EmbeddingUsage {
    return this.#usage;
  }

  /**
   * Returns one embedding a text, in their order; `undefined` for blank ones, which are not sent, and
   * for those that the model refuses while it takes others.
   *
   * @throws {EmbeddingUnavailable} If the provider cannot be asked, or its answers are of no use. The
   * message holds no text, no key and no sentence of the provider.
   * @throws The reason of `signal` if it aborts.
   */
  embed(texts: Texts, kind: EmbedKind, signal?: AbortSignal): Promise<Embedding[]> {
    const isAwaited = kind === "query";
    const embed = isAwaited ? this.#embedQueries.bind(this) : this.#embedPatiently.bind(this);
    return this.#embedInBatches({ texts, kind, signal }, (batch, end) => embed(batch, kind, end));
  }

  /** The same for questions that nobody waits for: as passages are, each in its turn. */
  embedPatiently(texts: Texts, kind: EmbedKind, signal?: AbortSignal): Promise<Embedding[]> {
    return this.#embedInBatches(
      { texts, kind, signal },
      (batch, end) => this.#embedPatiently(batch, kind, end),
    );
  }

  async #embedInBatches(
    { texts, kind, signal }: AskedTexts,
    embed: (batch: Texts, signal: AbortSignal) => Promise<readonly Embedding[]>,
  ): Promise<Embedding[]> {
    signal?.throwIfAborted();
    const prefix = this.#model.prefixes[kind];
    const isFull = texts.map((text) => text.trim() !== "");
    const full = texts.filter((_, at) => isFull[at]).map((text) => prefix + text.toWellFormed());
    const batches = splitBatches(full, { ...this.batch, texts: this.#mostTexts });
    const stop = new AbortController();
    const unfollow = followSignal(stop, signal);
    try {
      const next = (await Promise.all(batches.map((batch) => embed(batch, stop.signal)))).flat()
        .values();
      return isFull.map((each) => each ? next.next().value : undefined);
    } finally {
      unfollow();
      // Where one batch fails the others are of no use.
      stop.abort();
    }
  }

  async #embedPatiently(
    texts: Texts,
    kind: EmbedKind,
    signal: AbortSignal,
  ): Promise<readonly Embedding[]> {
    const deps: RefusalDeps = {
      ask: (some) => this.#askPatiently(some, kind, signal),
      prefix: this.#model.prefixes[kind],
      logger: this.#logger,
    };
    try {
      return await deps.ask(texts);
    } catch (error) {
      this.#askForLess(error, texts);
      if (!isForTexts(error)) throw error;
      // What has taken a text before takes texts; what has an error may have broken since.
      if (!this.#isProven || error.kind !== "refused") await requireAcceptance(deps);
      return await embedApart(deps, texts, error);
    }
  }

  /** A machine that takes more than a minute for so many texts is given half of them from now on. */
  #askForLess(error: unknown, texts: Texts): void {
    if (!(error instanceof RequestFailure) || error.kind !== "slow") return;
    this.#mostTexts = Math.max(1, Math.min(this.#mostTexts, texts.length >> 1));
  }

  async #embedQueries(
    texts: Texts,
    kind: EmbedKind,
    signal: AbortSignal,
  ): Promise<readonly Embedding[]> {
    const deps: RefusalDeps = {
      ask: (some) => this.#askForQueries(some, signal),
      prefix: this.#model.prefixes[kind],
      logger: this.#logger,
    };
    try {
      return await this.#askTwiceInTime(texts, signal);
    } catch (error) {
      if (!(error instanceof RequestFailure) || error.kind !== "refused") throw error;
      if (!this.#isProven) await requireAcceptance(deps);
      return await embedApart(deps, texts, error);
    }
  }

  async #askTwiceInTime(texts: Texts, signal: AbortSignal): Promise<Vectors> {
    const deadlineMs = this.#clock.monotonicMs() + this.#model.timeoutMs;
    try {
      return await this.#askForQueries(texts, signal);
    } catch (error) {
      if (!(error instanceof RequestFailure)) throw error;
      const waitMs = planQueryRetry(error, this.#random());
      const isInTime = waitMs !== undefined && this.#clock.monotonicMs() + waitMs < deadlineMs;
      if (!isInTime) throw error;
      await pause(waitMs, signal);
      return await this.#askForQueries(texts, signal);
    }
  }

  async #askForQueries(texts: Texts, signal: AbortSignal): Promise<Vectors> {
    try {
      return await this.#ask(texts, "query", signal);
    } catch (error) {
      // Whoever is asked too often is not asked for passages meanwhile.
      if (isLimit(error)) this.#pacer.hold(error.retryAfterMs);
      throw error;
    }
  }

  async #askPatiently(texts: Texts, kind: EmbedKind, signal: AbortSignal): Promise<Vectors> {
    for (let attempt = 1;; attempt++) {
      try {
        return await this.#places.run(() => this.#askInTurn(texts, kind, signal), signal);
      } catch (error) {
        const isFailure = error instanceof RequestFailure;
        const waitMs = isFailure ? planRetry(error, attempt, this.#random()) : undefined;
        if (waitMs === undefined) throw error;
        await pause(waitMs, signal);
      }
    }
  }

  async #askInTurn(texts: Texts, kind: EmbedKind, signal: AbortSignal): Promise<Vectors> {
    for (let ms = this.#pacer.waitMs(); ms > 0; ms = this.#pacer.waitMs()) await pause(ms, signal);
    const startedMs = this.#pacer.start();
    try {
      const embeddings = await this.#ask(texts, kind, signal);
      this.#pacer.succeeded(startedMs);
      return embeddings;
    } catch (error) {
      if (isLimit(error)) this.#pacer.limited(startedMs, error.retryAfterMs);
      throw error;
    }
  }

  /** A key that is not accepted may have been changed: it is read once more. */
  async #ask(texts: Texts, kind: EmbedKind, signal: AbortSignal): Promise<Vectors> {
    const key = this.#key && await unlessAborted(this.#key.get(), signal);
    try {
      return await this.#post({ texts, kind, key, signal });
    } catch (error) {
      const isRefused = error instanceof RequestFailure && error.kind === "key";
      if (!isRefused || !this.#key || key === undefined) throw error;
      const other = await unlessAborted(this.#key.renew(key), signal);
      if (other === undefined) throw error;
      return await this.#post({ texts, kind, key: other, signal });
    }
  }

  async #post(request: Parameters<EmbeddingsEndpoint["post"]>[0]): Promise<Vectors> {
    this.#count(1, 0, undefined);
    const { embeddings, tokens } = await this.#endpoint.post(request);
    this.#count(0, embeddings.length, tokens);
    return embeddings;
  }

  #count(requests: number, texts: number, tokens: number | undefined): void {
    const { usage } = this;
    this.#usage = {
      requests: usage.requests + requests,
      texts: usage.texts + texts,
      tokens: tokens === undefined ? usage.tokens : (usage.tokens ?? 0) + tokens,
    };
  }

  /** True if the model is known to take texts. */
  get #isProven(): boolean {
    return this.#usage.texts > 0;
  }
}

function isLimit(error: unknown): error is RequestFailure {
  return error instanceof RequestFailure && error.kind === "limit";
}

/** Names all that decides the vectors, without what an address may hold besides. */
function idOf({ provider, baseUrl, model, dimensions, prefixes }: RemoteModel): string {
  const { query, passage } = prefixes;
  const all = JSON.stringify([provider, baseUrl, model, dimensions, query, passage]);
  return `${provider}:${model}:${dimensions}:${shortHash(all, 12)}`;
}
