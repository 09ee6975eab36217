/** Puts a block into a file and takes it out again, and remembers what the file was. */
import { dirname } from "node:path";
import { backUp, removeBackups } from "@/lib/outside_backups.ts";
import {
  hashOf,
  listMissingFolders,
  type OutsideFile,
  readOutsideFile,
  removeEmptyFolders,
  removeOutsideFile,
  requireUnchanged,
  writeOutsideFile,
} from "@/lib/outside_files.ts";
import { Slicer, systemClock } from "@/lib/seams.ts";
import { isoTime } from "@/lib/time_text.ts";
import type { ApplyContext, RemoveContext } from "./adapter.ts";
import { removeFrom } from "./managed_block.ts";
import type { BlockPlan, ProjectionPlan } from "./projection.ts";
import { withProjectionLock } from "./projection_lock.ts";
import {
  type BlockRecord,
  dropProjection,
  type ProjectionRecord,
  putProjection,
} from "./projection_record.ts";

const BOM_BYTES = 3;

/**
 * Carries out a plan; returns what was done.
 *
 * @throws {EditConflict} If the file has changed since the plan was made.
 */
export async function applyBlock(context: ApplyContext, plan: ProjectionPlan): Promise<string[]> {
  if (plan.kind !== "block") throw new TypeError("Not a plan of a block");
  return await withProjectionLock(context.machine.home, () => writeBlock(context, plan));
}

async function writeBlock(context: ApplyContext, plan: BlockPlan): Promise<string[]> {
  const { machine: { home }, clock } = context;
  const { target: path, before, after: bytes, state, record: known } = plan;
  await requireUnchanged(path, before);
  if (state === "current" && known) return [];
  const record = await toRecord(context, plan);
  // Before the file, so that nothing is left that nobody could undo.
  await putProjection(home, record);
  if (state === "current") return [];
  try {
    const copy = before && !isOnlyOurs(before, plan)
      ? await backUp({ home, nowMs: clock.nowMs() }, before)
      : undefined;
    await writeOutsideFile({ path, bytes, before });
    return [
      before
        ? `${path} holds the list of memories now`
        : `${path} was made for the list of memories`,
      ...(copy === undefined ? [] : [`what it was before is in ${copy}`]),
    ];
  } catch (error) {
    await (known ? putProjection(home, known) : dropProjection(home, record));
    throw error;
  }
}

/** A file that we made, and that nobody has touched since. */
function isOnlyOurs({ etag }: OutsideFile, { record }: BlockPlan): boolean {
  return record?.mode === "RENDER" && record.isMade && record.after === etag;
}

async function toRecord(context: ApplyContext, plan: BlockPlan): Promise<BlockRecord> {
  const { vault, clock, decidedBy } = context;
  const { agent, scope, target, project, before, after, block, oldBlock, separator } = plan;
  const known = plan.record?.mode === "RENDER" ? plan.record : undefined;
  // A block that was taken out by hand is put in anew.
  const old = oldBlock === undefined ? undefined : known;
  const decider = decidedBy ?? known?.decidedBy;
  const first = old ? old.before : before?.etag;
  return {
    agent,
    mode: "RENDER",
    scope,
    target,
    ...(project === undefined ? {} : { project }),
    vault: vault.root,
    decidedAt: decidedBy === undefined && known ? known.decidedAt : isoTime(clock.nowMs()),
    ...(decider === undefined ? {} : { decidedBy: decider }),
    folders: old?.folders ?? await listMissingFolders(dirname(target)),
    separator: old?.separator ?? separator ?? "",
    isMade: old?.isMade ?? before === undefined,
    ...(first === undefined ? {} : { before: first }),
    after: hashOf(after),
    block: hashOf(new TextEncoder().encode(block)),
    isEdited: (known?.isEdited ?? false) || isChanged(known, oldBlock),
  };
}

function isChanged(known: BlockRecord | undefined, oldBlock: string | undefined): boolean {
  if (oldBlock === undefined) return false;
  return known?.block !== hashOf(new TextEncoder().encode(oldBlock));
}

/**
 * Takes the block out, and the file away if it was made for it and holds nothing else; returns what was
 * done.
 *
 * @throws {AppError} `not-writable` if the block cannot be told from the rest.
 */
export async function removeBlock(
  context: RemoveContext,
  record: ProjectionRecord,
): Promise<string[]> {
  if (record.mode !== "RENDER") throw new TypeError("Not a record of a block");
  return await withProjectionLock(context.machine.home, () => undoBlock(context, record));
}

async function undoBlock(context: RemoveContext, record: BlockRecord): Promise<string[]> {
  const { home } = context.machine;
  const { target, folders } = record;
  const file = await readOutsideFile(target);
  const lines = file ? await takeOut(context, record, file) : [];
  if (await readOutsideFile(target) === undefined) await removeEmptyFolders(folders);
  await dropProjection(home, record);
  return lines;
}

async function takeOut(
  { machine: { home }, clock }: RemoveContext,
  { target: path, separator, isMade, before, block, isEdited }: BlockRecord,
  file: OutsideFile,
): Promise<string[]> {
  const slicer = new Slicer(systemClock);
  const taken = await slicer.run(removeFrom(file.bytes, separator));
  if (taken === undefined) return [`${path} holds no list of ours any more`];
  const { bytes } = taken;
  const isRestored = hashOf(bytes) === before;
  const isGone = isMade && isEmpty(bytes);
  const isTouched = hashOf(new TextEncoder().encode(taken.block)) !== block;
  const isCopied = isTouched || (!isRestored && !isGone);
  const copy = isCopied ? await backUp({ home, nowMs: clock.nowMs() }, file) : undefined;
  const kept = copy === undefined ? [] : [`what stood there is in ${copy}`];
  if (isGone) {
    await removeOutsideFile(file);
    return [`${path} was made for the list of memories, and is gone`, ...kept];
  }
  await writeOutsideFile({ path, bytes, before: file });
  if (isRestored && !isEdited && !isTouched) await removeBackups(home, path);
  return [
    isRestored
      ? `${path} is as it was before`
      : `the list of memories was taken out of ${path}; all else is as it stood there`,
    ...kept,
  ];
}

function isEmpty(bytes: Uint8Array): boolean {
  const isMark = bytes.length === BOM_BYTES && bytes[0] === 0xef && bytes[1] === 0xbb;
  return bytes.length === 0 || isMark;
}
