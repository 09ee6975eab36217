/**
 * The files of the journal in the vault: where they lie, and reading them. One that cannot be read,
 * or is not understood, is reported and stands in nobody's way.
 */
import { AppError } from "@/lib/errors.ts";
import { type Clock, Slicer } from "@/lib/seams.ts";
import { conflictCopyOf } from "@/lib/vault/conflict_copies.ts";
import { hashBytes } from "@/lib/vault/etag.ts";
import { diskPathOf, isAbsence, readFile, statFile, type Vault } from "@/lib/vault/vault.ts";
import {
  isMarkdown,
  joinVaultPath,
  parseVaultPath,
  type VaultPath,
} from "@/lib/vault/vault_path.ts";
import { ABSENT } from "@/lib/vault/vault_writer.ts";
import { type JournalDocument, readJournal } from "./journal_document.ts";
import { JournalNotUnderstood } from "./not_understood.ts";

export const PROFILE_PATH: VaultPath = parseVaultPath("profile.md");
export const RULES_PATH: VaultPath = parseVaultPath("rules.md");
export const LOG_PATH: VaultPath = parseVaultPath("session-log.md");
export const LOG_ARCHIVE_PATH: VaultPath = parseVaultPath("session-log.archive.md");
export const AUDIT_LOG_PATH: VaultPath = parseVaultPath("audit-log.md");
export const PROJECT_NOTES: VaultPath = parseVaultPath("projects");
export const ARCHIVED_NOTES: VaultPath = parseVaultPath("projects/archive");

/** Nobody keeps more; the rest is not looked at. */
const MAX_PROJECT_NOTES = 1_000;

export interface JournalFilesDeps {
  readonly vault: Vault;
  readonly clock: Clock;
}

/** Larger ones are no journal any more, and would hold up everybody else. */
const MAX_BYTES = 256 * 1024;
/** It only grows. */
const MAX_ARCHIVE_BYTES = 4 * 1024 * 1024;

/** A file as it was found. */
export type JournalReading =
  | { readonly state: "absent"; readonly path: VaultPath; readonly etag: typeof ABSENT }
  | {
    readonly state: "read";
    readonly path: VaultPath;
    readonly etag: string;
    readonly bytes: Uint8Array;
    readonly document: JournalDocument;
  }
  | {
    readonly state: "unread";
    readonly path: VaultPath;
    /** Of what it holds; `undefined` if nobody may read it. */
    readonly etag: string | undefined;
    readonly reason: string;
  };

/** Reads one file of the journal. */
export async function readJournalFile(
  { vault, clock }: JournalFilesDeps,
  path: VaultPath,
): Promise<JournalReading> {
  const slicer = new Slicer(clock);
  let etag: string | undefined;
  try {
    if (path.startsWith(`${PROJECT_NOTES}/`)) requireFolder(vault);
    if (statFile(vault, path).state === "absent") return { state: "absent", path, etag: ABSENT };
    const { bytes } = readFile(vault, path);
    etag = await slicer.run(hashBytes(bytes));
    requireModest(path, bytes.length);
    const document = await slicer.run(readJournal(path, bytes));
    return { state: "read", path, etag, bytes, document };
  } catch (error) {
    if (!(error instanceof JournalNotUnderstood || error instanceof AppError)) throw error;
    return { state: "unread", path, etag, reason: error.message };
  }
}

/** Tells why the notes of projects cannot be looked at; `undefined` if they can, or there are none. */
export function explainNoNotes(vault: Vault): string | undefined {
  try {
    requireFolder(vault);
    return undefined;
  } catch (error) {
    if (error instanceof JournalNotUnderstood) return error.message;
    throw error;
  }
}

function requireFolder(vault: Vault): void {
  const found = statFile(vault, PROJECT_NOTES);
  if (found.state === "file") throw new JournalNotUnderstood("noFolder");
  if (found.state === "other" && found.what === "symlink") {
    throw new JournalNotUnderstood("linkedFolder");
  }
}

function requireModest(path: VaultPath, bytes: number): void {
  const most = path === LOG_ARCHIVE_PATH ? MAX_ARCHIVE_BYTES : MAX_BYTES;
  if (bytes <= most) return;
  throw new JournalNotUnderstood("tooLarge");
}

/** Returns the paths of project notes, sorted; conflict copies are none. */
export async function listProjectNotes(vault: Vault, folder = PROJECT_NOTES): Promise<VaultPath[]> {
  const disk = diskPathOf(vault, folder);
  if (vault.exclusions.excludesFolder(folder)) return [];
  try {
    // A listing would follow a link that has taken the folder's place.
    if (await Deno.realPath(disk) !== disk) return [];
    const entries = await Array.fromAsync(Deno.readDir(disk));
    return entries
      .filter(({ name, isFile }) => isFile && isMarkdown(name) && !name.startsWith("."))
      .flatMap(({ name }) => joinVaultPath(folder, name) ?? [])
      .filter((path) => conflictCopyOf(path)?.certain !== true && !vault.exclusions.excludes(path))
      .sort()
      .slice(0, MAX_PROJECT_NOTES);
  } catch (error) {
    if (isAbsence(error) || error instanceof Deno.errors.PermissionDenied) return [];
    throw error;
  }
}
