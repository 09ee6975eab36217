/** Changing a memory: what is passed, in its own file, and nothing else. */
import { requireReading } from "@/lib/access/require_view.ts";
import type { AskedScope, Caller } from "@/lib/contracts.ts";
import type { SavedMemory } from "@/lib/contracts_memories.ts";
import { EditConflict, InvalidRequest } from "@/lib/errors.ts";
import { show } from "@/lib/parse_input.ts";
import { requireNoSecrets } from "@/lib/require_no_secrets.ts";
import { Slicer } from "@/lib/seams.ts";
import { isoTime } from "@/lib/time_text.ts";
import type { FrontmatterValue } from "@/lib/vault/frontmatter.ts";
import { scopeIdOf } from "@/lib/vault/kinds.ts";
import type { ParsedNote } from "@/lib/vault/note.ts";
import { retryOnConflict } from "@/lib/vault/retry_on_conflict.ts";
import { findMemory, type MemoryFile } from "./_find_memory.ts";
import { type AskedContent, normalizeContent, textsOf } from "./_memory_content.ts";
import { editMemory, type MemoryEdit } from "./_memory_text.ts";
import { parseText } from "./_read_file.ts";
import { describeSaved, type SaveMemoryDeps } from "./_saved_memory.ts";
import { newMemoryId, normalizeTags } from "./memory_names.ts";

export interface UpdateMemory extends AskedContent, Omit<AskedScope, "scope" | "project"> {
  readonly id: string;
  readonly status?: string | undefined;
  /** The states that the caller has seen; whatever it is without them. */
  readonly etags?: readonly string[] | undefined;
  /** Where the caller believes the memory to be. */
  readonly scope?: "project" | "global" | undefined;
  readonly allow_secret: boolean;
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
  requireReading(caller);
  const content = normalizeContent(input);
  if (!input.allow_secret) await new Slicer(deps.clock).run(requireNoSecrets(textsOf(content)));
  const save = async () => {
    const file = await findMemory(deps, caller, input.id);
    if (input.etags && !input.etags.includes(file.etag)) throw staleEtag(input.id, file.etag);
    await requireScope(deps, caller, { input, file });
    return await writeEdit(
      deps,
      file,
      editOf(deps, file.parsed, { ...content, status: input.status }),
    );
  };
  // Who has named a state wants to hear that it is another.
  if (input.etags !== undefined) return await save();
  return await deps.writer.inTurn(() => retryOnConflict(save), caller.signal);
}

function editOf(
  { clock, newUlid }: SaveMemoryDeps,
  parsed: ParsedNote,
  { name, description, body, tags, status }: AskedContent & Pick<UpdateMemory, "status">,
): MemoryEdit {
  const fields = new Map<string, FrontmatterValue | undefined>();
  // What reads as what is asked for stays as a person wrote it.
  if (name !== undefined && name !== parsed.name) fields.set("name", name);
  if (description !== undefined && description !== parsed.description) {
    fields.set("description", description);
  }
  if (tags !== undefined && !isSameList(tags, normalizeTags(parsed.tags).tags)) {
    fields.set("tags", tags);
    // Both keys count as tags.
    if (parsed.frontmatter.fields.has("tag")) fields.set("tag", undefined);
  }
  if (status !== undefined && status !== parsed.status) fields.set("status", status);
  const stamps = new Map<string, FrontmatterValue>();
  if (parsed.id === undefined) {
    stamps.set("id", newMemoryId({ ulid: newUlid(), name: name ?? parsed.name }));
  }
  stamps.set("updated_at", isoTime(clock.nowMs()));
  return { fields, body, stamps };
}

function isSameList(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((item, at) => item === b[at]);
}

async function writeEdit(
  { clock, vault, writer, index }: SaveMemoryDeps,
  file: MemoryFile,
  edit: MemoryEdit,
): Promise<SavedMemory> {
  const slicer = new Slicer(clock);
  const bytes = await slicer.run(editMemory(file.parsed, edit));
  if (bytes === undefined) return describeSaved(vault, file, file.parsed);
  const { path, etag: expected } = file;
  const { etag, conflictCopy } = await writer.write({ path, bytes, expected });
  index.markChanged(path);
  const parsed = await parseText(path, bytes, slicer);
  return {
    ...describeSaved(vault, { ...file, etag }, parsed),
    ...(conflictCopy === undefined ? {} : { conflictCopy }),
  };
}

async function requireScope(
  { projects, vault }: SaveMemoryDeps,
  caller: Caller,
  { input, file }: { readonly input: UpdateMemory; readonly file: MemoryFile },
): Promise<void> {
  const { scope, cwd, repo, id } = input;
  if (scope === undefined) return;
  const ids = await projects.scopeIds(caller, { scope, cwd, repo });
  const own = scopeIdOf(vault, file.path);
  if (ids?.includes(own)) return;
  throw new InvalidRequest(
    `Cannot save memory "${show(id)}" in scope ${scope}: its file is "${show(file.path)}", which ` +
      "belongs elsewhere, and a save moves no file. If you mean that one all the same, leave scope " +
      "out; if not, make a new memory",
    [{ field: "scope", value: scope, message: "is not where the memory is" }],
  );
}

function staleEtag(id: string, etag: string): EditConflict {
  return new EditConflict(
    `Cannot save memory "${
      show(id)
    }" as it changed since it was read: its etag is "${etag}" now. ` +
      "Open it again and repeat the edit",
  );
}
