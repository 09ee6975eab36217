/**
 * What was changed to connect an agent, so that exactly that can be undone: kept in a folder of its own
 * in the person's home, with the files as they were.
 */
import { dirname, join } from "node:path";
import { AppError } from "@/lib/errors.ts";
import { isRecord } from "@/lib/is_record.ts";
import { readOutsideFile, removeEmptyFolders, writeOutsideFile } from "@/lib/outside_files.ts";
import { OWN_FILE_MODE } from "@/lib/own_files.ts";
import type { CommandToRun } from "@/lib/command_to_run.ts";
import type { Machine } from "@/lib/machine.ts";
import { agentFolderOf } from "./connection.ts";
import { decodeText, type DoneEdit } from "./edit_text.ts";

/** A file that was changed. */
export interface FileRecord {
  readonly path: string;
  readonly what: readonly string[];
  /** SHA-256 of what was there; absent if nothing was. */
  readonly before?: string;
  /** Its rights; `null` where there are none. */
  readonly mode?: number | null;
  /** Path of the copy of it. */
  readonly backup?: string;
  /**
   * SHA-256 of what stood there afterwards, on record before it is written; absent while the agent's
   * own program writes, and if that made the file.
   */
  readonly after?: string;
  /** The rights that it had then. */
  readonly afterMode?: number | null;
  /** Folders that were made for it, the outermost first. */
  readonly folders: readonly string[];
  readonly done: readonly DoneEdit[];
}

export interface InstallRecord {
  readonly format: 1;
  readonly agent: string;
  /** ISO 8601. */
  readonly installedAt: string;
  readonly vault: string;
  readonly server: CommandToRun;
  readonly files: readonly FileRecord[];
}

const NAME = "install.json";

/** Returns where the record of an agent lies. */
export function recordPathOf(machine: Pick<Machine, "home">, agent: string): string {
  return join(agentFolderOf(machine, agent), NAME);
}

/**
 * Returns what was changed for an agent, `undefined` if nothing was.
 *
 * @throws {AppError} `not-writable` if the record is there and cannot be read.
 */
export async function readInstallRecord(
  machine: Pick<Machine, "home">,
  agent: string,
): Promise<InstallRecord | undefined> {
  const path = recordPathOf(machine, agent);
  const file = await readOutsideFile(path);
  if (file === undefined) return undefined;
  const record = parseRecord(decodeText(file.bytes).text);
  if (record?.agent === agent) return record;
  throw new AppError(
    "not-writable",
    `${path} is no record of an installation, or a newer program has written it. It says how to ` +
      "undo what was changed: put it right, or undo that by hand and delete it",
  );
}

function parseRecord(text: string): InstallRecord | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isInstallRecord(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function isInstallRecord(value: unknown): value is InstallRecord {
  return isRecord(value) && value.format === 1 && typeof value.agent === "string" &&
    typeof value.vault === "string" && isRecord(value.server) && Array.isArray(value.files) &&
    value.files.every((file) =>
      isRecord(file) && typeof file.path === "string" && Array.isArray(file.folders) &&
      Array.isArray(file.done)
    );
}

/** Writes the record in place of the one before; returns the folders that were made. */
export async function writeInstallRecord(
  machine: Pick<Machine, "home">,
  record: InstallRecord,
): Promise<readonly string[]> {
  const path = recordPathOf(machine, record.agent);
  const bytes = new TextEncoder().encode(`${JSON.stringify(record, null, 2)}\n`);
  return await writeOutsideFile({
    path,
    bytes,
    before: await readOutsideFile(path),
    mode: OWN_FILE_MODE,
  });
}

/** Removes the record and the copies, and the folders of ours that are then empty. */
export async function removeInstallRecord(
  machine: Pick<Machine, "home">,
  agent: string,
): Promise<void> {
  const folder = agentFolderOf(machine, agent);
  await Deno.remove(join(folder, NAME)).catch(ignoreMissing);
  await Deno.remove(join(folder, BACKUPS), { recursive: true }).catch(ignoreMissing);
  // What somebody has put there stays.
  await removeEmptyFolders([dirname(dirname(folder)), dirname(folder), folder]);
}

function ignoreMissing(error: unknown): void {
  if (!(error instanceof Deno.errors.NotFound)) throw error;
}

const BACKUPS = "backups";

/** Returns where the copy of a file goes. */
export function backupPathOf(machine: Pick<Machine, "home">, agent: string, at: number): string {
  return join(agentFolderOf(machine, agent), BACKUPS, String(at));
}
