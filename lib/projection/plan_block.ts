/** Decides what a file of an agent is to hold: a block with pointers to memories. */
import { dirname } from "node:path";
import type { PlannedChange } from "@/lib/contracts_projection.ts";
import { AppError } from "@/lib/errors.ts";
import {
  listMissingFolders,
  type OutsideFile,
  readOutsideFile,
  requireWritable,
  sameBytes,
} from "@/lib/outside_files.ts";
import { Slicer, systemClock } from "@/lib/seams.ts";
import type { Vault } from "@/lib/vault/vault.ts";
import { renderInto } from "./managed_block.ts";
import { formatPointers, listPointers, mergeLists, type PointerList } from "./pointer_lines.ts";
import {
  type BlockPlan,
  type PlanContext,
  planOrRefuse,
  type PlanSubject,
  type ProjectionPlan,
  type ProjectionScope,
} from "./projection.ts";
import { findRecord, type ProjectionRecord } from "./projection_record.ts";
import { isWithin, realPlaceOf } from "./real_place.ts";

/** Files of instructions are read whole into a context; what is larger is something else. */
export const MAX_FILE_BYTES = 1024 * 1024;

/** Which file is to show which memories. */
export interface BlockWish {
  readonly subject: PlanSubject;
  readonly scopes: readonly ProjectionScope[];
  /** Real path of the folder out of which no link may lead; absent for a person's own files. */
  readonly root?: string | undefined;
  /** Finds out what the person should know, once it is known what would be written. */
  readonly findNotes?: (after: Uint8Array) => Promise<readonly string[]>;
}

/** Decides what has to be done for a file; what stands in the way becomes its reason. */
export async function planBlock(context: PlanContext, wish: BlockWish): Promise<ProjectionPlan> {
  return await planOrRefuse(context, wish.subject, () => plan(context, wish));
}

async function plan(context: PlanContext, wish: BlockWish): Promise<BlockPlan> {
  const { subject, root, scopes, findNotes } = wish;
  const { target } = subject;
  if (root !== undefined) await requireInside(target, root);
  await requireOutsideVault(target, context.vault);
  const before = await readOutsideFile(target);
  if (before && before.bytes.length > MAX_FILE_BYTES) {
    throw new AppError("not-writable", `${target} is over ${MAX_FILE_BYTES} bytes`);
  }
  await requireWritable(target, before);
  await requireOnlyOne(context.records, subject);
  const lines = formatPointers(await listAll(context, scopes));
  const slicer = new Slicer(systemClock);
  const rendered = await slicer.run(renderInto(before?.bytes ?? new Uint8Array(), lines));
  const { bytes: after, ...block } = rendered;
  const isSame = before !== undefined && sameBytes(before.bytes, after);
  const record = findRecord(context.records, subject);
  return {
    ...subject,
    kind: "block",
    state: isSame ? "current" : block.oldBlock === undefined ? "new" : "stale",
    notes: await findNotes?.(after) ?? [],
    changes: isSame ? [] : await listChanges(target, before),
    after,
    ...block,
    ...(before === undefined ? {} : { before }),
    ...(record === undefined ? {} : { record }),
  };
}

async function listAll(
  { listMemories }: PlanContext,
  scopes: readonly ProjectionScope[],
): Promise<PointerList> {
  let list: PointerList = { pointers: [], more: 0 };
  for (const scope of scopes) {
    list = mergeLists(list, await listPointers((cursor) => listMemories(scope, cursor)));
  }
  return list;
}

async function listChanges(
  target: string,
  before: OutsideFile | undefined,
): Promise<PlannedChange[]> {
  if (before) return [{ change: "write-block", path: target }];
  const folders = await listMissingFolders(dirname(target));
  return [
    ...folders.map((path) => ({ change: "make-folder" as const, path })),
    { change: "make-file", path: target },
  ];
}

/** There a list of notes would be one more note, and nobody writes but the vault's own writer. */
async function requireOutsideVault(target: string, vault: Vault): Promise<void> {
  if (!isWithin(await realPlaceOf(target), vault.root)) return;
  throw new AppError("not-writable", `${target} lies in the vault itself`);
}

/** Two lists in one file would take turns. */
async function requireOnlyOne(
  records: readonly ProjectionRecord[],
  { agent, target }: PlanSubject,
): Promise<void> {
  const real = await realPlaceOf(target);
  for (const other of records) {
    const isOther = other.mode === "RENDER" && (other.agent !== agent || other.target !== target);
    if (isOther && await realPlaceOf(other.target) === real) {
      const whose = other.agent === agent ? `as ${other.target}` : `for ${other.agent}`;
      throw new AppError("not-writable", `${target} holds a list of memories ${whose} already`);
    }
  }
}

/**
 * Makes sure that a project does not have us write elsewhere: anybody may have made it up.
 *
 * @throws {AppError} `not-writable` if a link leads out of it.
 */
async function requireInside(target: string, root: string): Promise<void> {
  const real = await realPlaceOf(target);
  if (isWithin(real, root)) return;
  throw new AppError("not-writable", `${target} is a link that leads out of ${root}, to ${real}`);
}
