/**
 * The vectors of notes and queries: from the cache, else from the model. A note whose vectors
 * cannot be had at once is found by its words meanwhile.
 */
import { type Embedder, type Embedding, EmbeddingUnavailable } from "@/lib/embed/embedder.ts";
import { EmbedderGuard } from "@/lib/embed/embedder_guard.ts";
import { describeFailure } from "@/lib/errors.ts";
import { type Clock, type Logger, Slicer } from "@/lib/seams.ts";
import type { VaultPath } from "@/lib/vault/vault_path.ts";
import type { EmbeddingCache } from "./embedding_cache.ts";
import type { EmbeddingTexts } from "./embedding_texts.ts";
import type { NoteEmbeddings } from "./note_vectors.ts";
import { quantize } from "./vector_matrix.ts";

/** Part of every key of the cache: raise it whenever any text gives another vector than before. */
export const VECTORS_VERSION = 1;

/** How many texts one call of the model gets. */
const BATCH_TEXTS = 64;
/** With a larger share of notes without vectors an answer by meaning would miss too much. */
export const MAX_MISSING_SHARE = 0.05;
/** No answer waits for a note over which the model fails so often. */
export const MAX_STRIKES = 3;

export interface EmbeddingsOptions {
  readonly embedder: Embedder;
  /** Called once, when the first text is to be embedded. */
  readonly openCache: () => EmbeddingCache;
  /** Reads the texts of a note anew; `undefined` if it is not what it was when it was indexed. */
  readonly readTexts: (path: VaultPath, etag: string) => Promise<EmbeddingTexts | undefined>;
  readonly clock: Clock;
  readonly logger: Logger;
}

export interface LateVectors {
  readonly path: VaultPath;
  readonly etag: string;
  readonly vectors: NoteEmbeddings;
}

/** A query's vector, or why there is none. */
export type QueryVector =
  /** `undefined` = the model knows nothing in the query. */
  | { readonly vector: Embedding; readonly reason?: never }
  | { readonly vector?: never; readonly reason: string };

/** A note that is indexed without vectors, in the state in which it is. */
interface MissingNote {
  readonly etag: string;
  /** How often the model failed over it. */
  strikes: number;
}

export class Embeddings {
  readonly #options: EmbeddingsOptions;
  readonly #queries: EmbedderGuard;
  readonly #passages: EmbedderGuard;
  readonly #missing = new Map<VaultPath, MissingNote>();
  readonly #late = new Map<VaultPath, LateVectors>();
  #cache: EmbeddingCache | undefined;
  #filling: Promise<void> | undefined;
  #isStopped = false;

  constructor(options: EmbeddingsOptions) {
    this.#options = options;
    this.#queries = new EmbedderGuard({ ...options, kind: "query" });
    this.#passages = new EmbedderGuard({ ...options, kind: "passage" });
  }

  /** Why the model is left alone; `undefined` = it works, as far as is known. */
  get failure(): string | undefined {
    return this.#queries.failure ?? this.#passages.failure;
  }

  /**
   * Returns the vectors of a note. If they are not at hand and the model is slow or fails, returns
   * `undefined`; they come with `takeLate()`.
   */
  async vectorsOf(
    note: { readonly path: VaultPath; readonly etag: string },
    texts: EmbeddingTexts,
    slicer: Slicer,
  ): Promise<NoteEmbeddings | undefined> {
    this.forget(note.path);
    const { embedder } = this.#options;
    try {
      const vectors = await this.#collect(texts, slicer, embedder.isLocal ? "wait" : "cache-only");
      if (vectors) return vectors;
    } catch (error) {
      if (!(error instanceof EmbeddingUnavailable)) throw error;
    }
    this.expect(note);
    return undefined;
  }

  /** Takes note of a note that is indexed without its vectors; they come with `takeLate()`. */
  expect({ path, etag }: { readonly path: VaultPath; readonly etag: string }): void {
    this.#missing.set(path, { etag, strikes: 0 });
  }

  /** Forgets a note that is gone, or to be embedded no more. */
  forget(path: VaultPath): void {
    this.#missing.delete(path);
    this.#late.delete(path);
  }

  /** True if vectors came after their notes, for `takeLate()`. */
  get hasLate(): boolean {
    return this.#late.size > 0;
  }

  /** Returns the vectors that came after their notes, each once. */
  takeLate(): LateVectors[] {
    const late = [...this.#late.values()];
    this.#late.clear();
    for (const { path } of late) this.#missing.delete(path);
    return late;
  }

  /** Returns the vector of a query, or why an answer by meaning cannot be given now. */
  async queryVector(
    text: string,
    { noteCount, signal }: {
      readonly noteCount: number;
      readonly signal?: AbortSignal | undefined;
    },
  ): Promise<QueryVector> {
    this.#fillUp();
    try {
      const [vector] = await this.#queries.embed([text], signal);
      const missing = this.#countAwaited();
      if (missing <= noteCount * MAX_MISSING_SHARE) return { vector };
      const why = this.#passages.failure;
      const reason = `${missing} of ${noteCount} notes are not embedded yet`;
      return { reason: why === undefined ? reason : `${reason}: ${why}` };
    } catch (error) {
      if (error instanceof EmbeddingUnavailable) return { reason: error.message };
      throw error;
    }
  }

  /** Keeps what was embedded, and sees to what was not in the background; call it after a stretch. */
  settle(): void {
    this.#cache?.flush();
    this.#fillUp();
  }

  /** Embeds no more; what is under way ends soon. */
  stop(): void {
    this.#isStopped = true;
  }

  /** Stops, and writes what is to be kept. */
  async close(): Promise<void> {
    this.stop();
    await this.#filling;
    this.#cache?.close();
  }

  #countAwaited(): number {
    let count = 0;
    for (const { strikes } of this.#missing.values()) if (strikes < MAX_STRIKES) count++;
    return count;
  }

  #fillUp(): void {
    if (this.#missing.size === this.#late.size || !this.#passages.isOpen) return;
    this.#filling ??= this.#fill().finally(() => this.#filling = undefined);
  }

  /** Notes over which the model has failed come last, so that they keep no other one out. */
  async #fill(): Promise<void> {
    const inOrder = [...this.#missing].sort(([, a], [, b]) => a.strikes - b.strikes);
    for (const [path, missing] of inOrder) {
      if (this.#isStopped || !this.#passages.isOpen) return;
      if (this.#missing.get(path) === missing && !this.#late.has(path)) {
        await this.#embedLate(path, missing);
      }
    }
  }

  async #embedLate(path: VaultPath, missing: MissingNote): Promise<void> {
    const { clock, logger, readTexts } = this.#options;
    const { etag } = missing;
    try {
      const texts = await readTexts(path, etag);
      const vectors = texts && await this.#collect(texts, new Slicer(clock), "wait");
      // It may have changed or gone meanwhile.
      if (vectors && this.#missing.get(path) === missing) {
        this.#late.set(path, { path, etag, vectors });
      }
    } catch (error) {
      missing.strikes++;
      if (error instanceof EmbeddingUnavailable) return;
      logger.error("note-not-embedded", { cause: describeFailure(error).cause });
    }
  }

  /** Returns `undefined` if the model would have to be asked and may not be. */
  async #collect(
    { metadata, chunks, hanShare }: EmbeddingTexts,
    slicer: Slicer,
    how: "wait" | "cache-only",
  ): Promise<NoteEmbeddings | undefined> {
    const cache = this.#cache ??= this.#options.openCache();
    const vectors = new Map<string, Int8Array | null>();
    const unknown = new Set<string>();
    for (const text of [metadata, ...chunks]) {
      const known = cache.get(text);
      if (known !== undefined) vectors.set(text, known);
      else if (how === "cache-only") return undefined;
      else unknown.add(text);
      await slicer.pause();
      this.#throwIfStopped();
    }
    await this.#embedAll([...unknown], vectors, slicer);
    const vectorOf = (text: string) => vectors.get(text) ?? undefined;
    return { metadata: vectorOf(metadata), chunks: chunks.map(vectorOf), hanShare };
  }

  async #embedAll(
    texts: readonly string[],
    vectors: Map<string, Int8Array | null>,
    slicer: Slicer,
  ): Promise<void> {
    for (let at = 0; at < texts.length; at += BATCH_TEXTS) {
      this.#throwIfStopped();
      const batch = texts.slice(at, at + BATCH_TEXTS);
      const embeddings = await this.#passages.embed(batch);
      // To keep them, in a file too, is a slice of work of its own.
      await slicer.pause();
      for (const [index, text] of batch.entries()) {
        const embedding = embeddings[index];
        const vector = (embedding && quantize(embedding)) ?? null;
        this.#cache?.put(text, vector);
        vectors.set(text, vector);
      }
      await slicer.pause();
    }
  }

  #throwIfStopped(): void {
    if (this.#isStopped) throw new EmbeddingUnavailable("The server is closing");
  }
}
