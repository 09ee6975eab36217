/**
 * All notes of the vault as the index knows them, with the two things that no note knows of itself:
 * whether another one claims the same id, and whether it is a copy that a sync tool left behind.
 */
import type { Diagnostic, NoteKind } from "@/lib/contracts.ts";
import { conflictCopyOf } from "@/lib/vault/conflict_copies.ts";
import { storeOf, type VaultLayout } from "@/lib/vault/kinds.ts";
import { normalizeTag } from "@/lib/vault/tags.ts";
import { comparisonKey, type VaultPath } from "@/lib/vault/vault_path.ts";
import type { FileRecord, IndexedNote } from "./indexed_note.ts";
import type { NoteDatabase, NoteDocument, Visibility } from "./orama.ts";
import { CHUNK_CELLS } from "./indexed_note.ts";

export const ACTIVE = "active";

export interface NoteTableOptions {
  readonly layout: VaultLayout;
  readonly database: NoteDatabase;
  /** Kinds that may be found; `undefined` = all. */
  readonly onlyKinds: ReadonlySet<NoteKind> | undefined;
}

interface Entry {
  readonly note: IndexedNote;
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

  find(path: VaultPath): IndexedNote | undefined {
    return this.#entries.get(path)?.note;
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
    this.#entries.set(note.path, { note, file, visibility: "listed" });
    addTo(this.#byKey, comparisonKey(note.path), note.path);
    if (note.kind === "memory") addTo(this.#byId, note.id, note.path);
    const copy = conflictCopyOf(note.path);
    if (copy) addTo(this.#copies, copy.original, note.path);
    if (this.isFindable(note)) {
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
    return [...this.#entries.values()]
      .filter((entry) => entry.visibility === "conflict")
      .map(({ note }) => this.#conflictOf(note));
  }

  #conflictOf(note: IndexedNote): Diagnostic {
    const { path } = note;
    const original = this.#originalOf(note);
    if (original !== undefined) {
      return {
        path,
        reason: "conflict-copy",
        message: `A sync tool left this copy of "${original}". It is never found. Merge what you ` +
          "need of it into the original, then delete it",
      };
    }
    const others = [...this.#byId.get(note.id) ?? []].filter((other) => other !== path);
    return {
      path,
      reason: "duplicate-id",
      message:
        `The id of this memory also stands in ${others.map((o) => `"${o}"`).join(", ")}, so ` +
        "that none of them is found. Give each its own id",
    };
  }

  #forget(path: VaultPath): IndexedNote | undefined {
    const entry = this.#entries.get(path);
    if (!entry) return undefined;
    const { note } = entry;
    this.#entries.delete(path);
    removeFrom(this.#byKey, comparisonKey(path), path);
    removeFrom(this.#byId, note.id, path);
    const copy = conflictCopyOf(path);
    if (copy) removeFrom(this.#copies, copy.original, path);
    if (this.isFindable(note)) this.#count(note, -1);
    return note;
  }

  #count(note: IndexedNote, by: 1 | -1): void {
    this.#notes += by;
    if (note.kind === "memory") this.#memories += by;
    this.#chunks += by * note.chunks.places.length / CHUNK_CELLS;
  }

  /** Tells whether searches may ever show a note, conflicts apart. */
  isFindable(note: IndexedNote): boolean {
    const { onlyKinds } = this.#options;
    return note.searchable && (onlyKinds === undefined || onlyKinds.has(note.kind));
  }

  /** A change of one note may begin or end a conflict of others: of its id, of its copies. */
  #settleAround(note: IndexedNote): void {
    const concerned = new Set<VaultPath>([note.path]);
    for (const path of this.#copies.get(note.path) ?? []) concerned.add(path);
    for (const path of this.#byId.get(note.id) ?? []) concerned.add(path);
    for (const path of concerned) this.#settle(path);
  }

  #settle(path: VaultPath): void {
    const entry = this.#entries.get(path);
    if (!entry || !this.isFindable(entry.note)) return;
    const visibility = this.#visibilityOf(entry.note);
    if (visibility === entry.visibility) return;
    entry.visibility = visibility;
    this.#options.database.refile(this.#toDocument(entry.note, visibility));
  }

  #visibilityOf(note: IndexedNote): Visibility {
    if (this.#originalOf(note) !== undefined || this.#sharesId(note)) return "conflict";
    const inactive = note.kind === "memory" && statusOf(note) !== ACTIVE;
    return inactive ? "inactive" : "listed";
  }

  /** Copies of a sync tool do not count: they must not silence the original. */
  #sharesId(note: IndexedNote): boolean {
    if (note.kind !== "memory") return false;
    return [...this.#byId.get(note.id) ?? []].some((path) => {
      const other = this.#entries.get(path)?.note;
      return path !== note.path && other !== undefined && this.#originalOf(other) === undefined;
    });
  }

  /** Returns the note of which this one is a stray copy, wherever that has moved by now. */
  #originalOf(note: IndexedNote): VaultPath | undefined {
    const copy = conflictCopyOf(note.path);
    if (!copy) return undefined;
    const original = this.#entries.get(copy.original)?.note;
    const isMemory = note.kind === "memory";
    if (original && (copy.certain || isMemory && original.id === note.id)) return copy.original;
    if (!copy.certain || !isMemory) return undefined;
    return [...this.#byId.get(note.id) ?? []].sort()
      .find((path) => path !== note.path && conflictCopyOf(path)?.certain !== true);
  }

  #toDocument(note: IndexedNote, visibility: Visibility): NoteDocument {
    return {
      id: note.path,
      kind: note.kind,
      status: statusOf(note),
      project: storeOf(this.#options.layout, note.path)?.scopeId ?? "",
      folders: foldersAbove(note.path),
      tags: [...new Set(note.tags.map(normalizeTag).filter((tag) => tag !== undefined))],
      visibility,
    };
  }
}

/** Returns a note's status for comparing; saying nothing means active. */
export function statusOf(note: IndexedNote): string {
  return note.status?.trim().toLowerCase() || ACTIVE;
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
