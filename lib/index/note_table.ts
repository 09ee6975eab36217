/**
 * All notes of the vault as the index knows them, with the two things that no note knows of itself:
 * whether another one claims the same id, and whether it is a copy that a sync tool left behind.
 */
import type { Diagnostic } from "@/lib/contracts.ts";
import { isPlainId, saysSomething } from "@/lib/hint_line.ts";
import { type ConflictCopy, conflictCopyOf } from "@/lib/vault/conflict_copies.ts";
import { scopeIdOf, type VaultLayout } from "@/lib/vault/kinds.ts";
import { normalizeTag } from "@/lib/vault/tags.ts";
import { comparisonKey, type VaultPath } from "@/lib/vault/vault_path.ts";
import type { NoteDatabase, NoteDocument, Visibility } from "./orama.ts";
import {
  countChunks,
  type FileRecord,
  type FindableKinds,
  type IndexedNote,
  isFindable,
} from "./indexed_note.ts";

export const ACTIVE = "active";
/** Stands for the slot of a note that is never found. */
export const NO_SLOT = -1;
/** Of the many notes that may share an id, a message names so many. */
const NAMES_SHOWN = 3;

export interface NoteTableOptions {
  readonly layout: VaultLayout;
  readonly database: NoteDatabase;
  readonly onlyKinds: FindableKinds;
}

interface Entry {
  readonly note: IndexedNote;
  /** What its name says it is a copy of; kept, as it is asked for again and again. */
  readonly copy: ConflictCopy | undefined;
  file: FileRecord;
  visibility: Visibility;
}

export interface TableCounts {
  readonly notes: number;
  readonly memories: number;
  readonly chunks: number;
}

/** Notes by path and by id. Each change is one synchronous step. */
export class NoteTable {
  readonly #options: NoteTableOptions;
  readonly #entries = new Map<VaultPath, Entry>();
  readonly #byId = new Map<string, Set<VaultPath>>();
  readonly #byKey = new Map<string, Set<VaultPath>>();
  readonly #copies = new Map<VaultPath, Set<VaultPath>>();
  #notes = 0;
  #memories = 0;
  #chunks = 0;

  constructor(options: NoteTableOptions) {
    this.#options = options;
  }

  /** Counts what is indexed, inactive and conflicting notes too. */
  get counts(): TableCounts {
    return { notes: this.#notes, memories: this.#memories, chunks: this.#chunks };
  }

  get size(): number {
    return this.#entries.size;
  }

  paths(): IterableIterator<VaultPath> {
    return this.#entries.keys();
  }

  notes(): IndexedNote[] {
    return [...this.#entries.values()].map((entry) => entry.note);
  }

  /** Returns where an id stands, copies of sync tools included. */
  pathsOf(id: string): VaultPath[] {
    return [...this.#byId.get(id) ?? []];
  }

  /**
   * Returns the memories that claim an id, by path; copies of sync tools only while nothing else
   * has it.
   */
  claimantsOf(id: string): VaultPath[] {
    const paths = this.pathsOf(id).sort();
    const claimants = paths.filter((path) => this.#originalAt(path) === undefined);
    return claimants.length > 0 ? claimants : paths;
  }

  /** Returns the copies of a note that sync tools left, by path, wherever it has moved by now. */
  copiesOf(path: VaultPath): VaultPath[] {
    const id = this.#entries.get(path)?.note.id ?? "";
    const near = new Set([...this.#copies.get(path) ?? [], ...this.#byId.get(id) ?? []]);
    return [...near].filter((other) => this.#originalAt(other) === path).sort();
  }

  find(path: VaultPath): IndexedNote | undefined {
    return this.#entries.get(path)?.note;
  }

  /** Tells whether a search without filters finds a note; `undefined` = there is none. */
  isListed(path: VaultPath): boolean | undefined {
    const entry = this.#entries.get(path);
    return entry && this.#isFindable(entry.note) && entry.visibility === "listed";
  }

  fileOf(path: VaultPath): FileRecord | undefined {
    return this.#entries.get(path)?.file;
  }

  /** Returns the one path on disk that a person would take for this one (NFC or NFD). */
  findSpelling(path: VaultPath): VaultPath | undefined {
    if (this.#entries.has(path)) return path;
    const spellings = [...this.#byKey.get(comparisonKey(path)) ?? []];
    return spellings.length === 1 ? spellings[0] : undefined;
  }

  /** @param slot Where the note's terms are staged; not looked at if the note is never found. */
  put(note: IndexedNote, file: FileRecord, slot: number): void {
    const before = this.#forget(note.path);
    const copy = conflictCopyOf(note.path);
    this.#entries.set(note.path, { note, copy, file, visibility: "listed" });
    addTo(this.#byKey, comparisonKey(note.path), note.path);
    if (note.kind === "memory") addTo(this.#byId, note.id, note.path);
    if (copy) addTo(this.#copies, copy.original, note.path);
    if (this.#isFindable(note)) {
      this.#count(note, 1);
      this.#options.database.put(this.#toDocument(note, "listed"), slot);
    } else {
      this.#options.database.remove(note.path);
    }
    this.#settleAround(note);
    if (before && before.id !== note.id) this.#settleAround(before);
  }

  /** Takes note that a file was compared and found unchanged. */
  touch(path: VaultPath, file: FileRecord): void {
    const entry = this.#entries.get(path);
    if (entry) entry.file = file;
  }

  remove(path: VaultPath): void {
    const note = this.#forget(path);
    if (!note) return;
    this.#options.database.remove(path);
    this.#settleAround(note);
  }

  /** Returns what stands against the notes that share an id and against stray copies. */
  conflicts(): Diagnostic[] {
    const groups = new Map<string, readonly VaultPath[]>();
    const groupOf = (id: string) => {
      const group = groups.get(id) ?? this.pathsOf(id).sort();
      groups.set(id, group);
      return group;
    };
    return [...this.#entries.values()]
      .filter((entry) => entry.visibility === "conflict")
      .map((entry) => this.#conflictOf(entry, groupOf(entry.note.id)));
  }

  #conflictOf(entry: Entry, group: readonly VaultPath[]): Diagnostic {
    const { note } = entry;
    const { path } = note;
    const original = this.#originalOf(entry);
    if (original !== undefined) {
      return {
        path,
        reason: "conflict-copy",
        message: `A sync tool left this copy of "${original}". It is never found. Merge what you ` +
          "need of it into the original, then delete it",
      };
    }
    return {
      path,
      reason: "duplicate-id",
      message:
        `The id of this memory also stands in ${namesOfOthers(note, group)}, so that none of ` +
        "them is found. Give each its own id",
    };
  }

  #forget(path: VaultPath): IndexedNote | undefined {
    const entry = this.#entries.get(path);
    if (!entry) return undefined;
    const { note, copy } = entry;
    this.#entries.delete(path);
    removeFrom(this.#byKey, comparisonKey(path), path);
    removeFrom(this.#byId, note.id, path);
    if (copy) removeFrom(this.#copies, copy.original, path);
    if (this.#isFindable(note)) this.#count(note, -1);
    return note;
  }

  #count(note: IndexedNote, by: 1 | -1): void {
    this.#notes += by;
    if (note.kind === "memory") this.#memories += by;
    this.#chunks += by * countChunks(note.chunks);
  }

  #isFindable(note: IndexedNote): boolean {
    return isFindable(note, this.#options.onlyKinds);
  }

  /** A change of one note may begin or end a conflict of others: of its id, of its copies. */
  #settleAround(note: IndexedNote): void {
    const concerned = new Set<VaultPath>([note.path]);
    this.#addGroup(note.id, concerned);
    for (const path of this.#copies.get(note.path) ?? []) {
      concerned.add(path);
      this.#addGroup(this.#entries.get(path)?.note.id ?? "", concerned);
    }
    for (const path of concerned) this.#settle(path);
  }

  /** In a group that many claim, one more or less changes nothing for the others. */
  #addGroup(id: string, concerned: Set<VaultPath>): void {
    const group = this.#byId.get(id) ?? [];
    let claimants = 0;
    for (const path of group) {
      const entry = this.#entries.get(path);
      if (entry && this.#originalOf(entry) === undefined && ++claimants > 2) return;
    }
    for (const path of group) concerned.add(path);
  }

  #settle(path: VaultPath): void {
    const entry = this.#entries.get(path);
    if (!entry || !this.#isFindable(entry.note)) return;
    const visibility = this.#visibilityOf(entry);
    if (visibility === entry.visibility) return;
    entry.visibility = visibility;
    this.#options.database.refile(this.#toDocument(entry.note, visibility));
  }

  #visibilityOf(entry: Entry): Visibility {
    const { note } = entry;
    if (this.#originalOf(entry) !== undefined || this.#sharesId(note)) return "conflict";
    return isInactive(note) ? "inactive" : "listed";
  }

  /** Copies of a sync tool do not count: they must not silence the original. */
  #sharesId(note: IndexedNote): boolean {
    if (note.kind !== "memory") return false;
    for (const path of this.#byId.get(note.id) ?? []) {
      const other = this.#entries.get(path);
      if (other && path !== note.path && this.#originalOf(other) === undefined) return true;
    }
    return false;
  }

  #originalAt(path: VaultPath): VaultPath | undefined {
    const entry = this.#entries.get(path);
    return entry && this.#originalOf(entry);
  }

  /** Returns the note of which this one is a stray copy, wherever that has moved by now. */
  #originalOf({ copy, note }: Entry): VaultPath | undefined {
    if (!copy) return undefined;
    const original = this.#entries.get(copy.original)?.note;
    const isMemory = note.kind === "memory";
    // One that is never found must not keep its copy from being found.
    const isThere = original !== undefined && this.#isFindable(original);
    if (isThere && (copy.certain || isMemory && original.id === note.id)) return copy.original;
    return copy.certain && isMemory ? this.#elsewhere(note) : undefined;
  }

  /** Returns the first other note with the same id whose name does not say that it is a copy. */
  #elsewhere(note: IndexedNote): VaultPath | undefined {
    let first: VaultPath | undefined;
    for (const path of this.#byId.get(note.id) ?? []) {
      const isCopy = this.#entries.get(path)?.copy?.certain === true;
      if (path !== note.path && !isCopy && (first === undefined || path < first)) first = path;
    }
    return first;
  }

  #toDocument(note: IndexedNote, visibility: Visibility): NoteDocument {
    return {
      id: note.path,
      kind: note.kind,
      status: statusOf(note),
      project: scopeIdOf(this.#options.layout, note.path),
      folders: foldersAbove(note.path),
      tags: [...new Set(note.tags.map(normalizeTag).filter((tag) => tag !== undefined))],
      visibility,
      isHintable: note.kind === "memory" && saysSomething(note.description) && isPlainId(note.id),
    };
  }
}

/** Names the first few of those that share an id, and how many more there are. */
function namesOfOthers({ path }: IndexedNote, group: readonly VaultPath[]): string {
  const named = group.slice(0, NAMES_SHOWN + 1).filter((other) => other !== path)
    .slice(0, NAMES_SHOWN);
  const more = group.length - 1 - named.length;
  return named.map((other) => `"${other}"`).join(", ") + (more > 0 ? ` and ${more} more` : "");
}

/** Returns a note's status for comparing; saying nothing means active. */
export function statusOf(note: Pick<IndexedNote, "status">): string {
  return note.status?.trim().toLowerCase() || ACTIVE;
}

/** Tells memories that only a search by status finds. */
export function isInactive(note: Pick<IndexedNote, "kind" | "status">): boolean {
  return note.kind === "memory" && statusOf(note) !== ACTIVE;
}

/** `a/b/c.md` gives `a` and `a/b`. */
function foldersAbove(path: VaultPath): string[] {
  const segments = path.normalize("NFC").split("/").slice(0, -1);
  return segments.map((_, index) => segments.slice(0, index + 1).join("/"));
}

function addTo<K>(sets: Map<K, Set<VaultPath>>, key: K, path: VaultPath): void {
  const set = sets.get(key);
  if (set) set.add(path);
  else sets.set(key, new Set([path]));
}

function removeFrom<K>(sets: Map<K, Set<VaultPath>>, key: K, path: VaultPath): void {
  const set = sets.get(key);
  set?.delete(path);
  if (set?.size === 0) sets.delete(key);
}
