/** Clears up after writes that were cut off, by a crash or a loss of power. */
import { type Clock, Slicer } from "@/lib/seams.ts";
import { saveConflictCopy } from "./_conflict_copy.ts";
import { hashBytes } from "./etag.ts";
import { hashName, type Litter, litterPathOf, parseLitter } from "./_litter.ts";
import { removeIfThere } from "./_new_file.ts";
import { diskPathOf, isSameFile, stampAt, type Vault } from "./vault.ts";
import { type FolderPath, isMarkdown, joinVaultPath, type VaultPath } from "./vault_path.ts";

export interface Swept {
  readonly removed: number;
  /** How many conflict copies were made of what a write had replaced. */
  readonly recovered: number;
}

export interface SweepOptions {
  readonly clock: Clock;
  /** Runs work while no other process writes: what is left then belongs to nobody. */
  readonly locked: <T>(work: () => Promise<T>) => Promise<T>;
}

interface Found {
  readonly folder: FolderPath;
  readonly name: string;
  readonly litter: Litter;
}

/** Looks through all folders of the vault; what cannot be read or removed is left alone. */
export async function sweepVault(
  vault: Vault,
  { clock, locked }: SweepOptions,
): Promise<Swept> {
  const swept = { removed: 0, recovered: 0 };
  const found = await findLitter(vault);
  if (found.length === 0) return swept;
  const slicer = new Slicer(clock);
  await locked(async () => {
    for (const each of found) {
      const outcome = await tryClearUp(vault, each, clock);
      if (outcome !== "left") swept[outcome]++;
      await slicer.pause();
    }
  });
  return swept;
}

async function findLitter(vault: Vault): Promise<Found[]> {
  const found: Found[] = [];
  const pending: FolderPath[] = [""];
  for (let folder = pending.pop(); folder !== undefined; folder = pending.pop()) {
    for (const { name, isDirectory, isFile } of await listFolder(vault, folder)) {
      const litter = isFile ? parseLitter(name) : undefined;
      if (litter) found.push({ folder, name, litter });
      const below = isDirectory ? joinVaultPath(folder, name) : undefined;
      if (below !== undefined && !vault.exclusions.excludesFolder(below)) pending.push(below);
    }
  }
  return found;
}

async function listFolder(vault: Vault, folder: FolderPath): Promise<Deno.DirEntry[]> {
  const disk = diskPathOf(vault, folder);
  try {
    // A listing would follow a link that has taken the folder's place.
    if (await Deno.realPath(disk) !== disk) return [];
    return await Array.fromAsync(Deno.readDir(disk));
  } catch {
    // Gone, or nobody's to read: the index reports that.
    return [];
  }
}

/** One that cannot be removed keeps no other from going. */
async function tryClearUp(
  vault: Vault,
  found: Found,
  clock: Clock,
): Promise<keyof Swept | "left"> {
  try {
    return await clearUp(vault, found, clock) ? "recovered" : "removed";
  } catch {
    // The next start tries again.
    return "left";
  }
}

/** Returns true if there was something to save. */
async function clearUp(
  vault: Vault,
  { folder, name, litter }: Found,
  clock: Clock,
): Promise<boolean> {
  const disk = litterPathOf(vault, folder, name);
  if (litter.kind === "kept") {
    const note = await findByHash(vault, folder, litter.nameHash);
    const kept = { disk, note, etag: litter.etag };
    if (await isWorthKeeping(vault, kept, clock)) {
      const path = note ?? joinVaultPath(folder, "recovered.md");
      if (path === undefined) return false;
      saveConflictCopy(vault, { kept: disk, path, nowMs: clock.nowMs() });
      return true;
    }
  }
  removeIfThere(disk);
  return false;
}

interface KeptFile {
  readonly disk: string;
  /** What stands under its own name; absent if nothing does. */
  readonly note: VaultPath | undefined;
  /** Of what the write expected to replace. */
  readonly etag: string;
}

/** It is neither what the write expected to replace, nor still there under its own name. */
async function isWorthKeeping(
  vault: Vault,
  { disk, note, etag }: KeptFile,
  clock: Clock,
): Promise<boolean> {
  const kept = stampAt(disk);
  if (kept === undefined) return false;
  const now = note && stampAt(diskPathOf(vault, note));
  // On a disk without hard links it may have been cut off while the note was away.
  if (now === undefined) return true;
  if (isSameFile(kept, now)) return false;
  return await new Slicer(clock).run(hashBytes(await Deno.readFile(disk))) !== etag;
}

async function findByHash(
  vault: Vault,
  folder: FolderPath,
  nameHash: string,
): Promise<VaultPath | undefined> {
  const names = (await listFolder(vault, folder)).map(({ name }) => name);
  const name = names.find((name) => isMarkdown(name) && hashName(name) === nameHash);
  return name === undefined ? undefined : joinVaultPath(folder, name);
}
