/** Connecting an agent: all that was planned is done, or nothing is. */
import { dirname } from "node:path";
import { AppError } from "@/lib/errors.ts";
import { OWN_FILE_MODE } from "@/lib/own_files.ts";
import {
  hashOf,
  listMissingFolders,
  type OutsideFile,
  readOutsideFile,
  removeOutsideFile,
  sameBytes,
  writeOutsideFile,
} from "@/lib/outside_files.ts";
import { isoTime } from "@/lib/time_text.ts";
import type { CommandToRun } from "@/lib/command_to_run.ts";
import type { Machine } from "@/lib/machine.ts";
import type { AgentConnection } from "./connection.ts";
import type { Edit } from "./edit.ts";
import { addEdit, decodeText, encodeText, lookAtEdit } from "./edit_text.ts";
import {
  backupPathOf,
  type FileRecord,
  type InstallRecord,
  removeInstallRecord,
  writeInstallRecord,
} from "./install_record.ts";
import type { FilePlan } from "./plan_install.ts";
import { undoFile } from "./undo_install.ts";

/** Runs an agent's own program to its end, well or not: what it did is looked at afterwards. */
export type RunProgram = (path: string, args: readonly string[]) => Promise<void>;

export interface ApplyOptions {
  readonly machine: Machine;
  readonly connection: AgentConnection;
  readonly server: CommandToRun;
  readonly vault: string;
  readonly nowMs: number;
  /** Path of the agent's own program, where there is one. */
  readonly program: string | undefined;
  readonly run: RunProgram;
}

/**
 * Does what was planned. What an agent's own program can do is left to that; where it fails, it is
 * done here.
 *
 * @throws {AppError} If a file cannot be written, or has changed since it was read: then all is as it
 * was.
 */
export async function applyInstall(
  options: ApplyOptions,
  files: readonly FilePlan[],
): Promise<InstallRecord> {
  const { machine, connection, nowMs, server, vault } = options;
  const installedAt = isoTime(nowMs);
  let record: InstallRecord = {
    format: 1,
    agent: connection.id,
    installedAt,
    vault,
    server,
    files: files.map(({ path, what }) => ({ path, what, folders: [], done: [] })),
  };
  const note = async (at: number, file: FileRecord) => {
    record = { ...record, files: record.files.with(at, file) };
    await writeInstallRecord(machine, record);
  };
  try {
    for (const [at, file] of files.entries()) {
      // First what is going to be, so that a crash leaves what can be undone.
      const planned = await prepare(options, file, at);
      await note(at, planned);
      await note(at, { ...planned, ...await writeFile(options, file) });
    }
    return record;
  } catch (error) {
    await takeBack(options, record, error);
    throw error;
  }
}

/** Undoes what was done so far; what cannot be undone stays on record. */
async function takeBack(
  { machine, connection, nowMs }: ApplyOptions,
  record: InstallRecord,
  cause: unknown,
): Promise<void> {
  const left: string[] = [];
  for (const file of record.files.toReversed()) {
    try {
      await undoFile({ machine, nowMs }, file);
    } catch (error) {
      left.push(error instanceof Error ? error.message : file.path);
    }
  }
  if (left.length === 0) return await removeInstallRecord(machine, connection.id);
  throw new AppError(
    "not-writable",
    `${cause instanceof Error ? cause.message : cause}. Not all could be put back: ${
      left.join("; ")
    }. Mend that, then uninstall ${connection.id}`,
  );
}

/** Copies a file and says what is going to become of it. */
async function prepare(
  options: ApplyOptions,
  file: FilePlan,
  at: number,
): Promise<FileRecord> {
  const { before, bytes, path } = file;
  const isAgents = options.program !== undefined && file.registration !== undefined;
  return {
    ...await copy(options, file, at),
    folders: await listMissingFolders(dirname(before?.realPath ?? path)),
    ...(isAgents ? {} : { after: hashOf(bytes) }),
  };
}

async function copy(
  { machine, connection }: ApplyOptions,
  { path, what, before, done }: FilePlan,
  at: number,
): Promise<FileRecord> {
  const record = { path, what, folders: [], done };
  if (before === undefined) return record;
  const backup = backupPathOf(machine, connection.id, at);
  await writeOutsideFile({
    path: backup,
    bytes: before.bytes,
    before: await readOutsideFile(backup),
    mode: OWN_FILE_MODE,
  });
  return { ...record, before: before.etag, mode: before.mode, backup };
}

/** Writes one file; its record names what stands there then. */
async function writeFile(
  options: ApplyOptions,
  file: FilePlan,
): Promise<Pick<FileRecord, "after" | "afterMode">> {
  const { path, mode } = file;
  const byAgent = await letAgentRegister(options, file);
  const before = byAgent ?? file.before;
  const bytes = before === file.before ? file.bytes : addRest(before?.bytes, file);
  const isWritten = before !== undefined && sameBytes(before.bytes, bytes);
  if (!isWritten) await writeOutsideFile({ path, bytes, before, mode });
  const after = await readOutsideFile(path);
  // A file that the agent has made is its own: ours is taken out of it, and it stays.
  const isTheirs = byAgent !== undefined && file.before === undefined;
  return after && !isTheirs ? { after: after.etag, afterMode: after.mode } : {};
}

/**
 * Lets the agent's own program put our server into its settings.
 *
 * @returns The file as it is then; `undefined` if there is no such program, or it did not do it. Then the
 * file is as it was.
 */
async function letAgentRegister(
  { connection, server, program, run }: ApplyOptions,
  { path, before, registration, mode }: FilePlan,
): Promise<OutsideFile | undefined> {
  if (program === undefined || registration === undefined) return undefined;
  await run(program, connection.registerArgs(server));
  const now = await readOutsideFile(path);
  if (now !== undefined && now.realPath === (before?.realPath ?? now.realPath)) {
    if (isRegistered(now, registration)) return now;
  }
  if (now?.etag === before?.etag) return undefined;
  if (before === undefined) await removeOutsideFile(now ?? { path, etag: "" });
  else {
    await writeOutsideFile({ path, bytes: before.bytes, before: now, setMode: before.mode, mode });
  }
  return undefined;
}

function isRegistered(file: OutsideFile, registration: Edit): boolean {
  try {
    return lookAtEdit(decodeText(file.bytes).text, registration) === "there";
  } catch (error) {
    if (error instanceof AppError) return false;
    throw error;
  }
}

/** Returns what the other edits make of a file that the agent's own program has written. */
function addRest(bytes: Uint8Array | undefined, { done }: FilePlan): Uint8Array {
  const { bom, text } = decodeText(bytes ?? new Uint8Array());
  const added = done.reduce(
    (sum, { edit }) => lookAtEdit(sum, edit) === "there" ? sum : addEdit(sum, edit).text,
    text,
  );
  return encodeText({ bom, text: added });
}
