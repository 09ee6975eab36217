/** Writes a file that is not there yet, down to the disk. */
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
export async function rightsOf(disk: string): Promise<FileRights | undefined> {
  const { mode, uid, gid } = await Deno.lstat(disk);
  return mode === null || uid === null || gid === null
    ? undefined
    : { mode: mode & 0o7777, uid, gid };
}

/** @throws `Deno.errors.AlreadyExists` if the name is taken. */
export async function writeNewFile(disk: string, { bytes, rights }: NewFile): Promise<void> {
  using file = await Deno.open(disk, { write: true, createNew: true });
  for (let written = 0; written < bytes.length;) {
    written += await file.write(bytes.subarray(written));
  }
  if (rights !== undefined && Deno.build.os !== "windows") await grant(disk, rights);
  await file.sync();
}

async function grant(disk: string, { mode, uid, gid }: FileRights): Promise<void> {
  const own = await Deno.lstat(disk);
  if (own.uid !== uid || own.gid !== gid) {
    // Only root may give a file away; others keep at least what a common group may do.
    await Deno.chown(disk, uid, gid).catch(() => Deno.chown(disk, null, gid)).catch(() =>
      undefined
    );
  }
  // Last, as a change of the owner takes some rights away; and not at the open, where the system
  // would take the mask of the process off.
  await Deno.chmod(disk, mode);
}

/** Makes sure that names in a folder outlast a loss of power, where the system can do that. */
export async function syncFolder(disk: string): Promise<void> {
  if (Deno.build.os === "windows") return;
  try {
    using folder = await Deno.open(disk, { read: true });
    await folder.sync();
  } catch (error) {
    // Some network disks cannot; what was written is there, whatever becomes of it later.
    if (!CANNOT_SYNC.has(reasonOf(error))) throw error;
  }
}

const CANNOT_SYNC: ReadonlySet<string> = new Set(["EINVAL", "ENOTSUP", "EOPNOTSUPP", "ENOSYS"]);

export async function removeIfThere(disk: string): Promise<void> {
  try {
    await Deno.remove(disk);
  } catch (error) {
    if (!isAbsence(error)) throw error;
  }
}
