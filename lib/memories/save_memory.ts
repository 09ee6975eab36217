/** Making memories and changing them: one file each, in the store of its scope. */
import { type AskedScope, type Caller, GLOBAL_SCOPE_ID } from "@/lib/contracts.ts";
import type { SavedMemory } from "@/lib/contracts_memories.ts";
import { EditConflict, type FieldProblem, InvalidRequest } from "@/lib/errors.ts";
import type { VaultIndex } from "@/lib/index/vault_index.ts";
import { ACTIVE } from "@/lib/index/note_table.ts";
import type { Projects } from "@/lib/projects/projects.ts";
import { requireNoSecrets } from "@/lib/require_no_secrets.ts";
import { type Logger, type NewUlid, Slicer } from "@/lib/seams.ts";
import type { FrontmatterValue } from "@/lib/vault/frontmatter.ts";
import { storeOf } from "@/lib/vault/kinds.ts";
import type { ParsedNote } from "@/lib/vault/note.ts";
import { retryOnConflict } from "@/lib/vault/retry_on_conflict.ts";
import { statFile } from "@/lib/vault/vault.ts";
import { parseVaultPath, type VaultPath } from "@/lib/vault/vault_path.ts";
import { ABSENT, type Change, type VaultWriter, type Written } from "@/lib/vault/vault_writer.ts";
import { findMemory, type MemoryFile } from "./_find_memory.ts";
import { type AskedContent, normalizeContent } from "./_memory_content.ts";
import { editMemory, formatMemory, type MemoryEdit, requireBody } from "./_memory_text.ts";
import { parseText } from "./_read_file.ts";
import { formatDay, newMemoryId, slugOf, weekBucketOf } from "./memory_names.ts";
import type { OpenMemoryDeps } from "./open_memory.ts";
import { findSimilar } from "./similar.ts";

export interface SaveMemoryDeps extends OpenMemoryDeps {
  readonly index: VaultIndex;
  readonly writer: VaultWriter;
  readonly projects: Projects;
  readonly newUlid: NewUlid;
  readonly logger: Logger;
}

export interface CreateMemory extends AskedContent, Omit<AskedScope, "scope"> {
  /** The global store without it. */
  readonly scope?: "project" | "global" | undefined;
  /** What kind of fact it is. */
  readonly type?: string | undefined;
  /** The id of the memory that this one replaces. */
  readonly supersedes?: string | undefined;
  readonly origin_session_id?: string | undefined;
  readonly allow_secret: boolean;
}

export interface UpdateMemory extends AskedContent, Omit<AskedScope, "scope"> {
  readonly id: string;
  readonly status?: string | undefined;
  /** The states that the caller has seen; whatever it is without them. */
  readonly etags?: readonly string[] | undefined;
  /** Where the caller believes the memory to be. */
  readonly scope?: "project" | "global" | undefined;
  readonly allow_secret: boolean;
}

/** Memories of one day that have one name. */
const MAX_SAME_NAMES = 1_000;

/**
 * Makes a memory. The next search finds it; its answer names up to three that come nearest to it.
 *
 * @throws {InvalidRequest} If name, description, body or tags are missing or cannot be used.
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
  const similar = await findSimilar(deps, caller, saved);
  return similar === undefined ? saved : { ...saved, similar };
}

/** Makes a memory and does not look for similar ones; see `createMemory()`. */
export async function writeNewMemory(
  deps: SaveMemoryDeps,
  caller: Caller,
  input: CreateMemory,
): Promise<SavedMemory> {
  const content = requireWhole(normalizeContent(input));
  await new Slicer(deps.clock).run(requireBody(content.body));
  if (!input.allow_secret) requireNoSecrets(textsOf(content));
  const old = input.supersedes === undefined
    ? undefined
    : () => findMemory(deps, caller, input.supersedes ?? "");
  // Before a store is made for nothing.
  await old?.();
  const { folder, notice } = await openFolder(deps, caller, input);
  const ulid = deps.newUlid();
  const id = newMemoryId({ ulid, name: content.name });
  const draft = { id, content, fields: fieldsOf(deps, caller, { id, content, input }) };
  const { written, superseded } = await writeUnderFreeName(deps, { draft, folder, old });
  const { path } = written;
  deps.index.markChanged(path);
  const { name, description, tags } = content;
  return {
    id,
    path,
    etag: written.etag,
    created: true,
    scope: scopeNameOf(deps, path),
    name,
    description,
    tags: [...tags],
    status: ACTIVE,
    updatedAt: String(draft.fields.get("updated_at")),
    ...(superseded ? { superseded: superseded.id } : {}),
    ...(notice === undefined ? {} : { notice }),
  };
}

/**
 * Changes a memory: what is not passed keeps its value, its file and its other fields stay as they
 * are. If nothing is different, nothing is written.
 *
 * @throws {EditConflict} If the memory is in none of the states that the caller has seen.
 * @throws {NoteNotFound} If no memory has the id.
 * @throws {InvalidRequest} If a field cannot be used, the id is that of no memory, or the memory is
 * not in the scope that the caller believes.
 * @throws {FrontmatterNotEditable} If the file cannot be changed safely.
 * @throws {AppError} `secret-found`, `id-conflict`, `not-writable`.
 */
export async function updateMemory(
  deps: SaveMemoryDeps,
  caller: Caller,
  input: UpdateMemory,
): Promise<SavedMemory> {
  const content = normalizeContent(input);
  if (content.body !== undefined) await new Slicer(deps.clock).run(requireBody(content.body));
  if (!input.allow_secret) requireNoSecrets(textsOf(content));
  const save = async () => {
    const file = await findMemory(deps, caller, input.id);
    if (input.etags && !input.etags.includes(file.etag)) throw staleEtag(input.id, file.etag);
    await requireScope(deps, caller, { input, file });
    const edit = editOf(deps, file, { content, status: input.status });
    return await writeEdit(deps, file, edit);
  };
  // Who has named a state wants to hear that it is another.
  return await (input.etags === undefined ? retryOnConflict(save) : save());
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
  const problems: FieldProblem[] = Object.entries({ name, description, body, tags })
    .filter(([, value]) => value === undefined || value.length === 0 && typeof value !== "string")
    .map(([field]) => ({ field, message: "must be given for a new memory" }));
  const words = problems.map(({ field }) => field).join(", ");
  throw new InvalidRequest(
    `Cannot save the memory: a new one needs ${words}. To change one, pass its id`,
    problems,
  );
}

function textsOf({ name, description, body, tags }: AskedContent) {
  return { name, description, body, tags: tags?.join("\n") };
}

async function openFolder(
  { vault, clock, projects }: SaveMemoryDeps,
  caller: Caller,
  { scope = "global", cwd, repo }: CreateMemory,
): Promise<{ folder: string; notice?: string }> {
  if (scope === "project") {
    const project = await projects.require(caller, { cwd, repo });
    const { store, ...more } = await projects.openStore(project);
    return { folder: store.folder, ...more };
  }
  const bucket = weekBucketOf(formatDay(clock.nowMs()));
  const { memoriesFolder } = vault;
  return { folder: memoriesFolder === "." ? bucket : `${memoriesFolder}/${bucket}` };
}

interface NewMemory {
  readonly id: string;
  readonly content: WholeContent;
  readonly input: CreateMemory;
}

function fieldsOf(
  { clock }: SaveMemoryDeps,
  caller: Caller,
  { id, content, input }: NewMemory,
): Map<string, FrontmatterValue> {
  const now = new Date(clock.nowMs()).toISOString();
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
    ...(input.supersedes === undefined ? [] : [["supersedes", input.supersedes] as const]),
  ]);
}

interface FreeName {
  readonly draft: Pick<NewMemory, "id" | "content"> & {
    readonly fields: ReadonlyMap<string, FrontmatterValue>;
  };
  readonly folder: string;
  /** Finds the memory that is superseded. */
  readonly old: (() => Promise<MemoryFile>) | undefined;
}

/** Writes the new file and what it supersedes, both or none. */
async function writeUnderFreeName(
  deps: SaveMemoryDeps,
  { draft, folder, old }: FreeName,
): Promise<{ written: Written; superseded?: MemoryFile }> {
  const bytes = formatMemory(draft.fields, draft.content.body);
  const base = `${folder}/${formatDay(deps.clock.nowMs())}-${slugOf(draft.content.name)}`;
  let number = 1;
  return await retryOnConflict(async () => {
    const path = nextFree(deps, base, () => number++);
    const superseded = await old?.();
    const changes: Change[] = [{ path, bytes, expected: ABSENT }];
    if (superseded) changes.push(await deprecation(deps, superseded, draft.id));
    const [written] = await deps.writer.writeAll(changes);
    if (!written) throw new TypeError("A write has no outcome");
    if (!superseded) return { written };
    deps.index.markChanged(superseded.path);
    return { written, superseded };
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
  id: string,
): Promise<Change> {
  const fields = new Map([["status", "deprecated"], ["superseded_by", id]]);
  const stamps = new Map([["updated_at", new Date(clock.nowMs()).toISOString()]]);
  const bytes = await new Slicer(clock).run(editMemory(parsed, { fields, stamps }));
  return { path, bytes: bytes ?? new TextEncoder().encode(parsed.text.text), expected: etag };
}

function editOf(
  { clock, newUlid }: SaveMemoryDeps,
  { parsed }: MemoryFile,
  { content, status }: { readonly content: AskedContent; readonly status: string | undefined },
): MemoryEdit {
  const now = new Date(clock.nowMs()).toISOString();
  const { name, description, body, tags } = content;
  const fields = new Map<string, FrontmatterValue | undefined>();
  if (name !== undefined) fields.set("name", name);
  if (description !== undefined) fields.set("description", description);
  if (tags !== undefined) {
    fields.set("tags", tags);
    // Both keys count as tags.
    if (parsed.frontmatter.fields.has("tag")) fields.set("tag", undefined);
  }
  if (status !== undefined) fields.set("status", status);
  const stamps = new Map<string, FrontmatterValue>();
  if (parsed.id === undefined) {
    stamps.set("id", newMemoryId({ ulid: newUlid(), name: name ?? parsed.name }));
  }
  stamps.set("updated_at", now);
  return { fields, body, stamps };
}

async function writeEdit(
  deps: SaveMemoryDeps,
  file: MemoryFile,
  edit: MemoryEdit,
): Promise<SavedMemory> {
  const slicer = new Slicer(deps.clock);
  const bytes = await slicer.run(editMemory(file.parsed, edit));
  if (bytes === undefined) return describe(deps, file, file.parsed);
  const { path, etag } = file;
  const written = await deps.writer.write({ path, bytes, expected: etag });
  deps.index.markChanged(path);
  const parsed = await parseText(path, bytes, slicer);
  const { conflictCopy } = written;
  return {
    ...describe(deps, { ...file, etag: written.etag }, parsed),
    ...(conflictCopy === undefined ? {} : { conflictCopy }),
  };
}

function describe(
  deps: SaveMemoryDeps,
  { id, path, etag }: MemoryFile,
  { name, description, tags, status = ACTIVE, updatedAt = "", ...parsed }: ParsedNote,
): SavedMemory {
  return {
    id: parsed.id ?? id,
    path,
    etag,
    created: false,
    scope: scopeNameOf(deps, path),
    name,
    description,
    tags: [...tags],
    status,
    updatedAt,
  };
}

function scopeNameOf({ vault }: SaveMemoryDeps, path: VaultPath): SavedMemory["scope"] {
  const store = storeOf(vault, path);
  if (store === undefined) return "none";
  return store.scopeId === GLOBAL_SCOPE_ID ? "global" : "project";
}

async function requireScope(
  deps: SaveMemoryDeps,
  caller: Caller,
  { input, file }: { readonly input: UpdateMemory; readonly file: MemoryFile },
): Promise<void> {
  const { scope, cwd, repo, id } = input;
  if (scope === undefined) return;
  const ids = await deps.projects.scopeIds(caller, { scope, cwd, repo });
  if (ids?.includes(storeOf(deps.vault, file.path)?.scopeId ?? "")) return;
  throw new InvalidRequest(
    `Cannot save memory "${id}" in scope ${scope}: its file is "${file.path}", and a save moves ` +
      "no file. Leave scope out",
    [{ field: "scope", value: scope, message: "is not where the memory is" }],
  );
}

function staleEtag(id: string, etag: string): EditConflict {
  return new EditConflict(
    `Cannot save memory "${id}" as it changed since it was read: its etag is "${etag}" now. Open it ` +
      "again and repeat the edit",
  );
}
