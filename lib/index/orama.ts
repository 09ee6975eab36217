/**
 * The one door to Orama. Orama holds the documents and the filters and runs the search; through
 * its own component interface our postings stand in for its text index, because its ranking is not
 * BM25 and its cost grows with the square of common words.
 *
 * Of Orama only what was found exact after many updates is used: enum and enum[] fields, one insert
 * or remove at a time. Its number filters, `not`, `exact`, `threshold`, `sortBy`, *Multiple and
 * save/load are not.
 */
import { create, insert, remove, search } from "@orama/orama";
import type { AnyOrama, TokenScore } from "@orama/orama";
import { index as defaultIndex } from "@orama/orama/components";
import type { NoteKind } from "@/lib/contracts.ts";
import type { VaultPath } from "@/lib/vault/vault_path.ts";
import type { NoteTerms, Postings } from "./postings.ts";
import type { QueryPlan } from "./query_plan.ts";
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
}

/** `undefined` and empty lists do not filter; a list is met by any of its items. */
export interface NoteFilter {
  readonly kinds?: readonly NoteKind[];
  readonly tags?: readonly string[];
  readonly status?: string | undefined;
  readonly project?: string | undefined;
  readonly folder?: string | undefined;
}

export interface DatabaseHit {
  readonly path: VaultPath;
  /** BM25 over its ceiling, 0..1. */
  readonly keyword: number;
}

export interface DatabaseAnswer {
  /** How many notes hold a term of the query, before any filter. */
  readonly matched: number;
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
/** Stands where Orama expects the text and the query: ours went to the postings. */
const ELSEWHERE = "*";

/** The running request, for the text component: Orama has no way to pass it. */
interface Request {
  readonly plan: QueryPlan;
  readonly limit: number;
  readonly withInactive: boolean;
  matched: number;
  total: number;
  ceiling: number;
}

/** Numbers are compared for each note that a search scores; the larger, the fewer see it. */
const SIGHT: Readonly<Record<Visibility, number>> = { listed: 0, inactive: 1, conflict: 2 };

/** What a request may see: Orama's numbers of the notes that its filters let through. */
interface Sight {
  readonly allowed: ReadonlySet<number> | undefined;
  readonly withInactive: boolean;
}

/** All notes of a vault, searchable and filterable. */
export class NoteDatabase {
  readonly #postings: Postings;
  #filed: FiledNotes;

  constructor(postings: Postings) {
    this.#postings = postings;
    this.#filed = new FiledNotes(postings);
  }

  /** True when removed notes take more room than those that are there. */
  get isWasteful(): boolean {
    return this.#postings.isWasteful;
  }

  /** Takes in the terms of a note bit by bit; no search sees them before `put()`. */
  stage(terms: NoteTerms): Generator<void, number> {
    return this.#postings.stage(terms);
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
    if (slot !== undefined) this.#postings.remove(slot);
  }

  /** Returns the best notes for a plan, best first, filtered before they are ranked. */
  search(plan: QueryPlan, filter: NoteFilter, limit: number): DatabaseAnswer {
    if (plan.clauses.length === 0 || plan.impossible) {
      return { matched: 0, total: 0, hits: [] };
    }
    return this.#filed.search(plan, filter, limit);
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
    const copy = new FiledNotes(this.#postings);
    for (const [oldSlot, slot] of slots) {
      const document = this.#filed.documentAt(oldSlot);
      if (document) copy.file(document, slot);
      yield;
    }
    this.#postings.takeOver(postings);
    this.#filed = copy;
  }
}

/** The documents in one Orama database, and the slots of the postings that belong to them. */
class FiledNotes {
  readonly #slotOf = new Map<string, number>();
  readonly #postings: Postings;
  readonly #db: AnyOrama;
  /** By slot. */
  readonly #documents: (NoteDocument | undefined)[] = [];
  /** By slot: the number by which Orama knows the note. */
  readonly #oramaIds: number[] = [];
  /** By slot: who may see the note, as one of `SIGHT`. */
  readonly #sights: number[] = [];
  #slotToFile = -1;
  #request: Request | undefined;

  constructor(postings: Postings) {
    this.#postings = postings;
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

  file(document: NoteDocument, slot: number): void {
    this.#slotOf.set(document.id, slot);
    this.#documents[slot] = document;
    this.#sights[slot] = SIGHT[document.visibility];
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
    this.#sights[slot] = SIGHT.conflict;
    return slot;
  }

  search(plan: QueryPlan, filter: NoteFilter, limit: number): DatabaseAnswer {
    const withInactive = filter.status !== undefined;
    const request: Request = { plan, limit, withInactive, matched: 0, total: 0, ceiling: 0 };
    this.#request = request;
    const found = search(this.#db, { term: ELSEWHERE, where: toWhere(filter), limit });
    this.#request = undefined;
    if (found instanceof Promise) throw new Error("Orama answered late: a component is not sync");
    // Orama orders equal scores by when a note came in. They are compared before the division, which
    // makes some different ones equal: else the order would depend on the limit.
    found.hits.sort((a, b) => b.score - a.score || (a.id < b.id ? -1 : 1));
    const hits = found.hits.flatMap((hit) => {
      const path = this.#documents[this.#slotOf.get(hit.id) ?? -1]?.id;
      return path === undefined ? [] : [{ path, keyword: hit.score / request.ceiling }];
    });
    return { matched: request.matched, total: request.total, hits };
  }

  filterPaths(filter: NoteFilter): Set<VaultPath> {
    const where = toWhere(filter);
    const allowed = Object.keys(where).length === 0
      ? undefined
      : this.#db.index.searchByWhereClause(this.#db.data.index, this.#db.tokenizer, where, "");
    const withInactive = filter.status !== undefined;
    const slots = [...this.#slotOf.values()].filter((slot) =>
      this.#maySee(slot, { allowed, withInactive })
    );
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
    const { slots, bySlot, ceiling } = this.#postings.score(request.plan.clauses);
    const { plan, withInactive } = request;
    const held = plan.required.length > 0 ? this.#postings.holders(plan.required) : undefined;
    const kept = slots.filter((slot) =>
      this.#maySee(slot, { allowed, withInactive }) && (held === undefined || held[slot] === 1)
    );
    request.matched = slots.length;
    request.total = kept.length;
    request.ceiling = ceiling;
    const compare = (a: number, b: number) => this.#pathAt(a) < this.#pathAt(b) ? -1 : 1;
    return topSlots(kept, bySlot, { limit: request.limit, compare })
      .map(({ slot, score }) => [this.#oramaIds[slot] ?? 0, score]);
  }

  #maySee(slot: number, { allowed, withInactive }: Sight): boolean {
    const sight = this.#sights[slot] ?? SIGHT.conflict;
    if (sight > (withInactive ? SIGHT.inactive : SIGHT.listed)) return false;
    return allowed === undefined || allowed.has(this.#oramaIds[slot] ?? 0);
  }

  #pathAt(slot: number): string {
    return this.#documents[slot]?.id ?? "";
  }
}

function toWhere(filter: NoteFilter): Record<string, Record<string, string | string[]>> {
  return {
    ...(filter.kinds?.length ? { kind: { in: [...filter.kinds] } } : {}),
    ...(filter.tags?.length ? { tags: { containsAny: [...filter.tags] } } : {}),
    ...(filter.status === undefined ? {} : { status: { eq: filter.status } }),
    ...(filter.project === undefined ? {} : { project: { eq: filter.project } }),
    ...(filter.folder === undefined ? {} : { folders: { containsAny: [filter.folder] } }),
  };
}
