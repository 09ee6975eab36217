/**
 * Where to listen for changes so that no excluded folder and no link is ever opened: a recursive
 * watcher opens all that it finds and follows links. So folders that hold such are watched flat,
 * one by one, and each largest tree without any is watched deep.
 */
import type { FolderStamp } from "./scan.ts";
import { type FolderPath, parentOf, type VaultPath } from "./vault_path.ts";

/** With more paths the answer of a watcher comes too late: each event is compared with each. */
export const MAX_WATCHED_PATHS = 100;

/**
 * To open a deep watcher stops the event loop for some 2.5 us a file: here for 25 ms. A flat one
 * takes no time, as it does not look at files. More only where the paths do not suffice to split.
 */
const MAX_GROUP_ENTRIES = 10_000;

/** What to open; together it covers every folder that was seen. */
export interface WatchPlan {
  /** Folders to be watched without what is in their folders. */
  readonly flat: readonly FolderPath[];
  /** Trees to be watched whole, in groups of which none takes long to open. */
  readonly deep: readonly (readonly FolderPath[])[];
}

interface Tree {
  readonly path: FolderPath;
  readonly inner: Tree[];
  /** Names in it and in all folders below. */
  entries: number;
  /** True if it or a folder below holds what must not be opened. */
  mixed: boolean;
}

/**
 * Plans for the folders of a whole scan.
 *
 * @returns `undefined` if there are too many paths, or no root.
 */
export function planWatch(
  folders: ReadonlyMap<string, FolderStamp>,
  maxPaths: number = MAX_WATCHED_PATHS,
): WatchPlan | undefined {
  const root = growTree(folders);
  if (!root) return undefined;
  const flat: FolderPath[] = [];
  const deep: Tree[] = [];
  const pending = [root];
  for (let tree = pending.pop(); tree; tree = pending.pop()) {
    // To split it takes a path for each folder in it.
    const isLarge = tree.entries > MAX_GROUP_ENTRIES &&
      flat.length + deep.length + pending.length + tree.inner.length < maxPaths;
    if (!tree.mixed && !isLarge) deep.push(tree);
    else {
      flat.push(tree.path);
      pending.push(...tree.inner);
    }
    if (flat.length + deep.length > maxPaths) return undefined;
  }
  return { flat, deep: toGroups(deep) };
}

/** Folders come before those inside them, as a scan visits them. */
function growTree(folders: ReadonlyMap<string, FolderStamp>): Tree | undefined {
  const trees = new Map<string, Tree>();
  for (const [path, { entries, mixed }] of folders) {
    trees.set(path, { path: path as FolderPath, inner: [], entries, mixed });
  }
  for (const [path, tree] of [...trees].sort(([a], [b]) => b.length - a.length)) {
    const above = path === "" ? undefined : trees.get(parentOf(path as VaultPath));
    if (!above) continue;
    above.inner.push(tree);
    above.entries += tree.entries;
    above.mixed ||= tree.mixed;
  }
  return trees.get("");
}

function toGroups(trees: readonly Tree[]): FolderPath[][] {
  const groups: FolderPath[][] = [];
  let size = Infinity;
  for (const { path, entries } of trees) {
    if (size + entries > MAX_GROUP_ENTRIES) {
      groups.push([]);
      size = 0;
    }
    groups.at(-1)?.push(path);
    size += entries;
  }
  return groups;
}
