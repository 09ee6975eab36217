/**
 * Keeps the manifest (`MEMORY.md`) of each store: the list of its memories, for people and for
 * agents that read the folder itself. It follows whatever changes in a store, whoever changed it,
 * a moment later and at most once a second.
 */
import { AppError, describeFailure } from "@/lib/errors.ts";
import type { IndexedNote } from "@/lib/index/indexed_note.ts";
import type { VaultIndex } from "@/lib/index/vault_index.ts";
import { type Clock, type Logger, Slicer } from "@/lib/seams.ts";
import { hashBytes } from "@/lib/vault/etag.ts";
import { type Store, storeOf } from "@/lib/vault/kinds.ts";
import { readFile, statFile, type Vault } from "@/lib/vault/vault.ts";
import { parseVaultPath, type VaultPath } from "@/lib/vault/vault_path.ts";
import { ABSENT, type VaultWriter } from "@/lib/vault/vault_writer.ts";
import { type ManifestEntry, renderManifest } from "./manifest_text.ts";

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
const MANIFEST = "MEMORY.md";

/** Writes manifests in the background, from the moment it is made. */
export class Manifests {
  readonly #options: ManifestsOptions;
  readonly #delayMs: number;
  /** Folders of stores in which something changed. */
  #dirty = new Set<string>();
  #timer: ReturnType<typeof setTimeout> | undefined;
  #writing: Promise<void> = Promise.resolve();
  readonly #unsubscribe: () => void;
  #isClosed = false;

  constructor(options: ManifestsOptions) {
    this.#options = options;
    this.#delayMs = options.delayMs ?? MANIFEST_DELAY_MS;
    this.#unsubscribe = options.index.onChanged((paths) => this.#noteChanges(paths));
  }

  /** Brings the manifests up to date that are there, once the index knows the vault. */
  start(): void {
    const { index } = this.#options;
    const stores = index.notes().flatMap((note) => this.#storeOf(note.path)?.folder ?? []);
    for (const folder of new Set(stores)) {
      if (this.#isThere(folder)) this.#dirty.add(folder);
    }
    this.#schedule();
  }

  /** Returns when all changes that the index has told of are written. */
  async flush(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#writing = this.#writing.then(() => this.#writeDirty());
    await this.#writing;
  }

  /** Writes what is due, and follows no more. */
  async close(): Promise<void> {
    this.#unsubscribe();
    if (this.#isClosed) return;
    await this.flush();
    this.#isClosed = true;
  }

  #noteChanges(paths: ReadonlySet<VaultPath>): void {
    for (const path of paths) {
      const store = this.#storeOf(path);
      if (store) this.#dirty.add(store.folder);
    }
    this.#schedule();
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
    if (folders.size === 0) return;
    const entries = await new Slicer(this.#options.clock).run(this.#collect(folders));
    for (const folder of folders) await this.#tryWrite(folder, entries.get(folder) ?? []);
  }

  async #tryWrite(folder: string, entries: readonly ManifestEntry[]): Promise<void> {
    try {
      await this.#write(folder, entries);
    } catch (error) {
      if (error instanceof AppError && error.code === "edit-conflict") {
        // Somebody writes into it: the next round sees what.
        this.#dirty.add(folder);
        this.#schedule();
      } else {
        this.#options.logger.warn("manifest-not-written", { cause: describeFailure(error).cause });
      }
    }
  }

  async #write(folder: string, entries: readonly ManifestEntry[]): Promise<void> {
    const { vault, writer, clock } = this.#options;
    const path = manifestOf(folder);
    const found = statFile(vault, path);
    if (found.state === "absent" && entries.length === 0) return;
    if (found.state !== "absent" && found.state !== "file") return;
    const before = found.state === "file" ? readFile(vault, path).bytes : undefined;
    const text = before && new TextDecoder("utf-8", { ignoreBOM: true }).decode(before);
    const bytes = new TextEncoder().encode(renderManifest(text, entries));
    const expected = before ? await new Slicer(clock).run(hashBytes(before)) : ABSENT;
    await writer.write({ path, bytes, expected });
  }

  /** Returns what the manifests of some stores are to list, the newest file names first. */
  *#collect(folders: ReadonlySet<string>): Generator<void, Map<string, ManifestEntry[]>> {
    const { index } = this.#options;
    const entries = new Map<string, ManifestEntry[]>();
    for (const note of index.notes()) {
      const store = this.#storeOf(note.path);
      if (!store || !folders.has(store.folder) || !isListedMemory(index, note)) continue;
      const list = entries.get(store.folder) ?? [];
      list.push(toEntry(note, store));
      entries.set(store.folder, list);
      yield;
    }
    for (const list of entries.values()) list.sort((a, b) => a.path < b.path ? 1 : -1);
    return entries;
  }

  #storeOf(path: VaultPath): Store | undefined {
    return storeOf(this.#options.vault, path);
  }

  #isThere(folder: string): boolean {
    return statFile(this.#options.vault, manifestOf(folder)).state === "file";
  }
}

function manifestOf(folder: string): VaultPath {
  return parseVaultPath(folder === "." ? MANIFEST : `${folder}/${MANIFEST}`);
}

function isListedMemory(index: VaultIndex, { kind, path }: IndexedNote): boolean {
  return kind === "memory" && index.isListed(path) === true;
}

function toEntry({ name, description, path }: IndexedNote, { folder }: Store): ManifestEntry {
  return { name, description, path: folder === "." ? path : path.slice(folder.length + 1) };
}
