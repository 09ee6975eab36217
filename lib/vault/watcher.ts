/**
 * Hears what changes in the vault. Events come in the order of the changes, so whoever makes an
 * empty file, a cookie, in a folder that is listened to as well, and waits for its event, has heard
 * of every change before it (as Watchman does). What an event says is not relied on: it names a
 * place, and the disk says what is there.
 *
 * Facts about Deno 2.9 on Linux that this is built on, found by trying: all watchers of a process
 * share one queue of the kernel; closing one ends the others' watches of the same folders, and
 * takes effect a turn later. A folder that is new, or was moved, below a deep path is watched a
 * moment after its own event, and in some races not at all: so whatever happens to a folder ends
 * the life of a watcher. What is replaced by a link that leads elsewhere may not be heard of.
 */
import { join } from "node:path";
import { OWN_FOLDER_MODE } from "@/lib/own_files.ts";
import { systemClock } from "@/lib/seams.ts";
import { diskPathOf, reasonOf, type Vault } from "./vault.ts";
import {
  ancestorsOf,
  type FolderPath,
  parentOf,
  parseVaultPath,
  type VaultPath,
} from "./vault_path.ts";
import type { FolderStamp } from "./scan.ts";
import type { WatchPlan } from "./watch_plan.ts";

/** Later than that, to compare all files would be as quick. */
const COOKIE_LIMIT_MS = 50;
/** The first one proves that events come at all; the machine may be busy then. */
const FIRST_COOKIE_LIMIT_MS = 2_000;
/** Nobody waits for one that is older: its process was killed. */
const COOKIE_LIFE_MS = 60_000;
/** After so many places one look at everything is cheaper. */
const MAX_PLACES = 2_000;

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
  /** Called for each event that tells of more than a cookie; must not throw. */
  readonly onHeard?: (() => void) | undefined;
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
   * then on it hears of all changes; what changed meanwhile may have been lost.
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
      if (state === "late") throw new Error("no event comes");
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
   * Returns the files that were heard of since the last call, whatever is there now; of more than
   * that `lost` tells.
   *
   * @param wasFolder Tells whether a place was a folder when it was last looked at.
   */
  take(wasFolder: (place: string) => boolean): ReadonlySet<VaultPath> {
    const touched = this.#touched;
    this.#touched = new Set();
    const places = new Set<VaultPath>();
    for (const text of touched) {
      const place = this.#judge(text, wasFolder);
      if (place !== undefined) places.add(place);
    }
    return places;
  }

  /**
   * Compares what is watched with the folders of a whole scan that began after it was open: one that
   * came before that was not told of, and one may have been replaced. Gives up if they differ.
   */
  check(folders: ReadonlyMap<string, FolderStamp>): void {
    for (const [path, { dev, ino, mixed }] of folders) {
      const folder = path as FolderPath;
      const id = this.#watched.get(folder);
      const isDeep = this.isDeep(folder);
      if (mixed && isDeep) return this.lose("a tree holds what must not be watched");
      const isWatched = id === undefined ? isDeep : id === toFolderId(dev, ino);
      if (!isWatched) return this.lose("a folder came or was replaced while this was opened");
    }
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
      else this.#noteChange(path);
    }
  }

  #noteChange(path: string): void {
    if (this.#touched.size < MAX_PLACES) this.#touched.add(path);
    else this.lose("more changed at once than is worth looking at one by one");
    this.#options.onHeard?.();
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

  /** Returns the place to look at for a path on the disk, `undefined` if there is none. */
  #judge(disk: string, wasFolder: (place: string) => boolean): VaultPath | undefined {
    const { exclusions } = this.#options.vault;
    const place = this.#placeOf(disk);
    if (place === undefined) {
      this.lose("the vault itself changed, or a name in it that is none");
      return undefined;
    }
    const isHidden = (folder: FolderPath) => folder !== "" && exclusions.excludesFolder(folder);
    if (ancestorsOf(place).some(isHidden)) return undefined;
    const what = this.#whatIsAt(place);
    if (!isHidden(place)) {
      if (what === "folder" || wasFolder(place)) this.lose("a folder changed");
    } else if (what !== "folder") return undefined;
    if ((what === "link" || what === "folder") && this.isDeep(parentOf(place))) {
      this.lose("something came that must not be watched");
    }
    return isHidden(place) ? undefined : place;
  }

  #placeOf(disk: string): VaultPath | undefined {
    const root = diskPathOf(this.#options.vault, "");
    const text = disk.slice(root.length).replace(/^[/\\]+/, "").replaceAll("\\", "/");
    try {
      return parseVaultPath(text);
    } catch {
      return undefined;
    }
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

function folderIdOf(disk: string): FolderId {
  try {
    const { dev, ino, isDirectory } = Deno.lstatSync(disk);
    return isDirectory ? toFolderId(dev, ino ?? 0) : "";
  } catch {
    return "";
  }
}

function toFolderId(dev: number, ino: number): FolderId {
  return `${dev} ${ino}`;
}

/** Makes the folder, takes away what a killed process left there, and returns its real path. */
function prepareCookies(folder: string): string {
  Deno.mkdirSync(folder, { recursive: true, mode: OWN_FOLDER_MODE });
  const oldMs = systemClock.nowMs() - COOKIE_LIFE_MS;
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
