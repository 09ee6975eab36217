/** What the last looks at the vault have shown, those at some places put together with the whole. */
import type { Diagnostic } from "@/lib/contracts.ts";
import { type FolderStamp, rememberFolders, type VaultScan } from "@/lib/vault/scan.ts";
import { type FileStamp, sameStamp } from "@/lib/vault/vault.ts";
import type { VaultPath } from "@/lib/vault/vault_path.ts";

/** One look; `places` are absent if it was at everything. */
export interface Look {
  readonly scan: VaultScan;
  readonly places?: ReadonlySet<string>;
}

export class SeenVault {
  #folders: ReadonlyMap<string, FolderStamp> = new Map();
  #skipped: readonly Diagnostic[] = [];
  #derived: ReadonlyMap<VaultPath, FileStamp> = new Map();
  #isFirst = true;

  /** The folders of the vault; those that cannot be seen now, as they were. */
  get folders(): ReadonlyMap<string, FolderStamp> {
    return this.#folders;
  }

  /** What looks like a note and is not read. */
  get skipped(): readonly Diagnostic[] {
    return this.#skipped;
  }

  /** Files that are never read, in no order. */
  get derived(): readonly VaultPath[] {
    return [...this.#derived.keys()];
  }

  /** Returns the folders of the vault as a look leaves them. */
  foldersAfter({ scan, places }: Look): ReadonlyMap<string, FolderStamp> {
    if (!places) return scan.folders;
    const isAboutFiles = scan.folders.size === 0 && !some(places, (it) => this.#folders.has(it));
    if (isAboutFiles) return this.#folders;
    const folders = new Map<string, FolderStamp>();
    for (const [path, stamp] of this.#folders) if (!covers(places, path)) folders.set(path, stamp);
    for (const [path, stamp] of scan.folders) folders.set(path, stamp);
    return folders;
  }

  /**
   * Takes in a look, with those of its files that are derived.
   *
   * @returns The derived files that have changed since the look before.
   */
  take(look: Look, derived: readonly VaultPath[]): VaultPath[] {
    const { scan, places } = look;
    const folders = this.foldersAfter(look);
    this.#folders = folders === this.#folders
      ? folders
      : rememberFolders(this.#folders, { ...scan, folders });
    const kept = <T>(all: readonly T[], pathOf: (one: T) => string): readonly T[] =>
      places ? all.filter((one) => !covers(places, pathOf(one))) : [];
    this.#skipped = [...kept(this.#skipped, ({ path }) => path), ...scan.skipped];
    const before = this.#derived;
    this.#derived = new Map([
      ...kept([...before], ([path]) => path),
      ...derived.flatMap((path) => {
        const stamp = scan.files.get(path);
        return stamp ? [[path, stamp] as const] : [];
      }),
    ]);
    const isFirst = this.#isFirst;
    this.#isFirst = false;
    return isFirst ? [] : changedPaths(before, this.#derived);
  }
}

function changedPaths(
  before: ReadonlyMap<VaultPath, FileStamp>,
  after: ReadonlyMap<VaultPath, FileStamp>,
): VaultPath[] {
  const paths = new Set([...before.keys(), ...after.keys()]);
  return [...paths].filter((path) => {
    const [old, now] = [before.get(path), after.get(path)];
    return old === undefined || now === undefined || !sameStamp(old, now);
  });
}

/** Tells whether a path is one of some places, or lies below one. */
export function covers(places: ReadonlySet<string>, path: string): boolean {
  for (let end = path.length; end > 0; end = path.lastIndexOf("/", end - 1)) {
    if (places.has(path.slice(0, end))) return true;
  }
  return false;
}

function some<T>(all: Iterable<T>, test: (one: T) => boolean): boolean {
  for (const one of all) if (test(one)) return true;
  return false;
}
