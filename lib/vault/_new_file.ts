/**
 * Writes a file that is not there yet, down to the disk. What takes microseconds is synchronous, as
 * a turn of the event loop takes longer; what waits for the disk is not.
 */
import { OWN_FILE_MODE } from "@/lib/own_files.ts";
import { writeAll } from "@/lib/write_all.ts";
import { isAbsence, reasonOf } from "./vault.ts";

export interface NewFile {
  readonly bytes: Uint8Array;
  /** Absent: what the system gives new files. */
  readonly rights?: FileRights | undefined;
}

/** Who may do what with a file. */
export interface FileRights {
  readonly mode: number;
  readonly uid: number;
  readonly gid: number;
}

/** Returns `undefined` where the system has no such rights. */
export function rightsOf(disk: string): FileRights | undefined {
  const { mode, uid, gid } = Deno.lstatSync(disk);
  return mode === null || uid === null || gid === null
    ? undefined
    : { mode: mode & 0o7777, uid, gid };
}

/** @throws `Deno.errors.AlreadyExists` if the name is taken. */
export async function writeNewFile(disk: string, { bytes, rights }: NewFile): Promise<void> {
  using file = openNew(disk, rights);
  if (bytes.length <= MAX_SYNC_BYTES) writeAllSync(file, bytes);
  else await writeAll(file, bytes);
  if (rights !== undefined && Deno.build.os !== "windows") grant(disk, rights);
  await file.sync();
}

/** Larger contents are written by another thread. */
const MAX_SYNC_BYTES = 256 * 1024;

/** Nobody else may read what is to be private, not even for a moment. */
function openNew(disk: string, rights: FileRights | undefined): Deno.FsFile {
  const mode = rights === undefined ? {} : { mode: OWN_FILE_MODE };
  return Deno.openSync(disk, { write: true, createNew: true, ...mode });
}

function writeAllSync(file: Deno.FsFile, bytes: Uint8Array): void {
  for (let written = 0; written < bytes.length;) {
    written += file.writeSync(bytes.subarray(written));
  }
}

function grant(disk: string, { mode, uid, gid }: FileRights): void {
  const own = Deno.lstatSync(disk);
  // Only root may give a file away; others keep at least what a common group may do.
  if ((own.uid !== uid || own.gid !== gid) && !giveTo(disk, uid, gid)) giveTo(disk, null, gid);
  // Last, as a change of the owner takes some rights away; and not at the open, where the system
  // would take the mask of the process off.
  Deno.chmodSync(disk, mode);
}

function giveTo(disk: string, uid: number | null, gid: number): boolean {
  try {
    Deno.chownSync(disk, uid, gid);
    return true;
  } catch {
    // Not for us to do.
    return false;
  }
}

/** Makes sure that names in a folder outlast a loss of power, where the system can do that. */
export async function syncFolder(disk: string): Promise<void> {
  if (Deno.build.os === "windows") return;
  try {
    using folder = openFolder(disk);
    await folder.sync();
  } catch (error) {
    // Some network disks cannot; what was written is there, whatever becomes of it later.
    if (!CANNOT_SYNC.has(reasonOf(error))) throw error;
  }
}

function openFolder(disk: string): Deno.FsFile {
  return Deno.openSync(disk, { read: true });
}

const CANNOT_SYNC: ReadonlySet<string> = new Set(["EINVAL", "ENOTSUP", "EOPNOTSUPP", "ENOSYS"]);

export function removeIfThere(disk: string): void {
  try {
    Deno.removeSync(disk);
  } catch (error) {
    if (!isAbsence(error)) throw error;
  }
}
