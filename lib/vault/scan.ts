/**
 * Walks the vault and says what is there, and what may be taken for gone. A folder that cannot be
 * read, a root that is away or a disk that is not mounted looks much like notes that were
 * deleted; an index that believes it forgets them all. So absence needs proof.
 */
import type { Diagnostic, DiagnosticReason } from "@/lib/contracts.ts";
import {
  diskPathOf,
  type FileStamp,
  isAbsence,
  MAX_NOTE_BYTES,
  reasonOf,
  stampOf,
  statFile,
  type Vault,
} from "./vault.ts";
import {
  ancestorsOf,
  baseName,
  type FolderPath,
  isMarkdown,
  joinVaultPath,
  parentOf,
  type VaultPath,
} from "./vault_path.ts";

/** After so many entries of a folder the walk lets others have a turn. */
const ENTRIES_PER_STEP = 50;

/** Deno shows a name that is not valid UTF-8 with this sign, and cannot open it. */
const REPLACEMENT = "\uFFFD";

/** A link with such an ending, Markdown apart, is neither a note nor a folder. */
const FILE_ENDING = /\.[a-z][a-z0-9]{0,7}$/i;

/** What a folder was when it was listed. */
export interface FolderStamp {
  readonly dev: number;
  readonly ino: number;
  /** True if it held nothing, names with a leading dot apart. */
  readonly empty: boolean;
  /** How many names it held, files that are no notes included. */
  readonly entries: number;
  /** True if it held a link, or a folder that must not be opened. */
  readonly mixed: boolean;
}

/** One look at the vault, or at some places of it. */
export interface VaultScan {
  /** Every Markdown file that may be read, derived ones too; regular, within the size limit. */
  readonly files: ReadonlyMap<VaultPath, FileStamp>;
  /** What looks like a note and is not read, with the reason. */
  readonly skipped: readonly Diagnostic[];
  /** Folders whose content, in part or at all, could not be seen; `""` = the root. */
  readonly unreadableFolders: ReadonlySet<string>;
  /** The folders that were listed; `""` = the root. */
  readonly folders: ReadonlyMap<string, FolderStamp>;
  /** Why the root could not be listed; then everything else is empty. */
  readonly rootError?: string;
}

interface Walk {
  readonly vault: Vault;
  readonly files: Map<VaultPath, FileStamp>;
  readonly skipped: Diagnostic[];
  readonly unreadableFolders: Set<string>;
  readonly folders: Map<string, FolderStamp>;
  rootError?: string;
}

const MESSAGES = {
  "odd-name": "The name cannot be used on every system; rename it",
  "symbolic-link": "Links are never followed; put the note itself into the vault",
  "not-a-file": "It is named like a note but is no regular file",
  "too-large": `The file is larger than ${MAX_NOTE_BYTES / 1024 / 1024} MiB; split it`,
} as const satisfies Partial<Record<DiagnosticReason, string>>;

/**
 * Walks the vault without opening a file, an excluded folder or a link; folders come sorted.
 *
 * What vanishes meanwhile is no error. A folder is listed in one step, about 1 ms for a thousand
 * entries.
 */
export function* scanVault(vault: Vault): Generator<void, VaultScan> {
  const walk = newWalk(vault);
  yield* visitTree(walk, "");
  return toScan(walk);
}

/**
 * Looks at some places only: at files by themselves, at folders with all that is below them.
 *
 * @param places Whatever is there now, if anything; what is excluded counts as absent.
 */
export function* scanPlaces(
  vault: Vault,
  places: Iterable<VaultPath>,
): Generator<void, VaultScan> {
  const walk = newWalk(vault);
  for (const place of places) {
    yield* visitPlace(walk, place);
    yield;
  }
  return toScan(walk);
}

function newWalk(vault: Vault): Walk {
  return {
    vault,
    files: new Map(),
    skipped: [],
    unreadableFolders: new Set(),
    folders: new Map(),
  };
}

function toScan({ vault: _vault, ...scan }: Walk): VaultScan {
  return scan;
}

function* visitTree(walk: Walk, top: FolderPath): Generator<void> {
  const pending: FolderPath[] = [top];
  for (let folder = pending.pop(); folder !== undefined; folder = pending.pop()) {
    const inner: VaultPath[] = yield* visitFolder(walk, folder);
    for (const below of inner.sort().reverse()) pending.push(below);
    yield;
  }
}

function* visitPlace(walk: Walk, place: VaultPath): Generator<void> {
  const found = statFile(walk.vault, place);
  if (found.state === "other" && found.what === "folder") {
    yield* visitTree(walk, place);
  } else if (found.state !== "absent") {
    const isSymlink = found.state === "other" && found.what === "symlink";
    const name = baseName(place);
    visitEntry(walk, parentOf(place), { name, isSymlink, isFile: false, isDirectory: false });
  }
}

/** Returns the folders to visit next. */
function* visitFolder(walk: Walk, folder: FolderPath): Generator<void, VaultPath[]> {
  const inner: VaultPath[] = [];
  let count = 0;
  for (const entry of listFolder(walk, folder)) {
    if (++count % ENTRIES_PER_STEP === 0) yield;
    const below = visitEntry(walk, folder, entry);
    if (below !== undefined) inner.push(below);
  }
  return inner;
}

function listFolder(walk: Walk, folder: FolderPath): Deno.DirEntry[] {
  const disk = diskPathOf(walk.vault, folder);
  try {
    const { isDirectory, dev, ino } = Deno.lstatSync(disk);
    // Since its parent was listed it may have become a link, which a listing would follow.
    if (!isDirectory) throw new Deno.errors.NotADirectory();
    const entries = Array.from(Deno.readDirSync(disk));
    const empty = entries.every((entry) => entry.name.startsWith("."));
    const mixed = entries.some((entry) => isOffLimits(walk.vault, folder, entry));
    walk.folders.set(folder, { dev, ino: ino ?? 0, empty, entries: entries.length, mixed });
    return entries;
  } catch (error) {
    noteFailure(walk, folder, error);
    return [];
  }
}

function isOffLimits(vault: Vault, folder: FolderPath, entry: Deno.DirEntry): boolean {
  if (!entry.isDirectory) return entry.isSymlink;
  const path = joinVaultPath(folder, entry.name);
  return path === undefined || vault.exclusions.excludesFolder(path);
}

function noteFailure(walk: Walk, folder: FolderPath, error: unknown): void {
  if (folder === "") walk.rootError = reasonOf(error);
  else if (!isAbsence(error)) markUnreadable(walk, folder, error);
  else reportIfGarbled(walk, folder);
}

/** Returns the entry's path if it is a folder to visit. */
function visitEntry(walk: Walk, folder: FolderPath, entry: Deno.DirEntry): VaultPath | undefined {
  if (!isOfInterest(entry)) return undefined;
  const { exclusions } = walk.vault;
  const path = joinVaultPath(folder, entry.name);
  if (path === undefined) {
    report(walk, printable(folder === "" ? entry.name : `${folder}/${entry.name}`), "odd-name");
    return undefined;
  }
  if (entry.isDirectory) return exclusions.excludesFolder(path) ? undefined : path;
  if (exclusions.excludesFile(path)) return undefined;
  if (!entry.isSymlink) visitNote(walk, folder, path);
  else if (!exclusions.excludesFolder(path)) report(walk, path, "symbolic-link");
  return undefined;
}

function isOfInterest({ name, isDirectory, isSymlink }: Deno.DirEntry): boolean {
  return isDirectory || isMarkdown(name) || (isSymlink && !FILE_ENDING.test(name));
}

function visitNote(walk: Walk, folder: FolderPath, path: VaultPath): void {
  try {
    const info = Deno.lstatSync(diskPathOf(walk.vault, path));
    if (info.isSymlink) report(walk, path, "symbolic-link");
    else if (!info.isFile) report(walk, path, "not-a-file");
    else if (info.size > MAX_NOTE_BYTES) report(walk, path, "too-large");
    else walk.files.set(path, stampOf(info));
  } catch (error) {
    if (isAbsence(error)) reportIfGarbled(walk, path);
    // No right to look at a file comes from its folder, and concerns all its files.
    else if (error instanceof Deno.errors.PermissionDenied) markUnreadable(walk, folder, error);
    else reportUnreadable(walk, path, error);
  }
}

function report(walk: Walk, path: string, reason: keyof typeof MESSAGES): void {
  walk.skipped.push({ path, reason, message: MESSAGES[reason] });
}

/** What was listed and is not there has vanished, or has a name that cannot be opened. */
function reportIfGarbled(walk: Walk, path: VaultPath): void {
  if (baseName(path).includes(REPLACEMENT)) report(walk, path, "odd-name");
}

function markUnreadable(walk: Walk, folder: FolderPath, error: unknown): void {
  if (walk.unreadableFolders.has(folder)) return;
  walk.unreadableFolders.add(folder);
  reportUnreadable(walk, folder, error);
}

function reportUnreadable(walk: Walk, path: FolderPath, error: unknown): void {
  const message = `It cannot be read (${reasonOf(error)}); see to its permissions or its disk`;
  walk.skipped.push({ path, reason: "unreadable", message });
}

function printable(name: string): string {
  return name.toWellFormed().replace(
    /\p{Cc}/gu,
    (sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

/**
 * Proves that a path holds no file that could be read as a note: nothing is there now, or a
 * folder, a link or the like, under a root and folders that can be seen.
 *
 * Looks at the disk anew, so call it when the removal is applied. An unmounted disk passes for
 * absence here: ask `looksUnmounted()` too.
 */
export function provenAbsent(vault: Vault, path: VaultPath, scan: VaultScan): boolean {
  if (ancestorsOf(path).some((folder) => scan.unreadableFolders.has(folder))) return false;
  const found = statFile(vault, path);
  const absent = found.state === "absent" || found.state === "other" ||
    (found.state === "file" && found.stamp.size > MAX_NOTE_BYTES);
  // Last, so that a root which went away before the look at the file is not taken for present.
  return absent && isRootStill(vault, scan.folders);
}

/** Tells whether the vault's root is there, and the folder that it was when it was listed. */
export function isRootStill(vault: Vault, folders: ReadonlyMap<string, FolderStamp>): boolean {
  try {
    const { isDirectory, dev, ino } = Deno.lstatSync(vault.root);
    // Absent if the root could not be listed.
    const seen = folders.get("");
    return isDirectory && seen?.dev === dev && seen.ino === (ino ?? 0);
  } catch {
    // Whatever the reason, there is no root to prove anything by.
    return false;
  }
}

/**
 * Tells whether a path seems to be away with its disk: a folder above it held something, and is
 * now an empty one on another device (the root: another folder at all).
 *
 * @param before What `rememberFolders()` returned after the scan before this one.
 * @param after The folders of this scan.
 */
export function looksUnmounted(
  before: ReadonlyMap<string, FolderStamp>,
  after: ReadonlyMap<string, FolderStamp>,
  path: VaultPath,
): boolean {
  return ancestorsOf(path).some((folder) => isEmptyMount(folder, before, after));
}

function isEmptyMount(
  folder: string,
  before: ReadonlyMap<string, FolderStamp>,
  after: ReadonlyMap<string, FolderStamp>,
): boolean {
  const was = before.get(folder);
  const is = after.get(folder);
  if (was === undefined || is === undefined || was.empty || !is.empty) return false;
  return was.dev !== is.dev || (folder === "" && was.ino !== is.ino);
}

/**
 * Returns what the next scan is to be compared with: the folders of this one, but those that seem
 * unmounted or cannot be read as they were before, with all below. Otherwise the second scan of
 * an empty mount would find nothing new about it, and forget the notes.
 */
export function rememberFolders(
  before: ReadonlyMap<string, FolderStamp>,
  scan: VaultScan,
): ReadonlyMap<string, FolderStamp> {
  if (scan.rootError !== undefined) return before;
  const kept = [...before.keys()].filter((folder) =>
    scan.unreadableFolders.has(folder) || isEmptyMount(folder, before, scan.folders)
  );
  if (kept.length === 0) return scan.folders;
  const known = new Map(scan.folders);
  for (const [folder, stamp] of before) {
    if (kept.some((top) => isAtOrBelow(folder, top))) known.set(folder, stamp);
  }
  return known;
}

function isAtOrBelow(folder: string, top: string): boolean {
  return top === "" || folder === top || folder.startsWith(`${top}/`);
}
