/**
 * Hears what changes in the vault. Events come in the order of the changes, so whoever makes an
 * empty file, a cookie, in a folder that is listened to as well, and waits for its event, has heard
 * of every change before it (as Watchman does). What an event says is not relied on: it names a
 * place, and the disk says what is there.
 *
 * Facts about Deno 2.9 on Linux that this is built on, found by trying: all watchers of a process
 * share one queue of the kernel; closing one ends the others' watches of the same folders, and
 * takes effect a turn later; a folder that is new, or was moved, below a deep path is watched a
 * moment after its own event, so that what is put into it at once is not heard; what is replaced by
 * a link that leads elsewhere may be not heard at all.
 */
import { join } from "node:path";
import { diskPathOf, reasonOf, type Vault } from "./vault.ts";
import {
  ancestorsOf,
  type FolderPath,
  parentOf,
  parseVaultPath,
  type VaultPath,
} from "./vault_path.ts";
import type { WatchPlan } from "./watch_plan.ts";

/** Later than that, to compare all files would be as quick. */
const COOKIE_LIMIT_MS = 50;
/** The first one proves that events come at all; the machine may be busy then. */
const FIRST_COOKIE_LIMIT_MS = 2_000;
/** After so many places one look at everything is cheaper. */
const MAX_PLACES = 5_000;

/** What a watcher gives: `Deno.watchFs`, or what stands in for it in a test. */
export interface EventSource extends AsyncIterable<Deno.FsEvent> {
  close(): void;
}

export type OpenEvents = (paths: string[], options: { recursive: boolean }) => EventSource;

export interface WatcherOptions {
  readonly vault: Vault;
  readonly plan: WatchPlan;
  /** Holds nothing but cookies, of this watcher and of those of other processes. */
  readonly cookieFolder: string;
  /** Part of the names of its cookies, of this watcher alone. */
  readonly id: string;
  readonly openEvents: OpenEvents;
}

/** What was heard since the last time. */
export interface Heard {
  /** Files and folders to look at, with all that is below them; none below another. */
  readonly places: ReadonlySet<VaultPath>;
}

/** Which folder lies at a watched path. */
type FolderId = string;

/** An open set of watchers. Use a new one once `lost` says something. */
export class VaultWatcher {
  readonly #options: WatcherOptions;
  /** The real one, as events name it. */
  readonly #cookieFolder: string;
  readonly #sources: EventSource[] = [];
  /** The highest number of a cookie that each source has told of. */
  readonly #cookies: number[] = [];
  readonly #watched = new Map<FolderPath, FolderId>();
  readonly #deep = new Set<FolderPath>();
  #touched = new Set<string>();
  /** Folders that may not have been watched yet when they were looked at. */
  #young = new Set<VaultPath>();
  #cookieCount = 0;
  #wake: (() => void) | undefined;
  #lost: string | undefined;
  #isClosed = false;

  private constructor(options: WatcherOptions) {
    this.#options = options;
    this.#cookieFolder = prepareCookies(options.cookieFolder);
  }

  /**
   * Opens what a plan names, one group a turn of the event loop, and waits for a first event. From
   * then on it has heard of all changes that began after the call returned.
   *
   * @throws {Deno.errors} If there are no more watches to be had, or the state is not writable.
   * @throws {Error} If no event comes.
   */
  static async open(options: WatcherOptions): Promise<VaultWatcher> {
    const watcher = new VaultWatcher(options);
    const { flat, deep } = options.plan;
    try {
      watcher.#listen(flat, "flat");
      for (const group of deep) {
        await nextTurn();
        watcher.#listen(group, "deep");
      }
      const state = await watcher.catchUp(FIRST_COOKIE_LIMIT_MS);
      if (state !== "caught-up") throw new Error("no event comes");
      watcher.#forget();
      return watcher;
    } catch (error) {
      await watcher.close();
      throw error;
    }
  }

  /** Why it cannot be relied on any more; `undefined` = it can. */
  get lost(): string | undefined {
    return this.#lost;
  }

  /** Waits until every change made before the call was heard of. */
  async catchUp(limitMs: number = COOKIE_LIMIT_MS): Promise<"caught-up" | "late" | "lost"> {
    const number = ++this.#cookieCount;
    const cookie = join(this.#cookieFolder, `${this.#options.id}-${number}`);
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#wake = resolve;
    const timer = setTimeout(resolve, limitMs);
    try {
      this.#makeCookie(cookie);
      if (this.#lost === undefined && !this.#hasSeen(number)) await promise;
    } finally {
      clearTimeout(timer);
      removeCookie(cookie);
    }
    if (this.#lost !== undefined) return "lost";
    return this.#hasSeen(number) ? "caught-up" : "late";
  }

  /**
   * Returns what was heard since the last call. Folders that are new come once more with the next
   * one, as they are watched for sure only then.
   */
  take(): Heard {
    const touched = this.#touched;
    const again = this.#young;
    this.#touched = new Set();
    this.#young = new Set();
    const places = new Set<VaultPath>(again);
    for (const text of touched) {
      const place = this.#judge(text);
      if (place !== undefined) places.add(place);
    }
    return { places: withoutNested(places) };
  }

  /** Tells whether a folder lies in a tree that is watched whole. */
  isDeep(folder: FolderPath): boolean {
    return this.#deep.has(folder) || ancestorsOf(folder).some((above) => this.#deep.has(above));
  }

  /** Gives up on it: something is there that it should not watch, or does not. */
  lose(why: string): void {
    this.#lost ??= why;
    this.#wake?.();
  }

  /** Returns when nothing is watched any more, so that others may watch the same folders. */
  async close(): Promise<void> {
    this.#isClosed = true;
    for (const source of this.#sources) {
      try {
        source.close();
      } catch {
        // It has ended by itself.
      }
    }
    await nextTurn();
    await nextTurn();
  }

  #listen(folders: readonly FolderPath[], how: "flat" | "deep"): void {
    const { vault, openEvents } = this.#options;
    if (folders.length === 0) return;
    const disks = folders.map((folder) => diskPathOf(vault, folder));
    const source = openEvents([...disks, this.#cookieFolder], { recursive: how === "deep" });
    const index = this.#sources.push(source) - 1;
    this.#cookies[index] = 0;
    for (const folder of folders) {
      this.#watched.set(folder, folderIdOf(diskPathOf(vault, folder)));
      if (how === "deep") this.#deep.add(folder);
    }
    void this.#hear(source, index);
  }

  async #hear(source: EventSource, index: number): Promise<void> {
    try {
      for await (const event of source) this.#note(event, index);
      if (!this.#isClosed) this.lose("the watcher ended");
    } catch (error) {
      if (!this.#isClosed) this.lose(`the watcher failed (${reasonOf(error)})`);
    }
  }

  #note({ flag, kind, paths }: Deno.FsEvent, index: number): void {
    if (flag === "rescan") return this.lose("more changed at once than can be heard");
    // Before a file that was written is closed, it was modified.
    if (kind === "access") return;
    for (const path of paths) {
      if (this.#isCookie(path)) this.#noteCookie(path, index);
      else if (this.#touched.size < MAX_PLACES) this.#touched.add(path);
      else this.lose("more changed at once than is worth looking at one by one");
    }
  }

  #isCookie(path: string): boolean {
    const cookieFolder = this.#cookieFolder;
    return path.startsWith(cookieFolder) &&
      (path.length === cookieFolder.length || /[/\\]/.test(path.charAt(cookieFolder.length)));
  }

  #noteCookie(path: string, index: number): void {
    const { id } = this.#options;
    if (path === this.#cookieFolder) return this.lose("the folder of cookies was moved");
    const name = path.slice(this.#cookieFolder.length + 1);
    if (!name.startsWith(`${id}-`)) return;
    const number = Number(name.slice(id.length + 1));
    this.#cookies[index] = Math.max(this.#cookies[index] ?? 0, number);
    if (this.#hasSeen(this.#cookieCount)) this.#wake?.();
  }

  #hasSeen(number: number): boolean {
    return this.#cookies.every((seen) => seen >= number);
  }

  #makeCookie(cookie: string): void {
    try {
      Deno.openSync(cookie, { createNew: true, write: true }).close();
    } catch (error) {
      this.lose(`no cookie can be made (${reasonOf(error)})`);
    }
  }

  /** What was heard while it was opened is seen by the scan that has to follow. */
  #forget(): void {
    this.#touched = new Set();
    this.#young = new Set();
  }

  /** Returns the place to look at for a path on the disk, `undefined` if there is none. */
  #judge(disk: string): VaultPath | undefined {
    const { vault } = this.#options;
    const prefix = diskPathOf(vault, "");
    const text = disk.slice(prefix.length).replace(/^[/\\]+/, "");
    if (text === "") {
      this.#checkWatched("");
      return undefined;
    }
    const place = nearestPlace(text);
    if (place === undefined) {
      this.lose("a name in the vault cannot be understood");
      return undefined;
    }
    if (
      ancestorsOf(place).some((above) => above !== "" && vault.exclusions.excludesFolder(above))
    ) {
      return undefined;
    }
    return this.#judgePlace(place);
  }

  #judgePlace(place: VaultPath): VaultPath | undefined {
    const { exclusions } = this.#options.vault;
    const what = this.#whatIsAt(place);
    const isExcluded = exclusions.excludesFolder(place);
    if (what === "folder" && !isExcluded) return this.#judgeFolder(place);
    if (this.#watched.has(place)) this.lose("a watched folder is gone");
    const isOffLimits = what === "link" || what === "folder";
    if (isOffLimits && this.isDeep(parentOf(place))) {
      this.lose("something came that must not be watched");
    }
    return isExcluded || (what === "file" && exclusions.excludesFile(place)) ? undefined : place;
  }

  #judgeFolder(folder: VaultPath): VaultPath {
    // A folder may have a name that no file may have; it cannot be looked at by itself then.
    if (this.#options.vault.exclusions.excludesFile(folder)) this.lose("an odd folder changed");
    else if (this.#watched.has(folder)) this.#checkWatched(folder);
    else if (this.isDeep(folder)) this.#young.add(folder);
    else this.lose("a folder came that is not watched yet");
    return folder;
  }

  #checkWatched(folder: FolderPath): void {
    const id = folderIdOf(diskPathOf(this.#options.vault, folder));
    if (id !== this.#watched.get(folder)) this.lose("a watched folder was replaced");
    // Who may look into it may have changed.
    else if (folder === "") this.lose("the vault itself changed");
    else this.#young.add(folder);
  }

  #whatIsAt(place: VaultPath): "folder" | "link" | "file" | undefined {
    try {
      const info = Deno.lstatSync(diskPathOf(this.#options.vault, place));
      return info.isSymlink ? "link" : info.isDirectory ? "folder" : "file";
    } catch {
      return undefined;
    }
  }
}

/** The nearest part of a path that has a name a note could have. */
function nearestPlace(text: string): VaultPath | undefined {
  const path = text.replaceAll("\\", "/");
  for (let end = path.length; end > 0; end = path.lastIndexOf("/", end - 1)) {
    try {
      return parseVaultPath(path.slice(0, end));
    } catch {
      // The folder above may do: all of it is looked at then.
    }
  }
  return undefined;
}

function withoutNested(places: ReadonlySet<VaultPath>): Set<VaultPath> {
  return new Set(
    [...places].filter((place) =>
      !ancestorsOf(place).some((above) => above !== "" && places.has(above))
    ),
  );
}

function folderIdOf(disk: string): FolderId {
  try {
    const { dev, ino, isDirectory } = Deno.lstatSync(disk);
    return isDirectory ? `${dev} ${ino}` : "";
  } catch {
    return "";
  }
}

/** Makes the folder, takes away what a killed process left there, and returns its real path. */
function prepareCookies(folder: string): string {
  Deno.mkdirSync(folder, { recursive: true, mode: 0o700 });
  const oldMs = Date.now() - 60_000;
  for (const { name } of Deno.readDirSync(folder)) {
    const path = join(folder, name);
    try {
      if ((Deno.lstatSync(path).mtime?.getTime() ?? 0) < oldMs) Deno.removeSync(path);
    } catch {
      // Another process was quicker.
    }
  }
  return Deno.realPathSync(folder);
}

function removeCookie(path: string): void {
  try {
    Deno.removeSync(path);
  } catch {
    // It could not be made, or somebody tidied up.
  }
}

function nextTurn(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 0));
}
