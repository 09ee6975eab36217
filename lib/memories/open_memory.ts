/** Opening a memory by its id, wherever its file lies now, or any note by its path. */
import { requireVisible } from "@/lib/access/require_view.ts";
import type { AskedScope, Caller } from "@/lib/contracts.ts";
import type { MemoryAnswer, MemoryInput } from "@/lib/contracts_memories.ts";
import { AppError, type ErrorCode, IndexNotReady, NoteNotFound } from "@/lib/errors.ts";
import type { VaultIndex } from "@/lib/index/vault_index.ts";
import { show } from "@/lib/parse_input.ts";
import type { Projects } from "@/lib/projects/projects.ts";
import { type Clock, type Semaphore, Slicer } from "@/lib/seams.ts";
import type { FrontmatterValue } from "@/lib/vault/frontmatter.ts";
import { classifyNote, identifyNote, type NoteIdentity } from "@/lib/vault/kinds.ts";
import { bodyOf, type ParsedNote } from "@/lib/vault/note.ts";
import type { Vault } from "@/lib/vault/vault.ts";
import { isMarkdown, parseVaultPath, type VaultPath } from "@/lib/vault/vault_path.ts";
import { parseText, readHashed } from "./_read_file.ts";

export interface OpenMemoryDeps {
  readonly clock: Clock;
  readonly vault: Vault;
  readonly noteReads: Semaphore;
  readonly projects: Pick<Projects, "require">;
  readonly recallLog: OpeningListener;
  readonly index: Pick<
    VaultIndex,
    "claimantsOf" | "copiesOf" | "find" | "indexing" | "refresh" | "warnings"
  >;
}

/** Is told which memories are opened. */
export interface OpeningListener {
  noteOpened(id: string): void;
}

const MAX_RETRIES = 3;

/** What is on disk now. */
export interface OpenedMemory {
  readonly etag: string;
  /** Absent if the caller has it already. */
  readonly memory?: MemoryAnswer;
  /** The note as it was parsed; absent as `memory` is, and never part of an answer. */
  readonly parsed?: ParsedNote;
}

/**
 * Opens a memory as it is on disk now. An id that no memory has is taken for the path of a note,
 * so that every hit of a search can be opened. The file itself has to bear the id: where it does
 * not, or is gone, the vault is compared with the index once more, however large it is.
 *
 * @throws {ScopeUnresolved} If the scope needs a project and there is none.
 * @throws {GrantMissing} If what lies at such a place is not the caller's to see.
 * @throws {NoteNotFound} If no memory has the id and no note lies there, or it is never read.
 * @throws {PathEscapesVault} If the text is no id, and a path that leads out of the vault or over
 * a link.
 * @throws {IndexNotReady} If the vault is still being read, or the memory is known but a part of
 * the vault cannot be seen now.
 * @throws {PayloadTooLarge} If the file is over the size that notes may have.
 * @throws {AppError} `unsupported-media-type` if what lies at the path is not UTF-8 text.
 * @throws The reason of the caller's signal if it aborts before there is room to read.
 */
export async function openMemory(
  deps: OpenMemoryDeps,
  caller: Caller,
  input: MemoryInput & Partial<AskedScope>,
): Promise<OpenedMemory> {
  const { index } = deps;
  requireVisibleName(deps.vault, caller, input.id);
  const folders = await storeFolders(deps, caller, input);
  const find = () => deps.noteReads.run(() => findNote(deps, input.id, folders), caller.signal);
  const { verified } = await index.refresh();
  let found = await find();
  // What was not compared just now may tell of a conflict that is settled.
  const isDoubtful = found && !verified && conflictsOf(index, found).length > 0;
  // A memory that was there a moment ago is being moved: between two folders no scan may see it.
  const isKnown = index.claimantsOf(input.id).length > 0;
  for (let left = isKnown ? MAX_RETRIES : 1; left > 0 && (!found || isDoubtful); left--) {
    await index.refresh("always");
    found = await find();
    if (found) break;
  }
  if (!found) throw toNotFound(index, input.id);
  const { id, etag } = found;
  requireVisible(caller, found.kind, found.path);
  deps.recallLog.noteOpened(id);
  if (input.knownEtags?.includes(etag)) return { etag };
  const { parsed } = found;
  return { etag, memory: describe(deps, found), parsed };
}

/** Before anything is looked at: what an agent may not see, it is not told of either. */
function requireVisibleName(vault: Vault, caller: Caller, id: string): void {
  const path = toPath(id);
  if (path) requireVisible(caller, classifyNote(vault, path, {}), path);
}

interface FoundNote extends NoteIdentity {
  readonly path: VaultPath;
  readonly etag: string;
  readonly parsed: ParsedNote;
}

/** A manifest names notes by their path in its store. */
async function storeFolders(
  { projects, vault }: OpenMemoryDeps,
  caller: Caller,
  { scope = "all", cwd, repo }: Partial<AskedScope>,
): Promise<readonly string[]> {
  if (scope === "global") return [vault.memoriesFolder].filter((folder) => folder !== ".");
  if (scope !== "project") return [];
  const { stores } = await projects.require(caller, { cwd, repo });
  return stores.map(({ folder }) => folder);
}

async function findNote(
  deps: OpenMemoryDeps,
  id: string,
  folders: readonly string[],
): Promise<FoundNote | undefined> {
  for (const path of deps.index.claimantsOf(id)) {
    const found = await readUnless(ANOTHER_FILE, deps, path);
    if (found?.id === id) return found;
  }
  for (const text of [...folders.map((folder) => `${folder}/${id}`), id]) {
    const path = findPath(deps.index, text);
    const found = path && await readUnless(NO_FILE, deps, path);
    if (found) return found;
  }
  return undefined;
}

/** What may have taken the place of a memory since it was indexed. */
const ANOTHER_FILE: readonly ErrorCode[] = [
  "note-not-found",
  "path-escapes-vault",
  "unsupported-media-type",
];
const NO_FILE: readonly ErrorCode[] = ["note-not-found"];

/** Reads a note, unless that ends in one of the errors that mean: not here. */
async function readUnless(
  notHere: readonly ErrorCode[],
  { clock, vault }: OpenMemoryDeps,
  path: VaultPath,
): Promise<FoundNote | undefined> {
  try {
    const slicer = new Slicer(clock);
    const { bytes, etag } = await readHashed(vault, path, slicer);
    const parsed = await parseText(path, bytes, slicer);
    return { path, etag, parsed, ...identifyNote(vault, path, parsed) };
  } catch (error) {
    if (error instanceof AppError && notHere.includes(error.code)) return undefined;
    throw error;
  }
}

/** Returns the path that a text stands for, as it is spelt on disk. */
function findPath(index: OpenMemoryDeps["index"], text: string): VaultPath | undefined {
  const path = toPath(text);
  return path && (index.find(path)?.path ?? path);
}

function toPath(text: string): VaultPath | undefined {
  if (!isMarkdown(text)) return undefined;
  try {
    return parseVaultPath(text);
  } catch {
    // Ids are free, so that one may look like anything; who has none hears of it in the end.
    return undefined;
  }
}

function toNotFound(index: OpenMemoryDeps["index"], id: string): AppError {
  // What ends like a note's path may be told that it is none.
  const path = isMarkdown(id) ? parseVaultPath(id) : undefined;
  const name = `"${show(id)}"`;
  if (index.indexing) {
    const { done, total } = index.indexing;
    // Nothing is counted before the files are listed.
    const progress = total > 0 ? ` (${done} of ${total} files)` : "";
    return new IndexNotReady(
      `Cannot find memory or note ${name} yet: the vault is still being read${progress}. Try ` +
        "again in a moment",
    );
  }
  const isKnown = index.claimantsOf(id).length > 0 ||
    (path !== undefined && index.find(path) !== undefined);
  if (isKnown && index.warnings.length > 0) {
    return new IndexNotReady(
      `Cannot read ${name} now: a part of the vault cannot be seen. ${index.warnings.join(". ")}`,
    );
  }
  return new NoteNotFound(
    `There is no memory and no note ${name}. Ids stand in search results and in the list of ` +
      "memories; a note that is no memory goes by its path in the vault",
  );
}

function describe({ index }: OpenMemoryDeps, found: FoundNote): MemoryAnswer {
  const { path, kind, id, etag, parsed } = found;
  const conflicts = conflictsOf(index, found);
  const copies = index.copiesOf(path);
  return {
    id,
    path,
    kind,
    name: parsed.name,
    description: parsed.description,
    tags: [...parsed.tags],
    status: parsed.status ?? null,
    frontmatter: toObject(parsed.frontmatter.fields),
    body: bodyOf(parsed),
    markdown: parsed.text.text,
    etag,
    ...(conflicts.length > 0 ? { conflicts } : {}),
    ...(copies.length > 0 ? { conflictCopies: copies } : {}),
  };
}

/** Returns all files that claim the note's id, none if it is the only one or does not count. */
function conflictsOf(index: OpenMemoryDeps["index"], { id, path }: FoundNote): VaultPath[] {
  const claimants = index.claimantsOf(id);
  return claimants.length > 1 && claimants.includes(path) ? claimants : [];
}

/** Any key becomes the object's own, `__proto__` too. */
function toObject(fields: ReadonlyMap<string, FrontmatterValue>): Record<string, unknown> {
  return Object.fromEntries(Array.from(fields, ([key, value]) => [key, toPlain(value)]));
}

function toPlain(value: FrontmatterValue): unknown {
  if (value === null || typeof value === "string") return value;
  return value instanceof Map ? toObject(value) : [...value.values()].map(toPlain);
}
