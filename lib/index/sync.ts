/** What has to be read again: the decision, without a look at the disk. */
import type { FileStamp } from "@/lib/vault/vault.ts";
import { isRacy, sameStamp } from "@/lib/vault/vault.ts";
import type { VaultPath } from "@/lib/vault/vault_path.ts";
import type { FileRecord } from "./indexed_note.ts";
import { covers } from "./seen_vault.ts";

/** Up to so many notes the vault is compared with the index before every search. */
export const ALWAYS_COMPARED_NOTES = 10_000;
/** Above that, at most so often. */
export const COMPARE_INTERVAL_MS = 5_000;

/** The index's memory of the files, as far as the plan needs it. */
export interface KnownFiles {
  paths(): Iterable<VaultPath>;
  has(path: VaultPath): boolean;
  fileOf(path: VaultPath): FileRecord | undefined;
}

export interface SyncPlan {
  /** New files and those that may have changed, in the order of the scan. */
  readonly toRead: readonly VaultPath[];
  /** Known files that the scan did not meet: gone, if the disk says so when asked again. */
  readonly missing: readonly VaultPath[];
}

const PATHS_PER_STEP = 1_000;

/** A part of the vault that was looked at because something was heard of it. */
export interface HeardPart {
  readonly places: ReadonlySet<string>;
  /** Tells whether a place was a folder before. */
  wasFolder(place: string): boolean;
}

/**
 * Returns what to do so that the index holds what the scan saw.
 *
 * @param part Where the scan looked; everywhere without it. Files that were heard of themselves are
 * read whatever their stamps say.
 */
export function* planSync(
  files: ReadonlyMap<VaultPath, FileStamp>,
  known: KnownFiles,
  part?: HeardPart,
): Generator<void, SyncPlan> {
  const toRead: VaultPath[] = [];
  const missing: VaultPath[] = [];
  let count = 0;
  for (const [path, stamp] of files) {
    const isHeard = part?.places.has(path) === true;
    if (isHeard || !isUntouched(stamp, known.fileOf(path))) toRead.push(path);
    if (++count % PATHS_PER_STEP === 0) yield;
  }
  for (const path of part ? knownIn(part, known) : known.paths()) {
    if (!files.has(path)) missing.push(path);
    if (++count % PATHS_PER_STEP === 0) yield;
  }
  return { toRead, missing };
}

/** Only what lay in a folder has to be looked for among all. */
function* knownIn({ places, wasFolder }: HeardPart, known: KnownFiles): Generator<VaultPath> {
  const folders = new Set<string>();
  for (const place of places) {
    if (wasFolder(place)) folders.add(place);
    else if (known.has(place as VaultPath)) yield place as VaultPath;
  }
  if (folders.size === 0) return;
  for (const path of known.paths()) if (covers(folders, path)) yield path;
}

/** Tells whether a file's stamp proves that it holds what it held when it was hashed. */
export function isUntouched(stamp: FileStamp, record: FileRecord | undefined): boolean {
  return record !== undefined && sameStamp(stamp, record.stamp) &&
    !isRacy(stamp, record.hashedAtMs);
}

export interface FreshnessState {
  readonly notes: number;
  /** When the last comparison that ended began; `undefined` = never. */
  readonly comparedAtMs: number | undefined;
  readonly nowMs: number;
}

/** Tells whether a search has to wait for a comparison of vault and index. */
export function mustCompare({ notes, comparedAtMs, nowMs }: FreshnessState): boolean {
  if (notes <= ALWAYS_COMPARED_NOTES || comparedAtMs === undefined) return true;
  return nowMs - comparedAtMs >= COMPARE_INTERVAL_MS;
}
