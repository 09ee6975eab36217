import type { VaultPath } from "./vault_path.ts";

/** Which files come first: by path, folder by folder, or with the most lines that match. */
export type FileOrder = "path" | "match-count";

/** A file and how many of its lines match. */
export interface CountedFile {
  readonly path: VaultPath;
  readonly matchCount: number;
}

interface Entry {
  readonly file: CountedFile;
  readonly key: string;
}

/**
 * Hands out many files in order, equals by path. Only a few are ever asked for, so they are kept in
 * a heap: each stands before its children, those of `at` at `2 * at + 1` and `2 * at + 2`.
 */
export class FileQueue {
  readonly #byCount: boolean;
  readonly #heap: Entry[] = [];

  constructor(order: FileOrder = "path") {
    this.#byCount = order === "match-count";
  }

  /** How many were added and not taken. */
  get size(): number {
    return this.#heap.length;
  }

  add(file: CountedFile): void {
    const entry = { file, key: sortKey(file.path) };
    let at = this.#heap.length;
    while (at > 0) {
      const above = (at - 1) >> 1;
      const parent = this.#heap[above];
      if (parent === undefined || !this.#isBefore(entry, parent)) break;
      this.#heap[at] = parent;
      at = above;
    }
    this.#heap[at] = entry;
  }

  /** Takes out the first file, `undefined` if none is left. */
  take(): CountedFile | undefined {
    const [first] = this.#heap;
    const last = this.#heap.pop();
    if (last !== undefined && this.#heap.length > 0) this.#sink(last);
    return first?.file;
  }

  /** Puts an entry in the place of the first. */
  #sink(entry: Entry): void {
    let at = 0;
    for (;;) {
      const left = this.#heap[2 * at + 1];
      const right = this.#heap[2 * at + 2];
      const isRight = left !== undefined && right !== undefined && this.#isBefore(right, left);
      const child = isRight ? right : left;
      if (child === undefined || !this.#isBefore(child, entry)) break;
      this.#heap[at] = child;
      at = 2 * at + (isRight ? 2 : 1);
    }
    this.#heap[at] = entry;
  }

  #isBefore(a: Entry, b: Entry): boolean {
    const more = this.#byCount ? a.file.matchCount - b.file.matchCount : 0;
    return more > 0 || (more === 0 && a.key < b.key);
  }
}

/** Sorts folder by folder: what a folder holds stands where its name does. */
function sortKey(path: VaultPath): string {
  return path.replaceAll("/", "\0");
}

/** Sorts paths in the order of `FileQueue`. */
export function sortByFolder(paths: Iterable<VaultPath>): VaultPath[] {
  return Array.from(paths, (path) => ({ path, key: sortKey(path) }))
    .sort((a, b) => a.key < b.key ? -1 : 1)
    .map(({ path }) => path);
}
