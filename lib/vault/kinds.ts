/** What a note is to the server: its place decides first, then its metadata. */
import type { ParsedNote } from "./note.ts";
import { GLOBAL_SCOPE_ID, type NoteKind } from "@/lib/contracts.ts";
import { isOwnConflictCopy } from "./conflict_copies.ts";
import { baseName, foldCase, type VaultPath } from "./vault_path.ts";

/** Where the stores of a vault lie. */
export interface VaultLayout {
  /** The global store, relative to the vault; `.` = the vault itself. */
  readonly memoriesFolder: string;
}

/** The part of a note's frontmatter that decides its kind; an empty text counts as missing. */
export interface KindMeta {
  readonly id?: string | undefined;
  readonly name?: string | undefined;
  readonly description?: string | undefined;
}

/** The folder of memories of one scope. */
export interface Store {
  /** 26 zeros for the global store, the ULID in upper case for a project's. */
  readonly scopeId: string;
  /** Relative to the vault; `.` = the vault itself. */
  readonly folder: string;
}

/** The scope id of notes that lie in no store. */
export const NO_STORE = "";

const RESERVED_FOLDERS: ReadonlySet<string> = new Set([
  "memories",
  "profiles",
  "projects",
  "private",
  "_shared",
  "templates",
  "attachments",
  "archive",
]);
const JOURNAL_FILES: ReadonlySet<string> = new Set([
  "profile.md",
  "rules.md",
  "session-log.md",
  "session-log.archive.md",
]);
const JOURNAL_FOLDERS: ReadonlySet<string> = new Set(["profiles", "projects", "projects/archive"]);
const ULID = /^[0-9a-hjkmnp-tv-z]{26}$/i;

/**
 * Decides the kind of a note. Names of files and folders count exactly as they are spelt on disk;
 * only reserved names of root folders are compared case-folded.
 *
 * @example
 * ```ts
 * import { equal } from "node:assert/strict";
 * import { parseVaultPath } from "@/lib/vault/vault_path.ts";
 *
 * const layout = { memoriesFolder: "memories" };
 * equal(classifyNote(layout, parseVaultPath("march/memory.md"), { id: "m1" }), "facts");
 * equal(classifyNote(layout, parseVaultPath("march/deploy.md"), { id: "m1" }), "memory");
 * ```
 */
export function classifyNote(layout: VaultLayout, path: VaultPath, meta: KindMeta): NoteKind {
  const store = storeOf(layout, path);
  const place = kindOfPlace(layout, path, store);
  if (place !== undefined) return place;
  if (meta.id) return "memory";
  return store && meta.name && meta.description ? "memory" : "note";
}

/** What a note is, and the id by which it is opened: a memory's own, else its path. */
export interface NoteIdentity {
  readonly kind: NoteKind;
  readonly id: string;
}

/** Tells what a parsed note is; its name counts only if the frontmatter has it as `name`. */
export function identifyNote(
  layout: VaultLayout,
  path: VaultPath,
  note: Pick<ParsedNote, "id" | "description" | "frontmatter">,
): NoteIdentity {
  const name = note.frontmatter.fields.get("name");
  const kind = classifyNote(layout, path, {
    id: note.id,
    name: typeof name === "string" ? name : undefined,
    description: note.description,
  });
  return { kind, id: kind === "memory" ? note.id ?? path : path };
}

/**
 * Finds the innermost store that holds a path.
 *
 * @returns `undefined` for what lies in no store.
 */
export function storeOf(layout: VaultLayout, path: VaultPath): Store | undefined {
  const base = layout.memoriesFolder;
  const prefix = base === "." ? "" : `${base}/`;
  if (!path.startsWith(prefix)) return undefined;
  const [projects, ulid = "", file] = path.slice(prefix.length).split("/", 3);
  // 26 zeros are the global scope's id, so no project may have them.
  const isProject = projects === "projects" && ULID.test(ulid) && file !== undefined &&
    ulid !== GLOBAL_SCOPE_ID;
  return isProject
    ? { scopeId: ulid.toUpperCase(), folder: `${prefix}projects/${ulid}` }
    : { scopeId: GLOBAL_SCOPE_ID, folder: base };
}

/** Returns the id of the store that holds a path, `NO_STORE` if there is none. */
export function scopeIdOf(layout: VaultLayout, path: VaultPath): string {
  return storeOf(layout, path)?.scopeId ?? NO_STORE;
}

function kindOfPlace(
  layout: VaultLayout,
  path: VaultPath,
  store: Store | undefined,
): NoteKind | undefined {
  if (isDerived(path, store)) return "derived";
  if (isJournal(path, store)) return "journal";
  return kindInRootFolder(layout, path, store);
}

function isDerived(path: VaultPath, store: Store | undefined): boolean {
  if (path === "audit-log.md" || foldCase(baseName(path)) === "_index.md") return true;
  if (isOwnConflictCopy(path)) return true;
  if (store === undefined) return false;
  const inner = pathInStore(path, store);
  return inner === "MEMORY.md" || (inner === "project.md" && store.scopeId !== GLOBAL_SCOPE_ID);
}

function isJournal(path: VaultPath, store: Store | undefined): boolean {
  const folder = path.slice(0, Math.max(0, path.lastIndexOf("/")));
  if (JOURNAL_FILES.has(path) || JOURNAL_FOLDERS.has(folder)) return true;
  return store !== undefined && pathInStore(path, store).startsWith("handoff/");
}

/** Kinds of what lies in a folder directly under the root: shared, or a project folder. */
function kindInRootFolder(
  layout: VaultLayout,
  path: VaultPath,
  store: Store | undefined,
): NoteKind | undefined {
  const [first = "", second, ...deeper] = path.split("/");
  if (second === undefined) return undefined;
  const folder = foldCase(first);
  if (folder === "_shared") return "shared";
  const isInStore = store !== undefined && layout.memoriesFolder !== ".";
  if (isInStore || isReservedFolder(layout, first)) return undefined;
  if (deeper.length > 0) return second === "history" ? "history" : undefined;
  if (second === "summary.md") return "summary";
  return second === "memory.md" ? "facts" : undefined;
}

/** Tells whether a folder directly under the root has a use of its own, and so holds no project. */
export function isReservedFolder({ memoriesFolder }: VaultLayout, name: string): boolean {
  const folder = foldCase(name);
  return RESERVED_FOLDERS.has(folder) || folder === foldCase(memoriesFolder);
}

/** Returns a path as it is written inside of its store. */
export function pathInStore(path: VaultPath, store: Store): string {
  return store.folder === "." ? path : path.slice(store.folder.length + 1);
}
