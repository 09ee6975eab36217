/**
 * Undoing what was changed to connect an agent: a file that is as it was left gets its old bytes back;
 * one that somebody has changed meanwhile loses what was put there, and nothing else.
 */
import { AppError } from "@/lib/errors.ts";
import { backUp } from "@/lib/outside_backups.ts";
import {
  type OutsideFile,
  readOutsideFile,
  removeEmptyFolders,
  removeOutsideFile,
  writeOutsideFile,
} from "@/lib/outside_files.ts";
import { decodeText, encodeText, isBlankSettings, removeEdit } from "./edit_text.ts";
import type { Machine } from "@/lib/machine.ts";
import type { FileRecord } from "./install_record.ts";

/** What became of a file. */
export type Undone =
  /** It has the bytes that it had. */
  | "restored"
  /** It was made, and is gone. */
  | "removed"
  /** Somebody has changed it meanwhile: ours is gone from it. */
  | "edited"
  /** Nothing of ours was there any more. */
  | "unchanged";

export interface UndoneFile {
  readonly undone: Undone;
  /** Whether it is now what it was before. */
  readonly isWhole: boolean;
  /** Copies of what the file was, and of what stood there, where something else was taken out too. */
  readonly copies: readonly string[];
}

export interface UndoContext {
  readonly machine: Pick<Machine, "home">;
  readonly nowMs: number;
}

/**
 * Undoes one file; may run twice.
 *
 * @throws {AppError} `not-writable` if it cannot be read, understood or written: it stays as it is.
 */
export async function undoFile(context: UndoContext, record: FileRecord): Promise<UndoneFile> {
  const { machine: { home }, nowMs } = context;
  const now = await readOutsideFile(record.path);
  const undone = await undoIn(record, now);
  await removeEmptyFolders(record.folders);
  const { path, backup } = record;
  const isWhole = (await readOutsideFile(path))?.etag === record.before;
  // The agent's own program may have been at work.
  const mayBeTheirs = record.after === undefined && record.done.length > 0;
  const isOurs = undone === "edited" || mayBeTheirs;
  // Nothing is lost, whatever became of it.
  const original = isWhole || !isOurs || backup === undefined
    ? undefined
    : await readOutsideFile(backup);
  const copies: string[] = [];
  for (const file of [original, undone === "edited" ? now : undefined]) {
    if (file) copies.push(await backUp({ home, nowMs }, { path, bytes: file.bytes }));
  }
  return { undone, isWhole, copies };
}

async function undoIn(record: FileRecord, now: OutsideFile | undefined): Promise<Undone> {
  if (now === undefined || now.etag === record.before) return "unchanged";
  if (now.etag === record.after) return await restore(record, now);
  const { bom, text } = decodeText(now.bytes);
  const left = withoutOurs(record, text);
  if (left === text) return "unchanged";
  if (record.before === undefined && isBlankSettings(left)) {
    await removeOutsideFile(now);
    return "removed";
  }
  await writeOutsideFile({
    path: record.path,
    bytes: encodeText({ bom, text: left }),
    before: now,
  });
  return "edited";
}

async function restore(record: FileRecord, now: OutsideFile): Promise<Undone> {
  const { path, backup, mode = null, afterMode } = record;
  if (backup === undefined) {
    await removeOutsideFile(now);
    return "removed";
  }
  const copy = await readOutsideFile(backup);
  if (copy?.etag !== record.before) {
    throw new AppError("not-writable", `${path} was left alone: the copy of it is not ${backup}`);
  }
  const bytes = copy?.bytes ?? new Uint8Array();
  // Rights that somebody has given it since are theirs.
  const setMode = afterMode === undefined || now.mode === afterMode ? mode : null;
  await writeOutsideFile({ path, bytes, before: now, setMode });
  return "restored";
}

/** Returns what a file would be without what is on record. */
export function withoutRecorded(record: FileRecord, bytes: Uint8Array): Uint8Array {
  const { bom, text } = decodeText(bytes);
  return encodeText({ bom, text: withoutOurs(record, text) });
}

function withoutOurs({ path, done }: FileRecord, text: string): string {
  try {
    return done.reduceRight((sum, each) => removeEdit(sum, each), text);
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    throw new AppError(error.code, `${path} was left alone: ${error.message}`);
  }
}
