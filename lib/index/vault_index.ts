/**
 * The index of a vault: a cache that can be thrown away. It reads the vault and never writes it;
 * the vault does not know of it.
 */
import type { Diagnostic, Freshness, Indexing } from "@/lib/contracts.ts";
import type { Clock, Logger } from "@/lib/seams.ts";
import { conflictCopyOf, isOwnConflictCopy } from "@/lib/vault/conflict_copies.ts";
import type { Vault } from "@/lib/vault/vault.ts";
import type { VaultPath } from "@/lib/vault/vault_path.ts";
import { type FindableKinds, type IndexedNote, isFindable } from "./indexed_note.ts";
import { type IndexAnswer, type KeywordQuery, searchByKeyword } from "./keyword_search.ts";
import { isInactive, NoteTable, type TableCounts } from "./note_table.ts";
import { NoteDatabase, type NoteFilter } from "./orama.ts";
import { Postings, TermCounter } from "./postings.ts";
import { TextCache } from "./text_cache.ts";
import { createTokenizer, type Tokenizer } from "./tokenizer.ts";
import { type SyncOutcome, VaultSync } from "./vault_sync.ts";

export interface VaultIndexOptions {
  readonly vault: Vault;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly onlyKinds?: FindableKinds;
}

/** What is where in the vault, and what answers a query best. */
export class VaultIndex {
  readonly #options: VaultIndexOptions;
  readonly #postings = new Postings();
  readonly #database = new NoteDatabase(this.#postings);
  readonly #tokenizer: Tokenizer = createTokenizer();
  readonly #texts = new TextCache();
  readonly #table: NoteTable;
  readonly #sync: VaultSync;

  constructor(options: VaultIndexOptions) {
    const { vault, clock, logger } = options;
    this.#options = options;
    this.#table = new NoteTable({
      layout: vault,
      database: this.#database,
      onlyKinds: options.onlyKinds,
    });
    const counter = new TermCounter(this.#postings);
    const { onlyKinds } = options;
    const prepare = { layout: vault, tokenizer: this.#tokenizer, counter, onlyKinds };
    const parts = { table: this.#table, database: this.#database, prepare };
    this.#sync = new VaultSync({ vault, clock, logger, ...parts });
  }

  get counts(): TableCounts {
    return this.#table.counts;
  }

  /** Progress of a load that searches do not wait for. */
  get indexing(): Indexing | undefined {
    return this.#sync.indexing;
  }

  /** What concerns the vault as a whole. */
  get warnings(): readonly string[] {
    return this.#sync.warnings;
  }

  /** Reads the whole vault, at the start and whenever it is asked for; searches go on meanwhile. */
  load(): Promise<SyncOutcome> {
    return this.#sync.readAll();
  }

  /** Returns when every change made before the call is in the index, and whether it can tell. */
  refresh(when: "due" | "always" = "due"): Promise<Freshness> {
    return this.#sync.refresh(when);
  }

  /** Returns the best notes for the words of a query. Does not refresh. */
  search(query: KeywordQuery): Promise<IndexAnswer> {
    const { vault, clock } = this.#options;
    return searchByKeyword({
      vault,
      clock,
      table: this.#table,
      database: this.#database,
      postings: this.#postings,
      tokenizer: this.#tokenizer,
      texts: this.#texts,
    }, query);
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
    const all = [
      ...this.#sync.diagnostics(),
      ...this.#table.notes().flatMap((note) => note.problems),
      ...this.#table.conflicts(),
    ];
    return all.sort((a, b) => a.path < b.path ? -1 : a.path > b.path ? 1 : 0);
  }

  /** Stops work under way; the index can still be searched. */
  close(): Promise<void> {
    return this.#sync.close();
  }
}
