/** Keeps files as they were, in the state directory, for this person alone. */
import { dirname, join } from "node:path";
import { AppError, describeFailure } from "@/lib/errors.ts";
import { OWN_FILE_MODE, OWN_FOLDER_MODE } from "@/lib/own_files.ts";
import { writeAll } from "@/lib/write_all.ts";

export interface Backup {
  /** The state directory. */
  readonly folder: string;
  /** Of this back-up: a day, and what tells it from others. */
  readonly name: string;
  readonly files: readonly { readonly path: string; readonly bytes: Uint8Array }[];
}

/**
 * Saves files below `backups/` of the state directory; one that is there already is the same.
 *
 * @returns Where they are, relative to the state directory.
 * @throws {AppError} `unavailable` if they cannot be saved: then nothing should be changed.
 */
export async function saveBackup({ folder, name, files }: Backup): Promise<string> {
  const place = join("backups", name);
  try {
    for (const { path, bytes } of files) {
      const file = join(folder, place, ...path.split("/"));
      await Deno.mkdir(dirname(file), { recursive: true, mode: OWN_FOLDER_MODE });
      await writeDown(file, bytes);
    }
  } catch (cause) {
    const words = "Nothing was done: the files cannot be kept as they were in the state directory";
    throw new AppError("unavailable", `${words}: ${describeFailure(cause).cause}`, { cause });
  }
  return place;
}

/** Down to the disk, as what is kept here is taken out of the vault right after. */
async function writeDown(disk: string, bytes: Uint8Array): Promise<void> {
  const fresh = { write: true, create: true, truncate: true, mode: OWN_FILE_MODE };
  using file = await Deno.open(disk, fresh);
  await writeAll(file, bytes);
  await file.sync();
}
