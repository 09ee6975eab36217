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
import { splitBatches } from "@/lib/embed/batches.ts";
import { EMBED_REST_MS, EmbedderGuard } from "@/lib/embed/embedder_guard.ts";
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
/** What is left where nothing seems to be wrong is tried again so soon, and then less and less. */
const RETRY_MS = 1_000;
/** Shorter than other slices: it goes on for minutes, and those who search meet it each time. */
const BACKGROUND_SLICE_MS = 2;
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
  /** Called when vectors came after their notes: they wait in `late`. */
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
  /** How often in a row nothing came of it. */
  #fruitless = 0;
  readonly #stop = new AbortController();

  constructor(options: EmbeddingsOptions) {
    this.#options = options;
    this.#queries = new EmbedderGuard({ ...options, kind: "query" });
    this.#passages = new EmbedderGuard({ ...options, kind: "passage" });
    this.#questions = new EmbedderGuard({ ...options, kind: "query", isBackground: true });
    // Those of a model that runs here cost less than to look them up.
    this.#recent = options.embedder.isLocal ? undefined : new RecentVectors();
  }

  /** Why questions that nobody waits for have no vectors; `undefined` = they have, as far as is known. */
  get questionFailure(): string | undefined {
    return this.#questions.failure;
  }

  /**
   * Says what the model does not do now, and what that means for answers; `undefined` = it works, as
   * far as is known and wanted.
   *
   * @param isScaled Whether it is known what its cosines mean.
   */
  explainFailure(
    { noteCount, isScaled }: { readonly noteCount: number; readonly isScaled: boolean },
  ): string | undefined {
    const { missingCount } = this;
    const ofNotes = missingCount === 0 ? undefined : this.#passages.failure;
    const ofAll = this.#queries.failure ?? (isScaled ? undefined : this.#questions.failure);
    const why = ofAll ?? ofNotes;
    if (why === undefined) return undefined;
    const isForAll = ofAll !== undefined || this.whyNotYet(noteCount) !== undefined;
    const which = isForAll ? "notes are found" : `${missingCount} of the notes are found`;
    return `${why}. Until it works again ${which} by their words only`;
  }

  /** True while notes are embedded that were indexed without their vectors. */
  get isFilling(): boolean {
    return this.#filling !== undefined;
  }

  /** How many notes wait for their vectors. */
  get missingCount(): number {
    return this.#missing.size - this.#late.size;
  }

  /**
   * Returns the vectors of a note. If they are not at hand and the model is slow or fails, returns
   * `undefined`; they come with `late`.
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

  /** Takes note of a note that is indexed without its vectors; they come with `late`. */
  expect({ path, etag }: { readonly path: VaultPath; readonly etag: string }): void {
    this.#missing.set(path, { etag, strikes: 0 });
  }

  /** Forgets a note that is gone, or to be embedded no more. */
  forget(path: VaultPath): void {
    this.#missing.delete(path);
    this.#late.delete(path);
  }

  /** True if vectors came after their notes. */
  get hasLate(): boolean {
    return this.#late.size > 0;
  }

  /** The vectors that came after their notes; each until `tookLate()`. */
  get late(): readonly LateVectors[] {
    return [...this.#late.values()];
  }

  /** Takes note that the index has the vectors of a note, or that these are of no use. */
  tookLate(late: LateVectors): void {
    if (this.#late.get(late.path) === late) this.forget(late.path);
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
    const vectors = new Map(texts.map((text) => [text, cache.get(QUESTION_MARK + text)]));
    const unknown = [...vectors.keys()].filter((text) => vectors.get(text) === undefined);
    // Kept batch by batch, so that one that fails does not make all be asked again.
    for (const batch of splitBatches(unknown, this.#options.embedder.batch ?? BATCH)) {
      const embeddings = await this.#questions.embed(batch, this.#stop.signal);
      for (const [index, text] of batch.entries()) {
        const vector = toKept(embeddings[index]);
        cache.put(QUESTION_MARK + text, vector);
        vectors.set(text, vector);
      }
    }
    return texts.map((text) => {
      const vector = vectors.get(text);
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
    const tried = new Set<MissingNote>();
    this.#filling ??= this.#fill(tried).finally(() => {
      this.#filling = undefined;
      this.#cache?.flush();
      if (this.hasLate) this.#options.onLate?.();
      // Some may have come while others were embedded.
      if (this.#hasOther(tried)) this.#fillUp();
      this.#retryLater();
    });
  }

  #hasOther(tried: ReadonlySet<MissingNote>): boolean {
    for (const [path, note] of this.#missing) {
      if (!tried.has(note) && !this.#late.has(path)) return true;
    }
    return false;
  }

  /** Goes on by itself with what is left, when a model that failed has rested. */
  #retryLater(): void {
    clearTimeout(this.#retryTimer);
    if (this.#isStopped || this.#filling || this.missingCount === 0) return;
    const soonMs = Math.min(RETRY_MS * 2 ** this.#fruitless++, EMBED_REST_MS);
    const restMs = this.#passages.isOpen ? soonMs : this.#passages.restMs + 1;
    this.#retryTimer = setTimeout(() => this.#fillUp(), restMs);
    Deno.unrefTimer(this.#retryTimer);
  }

  /** @param tried Gets the notes that were seen to. */
  async #fill(tried: Set<MissingNote>): Promise<void> {
    const { clock, embedder, logger, readTexts } = this.#options;
    // Of all notes together: each by itself would never use its slice up.
    const slicer = new Slicer(clock, BACKGROUND_SLICE_MS);
    const notes = new LateNotes({
      missing: this.#missing,
      isWanted: (path, note) => this.#missing.get(path) === note && !this.#late.has(path),
      open: async (path, note) => {
        tried.add(note);
        const texts = await readTexts(path, note.etag);
        return texts && await this.#lookUp(texts, slicer);
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
          const embeddings = await this.#embedPassages(batch.texts, slicer);
          batch.take(embeddings);
        } catch (error) {
          batch.giveUp(this.#isAway(error) ? undefined : error);
        }
      }
    };
    await Promise.all(Array.from({ length: limits.atOnce }, work));
  }

  /** A model that is away, or rests, says nothing against a note. */
  #isAway(error: unknown): boolean {
    if (this.#isStopped) return true;
    return error instanceof EmbeddingUnavailable &&
      (error.cause === undefined || error.cause instanceof EmbeddingUnavailable);
  }

  #keepLate({ path, note, texts }: LateNote): void {
    // It may have changed or gone meanwhile.
    if (this.#missing.get(path) !== note) return;
    this.#fruitless = 0;
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
    for (const batch of splitBatches(texts, BATCH)) {
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
    const vectors: (Int8Array | null)[] = [];
    for (const [index, text] of texts.entries()) {
      const vector = toKept(embeddings[index]);
      this.#cache?.put(text, vector);
      vectors.push(vector);
      await slicer.pause();
    }
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

/** Returns an embedding as it is kept; `null` = there is none. */
function toKept(embedding: Embedding): Int8Array | null {
  return (embedding && quantize(embedding)) ?? null;
}
