/**
 * Files of other programs, outside of vault and state: the settings of agents, their instructions.
 * Guards what is not ours: a file is replaced whole or not at all, keeps its mode and, if its name is
 * a symbolic link, stays where that leads; one that has changed since it was read stays as it is, and
 * so does one that its owner has made read-only, whoever runs this program.
 */
import { createHash } from "node:crypto";
import { basename, dirname, join } from "node:path";
import { AppError, EditConflict } from "./errors.ts";
import { writeAll } from "./write_all.ts";

/** A file as it was read. */
export interface OutsideFile {
  /** As it was asked for. */
  readonly path: string;
  /** Where its bytes lie, behind all links. */
  readonly realPath: string;
  readonly bytes: Uint8Array;
  /** SHA-256 of the bytes, in hex. */
  readonly etag: string;
  /** `null` where the system has no modes. */
  readonly mode: number | null;
}

/** What is to stand in a file. */
export interface OutsideWrite {
  readonly path: string;
  readonly bytes: Uint8Array;
  /** What stood there when it was read; `undefined` = nothing. */
  readonly before: OutsideFile | undefined;
  /** Of a new file. */
  readonly mode?: number;
  /** Of any file, in place of what it has. */
  readonly setMode?: number | null;
}

/** Whoever writes more into a file of settings or instructions does not mean it. */
const MAX_BYTES = 32 * 1024 * 1024;
const OWNER_MAY_WRITE = 0o200;
const RIGHTS = 0o7777;

/**
 * Reads a file.
 *
 * @returns `undefined` if nothing is there.
 * @throws {AppError} `not-writable` if what is there is no file, leads nowhere, may not be read or is
 * over 32 MiB.
 */
export async function readOutsideFile(path: string): Promise<OutsideFile | undefined> {
  try {
    await Deno.lstat(path);
  } catch (error) {
    if (isAbsence(error)) return undefined;
    throw refused(path, `cannot be looked at (${nameOf(error)})`);
  }
  const realPath = await realPathOf(path);
  const { isFile, size, mode } = await statOf(realPath, path);
  if (!isFile) throw refused(path, "is no file");
  if (size > MAX_BYTES) throw refused(path, "is over 32 MiB");
  try {
    const bytes = await Deno.readFile(realPath);
    return { path, realPath, bytes, etag: hashOf(bytes), mode };
  } catch (error) {
    throw refused(path, `cannot be read (${nameOf(error)})`);
  }
}

/**
 * Checks that a file may be replaced or made, without doing so.
 *
 * @throws {AppError} `not-writable` if it, or the folder that it lies in, is read-only.
 */
export async function requireWritable(
  path: string,
  before: OutsideFile | undefined,
): Promise<void> {
  if (before && isReadOnly(before.mode)) throw refused(path, "is read-only");
  const folder = await nearestFolder(dirname(before?.realPath ?? path));
  const { isDirectory, mode } = await Deno.stat(folder);
  if (!isDirectory) throw refused(path, `cannot be made: ${folder} is no folder`);
  if (isReadOnly(mode)) throw refused(path, `lies in ${folder}, which is read-only`);
}

/**
 * Replaces a file, or makes one with the folders that it needs, in one step that a crash cannot
 * halve; returns when it is on the disk.
 *
 * @returns The folders that were made, the outermost first.
 * @throws {EditConflict} If it is not what it was when it was read.
 * @throws {AppError} `not-writable` as `requireWritable()`.
 */
export async function writeOutsideFile(write: OutsideWrite): Promise<string[]> {
  const { path, before } = write;
  await requireWritable(path, before);
  const place = before?.realPath ?? path;
  const made = await makeFolders(dirname(place));
  const temp = join(dirname(place), `.${basename(place)}.${crypto.randomUUID()}.tmp`);
  try {
    await writeTemp(temp, write);
    await requireUnchanged(path, before);
    if (before) await Deno.rename(temp, place);
    else await linkNew(temp, place, path);
    await syncFolder(dirname(place));
  } finally {
    await removeIfThere(temp);
  }
  return made;
}

/**
 * Removes a file that is still what it was; one that is gone is well too.
 *
 * @throws {EditConflict} If it has changed.
 */
export async function removeOutsideFile(file: Pick<OutsideFile, "path" | "etag">): Promise<void> {
  const now = await readOutsideFile(file.path);
  if (now === undefined) return;
  if (now.etag !== file.etag) throw changed(file.path);
  await requireWritable(file.path, now);
  await removeIfThere(now.realPath);
  // A link to it would lead nowhere.
  await removeIfThere(file.path);
}

/** Removes folders that are empty, the innermost first; others stay. */
export async function removeEmptyFolders(folders: readonly string[]): Promise<void> {
  for (const folder of folders.toReversed()) {
    try {
      await Deno.remove(folder);
    } catch {
      // Somebody has put something there, or removed it.
      return;
    }
  }
}

/**
 * Checks that a file is what it was when it was read.
 *
 * @throws {EditConflict} If it is not.
 */
export async function requireUnchanged(
  path: string,
  before: OutsideFile | undefined,
): Promise<void> {
  const now = await readOutsideFile(path);
  if (now?.etag !== before?.etag) throw changed(path);
}

function changed(path: string): EditConflict {
  return new EditConflict(`Somebody has just changed ${path}, so it was left alone: try again`);
}

async function writeTemp(temp: string, write: OutsideWrite): Promise<void> {
  const { bytes, before, mode, setMode } = write;
  const rights = setMode ?? before?.mode ?? mode;
  using file = await Deno.open(temp, { write: true, createNew: true, mode: 0o600 });
  await writeAll(file, bytes);
  // As `open()` lets the mask of the process take rights away.
  if (rights !== undefined && Deno.build.os !== "windows") await Deno.chmod(temp, rights & RIGHTS);
  await giveBack(temp, before);
  await file.sync();
}

/** Has the file belong to whom it belonged, as far as this process may. */
async function giveBack(temp: string, before: OutsideFile | undefined): Promise<void> {
  if (before === undefined || Deno.build.os === "windows") return;
  try {
    const [old, now] = [await Deno.stat(before.realPath), await Deno.stat(temp)];
    if (old.uid === now.uid && old.gid === now.gid) return;
    await Deno.chown(temp, old.uid, old.gid);
  } catch (error) {
    // That it is gone is told when all is compared once more.
    if (!(error instanceof Deno.errors.PermissionDenied) && !isAbsence(error)) throw error;
  }
}

/** So that a file that somebody makes at the same moment is not replaced. */
async function linkNew(temp: string, place: string, path: string): Promise<void> {
  try {
    await Deno.link(temp, place);
  } catch (error) {
    if (error instanceof Deno.errors.AlreadyExists) throw changed(path);
    // A disk without hard links.
    await Deno.rename(temp, place);
  }
}

async function makeFolders(folder: string): Promise<string[]> {
  const missing = await listMissingFolders(folder);
  await Deno.mkdir(folder, { recursive: true });
  return missing;
}

/** Lists which folders have to be made for one, the outermost first. */
export async function listMissingFolders(folder: string): Promise<string[]> {
  const missing: string[] = [];
  for (let each = folder; !(await isThere(each)); each = dirname(each)) missing.unshift(each);
  return missing;
}

async function nearestFolder(folder: string): Promise<string> {
  return await isThere(folder) ? folder : await nearestFolder(dirname(folder));
}

/**
 * Tells whether something has a name, behind links.
 *
 * @throws What the system says if it cannot be looked at.
 */
export async function isThere(path: string): Promise<boolean> {
  try {
    await Deno.stat(path);
    return true;
  } catch (error) {
    if (isAbsence(error)) return false;
    throw error;
  }
}

async function realPathOf(path: string): Promise<string> {
  try {
    return await Deno.realPath(path);
  } catch (error) {
    const what = isAbsence(error) ? "is a link that leads nowhere" : "cannot be looked at";
    throw refused(path, `${what} (${nameOf(error)})`);
  }
}

async function statOf(realPath: string, path: string): Promise<Deno.FileInfo> {
  try {
    return await Deno.stat(realPath);
  } catch (error) {
    // Removed a moment ago, or not for this process to see.
    throw refused(path, `cannot be looked at (${nameOf(error)})`);
  }
}

async function syncFolder(folder: string): Promise<void> {
  if (Deno.build.os === "windows") return;
  using handle = await Deno.open(folder, { read: true });
  await handle.sync();
}

async function removeIfThere(path: string): Promise<void> {
  try {
    await Deno.remove(path);
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  }
}

function isReadOnly(mode: number | null): boolean {
  return mode !== null && (mode & OWNER_MAY_WRITE) === 0;
}

function isAbsence(error: unknown): boolean {
  return error instanceof Deno.errors.NotFound || error instanceof Deno.errors.NotADirectory;
}

/** Returns the SHA-256 of some bytes in hex. */
export function hashOf(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}

function refused(path: string, reason: string): AppError {
  return new AppError("not-writable", `${path} ${reason}, so it was left alone`);
}

function nameOf(error: unknown): string {
  if (error instanceof Deno.errors.NotCapable) return "this process has no permission to";
  return error instanceof Error ? error.name : "unknown reason";
}

/** Tells whether two files hold the same. */
export function sameBytes(one: Uint8Array, other: Uint8Array): boolean {
  return one.length === other.length && one.every((byte, at) => byte === other[at]);
}
