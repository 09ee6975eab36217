/** Finds out whether files may be changed and moved, before anything is written. */
import { AppError, EditConflict, PathEscapesVault, PayloadTooLarge } from "@/lib/errors.ts";
import { Slicer } from "@/lib/seams.ts";
import { ABSENT, hashBytes } from "./etag.ts";
import { requireNoTwin } from "./_make_folder.ts";
import { type FileRights, rightsOf } from "./_new_file.ts";
import { changed, neverTouched } from "./_write_errors.ts";
import {
  diskPathOf,
  type FileStamp,
  isAbsence,
  MAX_NOTE_BYTES,
  type NoteBytes,
  readFile,
  statFile,
  type Vault,
} from "./vault.ts";
import { foldCase, isMarkdown, type VaultPath } from "./vault_path.ts";
import type { Change, Move, Together, VaultWriterOptions } from "./vault_writer.ts";

/** A change that may be made. */
export interface CheckedChange {
  readonly change: Change;
  /** Of the new content. */
  readonly etag: string;
  readonly rights?: FileRights | undefined;
}

/** A move that may be made. */
export interface CheckedMove {
  readonly move: Move;
  /** Of the file when it was read. */
  readonly stamp: FileStamp;
}

/**
 * Refuses what may not be written whatever is there.
 *
 * @throws {PathEscapesVault} If the path is excluded, or no Markdown file.
 * @throws {PayloadTooLarge} If the content is over the size that notes may have.
 */
export function requireWritable({ exclusions }: Vault, { path, bytes }: Change): void {
  requirePlace({ exclusions }, path);
  if (bytes.length > MAX_NOTE_BYTES) {
    throw new PayloadTooLarge(`Cannot save "${path}": it may have ${MAX_NOTE_BYTES} bytes at most`);
  }
}

/**
 * Refuses what may not be moved whatever is there.
 *
 * @throws {PathEscapesVault} If either path is excluded, or no Markdown file.
 */
export function requireMovable(vault: Vault, { from, to }: Move): void {
  requirePlace(vault, from);
  requirePlace(vault, to);
}

function requirePlace({ exclusions }: Pick<Vault, "exclusions">, path: VaultPath): void {
  if (exclusions.excludes(path)) throw neverTouched(path);
  if (!isMarkdown(path)) {
    throw new PathEscapesVault(`Cannot write "${path}": only Markdown files are written`);
  }
}

/**
 * Makes sure that no part of a write stands in the way of another.
 *
 * @throws {EditConflict} If a name that is new is the same as another to some disk.
 * @throws {TypeError} If a file is named twice.
 */
export function requireApart(together: Together): void {
  const { changes, moves } = together;
  const paths = [
    ...changes.map(({ path }) => path),
    ...moves.map(({ from }) => from),
    ...moves.map(({ to }) => to),
  ];
  const folded = new Map<string, VaultPath>();
  const isNew = new Set(newPathsOf(together));
  for (const path of paths) {
    const other = folded.get(foldCase(path));
    if (other === path) throw new TypeError("A write names a file twice");
    if (other !== undefined && (isNew.has(path) || isNew.has(other))) throw twins(path, other);
    folded.set(foldCase(path), path);
  }
}

/** Returns the paths at which there is nothing before the write. */
export function newPathsOf({ changes, moves }: Together): VaultPath[] {
  const made = changes.filter(({ expected }) => expected === ABSENT);
  return [...made.map(({ path }) => path), ...moves.map(({ to }) => to)];
}

function twins(path: VaultPath, other: VaultPath): EditConflict {
  return new EditConflict(
    `Cannot write "${path}" together with "${other}", which some disks take for the same name. ` +
      "Choose another name",
  );
}

/**
 * Looks whether a file is what its change expects; what is changed must be text and writable.
 *
 * @throws {AppError} If it is not.
 */
export async function checkChange(
  options: Pick<VaultWriterOptions, "vault" | "clock">,
  change: Change,
): Promise<CheckedChange> {
  const { path, bytes, expected } = change;
  const { vault, clock } = options;
  const etag = await new Slicer(clock).run(hashBytes(bytes));
  if (expected === ABSENT) {
    requireFree(vault, path, `Cannot create "${path}"`);
    return { change, etag };
  }
  const { bytes: old } = await readExpected(options, { path, expected, verb: "save" });
  if (etag === expected) return { change, etag };
  requireText(path, old);
  return { change, etag, rights: requireMayWrite(vault, path) };
}

/**
 * Looks whether a file is what its move expects, and its new name free.
 *
 * @throws {AppError} If it is not.
 */
export async function checkMove(
  options: Pick<VaultWriterOptions, "vault" | "clock">,
  move: Move,
): Promise<CheckedMove> {
  const { from, to, expected } = move;
  const { stamp } = await readExpected(options, { path: from, expected, verb: "move" });
  requireFree(options.vault, to, `Cannot move "${from}" to "${to}"`);
  return { move, stamp };
}

interface Expectation {
  readonly path: VaultPath;
  readonly expected: string;
  readonly verb: "save" | "move";
}

async function readExpected(
  { vault, clock }: Pick<VaultWriterOptions, "vault" | "clock">,
  { path, expected, verb }: Expectation,
): Promise<NoteBytes> {
  if (statFile(vault, path).state === "absent") {
    throw new EditConflict(`Cannot ${verb} "${path}": it is not there`);
  }
  const note = readFile(vault, path);
  const etag = await new Slicer(clock).run(hashBytes(note.bytes));
  if (etag !== expected) throw changed(path, verb, etag);
  return note;
}

/** @throws {EditConflict | WrongPlace} If the name is taken, in other letters too. */
function requireFree(vault: Vault, path: VaultPath, refusal: string): void {
  const { state } = statFile(vault, path);
  if (state !== "absent") throw new EditConflict(`${refusal}: it is there already`);
  try {
    requireNoTwin(vault, path, "file");
  } catch (error) {
    // Its folder is not there yet.
    if (!isAbsence(error)) throw error;
  }
}

/** What is no text would not come back from a change of its text. */
function requireText(path: VaultPath, bytes: Uint8Array): void {
  try {
    new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch (cause) {
    throw new AppError(
      "not-writable",
      `Cannot save "${path}": it holds bytes that are not UTF-8, which would be lost. Save it as ` +
        "UTF-8 first",
      { cause },
    );
  }
}

/** @throws {EditConflict} If the file has gone since it was looked at. */
function requireRights(vault: Vault, path: VaultPath): FileRights | undefined {
  try {
    return rightsOf(diskPathOf(vault, path));
  } catch (error) {
    throw isAbsence(error) ? changed(path, "save") : error;
  }
}

/** A rename would replace a file that its owner made read-only. */
function requireMayWrite(vault: Vault, path: VaultPath): FileRights | undefined {
  const rights = requireRights(vault, path);
  const isReadOnly = rights !== undefined && (rights.mode & 0o200) === 0;
  if (!isReadOnly && mayOpen(diskPathOf(vault, path))) return rights;
  throw new AppError("not-writable", `Cannot save "${path}": the file is read-only`);
}

function mayOpen(disk: string): boolean {
  try {
    // Changes nothing, not even its times.
    Deno.openSync(disk, { write: true }).close();
    return true;
  } catch (error) {
    if (error instanceof Deno.errors.PermissionDenied) return false;
    throw error;
  }
}
