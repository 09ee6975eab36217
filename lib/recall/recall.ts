/** Recall: a search whose answer holds what an agent needs and nothing more. */
import type { AskedScope, Caller, Hit, SearchMode } from "@/lib/contracts.ts";
import type { RecallAnswer, Recalled } from "@/lib/contracts_tools.ts";
import { type SearchDeps, searchNotes } from "./search_notes.ts";

export interface RecallInput extends AskedScope {
  readonly query: string;
  readonly mode: SearchMode;
  readonly limit: number;
  /** How many of the best results to leave out; 0 without it. */
  readonly offset?: number;
}

/**
 * Returns the passages that answer a query best, best first; the rules are those of
 * `searchNotes()`.
 *
 * @returns At most `input.limit` results, after the `input.offset` best ones.
 * @throws {InvalidRequest} If a text for `grep` has line breaks, or it is said wrongly where the
 * agent works.
 * @throws {ScopeUnresolved} If the scope needs a project and there is none.
 * @throws The reason of the caller's signal if it aborts before `grep` or the embedding is done.
 */
export async function recall(
  deps: SearchDeps,
  caller: Caller,
  { query: q, offset = 0, ...asked }: RecallInput,
): Promise<RecallAnswer> {
  const input = { ...asked, q, offset, kind: [], tags: [] };
  const { query: _query, tookMs: _tookMs, ...answer } = await searchNotes(deps, caller, input);
  return { ...answer, results: answer.results.map(toRecalled) };
}

function toRecalled({ id, snippet, score, path, lines, updatedAt }: Hit): Recalled {
  const { start, end } = lines;
  const source = start === end ? `${path}:${start}` : `${path}:${start}-${end}`;
  return { id, text: snippet, score, source, time: updatedAt };
}
