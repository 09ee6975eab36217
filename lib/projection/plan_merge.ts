/**
 * Where the notes of an agent's own folder go in a store. Nothing that is there is written over: what
 * is there already stays as it is, what is free is taken, and what another file has the name of goes
 * beside it.
 */
import { cutText } from "@/lib/cut_text.ts";
import { AppError } from "@/lib/errors.ts";
import { runAtOnce } from "@/lib/seams.ts";
import { hashBytes } from "@/lib/vault/etag.ts";
import { diskPathOf, isAbsence, readFile, statFile, type Vault } from "@/lib/vault/vault.ts";
import { foldCase, parseVaultPath, type VaultPath } from "@/lib/vault/vault_path.ts";
import type { FolderFile } from "./native_folder.ts";
import type { Merge } from "./projection.ts";

/** A store, as far as there is one. */
export interface MergeInto {
  readonly vault: Vault;
  /** `undefined` = still to be made. */
  readonly folder: VaultPath | undefined;
  /** Whose notes they are; stands in the names of those that go beside others. */
  readonly title: string;
}

/** Of the stem; with the mark and the ending far from the 255 bytes of a file name. */
const MAX_STEM_BYTES = 180;
/** In a store that is still to be made. */
const MADE_WITH_THE_STORE = "project.md";
const MAX_NAMES = 1_000;

/**
 * Decides which files of a store are to be made.
 *
 * @returns Those alone that the store has not got, in the order of the files.
 * @throws {AppError} `not-writable` if a file cannot lie in the vault.
 */
export function planMerges(into: MergeInto, files: readonly FolderFile[]): Merge[] {
  const names = new StoreNames(into);
  return files.flatMap((file) => {
    for (const to of candidatesFor(file.path, into.title)) {
      names.require(to);
      const etag = names.etagOf(to);
      if (etag === file.etag) return [];
      if (etag !== undefined) continue;
      names.take(to, file.etag);
      return [{ file, to }];
    }
    throw refused(file.path, "has too many namesakes there");
  });
}

/** Names by which a file may go: its own, then such that say where it is from. */
function* candidatesFor(path: string, title: string): Generator<string> {
  yield path;
  const at = path.lastIndexOf("/") + 1;
  const dot = path.lastIndexOf(".");
  const stem = cutText(path.slice(at, dot), { maxChars: MAX_STEM_BYTES, maxBytes: MAX_STEM_BYTES });
  for (let number = 1; number <= MAX_NAMES; number++) {
    const mark = number === 1 ? title : `${title} ${number}`;
    yield `${path.slice(0, at)}${stem} (${mark})${path.slice(dot)}`;
  }
}

/** What lies in a store, and what is about to. */
class StoreNames {
  readonly #into: MergeInto;
  /** Etags by names as a disk compares them. */
  readonly #taken = new Map<string, string>();
  /** Spellings on disk, of each folder, by how a disk compares them. */
  readonly #listed = new Map<string, ReadonlyMap<string, string>>();

  constructor(into: MergeInto) {
    this.#into = into;
  }

  /** @throws {AppError} `not-writable` if no file of that name may lie in the store. */
  require(path: string): void {
    const { vault, folder } = this.#into;
    let full: VaultPath;
    try {
      full = parseVaultPath(`${folder ?? "store"}/${path}`);
    } catch {
      throw refused(path, "has a name that the vault cannot take");
    }
    if (vault.exclusions.excludes(full)) {
      throw refused(path, "would lie where the vault is never read");
    }
    const folders = path.split("/").slice(0, -1);
    for (const [at, name] of folders.entries()) {
      const spelt = this.#list(folders.slice(0, at).join("/")).get(foldCase(name));
      if (spelt !== undefined && spelt !== name) {
        throw refused(path, `lies in a folder that the store has as "${spelt}"`);
      }
    }
  }

  /** Returns the etag of what has a name; of what is no file, or is spelt otherwise, an empty one. */
  etagOf(path: string): string | undefined {
    const planned = this.#taken.get(foldCase(path));
    if (planned !== undefined) return planned;
    const { vault, folder } = this.#into;
    if (folder === undefined) return foldCase(path) === MADE_WITH_THE_STORE ? "" : undefined;
    const at = path.lastIndexOf("/");
    const name = path.slice(at + 1);
    const spelt = this.#list(path.slice(0, Math.max(0, at))).get(foldCase(name));
    if (spelt === undefined) return undefined;
    const full = parseVaultPath(`${folder}/${path}`);
    if (spelt !== name || statFile(vault, full).state !== "file") return "";
    return runAtOnce(hashBytes(readFile(vault, full).bytes));
  }

  take(path: string, etag: string): void {
    this.#taken.set(foldCase(path), etag);
  }

  #list(below: string): ReadonlyMap<string, string> {
    const known = this.#listed.get(below);
    if (known) return known;
    const listed = new Map(this.#namesIn(below).map((name) => [foldCase(name), name]));
    this.#listed.set(below, listed);
    return listed;
  }

  #namesIn(below: string): string[] {
    const { vault, folder } = this.#into;
    if (folder === undefined) return [];
    const place = parseVaultPath(below === "" ? folder : `${folder}/${below}`);
    try {
      return Array.from(Deno.readDirSync(diskPathOf(vault, place)), ({ name }) => name);
    } catch (error) {
      if (isAbsence(error)) return [];
      throw error;
    }
  }
}

function refused(path: string, reason: string): AppError {
  return new AppError("not-writable", `its file ${path} ${reason}`);
}
