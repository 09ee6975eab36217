/**
 * What was made so that agents are shown memories, so that exactly that can be undone, and what the
 * person has decided on it: one file in their home, for them alone.
 */
import { dirname, join } from "node:path";
import { AppError } from "@/lib/errors.ts";
import { isRecord } from "@/lib/is_record.ts";
import {
  type OutsideFile,
  readOutsideFile,
  removeEmptyFolders,
  writeOutsideFile,
} from "@/lib/outside_files.ts";
import { OWN_FILE_MODE, OWN_FOLDER_MODE, ownFolderOf } from "@/lib/own_files.ts";

/** Who has allowed it, where somebody has to. */
export type Decider = "answer" | "token";

interface RecordBase {
  readonly agent: string;
  /** Whose memories it shows. */
  readonly scope: "global" | "project";
  /** The file or link. */
  readonly target: string;
  /** Real path of the project's folder. */
  readonly project?: string;
  /** Real path. */
  readonly vault: string;
  /** ISO 8601: when it was decided, or first made where nobody had to decide. */
  readonly decidedAt: string;
  readonly decidedBy?: Decider;
  /** Folders that were made for it, the outermost first. */
  readonly folders: readonly string[];
}

export interface LinkRecord extends RecordBase {
  readonly mode: "SYMLINK";
  /** Real path of the store. */
  readonly store: string;
  /** Folders that were there, under the names that they have now, the oldest first. */
  readonly kept: readonly string[];
  /** False until the link is there: a crash may have come before. */
  readonly isDone: boolean;
}

export interface BlockRecord extends RecordBase {
  readonly mode: "RENDER";
  /** What parts the block from the text above. */
  readonly separator: string;
  /** Whether the file was made for it. */
  readonly isMade: boolean;
  /** SHA-256 of the file before it was changed first; absent if there was none. */
  readonly before?: string;
  /** The same of what was written last. */
  readonly after: string;
  /** The same of the block in it. */
  readonly block: string;
  /** Whether a copy holds what somebody has written into our block. */
  readonly isEdited: boolean;
}

export type ProjectionRecord = LinkRecord | BlockRecord;

const NAME = "projections.json";

/**
 * Lists what is on record.
 *
 * @throws {AppError} `not-writable` if the record is there and cannot be understood.
 */
export async function listProjections(home: string): Promise<readonly ProjectionRecord[]> {
  return parseRecords(await readOutsideFile(pathOf(home)));
}

/**
 * Puts a projection on record, in place of what is there of the same agent and target; for who holds
 * the lock.
 */
export async function putProjection(home: string, record: ProjectionRecord): Promise<void> {
  await change(home, (records) => [...records.filter((each) => !isSame(each, record)), record]);
}

/** Strikes a projection off the record, which goes with the last one; for who holds the lock. */
export async function dropProjection(
  home: string,
  record: Pick<ProjectionRecord, "agent" | "target">,
): Promise<void> {
  await change(home, (records) => records.filter((each) => !isSame(each, record)));
}

/** Finds what is on record of an agent and a target. */
export function findRecord(
  records: readonly ProjectionRecord[],
  wanted: Pick<ProjectionRecord, "agent" | "target">,
): ProjectionRecord | undefined {
  return records.find((each) => isSame(each, wanted));
}

function isSame(
  one: Pick<ProjectionRecord, "agent" | "target">,
  other: Pick<ProjectionRecord, "agent" | "target">,
): boolean {
  return one.agent === other.agent && one.target === other.target;
}

type Change = (records: readonly ProjectionRecord[]) => readonly ProjectionRecord[];

async function change(home: string, work: Change): Promise<void> {
  const before = await readOutsideFile(pathOf(home));
  await replace(home, before, work(parseRecords(before)));
}

async function replace(
  home: string,
  before: OutsideFile | undefined,
  projections: readonly ProjectionRecord[],
): Promise<void> {
  const path = pathOf(home);
  if (projections.length === 0) {
    if (before) await Deno.remove(before.realPath);
    await removeEmptyFolders([dirname(path)]);
    return;
  }
  const text = `${JSON.stringify({ format: 1, projections }, null, 2)}\n`;
  await Deno.mkdir(dirname(path), { recursive: true, mode: OWN_FOLDER_MODE });
  const bytes = new TextEncoder().encode(text);
  await writeOutsideFile({ path, bytes, before, mode: OWN_FILE_MODE, setMode: OWN_FILE_MODE });
}

function pathOf(home: string): string {
  return join(ownFolderOf(home), NAME);
}

function parseRecords(file: OutsideFile | undefined): readonly ProjectionRecord[] {
  if (file === undefined) return [];
  const value = parse(file.bytes);
  const records = isRecord(value) && value.format === 1 ? value.projections : undefined;
  if (Array.isArray(records) && records.every(isProjectionRecord)) return records;
  throw new AppError(
    "not-writable",
    `${file.path} is no record of what agents are shown, or a newer program has written it. It ` +
      "says how to undo that: put it right, or undo it by hand and delete the file",
  );
}

function parse(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder().decode(bytes));
  } catch {
    // Told by the caller.
    return undefined;
  }
}

function isProjectionRecord(value: unknown): value is ProjectionRecord {
  if (!isRecord(value) || !isTexts(value.folders)) return false;
  const texts = [value.agent, value.target, value.vault, value.decidedAt];
  const isKnown = texts.every((text) => typeof text === "string") &&
    (value.scope === "global" || value.scope === "project");
  if (!isKnown) return false;
  return value.mode === "SYMLINK"
    ? typeof value.store === "string" && isTexts(value.kept) &&
      typeof value.isDone === "boolean"
    : value.mode === "RENDER" && typeof value.separator === "string" &&
      typeof value.isMade === "boolean" && typeof value.after === "string" &&
      typeof value.block === "string" &&
      typeof value.isEdited === "boolean";
}

function isTexts(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((each) => typeof each === "string");
}
