/** One request to `POST {base}/embeddings`, and its answer or what went wrong. */
import { Buffer } from "node:buffer";
import { EMBEDDING_PROVIDERS } from "@/lib/embedding_providers.ts";
import type { RemoteModel } from "@/lib/remote_model.ts";
import type { Clock } from "@/lib/seams.ts";
import { type Answer, BadAnswer, parseAnswer } from "./_embeddings_answer.ts";
import {
  type Asked,
  failureOf,
  failureOfConnection,
  failureOfTime,
  RequestFailure,
} from "./_request_failure.ts";
import { followSignal } from "./_follow_signal.ts";
import type { EmbeddingUnavailable, EmbedKind } from "./embedder.ts";
import { OtherDimensions } from "./other_dimensions.ts";

const MAX_ANSWER_BYTES = 64 * 1024 * 1024;
/** Of an answer that says what is wrong. */
const MAX_ERROR_BYTES = 64 * 1024;

export interface EndpointOptions {
  readonly model: RemoteModel;
  readonly clock: Clock;
  readonly fetch: typeof fetch;
  /** For one request with its answer. */
  readonly limitMs: number;
}

export interface EmbeddingsRequest {
  /** With what stands before each. */
  readonly texts: readonly string[];
  readonly kind: EmbedKind;
  readonly key: string | undefined;
  readonly signal: AbortSignal | undefined;
}

/** Where a model is asked; it tries nothing twice. */
export class EmbeddingsEndpoint {
  readonly host: string;
  readonly #options: EndpointOptions;
  readonly #url: URL;

  constructor(options: EndpointOptions) {
    this.#options = options;
    this.#url = new URL(options.model.baseUrl);
    this.#url.pathname = `${this.#url.pathname.replace(/\/+$/, "")}/embeddings`;
    this.host = this.#url.host;
  }

  /**
   * Sends texts and returns their embeddings, in their order.
   *
   * @throws {RequestFailure} If there is no answer that can be used.
   * @throws {OtherDimensions} If the vectors are longer or shorter than they should be.
   * @throws The reason of the signal if it aborts.
   */
  async post({ texts, kind, key, signal }: EmbeddingsRequest): Promise<Answer> {
    signal?.throwIfAborted();
    const asked = { model: this.#options.model, host: this.host, hasKey: key !== undefined };
    const limit = new AbortController();
    const timer = setTimeout(() => limit.abort(), this.#options.limitMs);
    const unfollow = followSignal(limit, signal);
    try {
      const response = await this.#options.fetch(this.#url, {
        method: "POST",
        headers: this.#headers(key),
        body: JSON.stringify(this.#body(texts, kind)),
        // A key must not be carried to another place than the one that it is for.
        redirect: "manual",
        signal: limit.signal,
      });
      return await this.#read(response, texts.length, asked);
    } catch (error) {
      signal?.throwIfAborted();
      if (limit.signal.aborted) throw failureOfTime(asked, this.#options.limitMs);
      if (error instanceof RequestFailure) throw error;
      if (error instanceof BadAnswer) throw this.#failureOfAnswer(error);
      throw failureOfConnection(asked, error);
    } finally {
      clearTimeout(timer);
      unfollow();
    }
  }

  #headers(key: string | undefined): Record<string, string> {
    const headers = { "content-type": "application/json", accept: "application/json" };
    if (key === undefined) return headers;
    const { keyHeader } = EMBEDDING_PROVIDERS[this.#options.model.provider];
    return { ...headers, [keyHeader]: keyHeader === "authorization" ? `Bearer ${key}` : key };
  }

  #body(input: readonly string[], kind: EmbedKind): Readonly<Record<string, unknown>> {
    const { model, provider, dimensions, asksForDimensions } = this.#options.model;
    const { fields, kindFields, dimensionsField } = EMBEDDING_PROVIDERS[provider];
    const asksFor = asksForDimensions && dimensionsField !== undefined;
    const length = asksFor ? { [dimensionsField]: dimensions } : {};
    return { model, input, ...fields, ...kindFields[kind], ...length };
  }

  async #read(response: Response, count: number, asked: Asked): Promise<Answer> {
    const { headers, ok, status } = response;
    if (!ok) {
      const body = await readError(response);
      throw failureOf(asked, { status, headers, body, nowMs: this.#options.clock.nowMs() });
    }
    const bytes = await readUpTo(response, MAX_ANSWER_BYTES);
    if (bytes === undefined) throw new BadAnswer("gave an answer that is far too long");
    const { dimensions } = this.#options.model;
    return parseAnswer(new TextDecoder().decode(bytes), { count, dimensions });
  }

  #failureOfAnswer({ message, of, dimensions }: BadAnswer): EmbeddingUnavailable {
    const words = `${this.host} ${message}`;
    if (dimensions !== undefined) return new OtherDimensions(words, dimensions);
    return new RequestFailure(words, { kind: of === "values" ? "refused" : "lasting" });
  }
}

/** Returns `undefined` for what is no JSON. */
async function readError(response: Response): Promise<unknown> {
  try {
    const bytes = await readUpTo(response, MAX_ERROR_BYTES);
    return JSON.parse(new TextDecoder().decode(bytes));
  } catch {
    // The status says enough.
    return undefined;
  }
}

/** Returns `undefined` if there is more; the rest is left unread. */
async function readUpTo(response: Response, limit: number): Promise<Uint8Array | undefined> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  // Leaving the loop early cancels the body.
  for await (const chunk of response.body ?? []) {
    size += chunk.length;
    if (size > limit) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks, size);
}
