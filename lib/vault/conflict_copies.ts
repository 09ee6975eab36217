/**
 * Knows the names under which sync tools (and we) keep a second version of a note, so that such a
 * copy, which carries the id of its original, does not silence the original.
 */
import { baseName, isMarkdown, joinVaultPath, parentOf, type VaultPath } from "./vault_path.ts";

/** The name that a copy was made from; whether that file is there is for the caller to see. */
export interface ConflictCopy {
  readonly original: VaultPath;
  /** False for names that people use too (`Chapter 2.md`): a copy only if both have one id. */
  readonly certain: boolean;
}

// Patterns for the end of a stem. Only Markdown names reach them: 255 bytes at the most.
const OWN = /\s*\(conflict \d{4}-?\d{2}-?\d{2}[^()]*\)$/i;
const CERTAIN: readonly RegExp[] = [
  OWN,
  // Syncthing
  /\.sync-conflict-\d{8}-\d{6}(?:-[A-Z0-9]{7})?$/i,
  // ownCloud
  /_conflict-\d{8}-\d{6}$/i,
  // Dropbox, Nextcloud, Obsidian Sync
  /\s*\((?:[^()]*\s)?conflicted copy(?:[^()]|\(\d+\))*\)$/i,
  /\s*[(（][^()（）]*(?:冲突副本|衝突副本|衝突複本)[^()（）]*[)）]$/,
  // Seafile
  /\s*\(SFConflict [^()]*\)$/i,
];
// iCloud; Google Drive and browsers
const WEAK: readonly RegExp[] = [/ (?:[2-9]|[1-9]\d)$/, / ?\([1-9]\d?\)$/];

/**
 * Finds the note that a file is a conflict copy of, by its name alone.
 *
 * @returns `undefined` if the name is not one that sync tools make.
 *
 * @example
 * ```ts
 * import { equal } from "node:assert/strict";
 * import { parseVaultPath } from "@/lib/vault/vault_path.ts";
 *
 * const copy = parseVaultPath("a/b (Ann's conflicted copy 2024-01-01).md");
 * equal(conflictCopyOf(copy)?.original, "a/b.md");
 * ```
 */
export function conflictCopyOf(path: VaultPath): ConflictCopy | undefined {
  const { stem, ending } = splitName(path);
  const counted = withoutSuffix(stem, WEAK);
  // A number may follow the mark: the second copy of one day.
  const original = withoutAllMarks(stem) ?? (counted && withoutAllMarks(counted));
  const found = original ?? counted;
  if (found === undefined) return undefined;
  const target = joinVaultPath(parentOf(path), found + ending);
  return target && { original: target, certain: original !== undefined };
}

/** Tells the copies `… (conflict <time>).md`, as a write of ours saves them. */
export function isOwnConflictCopy(path: VaultPath): boolean {
  return withoutSuffix(splitName(path).stem, [OWN]) !== undefined;
}

function splitName(path: VaultPath): { stem: string; ending: string } {
  const name = baseName(path);
  const end = isMarkdown(name) ? name.lastIndexOf(".") : name.length;
  return { stem: name.slice(0, end), ending: name.slice(end) };
}

/** A copy of a copy has several marks; the note in use has none. */
function withoutAllMarks(stem: string): string | undefined {
  let found: string | undefined;
  for (let next = withoutSuffix(stem, CERTAIN); next; next = withoutSuffix(next, CERTAIN)) {
    found = next;
  }
  return found;
}

function withoutSuffix(stem: string, patterns: readonly RegExp[]): string | undefined {
  for (const pattern of patterns) {
    const rest = stem.replace(pattern, "");
    if (rest !== stem && rest.trim() !== "") return rest;
  }
  return undefined;
}
