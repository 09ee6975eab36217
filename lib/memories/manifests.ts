/**
 * Keeps the manifest (`MEMORY.md`) of each store: the list of its memories, for people and for
 * agents that read the folder itself. It follows whatever the index hears of, whoever changed it, a
 * moment later and at most once a second.
 */
import { AppError, describeFailure } from "@/lib/errors.ts";
import type { IndexedNote } from "@/lib/index/indexed_note.ts";
import type { VaultIndex } from "@/lib/index/vault_index.ts";
import { type Clock, type Logger, settleWithin, Slicer } from "@/lib/seams.ts";
import { hashBytes } from "@/lib/vault/etag.ts";
import { type Store, storeOf } from "@/lib/vault/kinds.ts";
import { readFile, statFile, type Vault } from "@/lib/vault/vault.ts";
import { baseName, parseVaultPath, type VaultPath } from "@/lib/vault/vault_path.ts";
import { ABSENT, type VaultWriter } from "@/lib/vault/vault_writer.ts";
import { formatEntry, renderManifest } from "./manifest_text.ts";
import { manifestOf } from "./read_manifest.ts";

export interface ManifestsOptions {
  readonly vault: Vault;
  readonly index: VaultIndex;
  readonly writer: VaultWriter;
  readonly clock: Clock;
  readonly logger: Logger;
  /** How long changes are collected before they are written. */
  readonly delayMs?: number;
}

export const MANIFEST_DELAY_MS = 1_000;
/** No way up, no heading, no title, no other kind of file. */
const OUR_LINK = /^(?![./])(?!.*(?:\.\.|[#?<>"])).*\.(?:md|markdown)$/i;
/** A stop waits no longer for another process that holds the lock. */
const CLOSE_LIMIT_MS = 2_000;
/** Of writes in a row that met another one; then the next change brings the next try. */
const MAX_TRIES = 5;
/**
 * Another server may list other memories (it excludes other folders): so often in a minute what
 * somebody wrote into a list is written over, without any other change in the store.
 */
const MAX_REWRITES = 3;
const REWRITES_WITHIN_MS = 60_000;

/** Writes manifests in the background, from the moment it is made. */
export class Manifests {
  readonly #options: ManifestsOptions;
  readonly #delayMs: number;
  readonly #unsubscribe: () => void;
  /** Lines of the list by the state of the note that they name. */
  readonly #lines = new WeakMap<IndexedNote, string>();
  /** Folders of stores in which there was a memory. */
  readonly #known = new Set<string>();
  readonly #tries = new Map<string, number>();
  readonly #rewrites = new Map<string, readonly number[]>();
  /** Folders of stores in which something changed. */
  #dirty = new Set<string>();
  #timer: ReturnType<typeof setTimeout> | undefined;
  #writing: Promise<void> = Promise.resolve();
  #isClosed = false;

  constructor(options: ManifestsOptions) {
    this.#options = options;
    this.#delayMs = options.delayMs ?? MANIFEST_DELAY_MS;
    this.#unsubscribe = options.index.onChanged((paths) => this.#noteChanges(paths));
  }

  /** Brings the manifests up to date that are there, once the index knows the vault. */
  start(): void {
    for (const note of this.#options.index.notes()) {
      const folder = note.kind === "memory" ? this.#storeOf(note.path)?.folder : undefined;
      if (folder !== undefined) this.#known.add(folder);
    }
    for (const folder of this.#known) {
      if (this.#isThere(folder)) this.#dirty.add(folder);
    }
    this.#schedule();
  }

  /** Returns when all changes that the index has told of are written, as far as they can be. */
  async flush(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#writing = this.#writing.then(() => this.#writeDirty()).catch((error) => {
      this.#options.logger.error("manifests-failed", { ...describeFailure(error) });
    });
    await this.#writing;
  }

  /** Returns what the manifest of a store would be that has none so far. */
  async preview(folder: string): Promise<string> {
    const slicer = new Slicer(this.#options.clock);
    const lists = await slicer.run(this.#collect(new Set([folder])));
    const bytes = await slicer.run(this.#render(undefined, folder, lists.get(folder) ?? []));
    return new TextDecoder().decode(bytes);
  }

  /** Writes what is due, if that can be done soon, and follows no more. */
  async close(): Promise<void> {
    this.#unsubscribe();
    if (this.#isClosed) return;
    this.#isClosed = true;
    await settleWithin(this.flush(), CLOSE_LIMIT_MS);
  }

  #noteChanges(paths: ReadonlySet<VaultPath>): void {
    for (const path of paths) {
      const folder = this.#storeOf(path)?.folder;
      if (folder === undefined) continue;
      const isManifest = path === manifestOf(folder);
      if (isManifest && !this.#mayRewrite(folder)) continue;
      this.#tries.delete(folder);
      this.#dirty.add(folder);
    }
    this.#schedule();
  }

  #mayRewrite(folder: string): boolean {
    const nowMs = this.#options.clock.monotonicMs();
    const recent = this.#rewrites.get(folder)?.filter((ms) => nowMs - ms < REWRITES_WITHIN_MS) ??
      [];
    if (recent.length >= MAX_REWRITES) return false;
    this.#rewrites.set(folder, recent);
    return true;
  }

  #schedule(): void {
    if (this.#isClosed || this.#dirty.size === 0 || this.#timer !== undefined) return;
    this.#timer = setTimeout(() => void this.flush(), this.#delayMs);
    // Nothing is to be kept waiting for it; a stop writes what is due.
    Deno.unrefTimer(this.#timer);
  }

  async #writeDirty(): Promise<void> {
    const folders = this.#dirty;
    this.#dirty = new Set();
    // What cannot be seen now is missing from the index only.
    if (folders.size === 0 || !this.#options.index.isWhole) return;
    const lists = await new Slicer(this.#options.clock).run(this.#collect(folders));
    for (const folder of folders) {
      const isReachable = await this.#tryWrite(folder, lists.get(folder) ?? []);
      if (!isReachable) return;
    }
  }

  /** Returns false if nothing can be written at all now. */
  async #tryWrite(folder: string, notes: readonly IndexedNote[]): Promise<boolean> {
    try {
      await this.#write(folder, notes);
      this.#tries.delete(folder);
      return true;
    } catch (error) {
      const code = error instanceof AppError ? error.code : "internal";
      if (code === "edit-conflict" && this.#mayTryAgain(folder)) {
        this.#dirty.add(folder);
        this.#schedule();
      } else {
        this.#options.logger.warn("manifest-not-written", { cause: describeFailure(error).cause });
      }
      return code !== "unavailable";
    }
  }

  #mayTryAgain(folder: string): boolean {
    const tries = (this.#tries.get(folder) ?? 0) + 1;
    this.#tries.set(folder, tries);
    return tries < MAX_TRIES;
  }

  async #write(folder: string, notes: readonly IndexedNote[]): Promise<void> {
    const { vault, writer, clock } = this.#options;
    // Where no memory ever was, a file of that name is a person's own.
    if (notes.length > 0) this.#known.add(folder);
    if (!this.#known.has(folder)) return;
    const path = manifestOf(folder);
    const { state } = statFile(vault, path);
    if (state !== "file" && (state !== "absent" || notes.length === 0)) return;
    const before = state === "file" ? readFile(vault, path).bytes : undefined;
    const bytes = await new Slicer(clock).run(this.#render(before, folder, notes));
    const expected = before ? await new Slicer(clock).run(hashBytes(before)) : ABSENT;
    const { etag } = await writer.write({ path, bytes, expected });
    if (etag !== expected) this.#noteRewrite(folder);
  }

  #noteRewrite(folder: string): void {
    const nowMs = this.#options.clock.monotonicMs();
    this.#rewrites.set(folder, [...this.#rewrites.get(folder) ?? [], nowMs].slice(-MAX_REWRITES));
  }

  *#render(
    before: Uint8Array | undefined,
    folder: string,
    notes: readonly IndexedNote[],
  ): Generator<void, Uint8Array> {
    const lines: string[] = [];
    for (const note of notes) {
      lines.push(this.#lineOf(note, folder));
      yield;
    }
    const text = before && new TextDecoder("utf-8", { ignoreBOM: true }).decode(before);
    const names = text === undefined ? new Set<string>() : yield* this.#otherNames();
    const isForeign = (link: string) => this.#isForeign(folder, link, (name) => names.has(name));
    return new TextEncoder().encode(yield* renderManifest(text, { lines, isForeign }));
  }

  #lineOf(note: IndexedNote, folder: string): string {
    const known = this.#lines.get(note);
    if (known !== undefined) return known;
    const { name, description, path } = note;
    const inner = folder === "." ? path : path.slice(folder.length + 1);
    const line = formatEntry({ name, description, path: inner });
    this.#lines.set(note, line);
    return line;
  }

  /**
   * Tells a line that no list of ours ever had: its link is not written as ours are, or leads, in
   * one of the ways in which Obsidian reads it, to something that is there and is no memory.
   */
  #isForeign(folder: string, link: string, isNoteName: (name: string) => boolean): boolean {
    if (!OUR_LINK.test(link) || isNoteName(baseName(link))) return true;
    const places = [folder === "." ? link : `${folder}/${link}`, link];
    return places.some((place) => this.#isOtherFile(place));
  }

  #isOtherFile(place: string): boolean {
    const { vault, index } = this.#options;
    try {
      const path = parseVaultPath(place);
      return index.find(path)?.kind !== "memory" && statFile(vault, path).state === "file";
    } catch {
      // No path of the vault, so that it never was one of ours.
      return true;
    }
  }

  /** Knows the file names of all that is no memory. */
  *#otherNames(): Generator<void, ReadonlySet<string>> {
    const names = new Set<string>();
    for (const { kind, path } of this.#options.index.notes()) {
      if (kind !== "memory") names.add(baseName(path));
      yield;
    }
    return names;
  }

  /** Returns what the manifests of some stores are to list, the newest file names first. */
  *#collect(folders: ReadonlySet<string>): Generator<void, Map<string, IndexedNote[]>> {
    const { index } = this.#options;
    const lists = new Map<string, IndexedNote[]>();
    for (const note of index.notes()) {
      yield;
      const store = note.kind === "memory" ? this.#storeOf(note.path) : undefined;
      if (!store || !folders.has(store.folder) || index.isListed(note.path) !== true) continue;
      const list = lists.get(store.folder) ?? [];
      list.push(note);
      lists.set(store.folder, list);
    }
    for (const list of lists.values()) list.sort(newestFirst);
    return lists;
  }

  #storeOf(path: VaultPath): Store | undefined {
    return storeOf(this.#options.vault, path);
  }

  #isThere(folder: string): boolean {
    return statFile(this.#options.vault, manifestOf(folder)).state === "file";
  }
}

/** By name, which begins with the day. */
function newestFirst(a: IndexedNote, b: IndexedNote): number {
  return a.path < b.path ? 1 : -1;
}
