/**
 * Creates a vault, or what is missing of one. What is there stays as it is, whatever it holds, and
 * no link is followed below the root. All is written as any other note is, so that neither a crash
 * nor a second process can leave half a file, or replace one.
 */
import { AppError, ConfigError, EditConflict } from "@/lib/errors.ts";
import type { Clock, Logger, NewId } from "@/lib/seams.ts";
import { fullLayout, WELCOME_LAYOUT } from "./_layout.ts";
import { isAbsence, openVault, reasonOf, statFile, type Vault } from "./vault.ts";
import { parentOf, parseVaultPath, type VaultPath } from "./vault_path.ts";
import { ABSENT, VaultWriter } from "./vault_writer.ts";

export interface InitOptions {
  /** Absolute; may itself be a link to a folder. */
  readonly root: string;
  /** The global store, relative to the root; `.` is the root itself. */
  readonly memoriesFolder: string;
  /** `welcome`: one note, and only if the root was missing; `full`: the whole layout. */
  readonly layout: "welcome" | "full";
  /** Dates the files that hold a date. */
  readonly clock: Clock;
  readonly newId: NewId;
  readonly logger: Logger;
}

/**
 * Creates the missing part of a layout; may run twice.
 *
 * @returns What was created, as paths from the root in the order of creation; folders end with a
 * slash, `./` is the root.
 * @throws {ConfigError} If the memories folder leaves the vault, something else stands where a
 * file or folder belongs, or the system refuses.
 */
export async function initVault(options: InitOptions): Promise<readonly string[]> {
  const { root, memoriesFolder, clock, newId, logger } = options;
  const nowMs = clock.nowMs();
  const layout = options.layout === "full" ? fullLayout(memoriesFolder, nowMs) : WELCOME_LAYOUT;
  const folders = layout.folders.map(parsePath);
  const created: string[] = [];
  if (await ensureRoot(root)) created.push("./");
  else if (options.layout === "welcome") return created;

  const vault = openVault({ root, memoriesFolder: ".", exclude: [] });
  const writer = new VaultWriter({ vault, clock, newId, logger });
  for (const folder of folders) makeFolder({ writer, created }, folder);
  for (const [name, text] of layout.files) await makeFile({ vault, writer, created }, name, text);
  return created;
}

interface Making {
  readonly writer: VaultWriter;
  readonly created: string[];
}

function makeFolder({ writer, created }: Making, folder: VaultPath): void {
  try {
    created.push(...writer.makeFolder(folder).map((made) => `${made}/`));
  } catch (error) {
    throw refusal(folder, wordsOf(error), error);
  }
}

async function makeFile(
  { vault, ...making }: Making & { readonly vault: Vault },
  name: string,
  text: string,
): Promise<void> {
  const path = parsePath(name);
  const parent = parentOf(path);
  if (parent !== "") makeFolder(making, parent);
  if (isFile(vault, path)) return;
  try {
    const bytes = new TextEncoder().encode(text);
    await making.writer.write({ path, bytes, expected: ABSENT });
    making.created.push(path);
  } catch (error) {
    // Another process was faster.
    if (error instanceof EditConflict && isFile(vault, path)) return;
    throw refusal(path, wordsOf(error), error);
  }
}

/** @throws {ConfigError} If something else than a file has the name. */
function isFile(vault: Vault, path: VaultPath): boolean {
  const found = statFile(vault, path);
  if (found.state === "other") {
    const what = found.what === "symlink" ? "link" : found.what;
    throw refusal(path, `a ${what} stands where a file belongs`);
  }
  return found.state === "file";
}

function wordsOf(error: unknown): string {
  return error instanceof AppError ? error.message : reasonOf(error);
}

function parsePath(text: string): VaultPath {
  try {
    return parseVaultPath(text.replace(/^(?:\.\/)+|\/+$/g, ""));
  } catch (cause) {
    throw new ConfigError(`memories-folder: "${text}" is no folder in the vault`, { cause });
  }
}

async function ensureRoot(root: string): Promise<boolean> {
  try {
    const { isDirectory } = await Deno.stat(root);
    if (isDirectory) return false;
  } catch (error) {
    if (!isAbsence(error)) throw refusal(root, reasonOf(error), error);
    try {
      await Deno.mkdir(root, { recursive: true });
      return true;
    } catch (cause) {
      throw refusal(root, reasonOf(cause), cause);
    }
  }
  throw refusal(root, "a file stands there");
}

function refusal(path: string, reason: string, cause?: unknown): ConfigError {
  return new ConfigError(`Cannot create "${path}" in the vault: ${reason}`, { cause });
}
