/**
 * Project folders of the vault: `<project>/summary.md`, `memory.md`, `history/`. Only folders
 * directly under the root are looked at, a bounded number of them, and of each only the beginning of
 * its summary is read. No link is followed.
 *
 * What was read is kept by the stamps of root and files, so that a scan of a vault that has not
 * changed costs a look at a few dozen files; where a stamp proves nothing yet, all is read again.
 */
import { AppError, IndexNotReady } from "@/lib/errors.ts";
import { MEMORY_ROUTE_MAX_ITEMS } from "@/lib/protocol_keys.ts";
import { putLast } from "@/lib/put_last.ts";
import { type Clock, Slicer } from "@/lib/seams.ts";
import { isReservedFolder } from "@/lib/vault/kinds.ts";
import { decodeNote } from "@/lib/vault/note_text.ts";
import {
  type FileStamp,
  isRacy,
  MAX_NOTE_BYTES,
  readFile,
  reasonOf,
  sameStamp,
  stampOf,
  statFile,
  type Vault,
} from "@/lib/vault/vault.ts";
import { joinVaultPath, parseVaultPath, type VaultPath } from "@/lib/vault/vault_path.ts";
import { readSummaryMeta, type SummaryReading } from "./summary_meta.ts";

/** What `summary.md` says of its project: the keys that may be read, and no others. */
export interface SummaryMeta {
  readonly project: string;
  readonly repoId?: string;
  readonly aliases: readonly string[];
  readonly tags: readonly string[];
  readonly related: readonly string[];
  readonly dependsOn: readonly string[];
  readonly status?: string;
  /** `YYYY-MM-DD`, a day that exists. */
  readonly updated?: string;
}

/** A folder directly under the root that holds a project. */
export interface ProjectFolder {
  /** Of the folder. */
  readonly name: string;
  /** `unmigrated` = without frontmatter, `incompatible` = with some that cannot be relied on. */
  readonly state: "canonical" | "unmigrated" | "incompatible";
  /** Present if it is canonical. */
  readonly meta?: SummaryMeta;
  /** Why it is incompatible; no text of the note. */
  readonly problem?: string;
  readonly hasSummary: boolean;
}

export interface ProjectFoldersOptions {
  readonly vault: Vault;
  readonly clock: Clock;
  /** Stands in for `readFile()`. */
  readonly read?: typeof readFile;
}

/** What was found of project folders. */
export interface ScannedFolders {
  /** At most `MEMORY_ROUTE_MAX_ITEMS`, in the order in which they were looked at. */
  readonly folders: readonly ProjectFolder[];
  /** Folders that were not looked at, projects or not. */
  readonly unchecked: number;
}

/** A vault may hold any number of folders that are no projects; each takes three looks to tell. */
export const MAX_FOLDERS_LOOKED_AT = 1_000;

const SUMMARY_FILE = "summary.md";
const FACTS_FILE = "memory.md";
const HISTORY_FOLDER = "history";

/** A block of frontmatter that ends later is refused anyway. */
const MAX_HEAD_BYTES = 128 * 1024;
/** More than one scan needs, as callers have different folders looked at first. */
const MAX_KEPT = 4 * MEMORY_ROUTE_MAX_ITEMS;

const TOO_LARGE = `summary.md: is larger than ${MAX_NOTE_BYTES / 1024 / 1024} MiB; shorten it`;
const NO_TEXT = "summary.md: is no text in UTF-8; save it as such";

/** The folders of the root, as they were listed. */
interface Listing {
  /** The first ones in the order of their names; never more than are looked at. */
  readonly names: readonly VaultPath[];
  readonly total: number;
  readonly stamp: FileStamp;
  readonly atMs: number;
}

interface KeptReading {
  readonly reading: SummaryReading;
  readonly stamp: FileStamp;
  readonly atMs: number;
}

/** Looks for project folders. */
export class ProjectFolders {
  readonly #vault: Vault;
  readonly #clock: Clock;
  readonly #read: typeof readFile;
  /** The one that was needed last comes last. */
  readonly #readings = new Map<VaultPath, KeptReading>();
  #listing: Listing | undefined;

  constructor({ vault, clock, read = readFile }: ProjectFoldersOptions) {
    this.#vault = vault;
    this.#clock = clock;
    this.#read = read;
  }

  /**
   * Finds the project folders of the vault as it is now: those named first, then the rest by name.
   *
   * @param first Names of folders, as spelt on disk; what cannot be one is left out.
   * @throws {IndexNotReady} If the vault cannot be listed.
   * @throws The signal's reason if it aborts.
   */
  async scan(first: readonly string[], signal?: AbortSignal): Promise<ScannedFolders> {
    const slicer = new Slicer(this.#clock);
    const { names, total } = await this.#list(slicer, signal);
    const folders: ProjectFolder[] = [];
    let looks = 0;
    for (const path of new Set([...this.#thoseThere(first), ...names])) {
      if (folders.length === MEMORY_ROUTE_MAX_ITEMS || looks === MAX_FOLDERS_LOOKED_AT) break;
      signal?.throwIfAborted();
      looks++;
      const folder = await slicer.run(this.#look(path));
      if (folder !== undefined) folders.push(folder);
      await slicer.pause();
    }
    return { folders, unchecked: Math.max(0, total - looks) };
  }

  /** Returns the folders of these names, each once. */
  #thoseThere(names: readonly string[]): VaultPath[] {
    const paths = names.slice(0, MAX_FOLDERS_LOOKED_AT).flatMap((name) => this.#toPath(name) ?? []);
    return paths.filter((path) => {
      const found = statFile(this.#vault, path);
      return found.state === "other" && found.what === "folder";
    });
  }

  /** Returns the path of a folder of the root that may hold a project. */
  #toPath(name: string): VaultPath | undefined {
    const path = joinVaultPath("", name);
    if (path === undefined || isReservedFolder(this.#vault, path)) return undefined;
    return this.#vault.exclusions.excludesFolder(path) ? undefined : path;
  }

  async #list(slicer: Slicer, signal: AbortSignal | undefined): Promise<Listing> {
    const { root } = this.#vault;
    const atMs = this.#clock.nowMs();
    try {
      const info = await Deno.lstat(root);
      // A link in its place would lead elsewhere.
      if (!info.isDirectory) throw new Deno.errors.NotADirectory();
      const stamp = stampOf(info);
      if (this.#listing && isStillSo(this.#listing, stamp)) return this.#listing;
      const counted = await this.#listNames(root, slicer, signal);
      return this.#listing = { ...counted, stamp, atMs };
    } catch (error) {
      if (signal?.aborted) throw error;
      throw new IndexNotReady(`The vault cannot be read: ${reasonOf(error)}`, error);
    }
  }

  async #listNames(
    root: string,
    slicer: Slicer,
    signal: AbortSignal | undefined,
  ): Promise<Pick<Listing, "names" | "total">> {
    let names: VaultPath[] = [];
    let total = 0;
    const keepFirst = () => names = names.sort().slice(0, MAX_FOLDERS_LOOKED_AT);
    for await (const entry of Deno.readDir(root)) {
      signal?.throwIfAborted();
      await slicer.pause();
      // False for a link to a folder.
      const path = entry.isDirectory ? this.#toPath(entry.name) : undefined;
      if (path === undefined) continue;
      total++;
      names.push(path);
      // Sorted by and by, as to sort a hundred thousand names at once would take too long.
      if (names.length === 2 * MAX_FOLDERS_LOOKED_AT) keepFirst();
    }
    return { names: keepFirst(), total };
  }

  /** Returns `undefined` for a folder that holds no project. */
  *#look(folder: VaultPath): Generator<void, ProjectFolder | undefined> {
    const summary = within(folder, SUMMARY_FILE);
    const found = statFile(this.#vault, summary);
    if (found.state === "file") {
      const reading = yield* this.#readSummary(summary, found.stamp);
      return { name: folder, ...reading, hasSummary: true };
    }
    if (found.state === "unreadable") {
      return { name: folder, ...unreadable(found.reason), hasSummary: false };
    }
    const facts = statFile(this.#vault, within(folder, FACTS_FILE));
    const history = statFile(this.#vault, within(folder, HISTORY_FOLDER));
    const isProject = facts.state === "file" ||
      (history.state === "other" && history.what === "folder");
    return isProject ? { name: folder, state: "unmigrated", hasSummary: false } : undefined;
  }

  *#readSummary(path: VaultPath, now: FileStamp): Generator<void, SummaryReading> {
    const known = this.#readings.get(path);
    if (known && isStillSo(known, now)) {
      putLast(this.#readings, [path, known], MAX_KEPT);
      return known.reading;
    }
    const atMs = this.#clock.nowMs();
    try {
      const { bytes, stamp } = this.#read(this.#vault, path, MAX_HEAD_BYTES);
      const note = yield* decodeNote(bytes);
      const isWhole = bytes.length < MAX_HEAD_BYTES;
      const reading: SummaryReading = note === undefined
        ? { state: "incompatible", problem: NO_TEXT }
        : yield* readSummaryMeta(note, { isWhole });
      putLast(this.#readings, [path, { reading, stamp, atMs }], MAX_KEPT);
      return reading;
    } catch (error) {
      // Its message names more than the others need to know.
      if (!(error instanceof AppError)) throw error;
      return error.code === "payload-too-large"
        ? { state: "incompatible", problem: TOO_LARGE }
        : unreadable(error.cause === undefined ? undefined : reasonOf(error.cause));
    }
  }
}

/** True if what was read then is what is there now. */
function isStillSo(
  { stamp, atMs }: Pick<KeptReading, "stamp" | "atMs">,
  now: FileStamp,
): boolean {
  return sameStamp(stamp, now) && !isRacy(stamp, atMs);
}

function within(folder: VaultPath, name: string): VaultPath {
  return parseVaultPath(`${folder}/${name}`);
}

function unreadable(reason = "it is being replaced"): SummaryReading {
  return { state: "incompatible", problem: `summary.md: cannot be read now (${reason})` };
}
