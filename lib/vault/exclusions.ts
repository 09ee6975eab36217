/**
 * What the server never opens, lists, searches or writes. The rules look at the path relative to
 * the vault's root only, so a vault that itself lies below a hidden folder works.
 */
import { ConfigError } from "@/lib/errors.ts";
import { ancestorsOf, baseName, foldCase, parseVaultPath, type VaultPath } from "./vault_path.ts";

const EXCLUDED_FOLDERS: readonly string[] = ["private", "templates", "模板"];

/** Answers for one vault; names are compared case-folded in NFC. */
export interface Exclusions {
  /** Judges a folder by itself, for a walk that has judged the folders above. */
  excludesFolder(path: VaultPath): boolean;
  /** Judges a file by its own name, for a walk that has judged the folders above. */
  excludesFile(path: VaultPath): boolean;
  /** Judges a path and every folder above it, for direct opens. */
  excludes(path: VaultPath): boolean;
  /** The excluded folders as globs of `.gitignore`, for programs that walk the vault themselves. */
  readonly globs: readonly string[];
}

/**
 * Makes the exclusions of a vault: `private`, template and dot folders, temporary and dot files,
 * `_index.md`, and the folders that the configuration adds.
 *
 * @param extraFolders A plain name (`Work`) is excluded at any depth, as the built-in names are;
 * with a slash before the end (`a/b`, `/Work`) it is one folder, as seen from the vault's root.
 * @throws {ConfigError} If an entry is no folder in the vault, or a pattern.
 */
export function createExclusions(extraFolders: readonly string[]): Exclusions {
  const entries = extraFolders.map(parseEntry);
  const names = new Set([...EXCLUDED_FOLDERS, ...entries.flatMap((entry) => entry.name ?? [])]);
  const paths = new Set(entries.flatMap((entry) => entry.path ?? []));

  const excludesFolder = (path: VaultPath): boolean => {
    const folded = foldCase(path);
    const name = baseName(folded);
    return name.startsWith(".") || names.has(name) || paths.has(folded);
  };
  const excludes = (path: VaultPath): boolean =>
    excludesFile(path) || excludesFolder(path) ||
    ancestorsOf(path).some((folder) => folder !== "" && excludesFolder(folder));
  const globs = [...[...names].map(toGlob), ...[...paths].map((path) => `/${toGlob(path)}`)];
  return { excludesFolder, excludesFile, excludes, globs };
}

function excludesFile(path: VaultPath): boolean {
  const name = foldCase(baseName(path));
  // The dot covers Emacs' lock files (".#name") too; "~$" starts those of office programs.
  return name.startsWith(".") || name.startsWith("~$") || name.endsWith(".tmp") ||
    name === "_index.md";
}

function toGlob(name: string): string {
  return name.replace(/[\\*?[\]{}!]/g, "\\$&");
}

function parseEntry(entry: string): { name?: string; path?: string } {
  const text = entry.trim().replaceAll("\\", "/").replace(/\/+$/, "");
  const inner = text.replace(/^(?:\.?\/)+/, "");
  if (inner.includes("*")) {
    // Taken for a plain name it would exclude nothing, and nobody would notice.
    throw new ConfigError(`exclude: "${entry}" is a pattern; only names of folders are understood`);
  }
  const folded = foldCase(parseFolder(inner, entry));
  return text.includes("/") ? { path: folded } : { name: folded };
}

function parseFolder(text: string, entry: string): VaultPath {
  try {
    return parseVaultPath(text);
  } catch (cause) {
    throw new ConfigError(`exclude: "${entry}" is no folder in the vault`, { cause });
  }
}
