/**
 * The snapshot: what the index holds, in one file of the state directory, so that a start parses no
 * note. It is made beside the old one and takes its place in one step, so there is never half a
 * one; and what cannot be used, for whatever reason, is put aside, since the vault has it all.
 */
import { join } from "node:path";
import { describeFailure } from "@/lib/errors.ts";
import { OWN_FILE_MODE, OWN_FOLDER_MODE } from "@/lib/own_files.ts";
import { type Clock, type Logger, randomId, Slicer } from "@/lib/seams.ts";
import { type SnapshotTurns, SnapshotUnusable } from "./_snapshot_frames.ts";
import { SnapshotReader, SnapshotWriter } from "./_snapshot_stream.ts";

const FILE_NAME = "index.snapshot";
const ASIDE_NAME = `${FILE_NAME}.aside`;
/** The process that makes it stands in the name. */
const TEMP_NAME = /^index\.snapshot\.(\d+)-[\da-f-]+\.tmp$/;
/** Nobody writes on one for so long: whoever made it was killed. */
const TEMP_LIFE_MS = 60 * 60 * 1000;

export interface SnapshotOptions {
  /** The state directory; made if missing, for this person alone. */
  readonly folder: string;
  /** Names the versions of all that decides what a snapshot holds: with another it is not used. */
  readonly key: string;
  readonly clock: Clock;
  /** Gives up; no part of a file stays then. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * Writes a snapshot in place of the last one, in small steps.
 *
 * @param save Writes what `restore` of `readSnapshot()` reads, in the same order.
 * @returns The size of the file in bytes.
 * @throws The signal's reason if it aborts, what the disk says, or what `save` throws. Then the
 * last snapshot is still there, and nothing else is left.
 */
export async function writeSnapshot(
  options: SnapshotOptions,
  save: (writer: SnapshotWriter) => Promise<void>,
): Promise<number> {
  const { folder, signal } = options;
  signal?.throwIfAborted();
  await Deno.mkdir(folder, { recursive: true, mode: OWN_FOLDER_MODE });
  const temp = join(folder, `${FILE_NAME}.${Deno.pid}-${randomId()}.tmp`);
  try {
    const bytes = await writeTemp(temp, options, save);
    await Deno.rename(temp, join(folder, FILE_NAME));
    return bytes;
  } catch (error) {
    await removeQuietly(temp);
    throw error;
  }
}

async function writeTemp(
  temp: string,
  options: SnapshotOptions,
  save: (writer: SnapshotWriter) => Promise<void>,
): Promise<number> {
  using file = await Deno.open(temp, { createNew: true, write: true, mode: OWN_FILE_MODE });
  const writer = new SnapshotWriter(file, turnsOf(options));
  await writer.begin(options.key);
  await save(writer);
  await writer.end();
  // Else a power failure may leave the new name and none of the bytes. Sync, it would stall all.
  await file.sync();
  return (await file.stat()).size;
}

/**
 * Returns what the snapshot holds, `undefined` if there is none that can be used. Also removes what
 * killed processes left half done: after an hour, or at once if they had the number of this one.
 *
 * A snapshot that cannot be used is renamed to `index.snapshot.aside`, in place of an earlier one,
 * and the reason is logged.
 *
 * @param restore Reads what was saved, all of it; what it returns is dropped if the file proves
 * damaged further on. All that it throws means that the snapshot cannot be used.
 * @throws The signal's reason if it aborts; then the snapshot stays. Nothing else.
 */
export async function readSnapshot<T>(
  options: SnapshotOptions & { readonly logger: Logger },
  restore: (reader: SnapshotReader) => Promise<T>,
): Promise<T | undefined> {
  options.signal?.throwIfAborted();
  await sweepTemps(options);
  try {
    return await readFile(options, restore);
  } catch (error) {
    options.signal?.throwIfAborted();
    await putAside(options, error);
    return undefined;
  }
}

async function readFile<T>(
  options: SnapshotOptions,
  restore: (reader: SnapshotReader) => Promise<T>,
): Promise<T | undefined> {
  using file = await openIfThere(join(options.folder, FILE_NAME));
  if (!file) return undefined;
  const reader = new SnapshotReader(file, (await file.stat()).size, turnsOf(options));
  await reader.begin(options.key);
  const value = await restore(reader);
  await reader.end();
  return value;
}

async function openIfThere(path: string): Promise<Deno.FsFile | undefined> {
  try {
    // Asked before, as to open a pipe would wait for someone to write into it.
    if (!(await Deno.lstat(path)).isFile) throw new SnapshotUnusable("foreign");
    return await Deno.open(path);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return undefined;
    if (error instanceof SnapshotUnusable) throw error;
    throw new SnapshotUnusable("unreadable");
  }
}

function turnsOf({ clock, signal }: SnapshotOptions): SnapshotTurns {
  return { slicer: new Slicer(clock), signal };
}

async function putAside(
  { folder, logger }: SnapshotOptions & { readonly logger: Logger },
  error: unknown,
): Promise<void> {
  const reason = error instanceof SnapshotUnusable ? error.reason : "not-restorable";
  const cause = reason === "not-restorable" ? describeFailure(error) : {};
  try {
    await removeIfThere(join(folder, ASIDE_NAME));
    await Deno.rename(join(folder, FILE_NAME), join(folder, ASIDE_NAME));
    logger.warn("snapshot-put-aside", { reason, ...cause });
  } catch {
    // Why it could not be used says more; the next one that is written takes its place.
    logger.warn("snapshot-unusable", { reason, ...cause });
  }
}

/** Removes the files that killed processes left half done. */
async function sweepTemps({ folder, clock }: SnapshotOptions): Promise<void> {
  try {
    for await (const { name, isFile } of Deno.readDir(folder)) {
      const pid = TEMP_NAME.exec(name)?.[1];
      if (pid === undefined || !isFile) continue;
      const path = join(folder, name);
      const { mtime } = await Deno.lstat(path);
      const file = { pid: Number(pid), mtimeMs: mtime?.getTime() ?? 0 };
      if (isLeftOver(file, clock.nowMs())) await removeQuietly(path);
    }
  } catch {
    // There is no folder yet, or it cannot be read: nothing to remove, or no way to do so.
  }
}

/**
 * Tells whether nobody writes on a file any more. In a container every process may have the same
 * number: what has that of this one and is older was left by the one before.
 */
function isLeftOver(
  { pid, mtimeMs }: Record<"pid" | "mtimeMs", number>,
  nowMs: number,
): boolean {
  if (pid === Deno.pid && mtimeMs < performance.timeOrigin) return true;
  // A time to come is none at which someone is writing either.
  return Math.abs(nowMs - mtimeMs) > TEMP_LIFE_MS;
}

async function removeQuietly(path: string): Promise<void> {
  try {
    await Deno.remove(path);
  } catch {
    // It was never made, or it is swept at another start.
  }
}

async function removeIfThere(path: string): Promise<void> {
  try {
    await Deno.remove(path, { recursive: true });
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  }
}
