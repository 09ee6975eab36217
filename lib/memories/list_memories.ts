/** The memories of the vault, page by page. */
import { type Caller } from "@/lib/contracts.ts";
import {
  type MemoriesAnswer,
  type MemoriesInput,
  type MemorySummary,
} from "@/lib/contracts_memories.ts";
import { type CursorPlace, type Cursors, cursorsOf, refusedCursor } from "@/lib/cursor.ts";
import { readState } from "@/lib/index/answer_state.ts";
import type { IndexedNote } from "@/lib/index/indexed_note.ts";
import { ACTIVE } from "@/lib/index/note_table.ts";
import { toNoteFilter } from "@/lib/index/note_filter.ts";
import type { NoteFilter } from "@/lib/index/orama.ts";
import type { VaultIndex } from "@/lib/index/vault_index.ts";
import type { Projects } from "@/lib/projects/projects.ts";
import { type Clock, Slicer } from "@/lib/seams.ts";

export interface ListMemoriesDeps {
  readonly clock: Clock;
  readonly index: Pick<VaultIndex, "filterPaths" | "find" | "indexing" | "refresh">;
  readonly projects: Pick<Projects, "scopeIds">;
}

const ENTRIES_PER_STEP = 1_000;

const DATE = /^\d{4}[-/]\d{1,2}(?:[-/]\d{1,2}|$)/;

/** Stands for a time that nobody can read: before any that can be. */
const OLDEST_MS = Number.MIN_SAFE_INTEGER;

/** Where a memory stands in the list. */
interface Place {
  readonly updatedMs: number;
  readonly path: string;
}

/**
 * Returns memories, the newest first, equal ones by path. A cursor names the last one shown and
 * not a number, so that what is made or deleted meanwhile shifts nothing. One that is changed
 * meanwhile moves to the front, where a list begun before does not come any more.
 *
 * @returns At most `input.limit`; `total` counts those of all pages.
 * @throws {InvalidRequest} If the cursor is none of ours, or of a list with other filters, or it is
 * said wrongly where the agent works.
 * @throws {ScopeUnresolved} If the scope needs a project and there is none.
 */
export async function listMemories(
  { clock, index, projects }: ListMemoriesDeps,
  caller: Caller,
  input: MemoriesInput,
): Promise<MemoriesAnswer> {
  const cursors = cursorsFor(caller, input);
  const after = input.cursor === undefined ? undefined : readPlace(cursors.parse(input.cursor));
  const filter = toFilter(input, await projects.scopeIds(caller, input));
  const freshness = await index.refresh();
  const all = await new Slicer(clock).run(collectEntries(index, filter));
  const rest = after ? all.filter((entry) => comparePlaces(entry, after) > 0) : all;
  const page = rest.sort(comparePlaces).slice(0, input.limit).map(({ note }) => toSummary(note));
  const last = rest.length > page.length ? page.at(-1) : undefined;
  return {
    total: all.length,
    memories: page,
    ...(last ? { nextCursor: cursors.format(toPlace(last)) } : {}),
    ...readState(index, freshness),
  };
}

/** Returns what makes cursors to what follows a memory, for callers who keep less of a page. */
export function cursorsAfter(
  caller: Caller,
  input: MemoriesInput,
): (memory: MemorySummary) => string {
  const cursors = cursorsFor(caller, input);
  return (memory) => cursors.format(toPlace(memory));
}

function cursorsFor(
  caller: Caller,
  { scope, tag, status, cwd = caller.cwd, repo }: MemoriesInput,
): Cursors {
  return cursorsOf({ scope, tag, status, cwd, repo });
}

function toPlace({ updatedAt, path }: MemorySummary): CursorPlace {
  return [toMs(updatedAt), path];
}

function readPlace([updatedMs, path, ...more]: CursorPlace): Place {
  if (Number.isSafeInteger(updatedMs) && typeof path === "string" && more.length === 0) {
    return { updatedMs: Number(updatedMs), path };
  }
  throw refusedCursor();
}

interface Entry extends Place {
  readonly note: IndexedNote;
}

function* collectEntries(
  index: ListMemoriesDeps["index"],
  filter: NoteFilter,
): Generator<void, Entry[]> {
  const entries: Entry[] = [];
  for (const path of index.filterPaths(filter)) {
    const note = index.find(path);
    if (note) entries.push({ note, path, updatedMs: toMs(note.updatedAt) });
    if (entries.length % ENTRIES_PER_STEP === 0) yield;
  }
  return entries;
}

function toFilter(
  { tag, status }: MemoriesInput,
  projects: readonly string[] | undefined,
): NoteFilter {
  const tags = tag === undefined ? [] : [tag];
  return toNoteFilter({ projects, kinds: ["memory"], tags, status });
}

function toMs(updatedAt: string): number {
  // Else any text that ends in a number would pass for a date.
  const ms = DATE.test(updatedAt) ? Date.parse(updatedAt) : NaN;
  return Number.isNaN(ms) ? OLDEST_MS : ms;
}

function comparePlaces(a: Place, b: Place): number {
  return b.updatedMs - a.updatedMs || (a.path < b.path ? -1 : a.path > b.path ? 1 : 0);
}

function toSummary(note: IndexedNote): MemorySummary {
  const { id, path, name, description, tags, status, updatedAt } = note;
  return { id, path, name, description, tags: [...tags], status: status ?? ACTIVE, updatedAt };
}
