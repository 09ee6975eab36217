/**
 * The vectors of notes and queries: from the cache, else from the model. A note whose vectors
 * cannot be had at once is found by its words meanwhile.
 */
import { type Embedder, type Embedding } from "@/lib/embed/embedder.ts";
import { EmbedderGuard, EmbeddingUnavailable } from "@/lib/embed/embedder_guard.ts";
import { type Clock, type Logger, Slicer } from "@/lib/seams.ts";
import type { VaultPath } from "@/lib/vault/vault_path.ts";
import type { EmbeddingCache } from "./cache.ts";
import type { EmbeddingTexts } from "./embedding_texts.ts";
import type { NoteEmbeddings } from "./note_vectors.ts";
import { quantize } from "./vector_matrix.ts";

/** How many texts one call of the model gets. */
const BATCH_TEXTS = 64;
/** With a larger share of notes without vectors an answer by meaning would miss too much. */
const MAX_MISSING_SHARE = 0.05;

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

export class Embeddings {
  readonly #options: EmbeddingsOptions;
  readonly #guard: EmbedderGuard;
  /** Notes that are indexed without vectors, with the state in which they are. */
  readonly #missing = new Map<VaultPath, string>();
  readonly #late = new Map<VaultPath, LateVectors>();
  #cache: EmbeddingCache | undefined;
  #filling: Promise<void> | undefined;
  #isClosed = false;

  constructor(options: EmbeddingsOptions) {
    this.#options = options;
    this.#guard = new EmbedderGuard(options);
  }

  /** Why the model is left alone; `undefined` = it works, as far as is known. */
  get failure(): string | undefined {
    return this.#guard.failure;
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
    this.#missing.set(note.path, note.etag);
    return undefined;
  }

  /** Forgets a note that is gone or about to change. */
  forget(path: VaultPath): void {
    this.#missing.delete(path);
    this.#late.delete(path);
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
      const [vector] = await this.#guard.embed([text], "query", signal);
      const missing = this.#missing.size;
      if (missing <= noteCount * MAX_MISSING_SHARE) return { vector };
      return { reason: `${missing} of ${noteCount} notes are not embedded yet` };
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

  #fillUp(): void {
    if (this.#missing.size === this.#late.size || this.#isClosed || !this.#guard.hasRested) return;
    this.#filling ??= this.#fill().finally(() => this.#filling = undefined);
  }

  /** Writes what is to be kept; what is not embedded by then is left. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#filling;
    this.#cache?.close();
  }

  async #fill(): Promise<void> {
    const slicer = new Slicer(this.#options.clock);
    for (const [path, etag] of [...this.#missing]) {
      if (this.#isClosed) return;
      try {
        const texts = await this.#options.readTexts(path, etag);
        const vectors = texts && await this.#collect(texts, slicer, "wait");
        if (vectors && this.#missing.get(path) === etag) {
          this.#late.set(path, { path, etag, vectors });
        }
      } catch (error) {
        if (error instanceof EmbeddingUnavailable) return;
        this.#options.logger.error("note-not-embedded", { cause: nameOf(error) });
      }
    }
  }

  /** Returns `undefined` if the model would have to be asked and may not be. */
  async #collect(
    texts: EmbeddingTexts,
    slicer: Slicer,
    how: "wait" | "cache-only",
  ): Promise<NoteEmbeddings | undefined> {
    const cache = this.#openCache();
    const all = [texts.metadata, ...texts.chunks];
    const vectors = new Map<string, Int8Array | null>();
    const unknown: string[] = [];
    for (const text of all) {
      const known = cache.get(text);
      if (known !== undefined) vectors.set(text, known);
      else if (how === "cache-only") return undefined;
      else unknown.push(text);
      await slicer.pause();
    }
    for (let at = 0; at < unknown.length; at += BATCH_TEXTS) {
      const batch = unknown.slice(at, at + BATCH_TEXTS);
      const embeddings = await this.#guard.embed(batch, "passage");
      for (const [index, text] of batch.entries()) {
        const embedding = embeddings[index];
        const vector = (embedding && quantize(embedding)) ?? null;
        cache.put(text, vector);
        vectors.set(text, vector);
      }
      await slicer.pause();
    }
    const [metadata, ...chunks] = all.map((text) => vectors.get(text) ?? undefined);
    return { metadata, chunks, hanShare: texts.hanShare };
  }

  #openCache(): EmbeddingCache {
    return this.#cache ??= this.#options.openCache();
  }
}

function nameOf(error: unknown): string {
  return error instanceof Error ? error.name : typeof error;
}
