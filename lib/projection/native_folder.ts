/**
 * A folder in which an agent keeps its own memories: Markdown, and nothing else. Guards against taking
 * another folder for one, as all that it holds goes into the vault: whatever is odd about it, nothing
 * of it is taken.
 */
import { join } from "node:path";
import { AppError } from "@/lib/errors.ts";
import { runAtOnce, Slicer } from "@/lib/seams.ts";
import { systemClock } from "@/lib/seams.ts";
import { hashBytes } from "@/lib/vault/etag.ts";
import { decodeNote } from "@/lib/vault/note_text.ts";
import { isMarkdown } from "@/lib/vault/vault_path.ts";

/** One file of such a folder. */
export interface FolderFile {
  /** Relative to the folder, with forward slashes. */
  readonly path: string;
  readonly bytes: Uint8Array;
  /** SHA-256 of the bytes, in hex. */
  readonly etag: string;
}

/** More than an agent writes in years. */
export const MAX_FILES = 2_000;
const MAX_FILE_BYTES = 2 * 1024 * 1024;
const MAX_TOTAL_BYTES = 32 * 1024 * 1024;
/** Folders below the folder. */
const MAX_DEPTH = 2;

/** Files that say nothing: the agent's own lock, and what a file manager leaves. They stay behind. */
const OF_NO_ACCOUNT: ReadonlySet<string> = new Set([".consolidate-lock", ".DS_Store"]);

/**
 * Reads all of a folder, in the order of paths.
 *
 * @throws {AppError} `not-writable` if it holds anything but a bounded number of Markdown files in
 * UTF-8; the message goes on from the folder's name.
 */
export async function readNativeFolder(folder: string): Promise<FolderFile[]> {
  const paths: string[] = [];
  await listInto(paths, folder, "");
  const files: FolderFile[] = [];
  let total = 0;
  for (const path of paths.sort()) {
    const file = await readOne(folder, path);
    total += file.bytes.length;
    if (total > MAX_TOTAL_BYTES) throw unknown(`holds more than ${MAX_TOTAL_BYTES} bytes`);
    files.push(file);
  }
  return files;
}

async function listInto(paths: string[], folder: string, below: string): Promise<void> {
  for await (const entry of Deno.readDir(join(folder, below))) {
    const path = `${below}${entry.name}`;
    if (entry.isFile && OF_NO_ACCOUNT.has(entry.name)) continue;
    if (entry.isSymlink) throw unknown(`holds a link (${path})`);
    if (entry.isDirectory) {
      if (path.split("/").length > MAX_DEPTH || entry.name.startsWith(".")) {
        throw unknown(`holds a folder that is not one of notes (${path})`);
      }
      await listInto(paths, folder, `${path}/`);
    } else if (entry.isFile && isMarkdown(entry.name) && !entry.name.startsWith(".")) {
      if (paths.push(path) > MAX_FILES) throw unknown(`holds more than ${MAX_FILES} files`);
    } else throw unknown(`holds what is no note (${path})`);
  }
}

async function readOne(folder: string, path: string): Promise<FolderFile> {
  const disk = join(folder, path);
  const { isFile, size } = await Deno.lstat(disk);
  if (!isFile) throw unknown(`holds what is no note (${path})`);
  if (size > MAX_FILE_BYTES) {
    throw unknown(`holds a file of more than ${MAX_FILE_BYTES} bytes (${path})`);
  }
  const bytes = await Deno.readFile(disk);
  const note = await new Slicer(systemClock).run(decodeNote(bytes));
  if (note === undefined || note.lossy) {
    throw unknown(`holds a file that is no text in UTF-8 (${path})`);
  }
  return { path, bytes, etag: runAtOnce(hashBytes(bytes)) };
}

/** The reason goes on from the name of the folder. */
function unknown(reason: string): AppError {
  return new AppError("not-writable", `${reason}, so it is not taken for the agent's memory`);
}
