/**
 * Says which files a text search may show. The index knows, but while it is being built it does not
 * know all: then a file is judged by what it says of itself.
 */
import { AppError } from "@/lib/errors.ts";
import { type Clock, Slicer } from "@/lib/seams.ts";
import type { VaultIndex } from "@/lib/index/vault_index.ts";
import { conflictCopyOf } from "@/lib/vault/conflict_copies.ts";
import { classifyNote, identifyNote } from "@/lib/vault/kinds.ts";
import { type ParsedNote, parseNote } from "@/lib/vault/note.ts";
import { readFile, statFile, type Vault } from "@/lib/vault/vault.ts";
import { stemOf, type VaultPath } from "@/lib/vault/vault_path.ts";

export interface FileJudgeDeps {
  readonly clock: Clock;
  readonly vault: Vault;
  readonly index: VaultIndex;
}

/** How a file is called in an answer. */
export interface FileLabel {
  /** The memory's id, else the path. */
  readonly id: string;
  readonly name: string;
}

/** Judges the files of one search; paths are spelt as on disk. */
export class FileJudge {
  readonly #vault: Vault;
  readonly #index: VaultIndex;
  readonly #slicer: Slicer;
  readonly #unknown = new Map<VaultPath, FileLabel>();

  constructor({ clock, vault, index }: FileJudgeDeps) {
    this.#vault = vault;
    this.#index = index;
    this.#slicer = new Slicer(clock);
  }

  /** Tells at once whether a file may be shown, as far as that can be told without reading it. */
  mayShow(path: VaultPath): boolean {
    return this.#index.isListed(path) ?? classifyNote(this.#vault, path, {}) !== "derived";
  }

  /** Tells for certain, and reads a file that the index does not know. */
  async isShown(path: VaultPath): Promise<boolean> {
    const isListed = this.#index.isListed(path);
    if (isListed !== undefined) return isListed;
    const note = await this.#read(path);
    if (note === undefined) return false;
    const { kind, id } = identifyNote(this.#vault, path, note);
    if (!this.#index.wouldList({ kind, status: note.status }) || this.#isSyncCopy(path)) {
      return false;
    }
    if (kind === "memory" && this.#isIdTaken(path, id)) return false;
    this.#unknown.set(path, { id, name: note.name });
    return true;
  }

  /** Labels a file that `isShown()` let through. */
  labelOf(path: VaultPath): FileLabel {
    return this.#unknown.get(path) ?? this.#index.find(path) ?? { id: path, name: stemOf(path) };
  }

  async #read(path: VaultPath): Promise<ParsedNote | undefined> {
    try {
      const { bytes } = readFile(this.#vault, path);
      // Many small files are read one after another, none of which would ever pause by itself.
      await this.#slicer.pause();
      return await this.#slicer.run(parseNote(path, bytes));
    } catch (error) {
      // Gone, a link by now, or not readable.
      if (error instanceof AppError) return undefined;
      throw error;
    }
  }

  #isSyncCopy(path: VaultPath): boolean {
    const copy = conflictCopyOf(path);
    return copy !== undefined && copy.certain && this.#isThere(copy.original);
  }

  /** A copy of a sync tool takes nobody's id, nor does a file that has moved here. */
  #isIdTaken(path: VaultPath, id: string): boolean {
    return this.#index.claimantsOf(id).some((other) => {
      const copy = conflictCopyOf(other);
      const isCopy = copy !== undefined && (copy.certain || copy.original === path);
      return other !== path && !isCopy && this.#isThere(other);
    });
  }

  #isThere(path: VaultPath): boolean {
    return statFile(this.#vault, path).state === "file";
  }
}
