/** The search of notes: one use case for HTTP and for tools. */
import { toSeen } from "@/lib/access/require_view.ts";
import type { Caller, Hit, SearchAnswer, SearchInput, Signals } from "@/lib/contracts.ts";
import { InvalidRequest } from "@/lib/errors.ts";
import { type Clock, roundMs } from "@/lib/seams.ts";
import { readState } from "@/lib/index/answer_state.ts";
import { headingAt, type IndexedNote } from "@/lib/index/indexed_note.ts";
import { toNoteFilter } from "@/lib/index/note_filter.ts";
import type { IndexHit, IndexMode } from "@/lib/index/note_search.ts";
import type { NoteFilter } from "@/lib/index/orama.ts";
import type { VaultIndex } from "@/lib/index/vault_index.ts";
import type { Projects } from "@/lib/projects/projects.ts";
import type { GrepFile, GrepRequest, GrepResult } from "@/lib/vault/grep.ts";
import { parseVaultPath } from "@/lib/vault/vault_path.ts";

/** What a use case says of a grep; the rest is known where parts are put together. */
export type GrepInput = Pick<
  GrepRequest,
  "query" | "regex" | "limit" | "skip" | "order" | "isWanted" | "confirm" | "signal"
>;

/** Looks through the files of the vault themselves. */
export type Grep = (input: GrepInput) => Promise<GrepResult>;

export interface SearchDeps {
  readonly clock: Clock;
  readonly index: VaultIndex;
  readonly grep: Grep;
  readonly projects: Pick<Projects, "scopeIds">;
}

const NO_SIGNALS: Signals = { keyword: null, metadata: null, body: null, dense: null };

/**
 * Returns the notes that answer a query best, best first, each with its signals and the passage
 * that matched. The index is compared with the files first; where it could not be, or is still
 * being built, the answer says so.
 *
 * @returns At most `input.limit` hits, after the `input.offset` best ones.
 * @throws {InvalidRequest} If the folder is no path in the vault, a text for `grep` has line breaks,
 * or it is said wrongly where the agent works.
 * @throws {ScopeUnresolved} If the scope needs a project and there is none.
 * @throws The reason of the caller's signal if it aborts before `grep` or the embedding is done.
 */
export async function searchNotes(
  deps: SearchDeps,
  caller: Caller,
  input: SearchInput,
): Promise<SearchAnswer> {
  const startMs = deps.clock.monotonicMs();
  const projects = await deps.projects.scopeIds(caller, input);
  const filter = { ...toFilter(input, projects), maySee: toSeen(caller.view, input.kind) };
  // Files are searched themselves: one that the index does not know yet must not be missed.
  const freshness = await deps.index.refresh(input.mode === "grep" ? "always" : "due");
  const { mode } = input;
  const found = mode === "grep"
    ? await searchByGrep(deps, caller, { input, filter })
    : await searchByIndex(deps, caller, { input, filter, mode });
  return {
    query: input.q,
    ...readState(deps.index, freshness),
    ...found,
    tookMs: roundMs(deps.clock.monotonicMs() - startMs),
  };
}

type ModeAnswer = Pick<SearchAnswer, "mode" | "fallback" | "total" | "results" | "truncated">;

interface FilteredInput {
  readonly input: SearchInput;
  readonly filter: NoteFilter;
}

async function searchByIndex(
  { index }: SearchDeps,
  { signal }: Caller,
  { input, filter, mode }: FilteredInput & { readonly mode: IndexMode },
): Promise<ModeAnswer> {
  const { q: text, limit, offset = 0 } = input;
  const answer = await index.search({ text, mode, filter, limit, offset, signal });
  const { reason, total, hits } = answer;
  const fallback = reason === undefined
    ? {}
    : { fallback: { from: mode, to: answer.mode, reason } };
  return { mode: answer.mode, ...fallback, total, results: hits.map(toHit) };
}

function toHit({ note, score, signals, passage }: IndexHit): Hit {
  return {
    ...describe(note),
    score,
    signals,
    heading: passage?.chunk.heading || null,
    lines: { start: passage?.chunk.startLine ?? 1, end: passage?.chunk.endLine ?? 1 },
    snippet: passage?.snippet ?? note.description,
  };
}

/** Shows the first match of each file; files with the most matches come first. */
async function searchByGrep(
  { index, grep }: SearchDeps,
  { signal }: Caller,
  { input, filter }: FilteredInput,
): Promise<ModeAnswer> {
  // Not before the first match, as many may have to wait for their turn.
  let wanted: ReadonlySet<string> | undefined;
  const found = await grep({
    query: input.q,
    limit: input.limit,
    skip: input.offset ?? 0,
    order: "match-count",
    isWanted: (path) => (wanted ??= index.filterPaths(filter)).has(path),
    signal,
  }).catch(throwNamingQ);
  const results = found.files.flatMap((file) => {
    const note = index.find(file.path);
    return note ? [toGrepHit(note, file)] : [];
  });
  const truncated = found.truncated ? { truncated: true } : {};
  return { mode: "grep", total: found.total, ...truncated, results };
}

/** What a grep calls the query is `q` here. */
function throwNamingQ(error: unknown): never {
  if (!(error instanceof InvalidRequest)) throw error;
  const problems = error.problems.map((problem) =>
    problem.field === "query" ? { ...problem, field: "q" } : problem
  );
  throw new InvalidRequest(error.message, problems);
}

function toGrepHit(note: IndexedNote, file: GrepFile): Hit {
  const [first] = file.matches;
  const line = first?.line ?? 1;
  return {
    ...describe(note),
    score: 1,
    signals: NO_SIGNALS,
    heading: headingAt(note.chunks, line) || null,
    lines: { start: line, end: line },
    snippet: first?.text.trim() ?? "",
  };
}

function describe(
  note: IndexedNote,
): Omit<Hit, "score" | "signals" | "heading" | "lines" | "snippet"> {
  const { id, path, kind, name, description, updatedAt, actor, originSessionId } = note;
  return {
    id,
    path,
    kind,
    ...(actor === undefined ? {} : { actor }),
    ...(originSessionId === undefined ? {} : { originSessionId }),
    name,
    description,
    tags: [...note.tags],
    updatedAt,
  };
}

function toFilter(
  { kind: kinds, tags, status, folder }: SearchInput,
  projects: readonly string[] | undefined,
): NoteFilter {
  const within = folder === undefined ? undefined : toFolder(folder);
  return toNoteFilter({ projects, kinds, tags, status, folder: within });
}

/** Accepts a slash at either end, as people write folders. */
function toFolder(folder: string): string | undefined {
  const bare = trimSlashes(folder.trim());
  return bare === "" || bare === "." ? undefined : parseVaultPath(bare).normalize("NFC");
}

/** Not by a regular expression, which would look at each run of slashes from each of its slashes. */
function trimSlashes(text: string): string {
  let start = 0;
  let end = text.length;
  while (text[start] === "/") start++;
  while (end > start && text[end - 1] === "/") end--;
  return text.slice(start, end);
}
