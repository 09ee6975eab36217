/**
 * Finishes writes that a crash cut off, by their records. Since then anybody may have changed the
 * files: what is neither as it was before the write nor as it was to be is left alone, and what the
 * write would have put there is saved beside it. Each step may be done twice, as a crash may cut
 * this off too.
 */
import { AppError, describeFailure, EditConflict, PayloadTooLarge } from "@/lib/errors.ts";
import { Slicer } from "@/lib/seams.ts";
import { conflictCopyOf, isOwnConflictCopy } from "./conflict_copies.ts";
import { saveConflictCopy } from "./_conflict_copy.ts";
import { writeBeside } from "./_draft.ts";
import { ABSENT, hashBytes } from "./etag.ts";
import { listNames } from "./_list_names.ts";
import { ensureFolder } from "./_make_folder.ts";
import { removeIfThere, rightsOf } from "./_new_file.ts";
import { syncFolders, writeTogether } from "./_together.ts";
import { type CheckedChange, requireMovable, requireWritable } from "./_write_checks.ts";
import type { WriteJournal } from "./_write_journal.ts";
import type { WriteRecord } from "./_write_record.ts";
import { diskPathOf, type FileState, isSameFile, readFile, statFile, type Vault } from "./vault.ts";
import { joinVaultPath, parentOf, type VaultPath } from "./vault_path.ts";
import type { Move, Recovered, Together, VaultWriterOptions, Written } from "./vault_writer.ts";

/** Goes through all records of the vault, the oldest first; for who holds its lock. */
export async function recoverWrites(
  options: VaultWriterOptions,
  journal: WriteJournal,
): Promise<Recovered[]> {
  const recovered: Recovered[] = [];
  for (const path of await journal.list()) {
    try {
      const record = await journal.read(path);
      if (!record) continue;
      const outcome = await recoverWrite(options, journal, { path, record });
      if (Object.values(outcome).some((paths) => paths.length > 0)) recovered.push(outcome);
    } catch (error) {
      // It stays for the next start, and keeps no other from being finished.
      options.logger.error("write-not-recovered", { cause: describeFailure(error).cause });
    }
  }
  return recovered;
}

async function recoverWrite(
  options: VaultWriterOptions,
  journal: WriteJournal,
  { path, record }: { readonly path: string; readonly record: WriteRecord },
): Promise<Recovered> {
  const recovery = new Recovery(options);
  for (const change of record.changes) await recovery.finishChange(change);
  for (const move of record.moves) await recovery.finishMove(move);
  const { paths, conflictCopies, rest } = recovery;
  const left = [
    ...rest.changes.map(({ change }) => change.path),
    ...rest.moves.map(({ from }) => from),
  ];
  await syncFolders(options, new Set([...paths, ...conflictCopies].map(parentOf)));
  // What is done is forgotten: a person's next edit of it is none that came in between.
  if (left.length > 0) await journal.add(rest);
  await journal.remove(path);
  return { paths, conflictCopies, left };
}

/** What came of a part of a write. */
type Finished = Omit<Recovered, "left">;

/** Finishes one write, part by part. */
class Recovery {
  readonly paths: VaultPath[] = [];
  readonly conflictCopies: VaultPath[] = [];
  /** What could not be done. */
  readonly rest: { readonly changes: CheckedChange[]; readonly moves: Move[] } = {
    changes: [],
    moves: [],
  };
  readonly #options: VaultWriterOptions;
  readonly #slicer: Slicer;

  constructor(options: VaultWriterOptions) {
    this.#options = options;
    this.#slicer = new Slicer(options.clock);
  }

  async finishChange(checked: CheckedChange): Promise<void> {
    const isDone = await this.#attempt(() => finishChange(this.#options, checked));
    if (!isDone) this.rest.changes.push(checked);
  }

  async finishMove(move: Move): Promise<void> {
    const isDone = await this.#attempt(() => finishMove(this.#options, move));
    if (!isDone) this.rest.moves.push(move);
  }

  async #attempt(work: () => Promise<Finished>): Promise<boolean> {
    try {
      const { paths, conflictCopies } = await work();
      await this.#slicer.pause();
      this.paths.push(...paths);
      this.conflictCopies.push(...conflictCopies);
      return true;
    } catch (error) {
      this.#options.logger.warn("file-not-recovered", { cause: describeFailure(error).cause });
      return false;
    }
  }
}

async function finishChange(
  options: VaultWriterOptions,
  checked: CheckedChange,
): Promise<Finished> {
  const { change, etag } = checked;
  const { path, expected } = change;
  requireWritable(options.vault, change);
  const now = await etagAt(options, path);
  if (now === etag) return { paths: [path], conflictCopies: [] };
  const written = now === expected
    ? await tryWrite(options, { changes: [change], moves: [] })
    : undefined;
  if (!written) return { paths: [], conflictCopies: [await saveAsCopy(options, checked)] };
  return { paths: [path], conflictCopies: written.flatMap((it) => it.conflictCopy ?? []) };
}

async function finishMove(options: VaultWriterOptions, move: Move): Promise<Finished> {
  const { vault, logger } = options;
  const { from, to, expected } = move;
  requireMovable(vault, move);
  const done = { paths: [to, from], conflictCopies: [] };
  if (isOneFile(statFile(vault, from), statFile(vault, to))) {
    removeIfThere(diskPathOf(vault, from));
    return done;
  }
  const target = await etagAt(options, to);
  if (target === expected) return done;
  if (target === ABSENT && await etagAt(options, from) === expected) {
    if (await tryWrite(options, { changes: [], moves: [move] })) return done;
  }
  // A person has the one or the other by now: both stay as they are.
  logger.warn("move-given-up");
  return { paths: [], conflictCopies: [] };
}

function isOneFile(a: FileState, b: FileState): boolean {
  return a.state === "file" && b.state === "file" && isSameFile(a.stamp, b.stamp);
}

/** Stands for the etag of what is no note that could be read. */
const NO_NOTE = "no-note";

/** @throws {AppError} If it cannot be seen what is there. */
async function etagAt({ vault, clock }: VaultWriterOptions, path: VaultPath): Promise<string> {
  const found = statFile(vault, path);
  if (found.state === "absent") return ABSENT;
  if (found.state === "other") return NO_NOTE;
  if (found.state === "unreadable") {
    throw new AppError("unavailable", `Cannot look at "${path}": ${found.reason}`);
  }
  try {
    return await new Slicer(clock).run(hashBytes(readFile(vault, path).bytes));
  } catch (error) {
    if (error instanceof PayloadTooLarge) return NO_NOTE;
    throw error;
  }
}

/** Returns `undefined` if something is in the way. */
async function tryWrite(
  options: VaultWriterOptions,
  together: Together,
): Promise<Written[] | undefined> {
  try {
    return await writeTogether(options, together);
  } catch (error) {
    if (error instanceof EditConflict) return undefined;
    throw error;
  }
}

/** Saves new content beside what stands in its place; the same is saved once only. */
async function saveAsCopy(
  options: VaultWriterOptions,
  checked: CheckedChange,
): Promise<VaultPath> {
  const { vault, clock, logger } = options;
  const { path, bytes } = checked.change;
  ensureFolder(vault, parentOf(path));
  const same = await findCopy(options, checked);
  if (same !== undefined) return same;
  const isThere = statFile(vault, path).state === "file";
  const rights = isThere ? rightsOf(diskPathOf(vault, path)) : checked.rights;
  const kept = await writeBeside(options, { path, bytes, rights });
  try {
    const copy = saveConflictCopy(vault, { kept, path, nowMs: clock.nowMs() });
    logger.warn("conflict-copy-saved");
    return copy;
  } finally {
    removeIfThere(kept);
  }
}

/** Finds a conflict copy of a file that holds the new content already. */
async function findCopy(
  options: VaultWriterOptions,
  { change: { path, bytes }, etag }: CheckedChange,
): Promise<VaultPath | undefined> {
  const { vault } = options;
  for (const copy of ownCopiesOf(vault, path)) {
    const found = statFile(vault, copy);
    const mayBeSame = found.state === "file" && found.stamp.size === bytes.length;
    if (mayBeSame && await etagAt(options, copy) === etag) return copy;
  }
  return undefined;
}

function ownCopiesOf(vault: Vault, path: VaultPath): VaultPath[] {
  return listNames(diskPathOf(vault, parentOf(path)))
    .flatMap((name) => joinVaultPath(parentOf(path), name) ?? [])
    .filter((copy) => isOwnConflictCopy(copy) && conflictCopyOf(copy)?.original === path);
}
