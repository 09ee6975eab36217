/**
 * Puts a new file under a name in one step. Synchronous on purpose: between two calls here nothing
 * of ours runs, so that the moment in which another program may come in between is as short as can
 * be.
 */
import { EditConflict } from "@/lib/errors.ts";
import { codeOf, type FileIdentity, isSameFile, stampAt } from "./vault.ts";

export interface Replacement {
  /** The new file. */
  readonly temp: string;
  readonly disk: string;
  /** Under which name what is replaced is kept. */
  readonly kept: string;
}

/** Replaces a file and keeps it under another name; `another`: another file stands there by now. */
export function replaceFile({ temp, disk, kept }: Replacement): "done" | "another" {
  switch (keep(disk, kept)) {
    case "gone":
      return "another";
    case "moved":
      putInPlace(temp, disk, kept);
      return "done";
    case "linked":
      if (isOneFile(disk, kept)) {
        Deno.renameSync(temp, disk);
        return "done";
      }
      Deno.removeSync(kept);
      return "another";
  }
}

/** Where there are no hard links, the file is away for a moment; a crash then leaves it as kept. */
function keep(disk: string, kept: string): "linked" | "moved" | "gone" {
  try {
    Deno.linkSync(disk, kept);
    return "linked";
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return "gone";
    if (!isWithoutLinks(error)) throw error;
    Deno.renameSync(disk, kept);
    return "moved";
  }
}

function putInPlace(temp: string, disk: string, kept: string): void {
  try {
    Deno.renameSync(temp, disk);
  } catch (error) {
    Deno.renameSync(kept, disk);
    throw error;
  }
}

function isOneFile(a: string, b: string): boolean {
  const one = stampAt(a);
  return one !== undefined && isAt(b, one);
}

/** Tells whether a name is still that of a file, whatever it holds by now. */
export function isAt(disk: string, file: FileIdentity): boolean {
  const now = stampAt(disk);
  return now !== undefined && isSameFile(now, file);
}

/**
 * Gives a new file its name.
 *
 * @param name For the message.
 * @throws {EditConflict} If the name is taken.
 */
export function linkNew(temp: string, disk: string, name = "the file"): void {
  try {
    Deno.linkSync(temp, disk);
  } catch (error) {
    if (isTaken(error)) throw faster(name);
    if (!isWithoutLinks(error)) throw error;
    // The next best that never replaces: take the name, then put the file there in one step.
    takeName(temp, disk, name);
  }
}

function isTaken(error: unknown): boolean {
  return error instanceof Deno.errors.AlreadyExists;
}

function faster(name: string): EditConflict {
  return new EditConflict(`Cannot create ${name}: another program was faster`);
}

function takeName(temp: string, disk: string, name: string): void {
  try {
    Deno.openSync(disk, { write: true, createNew: true }).close();
  } catch (error) {
    throw isTaken(error) ? faster(name) : error;
  }
  try {
    Deno.renameSync(temp, disk);
  } catch (error) {
    Deno.removeSync(disk);
    throw error;
  }
}

/** FAT, and some network disks. */
function isWithoutLinks(error: unknown): boolean {
  return NO_LINKS.has(codeOf(error) ?? "");
}

const NO_LINKS: ReadonlySet<string> = new Set([
  "EPERM",
  "ENOTSUP",
  "EOPNOTSUPP",
  "ENOSYS",
  "EMLINK",
]);
