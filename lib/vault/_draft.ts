/** New content of files, written down to the disk beside them before any gets its name. */
import { litterPathOf, tempName } from "./_litter.ts";
import { type FileRights, removeIfThere, writeNewFile } from "./_new_file.ts";
import type { CheckedChange } from "./_write_checks.ts";
import { throughLink } from "./_write_errors.ts";
import { type FileStamp, stampAt } from "./vault.ts";
import { parentOf, type VaultPath } from "./vault_path.ts";
import type { VaultWriterOptions } from "./vault_writer.ts";

/** A change whose content is on the disk, under another name. */
export interface Draft extends CheckedChange {
  /** Absent if the file holds it already. */
  readonly temp?: string;
  /** Which file that is, whatever its name by then. */
  readonly stamp?: FileStamp | undefined;
}

/** Writes the content of a change beside its place, in a folder that is there. */
export async function makeDraft(
  options: Pick<VaultWriterOptions, "vault" | "newId">,
  checked: CheckedChange,
): Promise<Draft> {
  const { change: { path, bytes, expected }, etag, rights } = checked;
  if (etag === expected) return checked;
  const temp = await writeBeside(options, { path, bytes, rights });
  return { ...checked, temp, stamp: stampAt(temp) };
}

interface Beside {
  readonly path: VaultPath;
  readonly bytes: Uint8Array;
  readonly rights: FileRights | undefined;
}

/** Writes content into the folder of a path; returns where it lies until it gets a name. */
export async function writeBeside(
  { vault, newId }: Pick<VaultWriterOptions, "vault" | "newId">,
  { path, bytes, rights }: Beside,
): Promise<string> {
  const disk = litterPathOf(vault, parentOf(path), tempName(newId()));
  try {
    await writeNewFile(disk, { bytes, rights });
    // After it is there: a folder above may have become a link meanwhile.
    if (leadsElsewhere(disk)) throw throughLink(path);
    return disk;
  } catch (error) {
    removeIfThere(disk);
    throw error;
  }
}

/** Tells whether a link stands in the way to a file. */
export function leadsElsewhere(disk: string): boolean {
  return Deno.realPathSync(disk) !== disk;
}
