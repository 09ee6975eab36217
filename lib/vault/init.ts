/**
 * Creates a vault, or what is missing of one. What is there stays as it is, whatever it holds, and
 * no link is followed below the root. A file gets its name only when it is complete: it is written
 * under a temporary name and then linked, which fails if the name is taken, so that neither a
 * crash nor a second process can leave half a file, or replace one.
 */
import { ConfigError } from "@/lib/errors.ts";
import { randomId } from "@/lib/seams.ts";
import { fullLayout, WELCOME_LAYOUT } from "./_layout.ts";
import { diskPathOf, isAbsence, reasonOf } from "./vault.ts";
import { ancestorsOf, parentOf, parseVaultPath, type VaultPath } from "./vault_path.ts";

export interface InitOptions {
  /** Absolute; may itself be a link to a folder. */
  readonly root: string;
  /** The global store, relative to the root; `.` is the root itself. */
  readonly memoriesFolder: string;
  /** `welcome`: one note, and only if the root was missing; `full`: the whole layout. */
  readonly layout: "welcome" | "full";
  /** Dates the files that hold a date. */
  readonly nowMs: number;
}

/**
 * Creates the missing part of a layout; may run twice.
 *
 * @returns What was created, as paths from the root in the order of creation; folders end with a
 * slash, `./` is the root.
 * @throws {ConfigError} If the memories folder leaves the vault, something else stands where a
 * file or folder belongs, or the system refuses.
 */
export async function initVault(options: InitOptions): Promise<readonly string[]> {
  const { root, memoriesFolder, nowMs } = options;
  const layout = options.layout === "full" ? fullLayout(memoriesFolder, nowMs) : WELCOME_LAYOUT;
  const folders = layout.folders.map(parsePath);
  const created: string[] = [];
  if (await ensureRoot(root)) created.push("./");
  else if (options.layout === "welcome") return created;

  for (const folder of folders) await ensureFolder(root, folder, created);
  for (const [name, text] of layout.files) {
    const path = parsePath(name);
    const parent = parentOf(path);
    if (parent !== "") await ensureFolder(root, parent, created);
    if (await ensureFile(root, path, text)) created.push(path);
  }
  return created;
}

function parsePath(text: string): VaultPath {
  try {
    return parseVaultPath(text.replace(/^(?:\.\/)+|\/+$/g, ""));
  } catch (cause) {
    throw new ConfigError(`memories-folder: "${text}" is no folder in the vault`, { cause });
  }
}

async function ensureRoot(root: string): Promise<boolean> {
  try {
    const { isDirectory } = await Deno.stat(root);
    if (isDirectory) return false;
  } catch (error) {
    if (!isAbsence(error)) throw refusal(root, reasonOf(error), error);
    try {
      await Deno.mkdir(root, { recursive: true });
      return true;
    } catch (cause) {
      throw refusal(root, reasonOf(cause), cause);
    }
  }
  throw refusal(root, "a file stands there");
}

/** Creates a folder and those above it, one by one, so that none is reached through a link. */
async function ensureFolder(root: string, folder: VaultPath, created: string[]): Promise<void> {
  for (const each of [folder, ...ancestorsOf(folder)].reverse()) {
    if (each === "") continue;
    const disk = diskPathOf({ root }, each);
    const made = await unlessThere(disk, each, { wanted: "folder", make: () => Deno.mkdir(disk) });
    if (made) created.push(`${each}/`);
  }
}

function ensureFile(root: string, path: VaultPath, text: string): Promise<boolean> {
  const disk = diskPathOf({ root }, path);
  // A dot file, so that no walk of the vault takes it for a note.
  const temp = diskPathOf({ root }, parentOf(path)).replace(/[/\\]?$/, "/") +
    `.commonplace-${randomId()}.tmp`;
  return unlessThere(disk, path, { wanted: "file", make: () => writeNew(disk, temp, text) });
}

interface Making {
  readonly wanted: "file" | "folder";
  /** Throws `AlreadyExists` if the name is taken. */
  readonly make: () => Promise<void>;
}

/** Makes what is missing; returns false if it was there, or another process was faster. */
async function unlessThere(disk: string, path: VaultPath, making: Making): Promise<boolean> {
  try {
    if (await isThere(disk, path, making.wanted)) return false;
    await making.make();
    return true;
  } catch (error) {
    if (error instanceof ConfigError) throw error;
    if (error instanceof Deno.errors.AlreadyExists && await isThere(disk, path, making.wanted)) {
      return false;
    }
    throw refusal(path, reasonOf(error), error);
  }
}

async function isThere(disk: string, path: VaultPath, wanted: Making["wanted"]): Promise<boolean> {
  try {
    const info = await Deno.lstat(disk);
    if (wanted === "file" ? info.isFile : info.isDirectory) return true;
    const found = info.isSymlink ? "a link" : info.isDirectory ? "a folder" : "a file";
    throw refusal(path, `${found} stands where a ${wanted} belongs`);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false;
    throw error;
  }
}

async function writeNew(disk: string, temp: string, text: string): Promise<void> {
  try {
    await writeThrough(temp, text);
    await linkOrWrite(temp, disk, text);
  } finally {
    await removeIfThere(temp);
  }
}

async function linkOrWrite(temp: string, disk: string, text: string): Promise<void> {
  try {
    await Deno.link(temp, disk);
  } catch (error) {
    if (error instanceof Deno.errors.AlreadyExists) throw error;
    // A disk without hard links (FAT, some network disks): the next best that never replaces.
    await writeThrough(disk, text);
  }
}

/** Writes a file that is not there yet, down to the disk. */
async function writeThrough(path: string, text: string): Promise<void> {
  using file = await Deno.open(path, { write: true, createNew: true });
  const bytes = new TextEncoder().encode(text);
  for (let written = 0; written < bytes.length;) {
    written += await file.write(bytes.subarray(written));
  }
  await file.sync();
}

async function removeIfThere(path: string): Promise<void> {
  try {
    await Deno.remove(path);
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  }
}

function refusal(path: string, reason: string, cause?: unknown): ConfigError {
  return new ConfigError(`Cannot create "${path}" in the vault: ${reason}`, { cause });
}
