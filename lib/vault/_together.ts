/**
 * Changes and moves files, all or none. Everything is checked, then written down beside its place,
 * then given its name; what has its name is taken back if another cannot have its. From the moment
 * the journal holds the record of a write a crash no longer undoes it: the next start finishes it.
 */
import { describeFailure } from "@/lib/errors.ts";
import { Slicer } from "@/lib/seams.ts";
import { type Draft, makeDraft } from "./_draft.ts";
import { ensureFolder } from "./_make_folder.ts";
import { moveBack, moveFile } from "./_move_file.ts";
import { removeIfThere, syncFolder } from "./_new_file.ts";
import { publish, type Published, settle, takeBack } from "./_publish.ts";
import {
  checkChange,
  type CheckedChange,
  type CheckedMove,
  checkMove,
  newPathsOf,
} from "./_write_checks.ts";
import { toWriteError } from "./_write_errors.ts";
import type { WriteJournal } from "./_write_journal.ts";
import { diskPathOf, type Vault } from "./vault.ts";
import { type FolderPath, parentOf } from "./vault_path.ts";
import type { Together, VaultWriterOptions, Written } from "./vault_writer.ts";

export interface TogetherOptions {
  /** Runs before anything is looked at. */
  readonly guard?: (() => Promise<void>) | undefined;
  /** Absent: all or none as long as the process lives. */
  readonly journal?: WriteJournal | undefined;
}

/** A write of which nothing has its name yet. */
interface Prepared {
  readonly drafts: readonly Draft[];
  readonly moves: readonly CheckedMove[];
  /** Whose names change. */
  readonly folders: ReadonlySet<FolderPath>;
}

/** As much of a write as has its names. */
interface Done {
  readonly published: Published[];
  readonly moved: CheckedMove[];
}

/** Does a write, while nobody else writes; leaves no file but those that it is about. */
export async function writeTogether(
  options: VaultWriterOptions,
  together: Together,
  { guard, journal }: TogetherOptions = {},
): Promise<Written[]> {
  const drafts: Draft[] = [];
  try {
    await guard?.();
    const { changes, moves } = await checkAll(options, together);
    const made = makeFolders(options.vault, together);
    for (const each of changes) drafts.push(await makeDraft(options, each));
    const folders = foldersOf({ drafts, moves, made });
    return await publishAll(options, { drafts, moves, folders }, journal);
  } catch (error) {
    throw toWriteError(error);
  } finally {
    for (const { temp } of drafts) if (temp) removeIfThere(temp);
  }
}

async function checkAll(
  options: VaultWriterOptions,
  { changes, moves }: Together,
): Promise<{ changes: readonly CheckedChange[]; moves: readonly CheckedMove[] }> {
  return {
    changes: await inSteps(options, changes, (change) => checkChange(options, change)),
    moves: await inSteps(options, moves, (move) => checkMove(options, move)),
  };
}

/** Works through a list, so that other work gets its turns. */
async function inSteps<T, R>(
  { clock }: VaultWriterOptions,
  items: readonly T[],
  work: (item: T) => R | Promise<R>,
): Promise<R[]> {
  const slicer = new Slicer(clock);
  const results: R[] = [];
  for (const item of items) {
    results.push(await work(item));
    await slicer.pause();
  }
  return results;
}

/** Makes the folders that a write needs, and returns those that hold a new one. */
function makeFolders(vault: Vault, together: Together): FolderPath[] {
  const folders = new Set(newPathsOf(together).map(parentOf));
  return [...folders].flatMap((folder) => ensureFolder(vault, folder)).map(parentOf);
}

function foldersOf(
  { drafts, moves, made }: Omit<Prepared, "folders"> & { readonly made: readonly FolderPath[] },
): ReadonlySet<FolderPath> {
  const written = drafts.filter(({ temp }) => temp).map(({ change }) => parentOf(change.path));
  const moved = moves.flatMap(({ move: { from, to } }) => [parentOf(from), parentOf(to)]);
  return new Set([...written, ...moved, ...made]);
}

async function publishAll(
  options: VaultWriterOptions,
  prepared: Prepared,
  journal: WriteJournal | undefined,
): Promise<Written[]> {
  const record = await addRecord(prepared, journal);
  const done: Done = { published: [], moved: [] };
  try {
    await publishEach(options, prepared, done);
  } catch (error) {
    const isDone = await takeAllBack(options, done);
    await syncFolders(options, prepared.folders);
    // What could not be taken back is better finished by the next start than left half done.
    if (record !== undefined && isDone) await journal?.remove(record);
    throw error;
  }
  // Before the record goes: without it nobody would finish what a loss of power takes back.
  await syncFolders(options, prepared.folders);
  if (record !== undefined) await journal?.remove(record);
  return await settleAll(options, done);
}

/** A single change needs none, being one step; a single move is two. */
async function addRecord(
  { drafts, moves }: Prepared,
  journal: WriteJournal | undefined,
): Promise<string | undefined> {
  const changes = drafts.filter(({ temp }) => temp);
  if (journal === undefined || (changes.length < 2 && moves.length === 0)) return undefined;
  return await journal.add({ changes, moves: moves.map(({ move }) => move) });
}

async function publishEach(
  options: VaultWriterOptions,
  { drafts, moves }: Prepared,
  { published, moved }: Done,
): Promise<void> {
  // What has its name is noted at once: whatever fails next, it can be taken back.
  await inSteps(options, drafts, (draft) => void published.push(publish(options, draft)));
  await inSteps(options, moves, (move) => {
    moveFile(options.vault, move);
    moved.push(move);
  });
}

/** Returns false if the system refused to take a part back. */
async function takeAllBack(
  options: VaultWriterOptions,
  { published, moved }: Done,
): Promise<boolean> {
  let isDone = true;
  const attempt = async (work: () => void | Promise<void>) => {
    try {
      await work();
    } catch (error) {
      isDone = false;
      options.logger.error("write-not-taken-back", { cause: describeFailure(error).cause });
    }
  };
  const { vault } = options;
  await inSteps(options, moved.toReversed(), (move) => attempt(() => moveBack(vault, move)));
  await inSteps(options, published.toReversed(), (each) => attempt(() => takeBack(options, each)));
  return isDone;
}

async function settleAll(
  options: VaultWriterOptions,
  { published, moved }: Done,
): Promise<Written[]> {
  const written = await inSteps(options, published, (each) => settle(options, each));
  return [...written, ...moved.map(({ move }) => ({ path: move.to, etag: move.expected }))];
}

/** What is written is there; whether it outlasts a loss of power is not for the caller to mend. */
export async function syncFolders(
  { vault, logger }: VaultWriterOptions,
  folders: Iterable<FolderPath>,
): Promise<void> {
  for (const folder of folders) {
    try {
      await syncFolder(diskPathOf(vault, folder));
    } catch (error) {
      logger.warn("folder-not-synced", { cause: describeFailure(error).cause });
    }
  }
}
