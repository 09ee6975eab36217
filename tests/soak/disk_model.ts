/**
 * What has to be on the disk, in memory, and which of it are notes that a search finds. The rules
 * are written down here a second time on purpose: a judge that asks the accused learns nothing.
 */
import { wordsIn } from "./words.ts";

/** The folder of the vault; other paths lie outside of it. */
export const VAULT = "vault";
export const OUTSIDE = "outside";

export type DiskNode =
  | { readonly kind: "file"; readonly text: string }
  | { readonly kind: "folder" }
  | { readonly kind: "link" };

const EXCLUDED_FOLDERS: ReadonlySet<string> = new Set(["private", "templates", "模板"]);

/** Files, folders and links by path, relative to the base folder. */
export class DiskModel {
  readonly #nodes = new Map<string, DiskNode>([
    [VAULT, { kind: "folder" }],
    [OUTSIDE, { kind: "folder" }],
  ]);

  at(path: string): DiskNode | undefined {
    return this.#nodes.get(path);
  }

  has(path: string): boolean {
    return this.#nodes.has(path);
  }

  /** @throws {Error} If there is no file. */
  textOf(path: string): string {
    const node = this.#nodes.get(path);
    if (node?.kind !== "file") throw new Error(`The model has no file "${path}"`);
    return node.text;
  }

  /** Returns all paths below a folder, in the order in which they came. */
  below(folder: string): string[] {
    return [...this.#nodes.keys()].filter((path) => path.startsWith(`${folder}/`));
  }

  write(path: string, text: string): void {
    this.mkdir(parentOf(path));
    this.#nodes.set(path, { kind: "file", text });
  }

  link(path: string): void {
    this.mkdir(parentOf(path));
    this.#nodes.set(path, { kind: "link" });
  }

  mkdir(folder: string): void {
    for (let path = folder; path !== ""; path = parentOf(path)) {
      if (!this.#nodes.has(path)) this.#nodes.set(path, { kind: "folder" });
    }
  }

  /** Removes what is there, with all below. */
  remove(path: string): void {
    for (const inner of this.below(path)) this.#nodes.delete(inner);
    this.#nodes.delete(path);
  }

  /** Puts it in the place of what is at `to`, if anything. */
  move(from: string, to: string): void {
    const moved = [from, ...this.below(from)].flatMap((path) => {
      const node = this.#nodes.get(path);
      return node ? [{ path: to + path.slice(from.length), node }] : [];
    });
    this.remove(to);
    this.remove(from);
    this.mkdir(parentOf(to));
    for (const { path, node } of moved) this.#nodes.set(path, node);
  }

  /** Takes away folders that hold nothing, as git does, from one upwards to another. */
  removeIfEmpty(folder: string, top: string): void {
    for (let path = folder; path !== top; path = parentOf(path)) {
      if (this.below(path).length > 0) return;
      this.#nodes.delete(path);
    }
  }

  /** Returns the text of each note that a search finds, by its path in the vault. */
  notes(): Map<string, string> {
    const found = new Map<string, string>();
    for (const [path, node] of this.#nodes) {
      if (node.kind === "file" && isNotePath(path)) {
        found.set(path.slice(VAULT.length + 1), node.text);
      }
    }
    return found;
  }
}

/** Returns the paths in the vault at which each word has to be found. */
export function placesOfWords(notes: ReadonlyMap<string, string>): Map<string, string[]> {
  const places = new Map<string, string[]>();
  for (const [path, text] of notes) {
    for (const word of wordsIn(text)) places.set(word, [...places.get(word) ?? [], path]);
  }
  return places;
}

/** Tells whether a file at a path, relative to the base folder, is a note that a search finds. */
export function isNotePath(path: string): boolean {
  const [top, ...segments] = path.split("/");
  const name = segments.pop();
  if (top !== VAULT || name === undefined) return false;
  return /\.(md|markdown)$/i.test(name) && !/^\.|^~\$/.test(name) &&
    name.toLowerCase() !== "_index.md" && !segments.some(isExcludedFolder);
}

/** Tells whether a folder of this name is never looked into. */
export function isExcludedFolder(name: string): boolean {
  return name.startsWith(".") || EXCLUDED_FOLDERS.has(name.toLowerCase());
}

/** Returns the folder above; `""` above the highest. */
export function parentOf(path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf("/")));
}

/** Returns the last segment. */
export function nameOf(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}
