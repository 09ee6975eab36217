/**
 * The index of a vault: a cache that can be thrown away. It reads the vault and never writes it;
 * the vault does not know of it.
 */
import type { Diagnostic, Freshness, Indexing } from "@/lib/contracts.ts";
import type { DenseScale, Embedder } from "@/lib/embed/embedder.ts";
import { type Clock, type Logger, Slicer } from "@/lib/seams.ts";
import { conflictCopyOf, isOwnConflictCopy } from "@/lib/vault/conflict_copies.ts";
import type { Vault } from "@/lib/vault/vault.ts";
import { parseNote } from "@/lib/vault/note.ts";
import type { VaultPath } from "@/lib/vault/vault_path.ts";
import { LEARNT_WEIGHT } from "./calibration.ts";
import { type CalibratedNote, Calibrator } from "./calibrator.ts";
import { describeOwnCopy } from "./_own_copy.ts";
import type { EmbeddingCache } from "./embedding_cache.ts";
import { type EmbeddingTexts, embeddingTexts } from "./embedding_texts.ts";
import { Embeddings } from "./embeddings.ts";
import type { FileCache } from "./file_cache.ts";
import { IndexSnapshot, type SnapshotPlace } from "./index_snapshot.ts";
import { type FindableKinds, type IndexedNote, isFindable } from "./indexed_note.ts";
import { type IndexAnswer, type NoteQuery, searchIndex } from "./note_search.ts";
import { isInactive, NoteTable, type TableCounts } from "./note_table.ts";
import { NoteVectors } from "./note_vectors.ts";
import { NoteDatabase, type NoteFilter } from "./orama.ts";
import { parseQuery } from "./parse_query.ts";
import { Postings } from "./postings.ts";
import { TermCounter } from "./term_counter.ts";
import { TextCache } from "./text_cache.ts";
import { TextReader } from "./text_reader.ts";
import { createTokenizer, type Tokenizer } from "./tokenizer.ts";
import type { SyncOutcome } from "./note_sync.ts";
import { VaultSync } from "./vault_sync.ts";
import { VaultWatch, type WatchOptions } from "./vault_watch.ts";

export interface VaultIndexOptions {
  readonly vault: Vault;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly onlyKinds?: FindableKinds;
  /** Absent: notes are found by their words only. */
  readonly embedding?: EmbeddingOptions | undefined;
  /** Absent: every file is looked at before each answer. */
  readonly watch?: WatchOptions | undefined;
  /** Absent: every start reads the whole vault. */
  readonly state?: KeptState | undefined;
}

export interface EmbeddingOptions {
  readonly embedder: Embedder;
  /** What the person wants the vectors to weigh, 0..1; the embedder's own weight without it. */
  readonly weight?: number | undefined;
  /** Called when the first note is embedded. */
  readonly openCache: () => EmbeddingCache;
}

/** What is kept from one run to the next. */
export interface KeptState {
  /** First called at the start. */
  readonly files: () => FileCache;
  readonly snapshot: SnapshotPlace;
}

/** One note as it was and as it is, `undefined` where it is not there. */
export interface NoteEdit {
  readonly path: VaultPath;
  readonly before: IndexedNote | undefined;
  readonly after: IndexedNote | undefined;
}

/**
 * Is told of notes and derived files that were added, changed or removed, and of the notes among
 * them what is different; must not throw.
 */
export type ChangeListener = (
  paths: ReadonlySet<VaultPath>,
  edits: readonly NoteEdit[],
) => void;

/** What is where in the vault, and what answers a query best. */
export class VaultIndex {
  readonly #options: VaultIndexOptions;
  readonly #postings = new Postings();
  readonly #database: NoteDatabase;
  readonly #tokenizer: Tokenizer = createTokenizer();
  readonly #texts: TextReader;
  readonly #table: NoteTable;
  readonly #embeddings: Embeddings | undefined;
  readonly #vectors: NoteVectors | undefined;
  readonly #calibrator: Calibrator | undefined;
  readonly #watch: VaultWatch | undefined;
  readonly #snapshot: IndexSnapshot | undefined;
  readonly #sync: VaultSync;
  readonly #listeners = new Set<ChangeListener>();
  /** Since the listeners were told last, with the notes as they were then. */
  #changed = new Map<VaultPath, IndexedNote | undefined>();

  constructor(options: VaultIndexOptions) {
    const { vault, clock, logger, onlyKinds, embedding, watch, state } = options;
    this.#options = options;
    this.#vectors = embedding && new NoteVectors(embedding.embedder.dimensions);
    this.#database = new NoteDatabase(this.#postings, this.#vectors);
    this.#table = new NoteTable({ layout: vault, database: this.#database, onlyKinds });
    this.#texts = new TextReader({ vault, table: this.#table, cache: new TextCache() });
    this.#embeddings = embedding && new Embeddings({
      ...embedding,
      readTexts: (path, etag) => this.#readTexts(path, etag),
      onLate: () => this.#sync.settleSoon(),
      clock,
      logger,
    });
    this.#calibrator = this.#openCalibrator();
    this.#watch = watch && new VaultWatch({ ...watch, vault, clock, logger });
    this.#snapshot = state && new IndexSnapshot({
      ...state.snapshot,
      table: this.#table,
      database: this.#database,
      postings: this.#postings,
      vectors: this.#vectors,
      onMissingVectors: (note) => this.#embeddings?.expect(note),
      clock,
      logger,
    });
    this.#sync = new VaultSync({
      vault,
      watch: this.#watch,
      files: state?.files,
      restore: () => this.#restore(),
      onChange: (path, before) => {
        this.#snapshot?.noteChange();
        if (!this.#changed.has(path)) this.#changed.set(path, before);
      },
      onSettled: (kind) => {
        // Nothing has changed: it was only read.
        if (kind === "load") this.#changed.clear();
        else this.#tellChanged();
        // While it was read nobody could take them in.
        if (kind !== "compare" && this.#embeddings?.hasLate) this.#sync.settleSoon();
        this.#settleCalibration();
      },
      table: this.#table,
      database: this.#database,
      embeddings: this.#embeddings,
      prepare: {
        layout: vault,
        tokenizer: this.#tokenizer,
        counter: new TermCounter(this.#postings),
        onlyKinds,
        withTexts: embedding !== undefined,
      },
      clock,
      logger,
    });
  }

  get counts(): TableCounts {
    return this.#table.counts;
  }

  /** Progress of a load that searches do not wait for. */
  get indexing(): Indexing | undefined {
    return this.#sync.indexing;
  }

  /** How many notes have their vectors; `undefined` when all have, or none are wanted. */
  get embedding(): Indexing | undefined {
    const missing = this.#embeddings?.missingCount ?? 0;
    const total = this.counts.notes;
    return missing === 0 ? undefined : { done: Math.max(0, total - missing), total };
  }

  /** How changes are noticed now and, where that is the slower way, why. */
  get freshness(): { mode: "scan" | "watch"; reason?: string } {
    const reason = this.#watch?.reason;
    return { mode: this.#watch?.mode ?? "scan", ...(reason === undefined ? {} : { reason }) };
  }

  /** What concerns the vault as a whole. */
  get warnings(): readonly string[] {
    const noteCount = this.counts.notes;
    const isScaled = this.#scale() !== undefined;
    const failure = this.#embeddings?.explainFailure({ noteCount, isScaled });
    return failure === undefined ? this.#sync.warnings : [...this.#sync.warnings, failure];
  }

  /** True if the index knows all of the vault: nothing is being read, and nothing out of sight. */
  get isWhole(): boolean {
    return this.#sync.indexing === undefined && this.#sync.warnings.length === 0;
  }

  /** Reads the whole vault, at the start and whenever it is asked for; searches go on meanwhile. */
  load(): Promise<SyncOutcome> {
    return this.#sync.readAll();
  }

  /** Returns when every change made before the call is in the index, and whether it can tell. */
  refresh(when: "due" | "always" = "due"): Promise<Freshness> {
    return this.#sync.refresh(when);
  }

  /** Names a file that was written just now: the next `refresh()` looks at it in any case. */
  markChanged(path: VaultPath): void {
    this.#sync.markChanged(path);
  }

  /** Has a listener told of what changes from now on; returns what ends that. */
  onChanged(listener: ChangeListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Checks once more that no change was missed, where changes are listened for. */
  prove(): Promise<void> {
    return this.#sync.prove();
  }

  /**
   * Returns the best notes for a query. Does not refresh, unless a hit shows that it has to; hits
   * without passages are shown after `confirm()`.
   *
   * @throws The reason of the query's signal if it aborts while the query is embedded.
   */
  async search(query: NoteQuery): Promise<IndexAnswer> {
    const answer = await this.#searchOnce(query);
    // Each costs a look at a file: who reads no passages shows few of them, and confirms these.
    if (query.passages === "skip") return answer;
    const isCurrent = await this.confirm(answer.hits.map(({ note }) => note));
    return isCurrent ? answer : await this.#searchOnce(query);
  }

  /**
   * Looks whether notes are still as they were found.
   *
   * @returns False if one was not: then the index knows by now, and a new search finds what is.
   */
  confirm(notes: readonly IndexedNote[]): Promise<boolean> {
    return this.#sync.confirm(notes);
  }

  #searchOnce(query: NoteQuery): Promise<IndexAnswer> {
    return searchIndex({
      clock: this.#options.clock,
      table: this.#table,
      database: this.#database,
      postings: this.#postings,
      tokenizer: this.#tokenizer,
      texts: this.#texts,
      embeddings: this.#embeddings,
      scale: this.#scale(),
    }, query);
  }

  /** Counts the different words that a query would look for, function words apart. */
  countTerms(text: string): number {
    const { terms, isFiller } = parseQuery(text, this.#tokenizer);
    return isFiller ? 0 : terms.length;
  }

  /** Returns the note at a path, spelt in either Unicode form. */
  find(path: VaultPath): IndexedNote | undefined {
    const spelling = this.#table.findSpelling(path);
    return spelling && this.#table.find(spelling);
  }

  /**
   * Returns the memories that claim an id, by path; copies of sync tools only while nothing else
   * has it.
   */
  claimantsOf(id: string): VaultPath[] {
    return this.#table.claimantsOf(id);
  }

  /** Returns the copies of a note that sync tools or writes of ours left, by path. */
  copiesOf(path: VaultPath): VaultPath[] {
    const own = this.#sync.derivedPaths.filter((other) =>
      isOwnConflictCopy(other) && conflictCopyOf(other)?.original === path
    );
    return [...new Set([...this.#table.copiesOf(path), ...own])].sort();
  }

  /**
   * Tells whether a search without filters finds the note of a path, spelt as on disk; `undefined`
   * if the index does not know the file (yet).
   */
  isListed(path: VaultPath): boolean | undefined {
    return this.#table.isListed(path);
  }

  /** Tells whether the index would list a note that it does not know, conflicts apart. */
  wouldList(note: Pick<IndexedNote, "kind" | "status">): boolean {
    const searchable = note.kind !== "derived";
    return isFindable({ ...note, searchable }, this.#options.onlyKinds) && !isInactive(note);
  }

  /** Returns the paths of all notes that a filter lets through. */
  filterPaths(filter: NoteFilter): ReadonlySet<VaultPath> {
    return this.#database.filterPaths(filter);
  }

  /** Returns all notes that may be found, in no order. */
  notes(): IndexedNote[] {
    return this.#table.notes().filter((note) => isFindable(note, this.#options.onlyKinds));
  }

  /** Returns all that is wrong with notes and files, by path. */
  diagnostics(): Diagnostic[] {
    const own = this.#sync.derivedPaths.filter(isOwnConflictCopy);
    const all = [
      ...own.map(describeOwnCopy),
      ...this.#sync.diagnostics(),
      ...this.#table.notes().flatMap((note) => note.problems),
      ...this.#table.conflicts(),
    ];
    return all.sort((a, b) => a.path < b.path ? -1 : a.path > b.path ? 1 : 0);
  }

  /** Stops work under way; the index can still be searched. */
  async close(): Promise<void> {
    this.#embeddings?.stop();
    this.#snapshot?.stop();
    await this.#calibrator?.close();
    await this.#sync.close();
    await this.#snapshot?.close();
    await this.#embeddings?.close();
  }

  #tellChanged(): void {
    if (this.#changed.size === 0) return;
    const changed = this.#changed;
    this.#changed = new Map();
    const paths = new Set(changed.keys());
    const edits = [...changed].flatMap(([path, before]): NoteEdit[] => {
      const after = this.#table.find(path);
      return before?.etag === after?.etag ? [] : [{ path, before, after }];
    });
    for (const listener of this.#listeners) listener(paths, edits);
  }

  async #restore(): Promise<void> {
    const { clock, state } = this.#options;
    if (!state || !this.#snapshot) return;
    const slicer = new Slicer(clock);
    const known = await slicer.run(state.files().readAll());
    await this.#snapshot.restore(known);
    await slicer.run(this.#forgetUnknown(known.keys(), state.files()));
  }

  /** What the table of files has beside the notes of the snapshot is of files that may be gone. */
  *#forgetUnknown(paths: Iterable<VaultPath>, files: FileCache): Generator<void> {
    for (const path of paths) {
      if (!this.#table.find(path)) files.remove(path);
      yield;
    }
  }

  #scale(): DenseScale | undefined {
    const { embedding } = this.#options;
    const { calibration } = this.#vectors ?? {};
    const learnt = calibration && { ...calibration, weight: LEARNT_WEIGHT };
    const scale = embedding?.embedder.scale ?? learnt;
    return scale && { ...scale, weight: embedding?.weight ?? scale.weight };
  }

  /** When nearly all vectors are there, and no more are coming. */
  #settleCalibration(): void {
    if (!this.#embeddings || this.#embeddings.isFilling) return;
    if (this.#embeddings.whyNotYet(this.counts.notes) === undefined) this.#calibrator?.settle();
  }

  /** Returns `undefined` where the model says itself what its cosines mean. */
  #openCalibrator(): Calibrator | undefined {
    const { clock, embedding, logger } = this.#options;
    const [embeddings, vectors] = [this.#embeddings, this.#vectors];
    if (!embedding || embedding.embedder.scale || !embeddings || !vectors) return undefined;
    return new Calibrator({
      vectors,
      listNotes: () => this.#slottedNotes(),
      readTexts: (path, etag) => this.#readTexts(path, etag),
      embedQuestions: (texts) => embeddings.embedQuestions(texts),
      onCalibrated: () => this.#snapshot?.noteChange(),
      clock,
      logger,
    });
  }

  *#slottedNotes(): Generator<CalibratedNote> {
    for (const { path, etag } of this.#table.notes()) {
      const slot = this.#database.slotOf(path);
      if (slot !== undefined) yield { path, etag, slot };
    }
  }

  async #readTexts(path: VaultPath, etag: string): Promise<EmbeddingTexts | undefined> {
    const note = this.#table.find(path);
    if (note?.etag !== etag) return undefined;
    const slicer = new Slicer(this.#options.clock);
    const bytes = await this.#texts.readBytes(note, slicer);
    const parsed = bytes && await slicer.run(parseNote(path, bytes));
    return parsed && await slicer.run(embeddingTexts(parsed, note.chunks));
  }
}
