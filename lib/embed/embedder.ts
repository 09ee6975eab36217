/** What turns texts into vectors, so that texts of like meaning lie near each other. */

/** Some models treat a question otherwise than a text that may answer it. */
export type EmbedKind = "query" | "passage";

/** The model cannot be used now; the message may be shown, as it holds no text that was embedded. */
export class EmbeddingUnavailable extends Error {
  override name = "EmbeddingUnavailable";
  /** So long it wants to be left alone, in milliseconds; `undefined` = it did not say. */
  readonly restMs: number | undefined;

  constructor(
    message: string,
    { restMs, ...options }: ErrorOptions & { readonly restMs?: number | undefined } = {},
  ) {
    super(message, options);
    this.restMs = restMs;
  }
}

/** Of unit length; `undefined` = the model knows nothing in the text, which is not a cosine of 0. */
export type Embedding = Float32Array | undefined;

/** How the cosines of a model become scores; they belong to the model. */
export interface DenseScale {
  /** A cosine that says nothing: 0 of the dense signal. */
  readonly floor: number;
  /** A cosine that could hardly be better: 1 of the dense signal. */
  readonly ceiling: number;
  /** What the dense signal weighs beside that of words, 0..1. */
  readonly weight: number;
  /** The score from which on a note is worth a hint, 0..1. */
  readonly hintAt: number;
}

/** An embedder of which it is known what its cosines mean. */
export interface ScaledEmbedder extends Embedder {
  readonly scale: DenseScale;
}

/** How the texts of passages are put into calls. */
export interface BatchLimits {
  /** Most texts that a call gets. */
  readonly texts: number;
  /** Most bytes of UTF-8 that they have together; a longer text gets a call of its own. */
  readonly bytes: number;
  /** How many calls may be under way. */
  readonly atOnce: number;
}

export interface Embedder {
  /** Names the model and its version: vectors of different ids are never compared. */
  readonly id: string;
  readonly dimensions: number;
  /** `undefined` = nobody knows: it is learnt from the texts of the vault. */
  readonly scale: DenseScale | undefined;
  /** True if it runs here, in so little time that a search can wait for it. */
  readonly isLocal: boolean;
  /** How long a call may take, by what it is asked for; without it what is usual. */
  readonly limitsMs?: Readonly<Record<EmbedKind, number>>;
  /** Absent where all calls cost alike. */
  readonly batch?: BatchLimits;
  /**
   * Returns one embedding a text, in their order.
   *
   * @throws {EmbeddingUnavailable} If the model cannot answer, for a reason that may be shown.
   * @throws {Error} If it cannot for any other.
   */
  embed(
    texts: readonly string[],
    kind: EmbedKind,
    signal?: AbortSignal,
  ): Promise<readonly Embedding[]>;
  /** The same for any number of questions that nobody waits for; absent where it is `embed()`. */
  embedPatiently?(
    texts: readonly string[],
    kind: EmbedKind,
    signal?: AbortSignal,
  ): Promise<readonly Embedding[]>;
}

/** Tells whether it is known what the cosines of an embedder mean. */
export function isScaled(embedder: Embedder): embedder is ScaledEmbedder {
  return embedder.scale !== undefined;
}
