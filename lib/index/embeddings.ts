/**
 * The vectors of notes and queries: from the cache, else from the model. A note whose vectors
 * cannot be had at once is found by its words meanwhile.
 */
import {
  type BatchLimits,
  type Embedder,
  type Embedding,
  EmbeddingUnavailable,
} from "@/lib/embed/embedder.ts";
import { EmbedderGuard } from "@/lib/embed/embedder_guard.ts";
import { describeFailure } from "@/lib/errors.ts";
import { type Clock, type Logger, Slicer } from "@/lib/seams.ts";
import type { VaultPath } from "@/lib/vault/vault_path.ts";
import type { EmbeddingCache } from "./embedding_cache.ts";
import type { EmbeddingTexts } from "./embedding_texts.ts";
import { type LateNote, LateNotes, type MissingNote } from "./_late_notes.ts";
import type { NoteEmbeddings } from "./note_vectors.ts";
import { OpenTexts } from "./_open_texts.ts";
import { RecentVectors } from "./_recent_vectors.ts";
import { quantize } from "./vector_matrix.ts";

/** Part of every key of the cache: raise it whenever any text gives another vector than before. */
export const VECTORS_VERSION = 1;

/** How many texts one call of a model gets that says nothing of it. */
const BATCH: BatchLimits = { texts: 64, bytes: Infinity, atOnce: 1 };
/** With a larger share of notes without vectors an answer by meaning would miss too much. */
export const MAX_MISSING_SHARE = 0.05;
/** No answer waits for a note over which the model fails so often. */
export const MAX_STRIKES = 3;
/** So many notes whose vectors came late are made known at a time. */
const LATE_NOTES_AT_ONCE = 500;
/** Stands before questions in the cache, where a text of a note cannot begin like that. */
const QUESTION_MARK = "\0question\0";

export interface EmbeddingsOptions {
  readonly embedder: Embedder;
  /** Called once, when the first text is to be embedded. */
  readonly openCache: () => EmbeddingCache;
  /** Reads the texts of a note anew; `undefined` if it is not what it was when it was indexed. */
  readonly readTexts: (path: VaultPath, etag: string) => Promise<EmbeddingTexts | undefined>;
  /** Called when vectors came after their notes: they wait for `takeLate()`. */
  readonly onLate?: (() => void) | undefined;
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
  readonly #queries: EmbedderGuard;
  readonly #passages: EmbedderGuard;
  /** Questions that nobody waits for. */
  readonly #questions: EmbedderGuard;
  readonly #missing = new Map<VaultPath, MissingNote>();
  readonly #late = new Map<VaultPath, LateVectors>();
  readonly #recent: RecentVectors | undefined;
  #cache: EmbeddingCache | undefined;
  #filling: Promise<void> | undefined;
  #retryTimer: ReturnType<typeof setTimeout> | undefined;
  readonly #stop = new AbortController();

  constructor(options: EmbeddingsOptions) {
    this.#options = options;
    this.#queries = new EmbedderGuard({ ...options, kind: "query" });
    this.#passages = new EmbedderGuard({ ...options, kind: "passage" });
    this.#questions = new EmbedderGuard({ ...options, kind: "query", isBackground: true });
    // Those of a model that runs here cost less than to look them up.
    this.#recent = options.embedder.isLocal ? undefined : new RecentVectors();
  }

  /** Why the model is left alone; `undefined` = it works, as far as is known. */
  get failure(): string | undefined {
    return this.#queries.failure ?? this.#passages.failure ?? this.#questions.failure;
  }

  /** How many notes wait for their vectors. */
  get missingCount(): number {
    return this.#missing.size - this.#late.size;
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
      const late = await this.#lookUp(texts, slicer);
      if (late.unknown.size > 0 && embedder.isLocal) await this.#embedAll(late, slicer);
      if (late.unknown.size === 0) return late.vectors();
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

  /**
   * Returns why notes cannot be compared by meaning yet, `undefined` if they can.
   *
   * @param noteCount How many notes there are.
   */
  whyNotYet(noteCount: number): string | undefined {
    const missing = this.#countAwaited();
    if (missing <= noteCount * MAX_MISSING_SHARE) return undefined;
    const why = this.#passages.failure;
    const reason = `${missing} of ${noteCount} notes are not embedded yet`;
    return why === undefined ? reason : `${reason}: ${why}`;
  }

  /**
   * Returns the vector of a query, or why an answer by meaning cannot be given now.
   *
   * @throws The reason of `signal` if it aborts.
   */
  async queryVector(text: string, signal?: AbortSignal): Promise<QueryVector> {
    const known = this.#recent?.find(text);
    if (known) return known;
    try {
      const [vector] = await this.#queries.embed([text], signal);
      this.#recent?.keep(text, vector);
      return { vector };
    } catch (error) {
      if (error instanceof EmbeddingUnavailable) return { reason: error.message };
      throw error;
    }
  }

  /**
   * Embeds questions that nobody waits for, those of an earlier run from the cache.
   *
   * @throws {EmbeddingUnavailable} If the model cannot be used now.
   */
  async embedQuestions(texts: readonly string[]): Promise<Embedding[]> {
    this.#throwIfStopped();
    const cache = this.#openCache();
    const vectors = texts.map((text) => cache.get(QUESTION_MARK + text));
    const unknown = texts.filter((_, index) => vectors[index] === undefined);
    const embeddings = unknown.length === 0
      ? []
      : await this.#questions.embed(unknown, this.#stop.signal);
    let next = 0;
    return texts.map((text, index) => {
      let vector = vectors[index];
      if (vector === undefined) {
        const embedding = embeddings[next++];
        vector = (embedding && quantize(embedding)) ?? null;
        cache.put(QUESTION_MARK + text, vector);
      }
      return vector ? Float32Array.from(vector) : undefined;
    });
  }

  /** Keeps what was embedded, and sees to what was not in the background; call it after a stretch. */
  settle(): void {
    this.#cache?.flush();
    this.#fillUp();
  }

  /** Embeds no more; what is under way ends soon. */
  stop(): void {
    this.#stop.abort(new EmbeddingUnavailable("The server is closing"));
    clearTimeout(this.#retryTimer);
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
    if (this.missingCount === 0 || !this.#passages.isOpen || this.#isStopped) return;
    this.#filling ??= this.#fill().finally(() => {
      this.#filling = undefined;
      this.#cache?.flush();
      if (this.hasLate) this.#options.onLate?.();
      this.#retryLater();
    });
  }

  /** Goes on by itself when a model that failed has rested. */
  #retryLater(): void {
    clearTimeout(this.#retryTimer);
    if (this.#isStopped || this.missingCount === 0 || this.#passages.isOpen) return;
    this.#retryTimer = setTimeout(() => this.#fillUp(), this.#passages.restMs + 1);
    Deno.unrefTimer(this.#retryTimer);
  }

  async #fill(): Promise<void> {
    const { clock, embedder, logger, readTexts } = this.#options;
    const notes = new LateNotes({
      missing: this.#missing,
      isWanted: (path, note) => this.#missing.get(path) === note && !this.#late.has(path),
      open: async (path, { etag }) => {
        const texts = await readTexts(path, etag);
        return texts && await this.#lookUp(texts, new Slicer(clock));
      },
      mayGoOn: () => !this.#isStopped && this.#passages.isOpen,
      onDone: (late) => this.#keepLate(late),
      onOdd: (error) => logger.error("note-not-embedded", { cause: describeFailure(error).cause }),
    });
    const limits = embedder.batch ?? BATCH;
    const batches = notes.batches(limits);
    const work = async () => {
      for await (const batch of batches) {
        try {
          const embeddings = await this.#embedPassages(batch.texts, new Slicer(clock));
          batch.take(embeddings);
        } catch (error) {
          // A model that is away says nothing against a note.
          const isAway = error instanceof EmbeddingUnavailable &&
            (this.#isStopped || error.cause instanceof EmbeddingUnavailable);
          batch.giveUp(isAway ? undefined : error);
        }
      }
    };
    await Promise.all(Array.from({ length: limits.atOnce }, work));
  }

  #keepLate({ path, note, texts }: LateNote): void {
    // It may have changed or gone meanwhile.
    if (this.#missing.get(path) !== note) return;
    this.#late.set(path, { path, etag: note.etag, vectors: texts.vectors() });
    if (this.#late.size % LATE_NOTES_AT_ONCE === 0) this.#options.onLate?.();
  }

  /** Finds what is known of some texts without asking the model. */
  async #lookUp(texts: EmbeddingTexts, slicer: Slicer): Promise<OpenTexts> {
    const cache = this.#openCache();
    const open = new OpenTexts(texts);
    for (const text of open.unknown) {
      const known = cache.get(text);
      if (known !== undefined) open.take(text, known);
      await slicer.pause();
      this.#throwIfStopped();
    }
    return open;
  }

  async #embedAll(open: OpenTexts, slicer: Slicer): Promise<void> {
    const texts = [...open.unknown];
    for (let at = 0; at < texts.length; at += BATCH.texts) {
      const batch = texts.slice(at, at + BATCH.texts);
      const vectors = await this.#embedPassages(batch, slicer);
      for (const [index, text] of batch.entries()) open.take(text, vectors[index] ?? null);
    }
  }

  /** Embeds texts, and keeps their vectors in the cache. */
  async #embedPassages(texts: readonly string[], slicer: Slicer): Promise<(Int8Array | null)[]> {
    this.#throwIfStopped();
    const embeddings = await this.#passages.embed(texts, this.#stop.signal);
    // To keep them, in a file too, is a slice of work of its own.
    await slicer.pause();
    const vectors = texts.map((text, index) => {
      const embedding = embeddings[index];
      const vector = (embedding && quantize(embedding)) ?? null;
      this.#cache?.put(text, vector);
      return vector;
    });
    await slicer.pause();
    return vectors;
  }

  #openCache(): EmbeddingCache {
    return this.#cache ??= this.#options.openCache();
  }

  get #isStopped(): boolean {
    return this.#stop.signal.aborted;
  }

  #throwIfStopped(): void {
    this.#stop.signal.throwIfAborted();
  }
}
