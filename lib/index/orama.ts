/**
 * The one door to Orama. Orama holds the documents and the filters and runs the search; through
 * its own component interface our postings and vectors stand in for its text index, because its
 * ranking is not BM25, its cost grows with the square of common words, and its hybrid mode knows no
 * signal that cannot speak.
 *
 * Of Orama only what was found exact after many updates is used: enum and enum[] fields, one insert
 * or remove at a time. Its number filters, `not`, `exact`, `threshold`, `sortBy`, *Multiple and
 * save/load are not.
 */
import { create, insert, remove, search } from "@orama/orama";
import type { AnyOrama, TokenScore } from "@orama/orama";
import { index as defaultIndex } from "@orama/orama/components";
import { ANY_STATUS, type NoteKind } from "@/lib/contracts.ts";
import type { VaultPath } from "@/lib/vault/vault_path.ts";
import type { NoteEmbeddings, NoteVectors } from "./note_vectors.ts";
import type { NoteTerms, Postings } from "./postings.ts";
import { type Question, type RankedNote, Ranker, type Ranking } from "./ranking.ts";
import { topSlots } from "./_top_slots.ts";

/** Whether a search may show a note: never in conflict, inactive only when asked by status. */
export type Visibility = "listed" | "inactive" | "conflict";

/** What can be filtered by; the text itself lives in the postings. */
export interface NoteDocument {
  readonly id: VaultPath;
  readonly kind: NoteKind;
  /** In lower case; "active" when the note says nothing. */
  readonly status: string;
  /** The id of the store's scope, "" outside any store. */
  readonly project: string;
  /** The note's folder and all above it. */
  readonly folders: readonly string[];
  /** Normalised. */
  readonly tags: readonly string[];
  readonly visibility: Visibility;
  /** True of a memory that says what it is about, as a hint has to. */
  readonly isHintable: boolean;
}

/**
 * `undefined` does not filter, nor do empty lists but that of projects, which nothing meets; a list
 * is met by any of its items.
 */
export interface NoteFilter {
  readonly kinds?: readonly NoteKind[];
  readonly tags?: readonly string[];
  /** `ANY_STATUS` lets inactive notes through with the others. */
  readonly status?: string | undefined;
  /** Ids of scopes as `NoteDocument.project` has them. */
  readonly projects?: readonly string[] | undefined;
  readonly folder?: string | undefined;
  /** True lets nothing through but what may be hinted; it costs next to nothing, unlike `kinds`. */
  readonly hintableOnly?: boolean;
  /** Lets through what the caller may see; absent = all. */
  readonly maySee?: ((kind: NoteKind, path: string) => boolean) | undefined;
}

export interface DatabaseHit extends RankedNote {
  readonly path: VaultPath;
}

/** Which of the best hits are wanted. */
export interface Page {
  readonly limit: number;
  /** How many of the best hits to leave out; 0 without it. */
  readonly offset?: number;
}

export interface DatabaseAnswer {
  readonly total: number;
  readonly hits: readonly DatabaseHit[];
}

const SCHEMA = {
  text: "string",
  kind: "enum",
  status: "enum",
  project: "enum",
  folders: "enum[]",
  tags: "enum[]",
} as const;
const TEXT_FIELD = "text";
/** The scope of no note: keeps a list of scopes from being empty, which Orama takes for all. */
const NOWHERE = "-";
/** Stands where Orama expects the text and the query: ours went to the postings. */
const ELSEWHERE = "*";

/** The running request, for the text component: Orama has no way to pass it. */
interface Request {
  readonly question: Question;
  readonly limit: number;
  readonly depth: number;
  readonly maySee: NoteFilter["maySee"];
  ranking: Ranking | undefined;
}

/** Numbers are compared for each note that a search scores; the larger, the fewer see it. */
const DEPTHS: Readonly<Record<Visibility | "hintable", number>> = {
  hintable: 0,
  listed: 1,
  inactive: 2,
  conflict: 3,
};

/** What a request may see. */
interface Sight {
  /** Orama's numbers of the notes that its filters let through; absent without any. */
  readonly allowed: ReadonlySet<number> | undefined;
  /** One of `DEPTHS`, up to which notes are seen. */
  readonly depth: number;
  readonly maySee: NoteFilter["maySee"];
}

/** All notes of a vault, searchable and filterable. */
export class NoteDatabase {
  readonly #postings: Postings;
  readonly #vectors: NoteVectors | undefined;
  #filed: FiledNotes;

  /** @param vectors Without it no note is found by its meaning. */
  constructor(postings: Postings, vectors?: NoteVectors) {
    this.#postings = postings;
    this.#vectors = vectors;
    this.#filed = new FiledNotes(postings, vectors);
  }

  /** True when removed notes take more room than those that are there. */
  get isWasteful(): boolean {
    return this.#postings.isWasteful || this.#vectors?.isWasteful === true;
  }

  /** Takes in a note bit by bit and returns its slot; no search sees it before `put()`. */
  *stage(terms: NoteTerms, vectors?: NoteEmbeddings): Generator<void, number> {
    const slot = yield* this.#postings.stage(terms);
    if (vectors) yield* this.#vectors?.stage(slot, vectors) ?? [];
    return slot;
  }

  /** Returns where the terms of a note are; `undefined` if no search finds it. */
  slotOf(path: string): number | undefined {
    return this.#filed.slotOf(path);
  }

  /** Gives a note its vectors that came in without; an unknown path changes nothing. */
  *addVectors(path: string, vectors: NoteEmbeddings): Generator<void, void> {
    const slot = this.#filed.slotOf(path);
    if (slot === undefined) return;
    yield* this.#vectors?.stage(slot, vectors) ?? [];
    // It may have gone meanwhile.
    if (this.#filed.slotOf(path) !== slot) this.#vectors?.remove(slot);
  }

  /** Adds a note whose terms are staged, or replaces the one with its path, in one step. */
  put(document: NoteDocument, slot: number): void {
    this.remove(document.id);
    this.#postings.activate(slot);
    this.#filed.file(document, slot);
  }

  /** Changes what a note is filtered by and leaves its terms; an unknown path changes nothing. */
  refile(document: NoteDocument): void {
    const slot = this.#filed.unfile(document.id);
    if (slot !== undefined) this.#filed.file(document, slot);
  }

  /** Removes a note; an unknown path changes nothing. */
  remove(path: string): void {
    const slot = this.#filed.unfile(path);
    if (slot === undefined) return;
    this.#postings.remove(slot);
    this.#vectors?.remove(slot);
  }

  /** Returns the best notes for a question, best first, filtered before they are ranked. */
  search(question: Question, filter: NoteFilter, page: Page): DatabaseAnswer {
    if (question.plan?.impossible) return { total: 0, hits: [] };
    return this.#filed.search(question, filter, page);
  }

  /** Returns every note that a filter lets through. */
  filterPaths(filter: NoteFilter): Set<VaultPath> {
    return this.#filed.filterPaths(filter);
  }

  /**
   * Gives back the room of removed notes: copies the others in small steps and changes over in one.
   * Searches go on meanwhile; nothing may be put or removed until it is done.
   */
  *compact(): Generator<void, void> {
    const { postings, slots } = yield* this.#postings.compacted();
    const vectors = this.#vectors && (yield* this.#vectors.compacted(slots));
    const copy = new FiledNotes(this.#postings, this.#vectors);
    for (const [oldSlot, slot] of slots) {
      const document = this.#filed.documentAt(oldSlot);
      if (document) copy.file(document, slot);
      yield;
    }
    this.#postings.takeOver(postings);
    if (vectors) this.#vectors?.takeOver(vectors);
    this.#filed = copy;
  }
}

/** The documents in one Orama database, and the slots of the postings that belong to them. */
class FiledNotes {
  readonly #slotOf = new Map<string, number>();
  readonly #ranker: Ranker;
  readonly #db: AnyOrama;
  /** By slot. */
  readonly #documents: (NoteDocument | undefined)[] = [];
  /** By slot: the number by which Orama knows the note. */
  readonly #oramaIds: number[] = [];
  /** By slot: who may see the note, as one of `DEPTHS`. */
  readonly #depths: number[] = [];
  #slotToFile = -1;
  #request: Request | undefined;

  constructor(postings: Postings, vectors: NoteVectors | undefined) {
    this.#ranker = new Ranker(postings, vectors);
    this.#db = create({
      schema: SCHEMA,
      sort: { enabled: false },
      components: {
        tokenizer: { language: "none", normalizationCache: new Map(), tokenize: () => [] },
        index: this.#textComponent(),
      },
    });
  }

  documentAt(slot: number): NoteDocument | undefined {
    return this.#documents[slot];
  }

  slotOf(path: string): number | undefined {
    return this.#slotOf.get(path);
  }

  file(document: NoteDocument, slot: number): void {
    this.#slotOf.set(document.id, slot);
    this.#documents[slot] = document;
    this.#depths[slot] = depthOf(document);
    this.#slotToFile = slot;
    const { id, kind, status, project, folders, tags } = document;
    insert(this.#db, {
      id,
      kind,
      status,
      project,
      folders: [...folders],
      tags: [...tags],
      [TEXT_FIELD]: ELSEWHERE,
    });
  }

  /** Takes a document out and returns the slot that it had. */
  unfile(path: string): number | undefined {
    const slot = this.#slotOf.get(path);
    if (slot === undefined) return undefined;
    remove(this.#db, path);
    this.#slotOf.delete(path);
    this.#documents[slot] = undefined;
    this.#depths[slot] = DEPTHS.conflict;
    return slot;
  }

  search(
    question: Question,
    filter: NoteFilter,
    { limit: count, offset = 0 }: Page,
  ): DatabaseAnswer {
    const limit = offset + count;
    const { maySee } = filter;
    const depth = depthFor(filter);
    const request: Request = { question, limit, depth, maySee, ranking: undefined };
    this.#request = request;
    const found = search(this.#db, { term: ELSEWHERE, where: toWhere(filter), limit });
    this.#request = undefined;
    if (found instanceof Promise) throw new Error("Orama answered late: a component is not sync");
    // Orama orders equal scores by when a note came in. They are compared before the division, which
    // makes some different ones equal: else the order would depend on the limit.
    found.hits.sort((a, b) => b.score - a.score || (a.id < b.id ? -1 : 1));
    const { ranking } = request;
    if (!ranking) return { total: 0, hits: [] };
    const hits = found.hits.slice(offset).flatMap(({ id }) => {
      const slot = this.#slotOf.get(id) ?? -1;
      const path = this.#documents[slot]?.id;
      return path === undefined ? [] : [{ path, ...ranking.explain(slot) }];
    });
    return { total: ranking.slots.length, hits };
  }

  filterPaths(filter: NoteFilter): Set<VaultPath> {
    const where = toWhere(filter);
    const allowed = Object.keys(where).length === 0
      ? undefined
      : this.#db.index.searchByWhereClause(this.#db.data.index, this.#db.tokenizer, where, "");
    const sight = { allowed, depth: depthFor(filter), maySee: filter.maySee };
    const slots = [...this.#slotOf.values()].filter((slot) => this.#maySee(slot, sight));
    return new Set(slots.flatMap((slot) => this.#documents[slot]?.id ?? []));
  }

  /** Orama's own index for every field but the text. */
  #textComponent(): ReturnType<typeof defaultIndex.createIndex> {
    const stock = defaultIndex.createIndex();
    return {
      ...stock,
      insert: (...args) => {
        const [, , field, , oramaId] = args;
        if (field === TEXT_FIELD) this.#oramaIds[this.#slotToFile] = oramaId;
        else stock.insert(...args);
      },
      remove: (...args) => args[2] === TEXT_FIELD ? true : stock.remove(...args),
      search: (...args) => this.#score(args[10]),
    };
  }

  /** Returns no more than the request's limit, since Orama sorts and copies all it is given. */
  #score(allowed: ReadonlySet<number> | undefined): TokenScore[] {
    const request = this.#request;
    if (!request) throw new Error("Cannot search: no request is running");
    const { question, depth, limit, maySee } = request;
    const sight = { allowed, depth, maySee };
    const ranking = this.#ranker.rank(question, (slot) => this.#maySee(slot, sight));
    const { slots, bySlot } = request.ranking = ranking;
    const compare = (a: number, b: number) => this.#pathAt(a) < this.#pathAt(b) ? -1 : 1;
    return topSlots(slots, bySlot, { limit, compare })
      .map(({ slot, score }) => [this.#oramaIds[slot] ?? 0, score]);
  }

  #maySee(slot: number, { allowed, depth, maySee }: Sight): boolean {
    if ((this.#depths[slot] ?? DEPTHS.conflict) > depth) return false;
    if (maySee !== undefined) {
      const document = this.#documents[slot];
      if (document === undefined || !maySee(document.kind, document.id)) return false;
    }
    return allowed === undefined || allowed.has(this.#oramaIds[slot] ?? 0);
  }

  #pathAt(slot: number): string {
    return this.#documents[slot]?.id ?? "";
  }
}

function depthOf({ visibility, isHintable }: NoteDocument): number {
  return visibility === "listed" && isHintable ? DEPTHS.hintable : DEPTHS[visibility];
}

/** Returns how deep a request looks. */
function depthFor({ status, hintableOnly = false }: NoteFilter): number {
  if (hintableOnly) return DEPTHS.hintable;
  return status === undefined ? DEPTHS.listed : DEPTHS.inactive;
}

function toWhere(filter: NoteFilter): Record<string, Record<string, string | string[]>> {
  return {
    ...(filter.kinds?.length ? { kind: { in: [...filter.kinds] } } : {}),
    ...(filter.tags?.length ? { tags: { containsAny: [...filter.tags] } } : {}),
    ...(filter.status === undefined || filter.status === ANY_STATUS
      ? {}
      : { status: { eq: filter.status } }),
    ...(filter.projects === undefined ? {} : { project: { in: [...filter.projects, NOWHERE] } }),
    ...(filter.folder === undefined ? {} : { folders: { containsAny: [filter.folder] } }),
  };
}
