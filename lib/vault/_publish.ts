/**
 * Gives drafts their names, and takes them back. What a draft replaces is kept under another name
 * until the whole write is done: so that it can come back as it was, and so that it can be seen that
 * it was what the write expected.
 */
import { describeFailure } from "@/lib/errors.ts";
import { Slicer } from "@/lib/seams.ts";
import { saveConflictCopy } from "./_conflict_copy.ts";
import type { Draft } from "./_draft.ts";
import { ABSENT, hashBytes } from "./etag.ts";
import { keptName, litterPathOf } from "./_litter.ts";
import { removeIfThere } from "./_new_file.ts";
import { isAt, linkNew, replaceFile } from "./_replace_file.ts";
import { changed } from "./_write_errors.ts";
import { diskPathOf, type FileStamp } from "./vault.ts";
import { baseName, parentOf, type VaultPath } from "./vault_path.ts";
import type { VaultWriterOptions, Written } from "./vault_writer.ts";

/** A draft that has its name. */
export interface Published {
  readonly draft: Draft;
  /** Where what it replaced lies. */
  readonly kept?: string;
}

/**
 * Gives a draft its name, in one step.
 *
 * @throws {EditConflict} If another program was faster: then nothing has changed.
 */
export function publish(options: VaultWriterOptions, draft: Draft): Published {
  const { change: { path, expected }, temp } = draft;
  if (temp === undefined) return { draft };
  const disk = diskPathOf(options.vault, path);
  if (expected === ABSENT) {
    linkNew(temp, disk, `"${path}"`);
    return { draft };
  }
  const kept = keptPathOf(options, path, expected);
  if (replaceFile({ temp, disk, kept }) === "another") throw changed(path, "save");
  return { draft, kept };
}

/** Looks at what a draft replaced, and returns what is to be told of the change. */
export async function settle(
  options: VaultWriterOptions,
  { draft, kept }: Published,
): Promise<Written> {
  const { change: { path, expected }, etag } = draft;
  const conflictCopy = kept === undefined
    ? undefined
    : await settleKept(options, { kept, path, expected });
  return { path, etag, ...(conflictCopy === undefined ? {} : { conflictCopy }) };
}

/**
 * Gives what a draft replaced its name again, as long as nobody has put another file there, and
 * removes what was new. What somebody has written into our file meanwhile becomes a conflict copy.
 */
export async function takeBack(
  options: VaultWriterOptions,
  { draft, kept }: Published,
): Promise<void> {
  const { change: { path, expected }, etag, stamp } = draft;
  if (stamp === undefined) return;
  const place = { disk: diskPathOf(options.vault, path), stamp };
  const ours = keptPathOf(options, path, etag);
  if (changeBack(place, { kept, ours })) {
    await settleKept(options, { kept: ours, path, expected: etag });
  } else if (kept !== undefined) {
    await settleKept(options, { kept, path, expected });
  }
}

/** Returns false if another file stands there. */
function changeBack(
  { disk, stamp }: { readonly disk: string; readonly stamp: FileStamp },
  { kept, ours }: { readonly kept: string | undefined; readonly ours: string },
): boolean {
  if (!isAt(disk, stamp)) return false;
  if (kept !== undefined) return replaceFile({ temp: kept, disk, kept: ours }) === "done";
  Deno.renameSync(disk, ours);
  return true;
}

function keptPathOf(
  { vault, newId }: VaultWriterOptions,
  path: VaultPath,
  etag: string,
): string {
  return litterPathOf(vault, parentOf(path), keptName(newId(), etag, baseName(path)));
}

interface Kept {
  readonly kept: string;
  /** Of the file that it was. */
  readonly path: VaultPath;
  /** Etag of what it should hold. */
  readonly expected: string;
}

/**
 * Looks at what was replaced, now that nobody finds it under its name any more. The write is done,
 * whatever becomes of this: what stays is looked at by the next start.
 *
 * @returns The conflict copy that was made of it, if it was not what it should be.
 */
async function settleKept(
  { vault, clock, logger }: VaultWriterOptions,
  { kept, path, expected }: Kept,
): Promise<VaultPath | undefined> {
  try {
    if (await new Slicer(clock).run(hashBytes(readKept(kept))) === expected) {
      removeIfThere(kept);
      return undefined;
    }
    const conflictCopy = saveConflictCopy(vault, { kept, path, nowMs: clock.nowMs() });
    logger.warn("conflict-copy-saved");
    return conflictCopy;
  } catch (error) {
    logger.error("replaced-not-looked-at", { cause: describeFailure(error).cause });
    return undefined;
  }
}

/** At once, as a small file takes less time than a turn of the event loop; notes are bounded. */
function readKept(kept: string): Uint8Array {
  return Deno.readFileSync(kept);
}
