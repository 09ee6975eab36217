/**
 * Puts a link to a store in the place of an agent's folder, and takes it away again. What lies in the
 * folder goes into the store first, and the folder itself stays under another name: at every moment all
 * that was there is there, and what a crash cuts off the next run finishes.
 */
import { dirname } from "node:path";
import { EditConflict } from "@/lib/errors.ts";
import { listMissingFolders, removeEmptyFolders } from "@/lib/outside_files.ts";
import { isoTime } from "@/lib/time_text.ts";
import { diskPathOf } from "@/lib/vault/vault.ts";
import { parseVaultPath, type VaultPath } from "@/lib/vault/vault_path.ts";
import { ABSENT } from "@/lib/vault/vault_writer.ts";
import type { ApplyContext, RemoveContext } from "./adapter.ts";
import { lookAtPlace } from "./link_place.ts";
import { type FolderFile, readNativeFolder } from "./native_folder.ts";
import { refused } from "./plan_link.ts";
import { planMerges } from "./plan_merge.ts";
import type { LinkPlan, Merge, ProjectionPlan } from "./projection.ts";
import { withProjectionLock } from "./projection_lock.ts";
import {
  dropProjection,
  type LinkRecord,
  type ProjectionRecord,
  putProjection,
} from "./projection_record.ts";

/**
 * Carries out a plan; returns what was done.
 *
 * @param title Of the agent, for people.
 * @throws {EditConflict} If what it saw has changed.
 * @throws {AppError} `not-writable` if the system makes no link: then the folder is back.
 */
export async function applyLink(
  context: ApplyContext,
  plan: ProjectionPlan,
  title: string,
): Promise<string[]> {
  if (plan.kind !== "link") throw new TypeError("Not a plan of a link");
  if (plan.state === "current") return [];
  return await withProjectionLock(context.machine.home, () => putLink(context, plan, title));
}

async function putLink(context: ApplyContext, plan: LinkPlan, title: string): Promise<string[]> {
  const { projects, vault, machine: { home }, disk } = context;
  const { target, kept } = plan;
  await requireSame(plan);
  const { store: { folder } } = await projects.openStore(plan.found);
  const merges = planMerges({ vault, folder, title }, plan.files);
  await merge(context, folder, merges);
  const store = diskPathOf(vault, folder);
  const record = await toRecord(context, plan, store);
  // First, so that a crash from here on leaves word of what was on its way.
  await putProjection(home, record);
  try {
    await disk.makeFolder(dirname(target));
    const late = kept === undefined ? [] : await moveAway(context, plan, { folder, title, kept });
    await disk.link(store, target);
    await putProjection(home, { ...record, isDone: true });
    return sayDone(plan, store, [...merges, ...late]);
  } catch (error) {
    await takeBack(context, plan, record);
    throw error;
  }
}

async function requireSame({ target, source, files }: LinkPlan): Promise<void> {
  const { state } = await lookAtPlace(target);
  const isSame = state === (source === target ? "folder" : "absent") &&
    (source === undefined || sameFiles(files, await readNativeFolder(source)));
  if (!isSame) throw changed(target);
}

function sameFiles(one: readonly FolderFile[], other: readonly FolderFile[]): boolean {
  return one.length === other.length &&
    one.every(({ path, etag }, at) => other[at]?.path === path && other[at]?.etag === etag);
}

function changed(target: string): EditConflict {
  return new EditConflict(`Somebody has just changed ${target}, so it was left alone: try again`);
}

async function merge(
  { writer }: ApplyContext,
  folder: VaultPath,
  merges: readonly Merge[],
): Promise<void> {
  for (const { file: { bytes }, to } of merges) {
    await writer.write({ path: parseVaultPath(`${folder}/${to}`), bytes, expected: ABSENT });
  }
}

async function toRecord(
  { vault, clock, decidedBy }: ApplyContext,
  { agent, scope, target, project, kept, record }: LinkPlan,
  store: string,
): Promise<LinkRecord> {
  const known = record?.mode === "SYMLINK" ? record : undefined;
  const missing = await listMissingFolders(dirname(target));
  return {
    agent,
    mode: "SYMLINK",
    scope,
    target,
    ...(project === undefined ? {} : { project }),
    vault: vault.root,
    store,
    decidedAt: decidedBy === undefined && known ? known.decidedAt : isoTime(clock.nowMs()),
    ...decisionOf(decidedBy, known),
    folders: [...new Set([...known?.folders ?? [], ...missing])],
    kept: [...known?.kept ?? [], ...(kept === undefined ? [] : [kept])],
    isDone: false,
  };
}

function decisionOf(
  decidedBy: ApplyContext["decidedBy"],
  known: LinkRecord | undefined,
): Pick<LinkRecord, "decidedBy"> {
  const decider = decidedBy ?? known?.decidedBy;
  return decider === undefined ? {} : { decidedBy: decider };
}

interface Away {
  readonly folder: VaultPath;
  readonly title: string;
  readonly kept: string;
}

/** Also takes over what came into the folder at the last moment; returns that. */
async function moveAway(
  context: ApplyContext,
  { target, files }: LinkPlan,
  { folder, title, kept }: Away,
): Promise<Merge[]> {
  await context.disk.rename(target, kept);
  const known = new Map(files.map(({ path, etag }) => [path, etag]));
  const late = (await readNativeFolder(kept)).filter(({ path, etag }) => known.get(path) !== etag);
  const merges = planMerges({ vault: context.vault, folder, title }, late);
  await merge(context, folder, merges);
  return merges;
}

/** Puts all back but what is in the store, unless somebody has put something there meanwhile. */
async function takeBack(
  { disk, machine: { home } }: ApplyContext,
  { target, kept, record: known }: LinkPlan,
  record: LinkRecord,
): Promise<void> {
  const { state } = await lookAtPlace(target);
  const isAway = kept !== undefined && (await lookAtPlace(kept)).state === "folder";
  // The next run goes on from there.
  if (state === "link" || isAway && state !== "absent") return;
  if (isAway) await disk.rename(kept, target);
  const before = known?.folders ?? [];
  await removeEmptyFolders(record.folders.filter((folder) => !before.includes(folder)));
  if (known) await putProjection(home, known);
  else await dropProjection(home, record);
}

function sayDone(
  { target, kept }: LinkPlan,
  store: string,
  merges: readonly Merge[],
): string[] {
  return [
    ...merges.map(({ file, to }) =>
      to === file.path
        ? `${file.path} is in the store now`
        : `${file.path} is in the store now as ${to}, beside another of its name`
    ),
    ...(kept === undefined ? [] : [`${target} was put aside as ${kept}`]),
    `${target} is a link to ${store} now`,
  ];
}

/**
 * Takes a link away and puts the folder back that was there before; returns what was done.
 *
 * @throws {AppError} `not-writable` if something else is there by now.
 */
export async function removeLink(
  { machine: { home }, disk }: RemoveContext,
  record: ProjectionRecord,
): Promise<string[]> {
  if (record.mode !== "SYMLINK") throw new TypeError("Not a record of a link");
  return await withProjectionLock(home, () => takeLinkAway({ home, disk }, record));
}

async function takeLinkAway(
  { home, disk }: Pick<RemoveContext, "disk"> & { readonly home: string },
  record: LinkRecord,
): Promise<string[]> {
  const { target, store, folders } = record;
  const place = await lookAtPlace(target);
  const kept = await listThere(record.kept);
  const isOurs = place.state === "link" && place.leadsTo === store;
  // Cut off before the link was made: the folder is the one that was there.
  const isUntouched = place.state === "folder" && !record.isDone;
  if (place.state !== "absent" && !isOurs && !isUntouched) {
    throw refused(target, `is not the link that was made, so it was left alone${sayKept(kept)}`);
  }
  const lines: string[] = [];
  if (isOurs) {
    await disk.unlink(target);
    lines.push(`${target} is no link to ${store} any more; what is in the store stays there`);
  }
  const [first, ...others] = isUntouched ? [undefined, ...kept] : kept;
  if (first !== undefined) {
    await disk.rename(first, target);
    lines.push(`${target} is the folder again that was there before`);
  } else if (!isUntouched) await removeEmptyFolders(folders);
  await dropProjection(home, record);
  return [...lines, ...others.map((path) => `${path} was put aside from there, and was left so`)];
}

async function listThere(folders: readonly string[]): Promise<string[]> {
  const there: string[] = [];
  for (const folder of folders) {
    if ((await lookAtPlace(folder)).state === "folder") there.push(folder);
  }
  return there;
}

function sayKept(kept: readonly string[]): string {
  return kept.length === 0 ? "" : `; what was there before lies in ${kept.join(" and ")}`;
}
