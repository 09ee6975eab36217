/**
 * Opens the vault and reads its files. Text checks cannot tell where a path really leads, so
 * containment is checked at the moment of use: the name must be a regular file, the file that was
 * opened must be that one, and its real path must be the one that was asked for, so that no link
 * stands in any folder above. Links are never followed, and no message names a path outside.
 *
 * Another program may swap a folder for a link and back between two calls, and no call tells where
 * an open file lies: Deno gives `/proc/self/fd` to programs that may do everything, and no others.
 * So a file is given out if no folder above can have been swapped while it was read, as none had
 * changed for a while; else only after many checks in an order that nobody can foresee.
 *
 * Synchronous calls on purpose: for single files they are many times faster here.
 */
import {
  AppError,
  ConfigError,
  IndexNotReady,
  NoteNotFound,
  PathEscapesVault,
  PayloadTooLarge,
} from "@/lib/errors.ts";
import { systemClock } from "@/lib/seams.ts";
import { createExclusions, type Exclusions } from "./exclusions.ts";
import {
  ancestorsOf,
  comparisonKey,
  foldCase,
  type FolderPath,
  parentOf,
  parseVaultPath,
  type VaultPath,
} from "./vault_path.ts";

/** Larger files are not read. */
export const MAX_NOTE_BYTES = 10 * 1024 * 1024;

/** Within this time of a change, a file may change again and show the same times. */
const RACY_WINDOW_MS = 2_000;

/** Each halves the chance of a program that swaps folders, to less than one in ten million. */
const CHECKS_AT_RANDOM = 24;

/** An editor and a server may replace a file at the same moment, and do so again. */
const MAX_LOOKS = 5;

const SEPARATOR = Deno.build.os === "windows" ? "\\" : "/";

export interface VaultOptions {
  readonly root: string;
  /** The global store, relative to the vault; `.` = the vault itself. */
  readonly memoriesFolder: string;
  /** More folders never to touch, as `createExclusions()` takes them. */
  readonly exclude: readonly string[];
}

export interface Vault {
  /** The real path on this machine; never goes to callers. */
  readonly root: string;
  /** As spelt on disk where it exists; `.` = the vault itself. */
  readonly memoriesFolder: string;
  readonly exclusions: Exclusions;
  /** What tells the folder from another that takes its place; where it is not known, none is. */
  readonly rootStamp?: FileIdentity;
}

/** What tells two states of a file apart without reading it; 0 where the system gives none. */
export interface FileStamp {
  readonly size: number;
  readonly mtimeMs: number;
  /** In whole seconds: Deno gives no more. */
  readonly ctimeMs: number;
  readonly ino: number;
  readonly dev: number;
}

/** The part of a stamp that stays as long as the file does. */
export type FileIdentity = Pick<FileStamp, "dev" | "ino">;

/** What is found at a path. */
export type FileState =
  | { readonly state: "file"; readonly stamp: FileStamp }
  | { readonly state: "absent" }
  | { readonly state: "unreadable"; readonly reason: string }
  | { readonly state: "other"; readonly what: "symlink" | "folder" | "special" };

export interface NoteBytes {
  readonly bytes: Uint8Array;
  /** Taken before the bytes were read: a change meanwhile makes the file dirty. */
  readonly stamp: FileStamp;
}

/**
 * Opens a vault by its real path.
 *
 * @throws {ConfigError} If the root is no readable folder, the folder of memories cannot be one,
 * or an exclusion makes no sense.
 */
export function openVault(options: VaultOptions): Vault {
  const root = realRoot(options.root);
  const bases = [options.root, root].map((base) => base.replace(/[/\\]+$/, ""));
  const exclusions = createExclusions(options.exclude.map((entry) => fromRoot(entry, bases)));
  const memoriesFolder = findMemoriesFolder(root, options.memoriesFolder, exclusions);
  const { dev, ino } = stampOf(Deno.lstatSync(root));
  return { root, memoriesFolder, exclusions, rootStamp: { dev, ino } };
}

function realRoot(root: string): string {
  try {
    const real = Deno.realPathSync(root);
    // Also shows that it may be listed.
    Deno.readDirSync(real);
    return real;
  } catch (cause) {
    const reason = isAbsence(cause) ? "there is no such folder" : reasonOf(cause);
    throw new ConfigError(`vault: cannot open "${root}": ${reason}`, { cause });
  }
}

/** An absolute path below the vault means the folder there, though a slash starts it. */
function fromRoot(entry: string, bases: readonly string[]): string {
  const base = bases.find((one) => one !== "" && entry.startsWith(one + SEPARATOR));
  return base === undefined ? entry : entry.slice(base.length);
}

function findMemoriesFolder(root: string, given: string, exclusions: Exclusions): string {
  const text = given.trim().replace(/^(?:\.\/+)+/, "").replace(/\/+$/, "");
  if (text === "." || text === "") return ".";
  const refuse = (why: string, cause?: unknown): ConfigError =>
    new ConfigError(`memories-folder: cannot use "${given}": ${why}`, { cause });

  let wanted: VaultPath;
  try {
    wanted = parseVaultPath(text);
  } catch (cause) {
    throw refuse("it is no folder in the vault", cause);
  }
  if (exclusions.excludes(wanted)) throw refuse("it is excluded");
  const folder = spellingOnDisk(root, wanted);
  const state = statFile({ root, memoriesFolder: ".", exclusions }, folder);
  if (state.state === "file") throw refuse("it is a file");
  if (state.state === "unreadable") throw refuse(state.reason);
  if (state.state === "other" && state.what !== "folder") throw refuse(`it is a ${state.what}`);
  return folder;
}

/** Takes the names from the disk where it holds them in another Unicode form, or folds case. */
function spellingOnDisk(root: string, wanted: VaultPath): VaultPath {
  let folder: FolderPath = "";
  for (const name of wanted.split("/")) {
    const spelt = spellingIn(diskPathOf({ root }, folder), name);
    folder = parseVaultPath(folder === "" ? spelt : `${folder}/${spelt}`);
  }
  return parseVaultPath(folder);
}

function spellingIn(diskFolder: string, name: string): string {
  try {
    const names = Array.from(Deno.readDirSync(diskFolder), (entry) => entry.name);
    if (names.includes(name)) return name;
    const same = names.find((other) => comparisonKey(other) === comparisonKey(name));
    if (same !== undefined) return same;
    // Throws unless the disk takes another name for this one.
    Deno.lstatSync(diskFolder + SEPARATOR + name);
    return names.find((other) => foldCase(other) === foldCase(name)) ?? name;
  } catch {
    // Not there yet, or not readable: then the check of the whole folder says so.
    return name;
  }
}

/** Returns where a path of the vault lies on this machine; for the file system only. */
export function diskPathOf(vault: Pick<Vault, "root">, path: FolderPath): string {
  if (path === "") return vault.root;
  const base = vault.root.endsWith(SEPARATOR) ? vault.root : vault.root + SEPARATOR;
  return base + (SEPARATOR === "/" ? path : path.replaceAll("/", SEPARATOR));
}

/** Takes the stamp of a file from what the system says about it. */
export function stampOf(info: Deno.FileInfo): FileStamp {
  return {
    size: info.size,
    mtimeMs: info.mtime?.getTime() ?? 0,
    ctimeMs: info.ctime?.getTime() ?? 0,
    ino: info.ino ?? 0,
    dev: info.dev,
  };
}

/**
 * Looks at what has a name on disk, a link itself, not what it leads to.
 *
 * @returns `undefined` if nothing has it.
 */
export function stampAt(disk: string): FileStamp | undefined {
  try {
    return stampOf(Deno.lstatSync(disk));
  } catch (error) {
    if (isAbsence(error)) return undefined;
    throw error;
  }
}

/** Tells whether two stamps show one state of one file, as far as the system can tell. */
export function sameStamp(a: FileStamp, b: FileStamp): boolean {
  return a.size === b.size && a.mtimeMs === b.mtimeMs && a.ctimeMs === b.ctimeMs &&
    isSameFile(a, b);
}

/** Tells whether two stamps are of one file, whatever it holds by now. */
export function isSameFile(a: FileIdentity, b: FileIdentity): boolean {
  return a.ino === b.ino && a.dev === b.dev;
}

/**
 * Tells whether an equal stamp proves nothing, as the file changed so shortly before its last
 * hash (or after it) that a later change may have left the same times and size.
 *
 * @param hashedAtMs When the bytes were read that the hash was made from.
 */
export function isRacy(stamp: FileStamp, hashedAtMs: number): boolean {
  return Math.max(stamp.mtimeMs, stamp.ctimeMs) >= hashedAtMs - RACY_WINDOW_MS;
}

/**
 * Looks what is at a path and follows no link, in no folder above either. What is excluded, or
 * spelt otherwise on disk (where the disk folds case), is absent.
 */
export function statFile(vault: Vault, path: VaultPath): FileState {
  if (vault.exclusions.excludes(path)) return { state: "absent" };
  try {
    const info = Deno.lstatSync(diskPathOf(vault, path));
    const place = info.isSymlink ? "linked" : placeOf(vault, path);
    if (place === "respelt") return { state: "absent" };
    if (place === "linked") return { state: "other", what: "symlink" };
    if (info.isFile) return { state: "file", stamp: stampOf(info) };
    return { state: "other", what: info.isDirectory ? "folder" : "special" };
  } catch (error) {
    if (isAbsence(error)) return { state: "absent" };
    if (error instanceof Deno.errors.FilesystemLoop) return { state: "other", what: "symlink" };
    return { state: "unreadable", reason: reasonOf(error) };
  }
}

function placeOf(vault: Vault, path: VaultPath): "here" | "respelt" | "linked" {
  const expected = diskPathOf(vault, path);
  const real = Deno.realPathSync(expected);
  if (real === expected) return "here";
  return foldCase(real) === foldCase(expected) ? "respelt" : "linked";
}

/**
 * Reads a note's bytes. A file that changes while it is read is read once more; if it still
 * changes, its stamp is that from before, so that the next comparison finds it dirty.
 *
 * @param maxBytes Of a longer file only so many are read, from its beginning.
 * @throws {NoteNotFound} If nothing is there, no regular file, or something excluded.
 * @throws {PathEscapesVault} If the path is a link or leads through one.
 * @throws {PayloadTooLarge} If the file is larger than `MAX_NOTE_BYTES`.
 * @throws {IndexNotReady} If the system refuses to read it, or the path leads to another file each
 * time that it is looked at.
 */
export function readFile(vault: Vault, path: VaultPath, maxBytes = MAX_NOTE_BYTES + 1): NoteBytes {
  if (vault.exclusions.excludes(path)) throw noSuchNote(path);
  try {
    for (let look = 1; look <= MAX_LOOKS; look++) {
      const { note, settled } = readOnce(vault, path, maxBytes);
      if (note !== undefined && (settled || look > 1)) return note;
    }
    throw new IndexNotReady(`Cannot read note "${path}" now: it is being replaced`);
  } catch (error) {
    throw toNoteError(error, path);
  }
}

interface Attempt {
  /** Absent if it cannot be shown that the file that was opened is the one at the path. */
  readonly note?: NoteBytes;
  /** True if the file was the same before and after. */
  readonly settled: boolean;
}

function readOnce(vault: Vault, path: VaultPath, maxBytes: number): Attempt {
  const disk = diskPathOf(vault, path);
  const startMs = systemClock.nowMs();
  // Before the file is opened, as to open a FIFO waits for its writer.
  const stamp = requireNote(Deno.lstatSync(disk), path);
  using file = Deno.openSync(disk, { read: true });
  const opened = stampOf(file.statSync());
  // After it is open: what is checked from here on is what is read.
  requireHere(vault, path);
  if (!isSameFile(opened, stamp)) return { settled: false };
  const bytes = readToEnd(file, stamp.size, maxBytes);
  if (bytes.length > MAX_NOTE_BYTES) throw tooLarge(path);
  const after = stampOf(Deno.lstatSync(disk));
  const isProven = isSameFile(opened, after) &&
    (areFoldersStill(vault, path, startMs) || passesAtRandom(vault, path, opened));
  return isProven
    ? { note: { bytes, stamp }, settled: sameStamp(stamp, after) }
    : { settled: false };
}

function requireHere(vault: Vault, path: VaultPath): void {
  const place = placeOf(vault, path);
  if (place === "linked") throw throughLink(path);
  if (place === "respelt") throw noSuchNote(path);
}

/** Tells whether surely none of the folders above was put in the place of another since then. */
function areFoldersStill(vault: Vault, path: VaultPath, sinceMs: number): boolean {
  // A swap changes the folder that holds the swapped one, with a ctime that nobody can set back.
  return ancestorsOf(parentOf(path))
    .every((holder) => !isRacy(stampOf(Deno.lstatSync(diskPathOf(vault, holder))), sinceMs));
}

/**
 * Asks by chance either whether the way is free of links, or whether the file that was opened lies
 * at its end. A file outside passes only if a link is away for each of the first and there for
 * each of the second.
 *
 * @throws {PathEscapesVault} If there is a link.
 */
function passesAtRandom(vault: Vault, path: VaultPath, opened: FileStamp): boolean {
  for (const coin of crypto.getRandomValues(new Uint8Array(CHECKS_AT_RANDOM))) {
    if (coin % 2 === 0) requireNoLink(vault, path);
    else if (!isSameFile(opened, stampOf(Deno.lstatSync(diskPathOf(vault, path))))) return false;
  }
  return true;
}

function requireNoLink(vault: Vault, path: VaultPath): void {
  for (const folder of ancestorsOf(path)) {
    if (Deno.lstatSync(diskPathOf(vault, folder)).isSymlink) throw throughLink(path);
  }
}

function requireNote(info: Deno.FileInfo, path: VaultPath): FileStamp {
  if (info.isSymlink) throw throughLink(path);
  if (!info.isFile) throw noSuchNote(path);
  if (info.size > MAX_NOTE_BYTES) throw tooLarge(path);
  return stampOf(info);
}

function readToEnd(file: Deno.FsFile, sizeBytes: number, maxBytes: number): Uint8Array {
  // One byte more than expected, so that the end shows itself without another buffer.
  let buffer = new Uint8Array(Math.min(sizeBytes + 1, maxBytes));
  let length = 0;
  for (;;) {
    const count = file.readSync(buffer.subarray(length));
    length += count ?? 0;
    // No call more to see the end: had the file grown meanwhile, its stamp would show that.
    if (!count || length === sizeBytes || length === maxBytes) return buffer.subarray(0, length);
    if (length === buffer.length) {
      const larger = new Uint8Array(Math.min(length * 2, maxBytes));
      larger.set(buffer);
      buffer = larger;
    }
  }
}

function toNoteError(error: unknown, path: VaultPath): AppError {
  if (error instanceof AppError) return error;
  if (isAbsence(error)) return noSuchNote(path);
  if (error instanceof Deno.errors.FilesystemLoop) return throughLink(path);
  return new IndexNotReady(`Cannot read note "${path}" now: ${reasonOf(error)}`, error);
}

function noSuchNote(path: VaultPath): NoteNotFound {
  return new NoteNotFound(`There is no note "${path}"`);
}

function throughLink(path: VaultPath): PathEscapesVault {
  return new PathEscapesVault(`Cannot read "${path}": links are never followed`);
}

function tooLarge(path: VaultPath): PayloadTooLarge {
  return new PayloadTooLarge(
    `Cannot read note "${path}": it is larger than ${MAX_NOTE_BYTES} bytes`,
  );
}

/** Tells the failures that prove that nothing has that name, as against "cannot see". */
export function isAbsence(error: unknown): boolean {
  return error instanceof Deno.errors.NotFound || error instanceof Deno.errors.NotADirectory ||
    codeOf(error) === "ENAMETOOLONG";
}

/** Returns a short word for a failure of the file system, without the path in its message. */
export function reasonOf(error: unknown): string {
  return codeOf(error) ?? (error instanceof Error ? error.name : "unknown failure");
}

/** Returns the code of a failure of the system, `ENOENT` for one. */
export function codeOf(error: unknown): string | undefined {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  return typeof code === "string" ? code : undefined;
}
