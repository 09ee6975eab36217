/** Writes a file that is not there yet, down to the disk. */
import { isAbsence, reasonOf } from "./vault.ts";

export interface NewFile {
  readonly bytes: Uint8Array;
  /** Permissions; what the system gives new files without it. */
  readonly mode?: number | undefined;
}

/** @throws `Deno.errors.AlreadyExists` if the name is taken. */
export async function writeNewFile(disk: string, { bytes, mode }: NewFile): Promise<void> {
  using file = await Deno.open(disk, { write: true, createNew: true });
  for (let written = 0; written < bytes.length;) {
    written += await file.write(bytes.subarray(written));
  }
  // Not at the open, where the system would take the mask of the process off.
  if (mode !== undefined && Deno.build.os !== "windows") await Deno.chmod(disk, mode);
  await file.sync();
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
