/** Copies of files that we change and that are not ours, for their owner alone. */
import { basename, join } from "node:path";
import { type OutsideFile, removeEmptyFolders } from "@/lib/outside_files.ts";
import { OWN_FILE_MODE, OWN_FOLDER_MODE, ownFolderOf } from "@/lib/own_files.ts";
import { shortHash } from "@/lib/short_hash.ts";
import { isoTime } from "@/lib/time_text.ts";
import { writeAll } from "@/lib/write_all.ts";

/** Of one file. */
export const MAX_BACKUPS = 10;

const FOLDER = "backups";
const HASH_CHARS = 12;
const MAX_NAME_CHARS = 40;

/** Returns the folder in which the copies of a file lie, each named by its time. */
export function backupsOf(home: string, path: string): string {
  const name = basename(path).replace(/[^A-Za-z0-9._-]/g, "-").slice(0, MAX_NAME_CHARS);
  return join(ownFolderOf(home), FOLDER, `${name}-${shortHash(path, HASH_CHARS)}`);
}

/** Copies a file as it was read; of more than ten copies the oldest go. Returns the path. */
export async function backUp(
  { home, nowMs }: { readonly home: string; readonly nowMs: number },
  { path, bytes }: Pick<OutsideFile, "path" | "bytes">,
): Promise<string> {
  const folder = backupsOf(home, path);
  await Deno.mkdir(folder, { recursive: true, mode: OWN_FOLDER_MODE });
  const names = (await listNames(folder)).sort();
  const copy = join(folder, nextName(names, nowMs));
  {
    using file = await Deno.open(copy, { write: true, createNew: true, mode: OWN_FILE_MODE });
    await writeAll(file, bytes);
    await file.sync();
  }
  const surplus = names.slice(0, Math.max(0, names.length + 1 - MAX_BACKUPS));
  for (const name of surplus) await Deno.remove(join(folder, name));
  return copy;
}

/** Removes all copies of a file, which is as it was. */
export async function removeBackups(home: string, path: string): Promise<void> {
  try {
    await Deno.remove(backupsOf(home, path), { recursive: true });
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  }
  await removeEmptyFolders([join(ownFolderOf(home), FOLDER)]);
}

/** Behind all others, whatever the clock says; two at once do not meet. */
function nextName(names: readonly string[], nowMs: number): string {
  const time = isoTime(nowMs).replaceAll(":", "-");
  const last = names.at(-1) ?? "";
  const number = /^(\d{6})/.exec(last)?.[1] ?? "0";
  return `${String(Number(number) + 1).padStart(6, "0")} ${time} ${crypto.randomUUID()}`;
}

async function listNames(folder: string): Promise<string[]> {
  return (await Array.fromAsync(Deno.readDir(folder))).map(({ name }) => name);
}
