import type { VaultPath } from "./vault_path.ts";

/** Which files come first: by path, folder by folder, or with the most lines that match. */
export type FileOrder = "path" | "match-count";

/** A file and how many of its lines match. */
export interface CountedFile {
  readonly path: VaultPath;
  readonly matchCount: number;
}

/** Keeps the first files of many, by path or with the most lines; equals are sorted by path. */
export class FirstFiles<T extends CountedFile> {
  readonly #limit: number;
  readonly #byCount: boolean;
  readonly #sorted: { readonly file: T; readonly key: string }[] = [];

  constructor({ limit, order = "path" }: { readonly limit: number; readonly order?: FileOrder }) {
    this.#limit = limit;
    this.#byCount = order === "match-count";
  }

  /** Tells whether a file would be among the first ones so far. */
  accepts(file: CountedFile): boolean {
    return this.#placeOf(file) < this.#limit;
  }

  add(file: T): void {
    this.#sorted.splice(this.#placeOf(file), 0, { file, key: sortKey(file.path) });
    if (this.#sorted.length > this.#limit) this.#sorted.pop();
  }

  list(): T[] {
    return this.#sorted.map(({ file }) => file);
  }

  #placeOf({ path, matchCount }: CountedFile): number {
    const key = sortKey(path);
    const before = this.#sorted.findLastIndex((other) => {
      const more = this.#byCount ? other.file.matchCount - matchCount : 0;
      return more > 0 || (more === 0 && other.key < key);
    });
    return before + 1;
  }
}

/** Sorts folder by folder: what a folder holds stands where its name does. */
function sortKey(path: VaultPath): string {
  return path.replaceAll("/", "\0");
}

/** Sorts paths in the order of `FirstFiles`. */
export function sortByFolder(paths: Iterable<VaultPath>): VaultPath[] {
  return Array.from(paths, (path) => ({ path, key: sortKey(path) }))
    .sort((a, b) => a.key < b.key ? -1 : 1)
    .map(({ path }) => path);
}
