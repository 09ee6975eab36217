/** Making a memory: a file of its own, in the store of its scope. */
import { type AskedScope, type Caller, GLOBAL_SCOPE_ID } from "@/lib/contracts.ts";
import type { SavedMemory } from "@/lib/contracts_memories.ts";
import { type FieldProblem, InvalidRequest } from "@/lib/errors.ts";
import { ACTIVE } from "@/lib/index/note_table.ts";
import { show } from "@/lib/parse_input.ts";
import type { FoundProject } from "@/lib/projects/projects.ts";
import { requireNoSecrets } from "@/lib/require_no_secrets.ts";
import { Slicer } from "@/lib/seams.ts";
import { formatDay, isoTime } from "@/lib/time_text.ts";
import type { FrontmatterValue } from "@/lib/vault/frontmatter.ts";
import { NO_STORE, scopeIdOf } from "@/lib/vault/kinds.ts";
import { retryOnConflict } from "@/lib/vault/retry_on_conflict.ts";
import { statFile } from "@/lib/vault/vault.ts";
import { parseVaultPath, type VaultPath } from "@/lib/vault/vault_path.ts";
import { ABSENT, type Change, type Written } from "@/lib/vault/vault_writer.ts";
import { findMemory, type MemoryFile } from "./_find_memory.ts";
import { type AskedContent, normalizeContent, textsOf } from "./_memory_content.ts";
import { editMemory, formatMemory, requireBody } from "./_memory_text.ts";
import { type SaveMemoryDeps, scopeNameOf } from "./_saved_memory.ts";
import { newMemoryId, slugOf, weekBucketOf } from "./memory_names.ts";
import { requireReading } from "@/lib/access/require_view.ts";
import { findSimilar } from "./similar.ts";

export interface CreateMemory extends AskedContent, Omit<AskedScope, "scope" | "project"> {
  /** The global store without it. */
  readonly scope?: "project" | "global" | undefined;
  /** Where it is known already: the project that the agent works in. */
  readonly found?: FoundProject | undefined;
  /** What kind of fact it is. */
  readonly type?: string | undefined;
  /** The id of the memory that this one replaces. */
  readonly supersedes?: string | undefined;
  readonly origin_session_id?: string | undefined;
  readonly allow_secret: boolean;
}

/** Memories of one day that have one name. */
const MAX_SAME_NAMES = 1_000;

/**
 * Makes a memory. The next search finds it; its answer names up to three that come nearest to it,
 * among those that its store's own searches see.
 *
 * @throws {InvalidRequest} If name, description, body or tags are missing or cannot be used, or what
 * is superseded has a successor already or belongs to another project.
 * @throws {AppError} `secret-found` if a text looks like it holds a secret.
 * @throws {ScopeUnresolved} If it is to go to a project's store and there is no project.
 * @throws {NoteNotFound} If no memory has the id that is superseded.
 * @throws {FrontmatterNotEditable} If that one cannot be changed; then nothing is made.
 */
export async function createMemory(
  deps: SaveMemoryDeps,
  caller: Caller,
  input: CreateMemory,
): Promise<SavedMemory> {
  const saved = await writeNewMemory(deps, caller, input);
  const projects = [scopeIdOf(deps.vault, parseVaultPath(saved.path)), GLOBAL_SCOPE_ID, NO_STORE];
  if (caller.view?.canRead === false) return withoutHearsay(saved);
  const similar = await findSimilar(deps, caller, { ...saved, projects });
  return similar === undefined ? saved : { ...saved, similar };
}

/** Leaves out what tells of other files. */
function withoutHearsay({ notice: _notice, ...saved }: SavedMemory): SavedMemory {
  return saved;
}

/** Makes a memory and does not look for similar ones; see `createMemory()`. */
export async function writeNewMemory(
  deps: SaveMemoryDeps,
  caller: Caller,
  input: CreateMemory,
): Promise<SavedMemory> {
  const content = requireWhole(normalizeContent(input));
  const slicer = new Slicer(deps.clock);
  await slicer.run(requireBody(content.body));
  if (!input.allow_secret) {
    const { type, origin_session_id } = input;
    await slicer.run(requireNoSecrets({ ...textsOf(content), type, origin_session_id }));
  }
  const place = await findPlace(deps, caller, input);
  const old = await findOld(deps, caller, input, place);
  const { folder, notice } = await openFolder(deps, place);
  const id = newMemoryId({ ulid: deps.newUlid(), name: content.name });
  const fields = fieldsOf(deps, caller, { id, content, input, supersedes: old?.id });
  const bytes = await slicer.run(formatMemory(fields, content.body));
  const draft = { id, folder, name: content.name, bytes, old };
  const { written, conflictCopy } = await deps.writer.inTurn(
    () => writeUnderFreeName(deps, draft),
    caller.signal,
  );
  const { path, etag } = written;
  deps.index.markChanged(path);
  const { name, description, tags } = content;
  return {
    id,
    path,
    etag,
    created: true,
    scope: scopeNameOf(deps.vault, path),
    name,
    description,
    tags: [...tags],
    status: ACTIVE,
    updatedAt: String(fields.get("updated_at")),
    ...(old ? { superseded: old.id } : {}),
    ...(conflictCopy === undefined ? {} : { conflictCopy }),
    ...(notice === undefined ? {} : { notice }),
  };
}

interface WholeContent {
  readonly name: string;
  readonly description: string;
  readonly body: string;
  readonly tags: readonly string[];
}

function requireWhole({ name, description, body, tags }: AskedContent): WholeContent {
  if (name !== undefined && description !== undefined && body !== undefined && tags?.length) {
    return { name, description, body, tags };
  }
  const isMissing = { name, description, body, tags: tags?.length ? tags : undefined };
  const problems: FieldProblem[] = Object.entries(isMissing)
    .filter(([, value]) => value === undefined)
    .map(([field]) => ({ field, message: "must be given for a new memory" }));
  const words = problems.map(({ field }) => field).join(", ");
  throw new InvalidRequest(
    `Cannot save the memory: a new one needs ${words}. To change one, pass its id`,
    problems,
  );
}

/** The project whose store the memory goes to; `undefined` = the global store. */
type Place = FoundProject | undefined;

async function findPlace(
  { projects }: SaveMemoryDeps,
  caller: Caller,
  { scope, found, cwd, repo }: CreateMemory,
): Promise<Place> {
  return scope === "project" ? found ?? await projects.require(caller, { cwd, repo }) : undefined;
}

async function openFolder(
  { vault, clock, projects }: SaveMemoryDeps,
  place: Place,
): Promise<{ folder: string; notice?: string }> {
  if (place) {
    const { store, ...more } = await projects.openStore(place);
    return { folder: store.folder, ...more };
  }
  const bucket = weekBucketOf(formatDay(clock.nowMs()));
  const { memoriesFolder } = vault;
  return { folder: memoriesFolder === "." ? bucket : `${memoriesFolder}/${bucket}` };
}

/** The memory that is superseded, under the id that it has or gets. */
interface OldMemory {
  readonly id: string;
  /** Finds it as it is then. */
  readonly find: () => Promise<MemoryFile>;
}

async function findOld(
  deps: SaveMemoryDeps,
  caller: Caller,
  input: CreateMemory,
  place: Place,
): Promise<OldMemory | undefined> {
  const { supersedes } = input;
  if (supersedes === undefined) return undefined;
  requireReading(caller);
  const find = async () => {
    const file = await findMemory(deps, caller, supersedes);
    requireNoSuccessor(file);
    return file;
  };
  // Before a store is made for nothing.
  const file = await find();
  await requireSameProject(deps, caller, { file, input, place });
  const id = file.parsed.id ?? newMemoryId({ ulid: deps.newUlid(), name: file.parsed.name });
  return { id, find };
}

function requireNoSuccessor({ id, parsed }: MemoryFile): void {
  const successor = parsed.frontmatter.fields.get("superseded_by");
  if (typeof successor !== "string" || parsed.status?.toLowerCase() === ACTIVE) return;
  throw new InvalidRequest(
    `Cannot supersede "${show(id)}": "${show(successor)}" has superseded it already. Change or ` +
      "supersede that one",
    [{ field: "supersedes", message: "has a successor already" }],
  );
}

/** What one project has learned is not for another one to switch off. */
async function requireSameProject(
  { projects, vault }: SaveMemoryDeps,
  caller: Caller,
  { file, input, place }: {
    readonly file: MemoryFile;
    readonly input: CreateMemory;
    readonly place: Place;
  },
): Promise<void> {
  if (scopeNameOf(vault, file.path) !== "project") return;
  const { cwd, repo } = input;
  const own = place ?? await projects.find(caller, { cwd, repo });
  const id = scopeIdOf(vault, file.path);
  if (own?.stores.some(({ ulid }) => ulid === id)) return;
  throw new InvalidRequest(
    `Cannot supersede "${
      show(file.id)
    }": it belongs to another project than the one that you work ` +
      "in. Pass cwd or repo of that project, or save the memory without supersedes",
    [{ field: "supersedes", message: "belongs to another project" }],
  );
}

interface NewMemory {
  readonly id: string;
  readonly content: WholeContent;
  readonly input: CreateMemory;
  readonly supersedes: string | undefined;
}

function fieldsOf(
  { clock }: SaveMemoryDeps,
  caller: Caller,
  { id, content, input, supersedes }: NewMemory,
): Map<string, FrontmatterValue> {
  const now = isoTime(clock.nowMs());
  const metadata = new Map<string, FrontmatterValue>();
  if (input.type !== undefined) metadata.set("type", input.type.trim());
  if (caller.client !== undefined) metadata.set("actor", caller.client);
  const session = input.origin_session_id?.trim() ?? caller.sessionId;
  return new Map<string, FrontmatterValue>([
    ["id", id],
    ["name", content.name],
    ["description", content.description],
    ["tags", content.tags],
    ["status", ACTIVE],
    ["created_at", now],
    ["updated_at", now],
    ...(metadata.size > 0 ? [["metadata", metadata] as const] : []),
    ...(session === undefined ? [] : [["origin_session_id", session] as const]),
    ...(supersedes === undefined ? [] : [["supersedes", supersedes] as const]),
  ]);
}

interface Draft {
  readonly id: string;
  readonly folder: string;
  readonly name: string;
  readonly bytes: Uint8Array;
  readonly old: OldMemory | undefined;
}

/** Writes the new file and what it supersedes, both or none. */
async function writeUnderFreeName(
  deps: SaveMemoryDeps,
  { id, folder, name, bytes, old }: Draft,
): Promise<{ written: Written; conflictCopy?: VaultPath }> {
  const base = `${folder}/${formatDay(deps.clock.nowMs())}-${slugOf(name)}`;
  let number = 1;
  return await retryOnConflict(async () => {
    const path = nextFree(deps, base, () => number++);
    const file = await old?.find();
    const changes: Change[] = [{ path, bytes, expected: ABSENT }];
    if (old && file) changes.push(await deprecation(deps, file, { id: old.id, by: id }));
    const [written, replaced] = await deps.writer.writeTogether({ changes, moves: [] });
    if (!written) throw new TypeError("A write has no outcome");
    if (file) deps.index.markChanged(file.path);
    const conflictCopy = replaced?.conflictCopy;
    return { written, ...(conflictCopy === undefined ? {} : { conflictCopy }) };
  });
}

function nextFree({ vault }: SaveMemoryDeps, base: string, next: () => number): VaultPath {
  for (let number = next(); number <= MAX_SAME_NAMES; number = next()) {
    const path = parseVaultPath(number === 1 ? `${base}.md` : `${base}-${number}.md`);
    if (statFile(vault, path).state === "absent") return path;
  }
  throw new InvalidRequest(
    `Cannot save the memory: ${MAX_SAME_NAMES} of today have that name. Take another name`,
  );
}

async function deprecation(
  { clock }: SaveMemoryDeps,
  { path, etag, parsed }: MemoryFile,
  { id, by }: { readonly id: string; readonly by: string },
): Promise<Change> {
  const fields = new Map([["status", "deprecated"], ["superseded_by", by]]);
  const stamps = new Map([
    ...(parsed.id === undefined ? [["id", id] as const] : []),
    ["updated_at", isoTime(clock.nowMs())],
  ]);
  const bytes = await new Slicer(clock).run(editMemory(parsed, { fields, stamps }));
  if (bytes === undefined) throw new TypeError("What names its successor has one already");
  return { path, bytes, expected: etag };
}
