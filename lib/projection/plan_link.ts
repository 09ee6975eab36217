/** Decides how a folder of an agent becomes a link to the store of a project. */
import { dirname, join } from "node:path";
import type { PlannedChange } from "@/lib/contracts_projection.ts";
import { AppError, EditConflict } from "@/lib/errors.ts";
import { listMissingFolders, requireWritable } from "@/lib/outside_files.ts";
import { isoTime } from "@/lib/time_text.ts";
import { diskPathOf, statFile, type Vault } from "@/lib/vault/vault.ts";
import type { VaultPath } from "@/lib/vault/vault_path.ts";
import { lookAtPlace } from "./link_place.ts";
import { type FolderFile, readNativeFolder } from "./native_folder.ts";
import { planMerges } from "./plan_merge.ts";
import type { LinkPlan, LocalProject, Merge, PlanContext, PlanSubject } from "./projection.ts";
import { findRecord, type ProjectionRecord } from "./projection_record.ts";
import { isWithin, realPlaceOf } from "./real_place.ts";

/** What the link is to be. */
export interface LinkWish {
  readonly subject: PlanSubject;
  readonly project: LocalProject;
  /** Of the agent, for people. */
  readonly title: string;
  readonly notes: readonly string[];
}

/** Stands for the name of a store that is still to be made. */
const NEW_STORE = "…";

/**
 * Decides what has to be done for a link.
 *
 * @throws {AppError} `not-writable` if something stands in the way.
 */
export async function planLink(context: PlanContext, wish: LinkWish): Promise<LinkPlan> {
  const { vault, records } = context;
  const { subject, project: { found }, title, notes } = wish;
  const { target } = subject;
  const folder = requireStore(vault, found.stores[0]?.folder);
  const record = findRecord(records, subject);
  const plan = { ...subject, kind: "link", found, notes, ...(record ? { record } : {}) } as const;
  const place = await lookAtPlace(target);
  if (place.state === "link") {
    if (folder !== undefined && place.leadsTo === diskPathOf(vault, folder)) {
      return { ...plan, state: "current", files: [], merges: [], changes: [] };
    }
    throw leadsElsewhere(target, place);
  }
  if (place.state === "other") throw refused(target, "is a file, where a folder is kept");
  if (isWithin(await realPlaceOf(target), vault.root)) throw refused(target, "lies in the vault");
  await requireWritable(target, undefined);
  const source = place.state === "folder" ? target : await findUnfinished(record);
  const files = source === undefined ? [] : await readSource(source, vault);
  const merges = planMerges({ vault, folder, title }, files);
  const kept = place.state === "folder" ? await freeNameFor(target, context.nowMs) : undefined;
  return {
    ...plan,
    state: source === undefined ? "new" : "merge",
    files,
    merges,
    ...(source === undefined ? {} : { source }),
    ...(kept === undefined ? {} : { kept }),
    changes: await listChanges(context, { target, folder, merges, kept, source }),
  };
}

/** The store has to be a folder of the vault itself. */
function requireStore(vault: Vault, folder: VaultPath | undefined): VaultPath | undefined {
  if (folder === undefined) return undefined;
  const found = statFile(vault, folder);
  if (found.state === "other" && found.what === "folder") return folder;
  throw refused(diskPathOf(vault, folder), "is no folder, though the project's store lies there");
}

function leadsElsewhere(
  target: string,
  { leadsTo, isDead }: { readonly leadsTo: string; readonly isDead: boolean },
): AppError {
  const where = isDead ? `to ${leadsTo}, where nothing is` : `to ${leadsTo}`;
  return refused(
    target,
    `is a link ${where}, and not to the store of this project: undo what made it, or remove it`,
  );
}

/** Where an earlier run was cut off behind the folder and before the link. */
async function findUnfinished(record: ProjectionRecord | undefined): Promise<string | undefined> {
  if (record?.mode !== "SYMLINK" || record.isDone) return undefined;
  const kept = record.kept.at(-1);
  return kept !== undefined && (await lookAtPlace(kept)).state === "folder" ? kept : undefined;
}

/** Nothing that holds the store. */
async function readSource(source: string, vault: Vault): Promise<FolderFile[]> {
  if (isWithin(vault.root, await Deno.realPath(source))) throw refused(source, "holds the vault");
  try {
    return await readNativeFolder(source);
  } catch (error) {
    if (error instanceof AppError) throw refused(source, error.message);
    // Listed a moment ago, and gone when it was read: another run of this, perhaps.
    if (error instanceof Deno.errors.NotFound) {
      throw new EditConflict(
        `Somebody has just changed ${source}, so it was left alone: try again`,
      );
    }
    throw error;
  }
}

/** Returns a name beside a folder that says what it was and when it was put there. */
async function freeNameFor(target: string, nowMs: number): Promise<string> {
  const time = isoTime(nowMs).replace(/[-:]|\.\d+/g, "");
  for (let number = 1;; number++) {
    const path = `${target}.before-commonplace-${time}${number === 1 ? "" : `-${number}`}`;
    if ((await lookAtPlace(path)).state === "absent") return path;
  }
}

interface ToChange {
  readonly target: string;
  readonly folder: VaultPath | undefined;
  readonly merges: readonly Merge[];
  readonly kept: string | undefined;
  readonly source: string | undefined;
}

async function listChanges(
  { vault }: PlanContext,
  { target, folder, merges, kept, source = target }: ToChange,
): Promise<PlannedChange[]> {
  const { memoriesFolder } = vault;
  const stores = memoriesFolder === "." ? "projects" : `${memoriesFolder}/projects`;
  const store = folder ?? `${stores}/${NEW_STORE}`;
  return [
    ...(folder === undefined ? [{ change: "make-store", path: store } as const] : []),
    ...merges.map(({ file, to }) => ({
      change: to === file.path ? "copy" as const : "copy-beside" as const,
      from: join(source, file.path),
      path: `${store}/${to}`,
    })),
    ...(await listMissingFolders(dirname(target))).map((path) => ({
      change: "make-folder" as const,
      path,
    })),
    ...(kept === undefined ? [] : [{ change: "keep-folder", from: target, path: kept } as const]),
    { change: "link", path: target, to: store } as const,
  ];
}

export function refused(path: string, reason: string): AppError {
  return new AppError("not-writable", `${path} ${reason}`);
}
