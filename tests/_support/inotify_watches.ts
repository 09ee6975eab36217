/** Which folders a process listens to, as Linux tells it: by their inodes, whatever it calls them. */
import { join } from "node:path";

/** One watch of the kernel. */
export interface Watch {
  readonly ino: number;
  /** As `Deno.stat` has it. */
  readonly dev: number;
}

/**
 * Returns all watches of a process, this one by default; `undefined` where there is no Linux.
 * Through another program, since Deno opens such files only with all permissions.
 */
export async function inotifyWatches(pid: number = Deno.pid): Promise<Watch[] | undefined> {
  if (Deno.build.os !== "linux") return undefined;
  const script = 'cat /proc/"$1"/fdinfo/* 2>/dev/null; exit 0';
  const { stdout } = await new Deno.Command("sh", { args: ["-c", script, "sh", `${pid}`] })
    .output();
  return parseWatches(new TextDecoder().decode(stdout));
}

/** Reads the lines `inotify wd:1 ino:8a3f sdev:fe00 mask:…`; other lines are left out. */
export function parseWatches(text: string): Watch[] {
  const lines = text.matchAll(/^inotify wd:\S+ ino:([\da-f]+) sdev:([\da-f]+) /gm);
  return Array.from(lines, ([, ino = "", sdev = ""]) => ({
    ino: Number.parseInt(ino, 16),
    dev: toDev(Number.parseInt(sdev, 16)),
  }));
}

/** Returns the folders of a tree that are watched, sorted, relative to it; `""` = its top. */
export async function watchedFolders(tree: string, watches: readonly Watch[]): Promise<string[]> {
  const known = new Set(watches.map(({ ino, dev }) => `${dev} ${ino}`));
  const watched: string[] = [];
  for (const folder of await foldersOf(tree, "")) {
    const { dev, ino } = await Deno.lstat(join(tree, folder));
    if (known.has(`${dev} ${ino}`)) watched.push(folder);
  }
  return watched.sort();
}

/** The kernel has 20 bits for the minor number below the major one; `stat` mixes both. */
function toDev(sdev: number): number {
  const major = Math.floor(sdev / 2 ** 20);
  const minor = sdev % 2 ** 20;
  return (minor % 256) + (major % 4096) * 256 + Math.floor(minor / 256) * 2 ** 20;
}

async function foldersOf(tree: string, folder: string): Promise<string[]> {
  const found = [folder];
  for await (const { name, isDirectory } of Deno.readDir(join(tree, folder))) {
    if (isDirectory) {
      found.push(...await foldersOf(tree, folder === "" ? name : `${folder}/${name}`));
    }
  }
  return found;
}
