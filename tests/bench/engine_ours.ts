/** Our index in memory, without disk and comparison with the vault. */
import { type Embedder } from "@/lib/embed/embedder.ts";
import { createLogger, runAtOnce, Slicer, systemClock, writeStderr } from "@/lib/seams.ts";
import type { EmbeddingCache } from "@/lib/index/embedding_cache.ts";
import { Embeddings } from "@/lib/index/embeddings.ts";
import { NoteTable } from "@/lib/index/note_table.ts";
import { type NoteEmbeddings, NoteVectors } from "@/lib/index/note_vectors.ts";
import { NoteDatabase } from "@/lib/index/orama.ts";
import type { ParsedQuery } from "@/lib/index/parse_query.ts";
import { Postings } from "@/lib/index/postings.ts";
import { type PreparedNote, prepareNote } from "@/lib/index/prepare_note.ts";
import { planQuery } from "@/lib/index/query_plan.ts";
import type { DenseQuestion } from "@/lib/index/ranking.ts";
import { TermCounter } from "@/lib/index/term_counter.ts";
import { createTokenizer } from "@/lib/index/tokenizer.ts";
import { parseVaultPath } from "@/lib/vault/vault_path.ts";
import { type Engine, type EngineNote, HITS } from "./engine.ts";
import { hashBytes } from "@/lib/vault/etag.ts";

/** So that nothing pauses: like the others, it has the event loop to itself. */
export const STILL_CLOCK = { ...systemClock, monotonicMs: () => 0 };

/** Where the vectors of notes come from. */
export interface EngineVectors {
  readonly embedder: Embedder;
  readonly openCache: () => EmbeddingCache;
}

/** From bytes to a note that can be found: hash, parse, chunk, tokenise, embed, index. */
export class OurEngine implements Engine {
  readonly #postings = new Postings();
  readonly #vectors: NoteVectors | undefined;
  readonly #embeddings: Embeddings | undefined;
  readonly #slicer = new Slicer(STILL_CLOCK);
  readonly #database: NoteDatabase;
  readonly #prepare;
  readonly #table: NoteTable;

  /** @param vectors Without them notes are found by their words only. */
  constructor(vectors?: EngineVectors) {
    this.#vectors = vectors && new NoteVectors(vectors.embedder.dimensions);
    this.#embeddings = vectors && new Embeddings({
      ...vectors,
      readTexts: () => Promise.resolve(undefined),
      clock: STILL_CLOCK,
      logger: createLogger({
        level: "error",
        clock: systemClock,
        pretty: true,
        write: writeStderr,
      }),
    });
    this.#database = new NoteDatabase(this.#postings, this.#vectors);
    this.#prepare = {
      layout: { memoriesFolder: "memories" },
      tokenizer: createTokenizer(),
      counter: new TermCounter(this.#postings),
      onlyKinds: undefined,
      withTexts: vectors !== undefined,
    };
    const { layout, onlyKinds } = this.#prepare;
    this.#table = new NoteTable({ layout, database: this.#database, onlyKinds });
  }

  async insert({ path, bytes }: EngineNote): Promise<void> {
    const nowMs = systemClock.nowMs();
    const stamp = { size: bytes.length, mtimeMs: nowMs, ctimeMs: nowMs, ino: 0, dev: 0 };
    const etag = runAtOnce(hashBytes(bytes));
    const file = { bytes, stamp, etag };
    const prepared = runAtOnce(prepareNote(this.#prepare, parseVaultPath(path), file));
    const { note, terms } = prepared;
    const vectors = await this.#vectorsOf(prepared);
    const slot = terms ? runAtOnce(this.#database.stage(terms, vectors)) : -1;
    this.#table.put(note, { stamp, hashedAtMs: nowMs }, slot);
  }

  /** @throws {Error} If the vectors cannot be had, as a note without them costs less. */
  async #vectorsOf({ note, texts }: PreparedNote): Promise<NoteEmbeddings | undefined> {
    if (!this.#embeddings || !texts) return undefined;
    const vectors = await this.#embeddings.vectorsOf(note, texts, this.#slicer);
    if (!vectors) throw new Error("Cannot insert a note: the model gave no vectors");
    return vectors;
  }

  /** Writes what the cache still has to. */
  async finish(): Promise<void> {
    await this.#embeddings?.close();
  }

  settle(): void {}

  search(parsed: ParsedQuery): number {
    return this.rank({ parsed });
  }

  /** Ranks by words, by meaning, or by both, and returns how many hits it found. */
  rank(
    { parsed, dense }: { readonly parsed?: ParsedQuery; readonly dense?: DenseQuestion },
  ): number {
    const plan = parsed && planQuery(parsed, this.#postings, { withTypos: false });
    return this.#database.search({ plan, dense }, {}, { limit: HITS }).hits.length;
  }

  /** Compares a vector with those of all notes, no more. */
  scan(vector: Float32Array): void {
    this.#vectors?.scan({ vector, hanShare: 0 });
  }
}

/** Tokenises the chunks and adds them to the postings, no more. */
export class OurPostings implements Engine {
  readonly #postings = new Postings();
  readonly #tokenizer = createTokenizer();
  readonly #counter = new TermCounter(this.#postings);

  insert({ chunks }: EngineNote): void {
    for (const chunk of chunks) {
      this.#tokenizer.forEachTerm(chunk, (term) => this.#counter.add(term));
    }
    this.#postings.activate(runAtOnce(this.#postings.stage(this.#counter.take())));
  }

  finish(): void {}

  settle(): void {}

  search(query: ParsedQuery): number {
    const plan = planQuery(query, this.#postings, { withTypos: false });
    return Math.min(HITS, this.#postings.score(plan.clauses).slots.length);
  }
}
