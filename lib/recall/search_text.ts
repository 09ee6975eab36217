/** Search for an exact text or a pattern in the files themselves, however stale the index is. */
import { toSeen } from "@/lib/access/require_view.ts";
import type { AskedScope, Caller } from "@/lib/contracts.ts";
import type { MatchingFile, TextSearchAnswer } from "@/lib/contracts_tools.ts";
import { readState } from "@/lib/index/answer_state.ts";
import type { GrepFile } from "@/lib/vault/grep.ts";
import { classifyNote, scopeIdOf } from "@/lib/vault/kinds.ts";
import type { Vault } from "@/lib/vault/vault.ts";
import type { VaultPath } from "@/lib/vault/vault_path.ts";
import { FileJudge, type FileLabel } from "./_file_judge.ts";
import type { SearchDeps } from "./search_notes.ts";

/** Answers have to be short; `matchCount` tells how many more there are. */
export const MAX_SHOWN_MATCHES = 5;

export interface SearchTextDeps extends SearchDeps {
  readonly vault: Vault;
}

export interface TextSearchInput extends AskedScope {
  /** Case counts only if it has an upper-case letter. */
  readonly query: string;
  /** True if the query is a regular expression in ripgrep's dialect. */
  readonly regex: boolean;
  readonly limit: number;
  /** How many of the first files to leave out; 0 without it. */
  readonly offset?: number | undefined;
}

/**
 * Finds the files in which a line holds a text, those with the most such lines first, equals by
 * path. Excluded, derived, inactive and conflicting files are left out; with `index=memories`, all
 * but memories.
 *
 * @returns At most `input.limit` files, after the first `input.offset`; while the index is being
 * built, `total` may count files that a later page leaves out.
 * @throws {InvalidRequest} If the query holds a line break or NUL, is no regular expression, or it
 * is said wrongly where the agent works.
 * @throws {ScopeUnresolved} If the scope needs a project and there is none.
 * @throws {IndexNotReady} If the vault cannot be read.
 * @throws The reason of the caller's signal if it aborts before the search is done.
 */
export async function searchText(
  deps: SearchTextDeps,
  caller: Caller,
  input: TextSearchInput,
): Promise<TextSearchAnswer> {
  const { query, regex, limit, offset = 0 } = input;
  const { index, grep, vault } = deps;
  const scopeIds = await deps.projects.scopeIds(caller, input);
  const freshness = await index.refresh("always");
  const judge = new FileJudge(deps);
  const maySee = toSeen(caller.view, []);
  // What not everybody may see is told by its place alone.
  const isSeen = (path: VaultPath) => maySee?.(classifyNote(vault, path, {}), path) ?? true;
  const found = await grep({
    query,
    regex,
    limit,
    skip: offset,
    order: "match-count",
    isWanted: (path) => isInScope(vault, path, scopeIds) && isSeen(path) && judge.mayShow(path),
    confirm: (path) => judge.isShown(path),
    signal: caller.signal,
  });
  return {
    engine: found.engine,
    total: found.total,
    ...(found.truncated ? { truncated: true } : {}),
    ...readState(index, freshness),
    results: found.files.map((file) => toMatchingFile(file, judge.labelOf(file.path))),
  };
}

function isInScope(vault: Vault, path: VaultPath, ids: readonly string[] | undefined): boolean {
  return ids === undefined || ids.includes(scopeIdOf(vault, path));
}

function toMatchingFile(
  { path, matches, matchCount }: GrepFile,
  { id, name }: FileLabel,
): MatchingFile {
  return { id, path, name, matchCount, matches: matches.slice(0, MAX_SHOWN_MATCHES) };
}
